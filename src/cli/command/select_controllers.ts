/** Finds controllers by the names on a command line, and the CustomResourceDefinitions that controllers bring with them. */
import { customDefinitions, type OperatorController, withConversions } from "../../manager/mod.ts";
import type { Crd } from "../../schema/mod.ts";
import type { WebhookAddress } from "../../webhook/mod.ts";
import { UsageError } from "../flags/mod.ts";
import { CommandError, exitCode } from "./exit_code.ts";
import { listOf, mostSimilar } from "../output/mod.ts";
import type { Operator } from "./operator.ts";

/**
 * Returns the controllers of these names, each once, in the order of the operator, with the conversions of their kinds.
 *
 * @throws UsageError that lists the known names when one is unknown
 */
export function selectControllers(operator: Operator, names: readonly string[]): readonly OperatorController[] {
  const known = operator.controllers.map((controller) => controller.name);
  for (const name of names) {
    if (known.includes(name)) continue;
    const similar = mostSimilar(name, known);
    throw new UsageError(
      `Cannot find controller "${name}": ${listOf(known)}`,
      similar === undefined ? undefined : `Did you mean ${similar}?`,
    );
  }
  const selected = operator.controllers.filter((controller) => names.includes(controller.name));
  return withConversions(selected, operator.controllers);
}

/** Returns the controllers of these names, or all of them when there are no names. @throws UsageError for an unknown name */
export function selectOrAll(operator: Operator, names: readonly string[]): readonly OperatorController[] {
  return names.length === 0 ? operator.controllers : selectControllers(operator, names);
}

/**
 * Returns the controllers of these names, or all of them with `--all`.
 *
 * @param action What the command does with controllers, for the error: "run".
 * @returns no controller when there are neither names nor `--all`
 * @throws UsageError when there are both, or a name is unknown
 */
export function selectNamedOrAll(
  { operator, names, all, action }: {
    readonly operator: Operator;
    readonly names: readonly string[];
    readonly all: boolean;
    readonly action: string;
  },
): readonly OperatorController[] {
  if (all && names.length > 0) {
    throw new UsageError(`Cannot ${action} controllers: both names and --all are given`, "Leave one of them out");
  }
  return all ? operator.controllers : selectControllers(operator, names);
}

/**
 * Returns the CustomResourceDefinitions of the controllers, each once, in the order of the controllers.
 *
 * @param address Where the API server calls conversion webhooks. @default the definitions name no conversion webhook
 * @throws CommandError when nothing converts between the versions of a kind
 */
export function crdsOf(controllers: readonly OperatorController[], address?: WebhookAddress): readonly Crd[] {
  try {
    return customDefinitions(controllers, { address });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new CommandError(error.message, { code: exitCode.failed, cause: error });
  }
}

/** Finds controllers by the names on a command line, and the CustomResourceDefinitions that controllers bring with them. */
import { type Resource, resourceName } from "../../api/mod.ts";
import type { ControllerDefinition } from "../../controller/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";
import type { Crd, CustomResource } from "../../schema/mod.ts";
import { UsageError } from "../flags/mod.ts";
import { listOf, mostSimilar } from "../output/mod.ts";
import type { Operator } from "./operator.ts";

/**
 * Returns the controllers of these names, each once, in the order of the operator.
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
  return operator.controllers.filter((controller) => names.includes(controller.name));
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

/** True for a kind that carries its CustomResourceDefinition. */
export function isCustomResource(resource: Resource): resource is CustomResource {
  return "crd" in resource;
}

/** Returns the CustomResourceDefinitions of the controllers, each once, in the order of the controllers. */
export function crdsOf(controllers: readonly ControllerDefinition[]): readonly Crd[] {
  const resources = controllers.flatMap((controller) => controller.watches.map((watch) => watch.resource));
  const custom = resources.filter(isCustomResource);
  return [...new Map(custom.map((resource) => [resourceName(resource), resource.crd])).values()];
}

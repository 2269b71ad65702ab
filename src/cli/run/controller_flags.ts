/**
 * The flags that controllers bring along: all of an operator's stand in the help of `run`, and those of the controllers
 * that are run are read, before anything else is done, to make these controllers.
 */
import type { OperatorController, RunSetup } from "../../manager/mod.ts";
import { escaped } from "../../observe/mod.ts";
import type { TextWriter } from "../../runtime/mod.ts";
import type { FlagGroup, FurtherFlags, Operator } from "../command/mod.ts";
import { listOf } from "../output/mod.ts";
import { UsageError } from "../flags/mod.ts";

/** What is configured, and with what. */
interface Configuration {
  readonly operator: Operator;
  readonly controllers: readonly OperatorController[];
  readonly flags: FurtherFlags;
  /** The namespaces that were asked for; empty: none were named. */
  readonly namespaces: readonly string[];
  /** Namespaces do not matter: all of them were asked for. */
  readonly allNamespaces: boolean;
  readonly print: RunSetup["print"];
}

/** The flags of all controllers, for help. */
export function controllerFlagGroups({ controllers }: Operator): readonly FlagGroup[] {
  return controllers.flatMap(({ name, ownFlags }) =>
    ownFlags === undefined ? [] : { heading: `Flags of ${name}:`, flags: ownFlags.schema }
  );
}

/**
 * Makes the controllers that are run: as their own flags say, and in the namespaces that were asked for.
 *
 * @throws UsageError when a flag is wrong, or belongs to a controller that is not run.
 */
export async function configureControllers(configuration: Configuration): Promise<readonly OperatorController[]> {
  const { operator, controllers, flags } = configuration;
  for (const other of operator.controllers) {
    const [typed] = other.ownFlags === undefined ? [] : flags.typed(other.ownFlags.schema);
    if (typed === undefined || controllers.includes(other)) continue;
    const running = listOf(controllers.map(({ name }) => name)).replace("there ", "what runs ");
    throw new UsageError(`Cannot use ${typed}: it is a flag of the controller "${other.name}", and ${running}`);
  }
  return await Promise.all(controllers.map((controller) => configureController(controller, configuration)));
}

async function configureController(
  controller: OperatorController,
  { flags, namespaces, allNamespaces, print }: Configuration,
): Promise<OperatorController> {
  const isTold = allNamespaces || namespaces.length > 0;
  const { options, ownFlags } = controller;
  const own = options.namespace === undefined || isTold ? namespaces : [options.namespace];
  try {
    const made = await ownFlags?.configure(flags.read, { namespaces: own, print });
    const whole = { ...controller, ...made };
    return isTold ? { ...whole, options: { ...whole.options, namespace: undefined } } : whole;
  } catch (error) {
    if (error instanceof UsageError || !(error instanceof Error)) throw error;
    throw new UsageError(error.message, `Run with --help to see the flags of ${controller.name}`);
  }
}

/** Prints lines that are safe to show. @param outputClosed Called when nobody reads them any more. */
export function linePrinter(stdout: TextWriter, outputClosed: () => void): RunSetup["print"] {
  return async (line) => {
    stdout.write(`${escaped(line)}\n`);
    await stdout.flush();
    if (stdout.isOpen ?? true) return;
    if (stdout.failure === undefined) return outputClosed();
    throw new Error(`Cannot print: ${stdout.failure.message}`, { cause: stdout.failure });
  };
}

/**
 * The flags of controllers: help shows those of all controllers of the operator; those of the selected controllers are read
 * before anything else, to configure these controllers.
 */
import type { LabelSelector } from "../../api/mod.ts";
import type { Scope } from "../../async/mod.ts";
import { type OnReload, type OperatorController, type RunSetup, withConversions } from "../../manager/mod.ts";
import { findText, writeFile } from "../../runtime/mod.ts";
import type { ExtraFlags, FlagGroup, Operator, Session } from "../command/mod.ts";
import { UsageError } from "../flags/mod.ts";
import { assertThrottleFlags, type ThrottleFlags } from "./request_limit.ts";

/** What configures controllers. */
interface Configuration {
  readonly operator: Operator;
  readonly controllers: readonly OperatorController[];
  readonly flags: ExtraFlags;
  /** The namespaces on the command line; empty when there are none. */
  readonly namespaces: readonly string[];
  /** True for --all-namespaces. */
  readonly allNamespaces: boolean;
  readonly metrics: RunSetup["metrics"];
  readonly print: RunSetup["print"];
  readonly logFormat: RunSetup["logFormat"];
  /** Calls `react` when the configuration file has new values. @default it never has */
  readonly onReload?: OnReload;
  /** @default the files of this machine */
  readonly files?: RunSetup["files"];
}

/** The flags about namespaces, of `run` and of `dev`. */
interface NamespaceFlags {
  readonly namespace: readonly string[];
  readonly allNamespaces: boolean;
  readonly namespaceSelector?: LabelSelector | undefined;
}

/** Returns the namespaces on the command line; empty when there are none. @throws UsageError when the flags contradict */
export function namespacesOf({ namespace, allNamespaces, namespaceSelector }: NamespaceFlags): readonly string[] {
  const given = [
    namespace.length > 0 && "--namespace",
    allNamespaces && "--all-namespaces",
    namespaceSelector !== undefined && "--namespace-selector",
  ].filter((flag) => flag !== false);
  if (given.length <= 1) return [...new Set(namespace)];
  throw new UsageError(`Cannot run controllers: both ${given[0]} and ${given[1]} are given`, "Leave one of them out");
}

/** True when controllers leave a namespace of their own: it would keep them from all, or from the selected ones. */
export function ignoresOwnNamespaces({ allNamespaces, namespaceSelector }: NamespaceFlags): boolean {
  return allNamespaces || namespaceSelector !== undefined;
}

/** Returns the flags of all controllers, for help. */
export function controllerFlagGroups({ controllers }: Operator): readonly FlagGroup[] {
  return controllers.flatMap(({ name, ownFlags }) =>
    ownFlags === undefined ? [] : { heading: `Flags of ${name}:`, flags: ownFlags.schema }
  );
}

/**
 * Checks the values of `run` without using them: its limit of requests, and the own flags of controllers.
 *
 * @throws UsageError for the first one that is invalid
 */
export function checkValues(
  { flags, extraFlags }: { readonly flags: ThrottleFlags; readonly extraFlags: ExtraFlags },
  controllers: readonly OperatorController[],
): void {
  assertThrottleFlags(flags);
  for (const { ownFlags } of controllers) if (ownFlags !== undefined) extraFlags.read(ownFlags.schema);
}

/**
 * Configures the selected controllers with their own flags and the namespaces of the command line.
 *
 * @throws UsageError when a flag is invalid, or belongs to a controller that is not selected.
 */
export async function configureControllers(configuration: Configuration): Promise<readonly OperatorController[]> {
  const { operator, controllers, flags } = configuration;
  for (const other of operator.controllers) {
    const [typed] = other.ownFlags === undefined ? [] : flags.typed(other.ownFlags.schema);
    if (typed === undefined || controllers.some(({ name }) => name === other.name)) continue;
    const running = controllers.map(({ name }) => `"${name}"`).join(", ") || "no controller";
    throw new UsageError(`Cannot use ${typed}: it belongs to the controller "${other.name}", and this runs ${running}`);
  }
  const configured = await Promise.all(
    controllers.map((controller) => configureController(controller, configuration)),
  );
  return withConversions(configured, operator.controllers);
}

/**
 * As {@link configureControllers}, for a plan: a controller that prints prints nothing, and a file that it writes exists for
 * itself only.
 */
export async function configurePlannedControllers(
  configuration: Omit<Configuration, "print" | "files">,
): Promise<readonly OperatorController[]> {
  const written = new Map<string, string>();
  return await configureControllers({
    ...configuration,
    print: () => Promise.resolve(),
    files: {
      findText: async (path) => written.get(path) ?? await findText(path),
      writeText: (path, text) => Promise.resolve(void written.set(path, text)),
    },
  });
}

const machineFiles: RunSetup["files"] = { findText, writeText: (path, text) => writeFile(path, text) };

async function configureController(
  controller: OperatorController,
  { flags, namespaces, allNamespaces, metrics, print, logFormat, files = machineFiles, onReload }: Configuration,
): Promise<OperatorController> {
  const isGiven = allNamespaces || namespaces.length > 0;
  const { options, ownFlags } = controller;
  const own = options.namespace === undefined || isGiven ? namespaces : [options.namespace];
  try {
    const setup = { namespaces: own, metrics, print, logFormat, files };
    const configured = await ownFlags?.configure(flags.read, setup, onReload);
    const whole = { ...controller, ...configured };
    return isGiven ? { ...whole, options: { ...whole.options, namespace: undefined } } : whole;
  } catch (error) {
    if (error instanceof UsageError || !(error instanceof Error)) throw error;
    throw new UsageError(error.message, `Run with --help to see the flags of ${controller.name}`);
  }
}

/** The reason to stop when the reader of stdout has closed it, as `head` does. */
export const outputClosed = new DOMException("The output was closed", "AbortError");

/** Milliseconds between two looks at the reader of stdout, while nothing is printed. */
const probeMs = 250;

/** Where lines are printed, and what ends when nobody reads them any more. */
interface LinePrinterOptions {
  readonly session: Pick<Session, "print" | "processEnvironment">;
  /** Aborted with {@link outputClosed} when the reader has closed stdout. */
  readonly stopping: Scope;
}

/**
 * Returns a function that prints lines. From the first line on, it also notices between two
 * lines that the reader has left: `run pods | head -1` ends, even if no Pod ever changes again.
 */
export function linePrinter({ session, stopping }: LinePrinterOptions): RunSetup["print"] {
  const { stdout, clock } = session.processEnvironment;
  const isClosed = () => !(stdout.isOpen ?? true);
  const watchReader = async () => {
    for (; !isClosed(); await clock.sleep(probeMs, stopping.signal)) stdout.probe?.();
    if (stdout.failure === undefined) stopping.abort(outputClosed);
  };
  let watching: Promise<void> | undefined;
  return async (line) => {
    session.print(line);
    await stdout.flush();
    watching ??= watchReader().catch(() => {}); // stopped
    if (!isClosed()) return;
    if (stdout.failure === undefined) return stopping.abort(outputClosed);
    throw new Error(`Cannot print: ${stdout.failure.message}`, { cause: stdout.failure });
  };
}

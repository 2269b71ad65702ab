/**
 * DevRun: one run of `dev` on its cluster: controllers run, samples are created, and a command is run. It ends when the
 * command ends, when the controllers have settled, or at a signal. On a terminal a table shows the state of the controllers:
 * until the signal (`live_table.ts`), or while they converge and again as the result.
 */
import { type Clock, type Scope, scope } from "../../async/mod.ts";
import type { EmbeddedCluster } from "../../cluster/mod.ts";
import { Manager, type OperatorController } from "../../manager/mod.ts";
import { CommandError, type ExitCode, exitCode, runChild, type Session } from "../command/mod.ts";
import { type Activity, Convergence } from "../convergence/mod.ts";
import { type BindAddress, stillFailing } from "../run/mod.ts";
import { debugAddress, devDebugEndpoint } from "./dev_debug.ts";
import type { DevFlags } from "./dev_flags.ts";
import { showLiveTable } from "./live_table.ts";
import { Client, Discovery, isAlreadyExists, type NewObject } from "../../client/mod.ts";
import { processFacts } from "../../runtime/mod.ts";
import { builtin, combinedSelector, keyOf, type KubeObject, type Resource, splitKey } from "../../api/mod.ts";
import { type Cell, defaultRecordingBytes, type Line, Recording, type Tone } from "../../observe/mod.ts";
import { RecordFile } from "../recording/mod.ts";
import { count, type LiveLines, table } from "../output/mod.ts";

/** The cluster, the controllers and the flags of a run. */
interface DevRunOptions {
  readonly cluster: EmbeddedCluster;
  readonly controllers: readonly OperatorController[];
  /** The namespaces to watch, if the command line names some. */
  readonly namespaces: readonly string[];
  readonly session: Session;
  readonly flags: DevFlags;
  /** Ends the run when it is aborted; it is aborted at the end, too. */
  readonly stopping: Scope;
}

/** One run. */
export class DevRun {
  readonly #options: DevRunOptions;
  /** The outcomes of the reconciles, for a run that ends when the controllers have settled. */
  readonly convergence: Convergence;

  constructor(options: DevRunOptions) {
    this.#options = options;
    this.convergence = new Convergence(options.session.processEnvironment.clock);
  }

  /** Runs until the end. @param command The command to run; empty for none. @throws the reason of `stopping` */
  async run(command: readonly string[], kubeconfig: string): Promise<ExitCode> {
    const { controllers, session, flags, stopping } = this.#options;
    // A command has the terminal for itself.
    using live = flags.untilSettled || flags.quiet || command.length > 0 ? undefined : session.liveLines();
    const observed = controllers.map((one) =>
      this.convergence.observe(one, flags.untilSettled ? {} : { maxRetries: Infinity })
    );
    const debug = debugAddress(flags, session, { hasCommand: command.length > 0 });
    const manager = await createDevManager({ ...this.#options, controllers: observed }, debug);
    const running = manager.run(stopping.signal);
    const shown = live && showLiveTable(live, {
      ...{ controllers, manager, outcomes: this.convergence, kubeconfig, hasSamples: flags.samples },
      program: `${session.operator.name} dev`,
      clock: session.processEnvironment.clock,
    }, stopping.signal);
    try {
      if (!flags.untilSettled) await this.#createSamples();
      else {
        const settled = this.#waitUntilSettled(manager);
        await Promise.race([settled, running.then(() => settled)]);
      }
      if (flags.untilSettled && this.convergence.failures.length > 0) return this.#printSummary();
      if (command.length > 0) {
        return await runChild(command, { KUBECONFIG: kubeconfig }, session, stopping.signal);
      }
      if (!flags.untilSettled) await running;
    } finally {
      stopping.abort(new DOMException("The development cluster stops", "AbortError"));
      await shown;
      live?.show([]);
      await running;
    }
    return flags.untilSettled ? this.#printSummary() : exitCode.done;
  }

  async #createSamples(): Promise<void> {
    const { cluster, controllers, namespaces: [namespace], session, flags, stopping } = this.#options;
    if (!flags.samples) return;
    const created = await createSamples(cluster.client, { controllers, namespace }, stopping.signal);
    if (flags.quiet) return;
    session.info(created.length === 0 ? "the controllers have no samples" : `samples: ${created.join(", ")}`);
  }

  /** Creates the samples and waits until the controllers are idle; a terminal shows the table meanwhile. */
  async #waitUntilSettled(manager: Manager): Promise<void> {
    const { controllers, session, flags, stopping } = this.#options;
    const convergence = this.convergence;
    using lines = flags.quiet ? undefined : session.liveLines();
    using showing = scope(stopping.signal);
    const { signal } = showing;
    const shown = lines &&
      showTable(lines, controllers, { convergence, clock: session.processEnvironment.clock, signal });
    try {
      await this.#createSamples();
      await convergence.waitUntilConverged(manager, stopping.signal);
    } finally {
      showing.abort();
      await shown;
    }
  }

  /** Prints the table to stdout and one line to stderr. @throws CommandError when an object failed */
  #printSummary(): ExitCode {
    const { session, controllers, flags } = this.#options;
    const { failures, reconciled } = this.convergence;
    if (session.processEnvironment.stdout.isTerminal) session.print("");
    session.print(...summaryOf(controllers, this.convergence, { isOver: true }));
    const [first] = failures;
    if (first === undefined) {
      if (!flags.quiet) session.info(`settled: ${count(reconciled, "object")} reconciled`);
      return exitCode.done;
    }
    const others = failures.length === 1 ? "" : `; and ${failures.length - 1} more`;
    const state = `${first.controller} ${first.key}: ${first.error}${others}`;
    throw new CommandError(`Cannot settle: ${state}`, { code: exitCode.failed, advice: "-v shows the details" });
  }
}

/** The error of a run that a signal ended before the controllers settled. It names an object that still failed. */
export function interruptedError(run: DevRun | undefined): CommandError {
  const state = `a signal ended the run before${stillFailing(run?.convergence)}`;
  return new CommandError(`Cannot settle: ${state}`, { code: exitCode.failed });
}

/** Creates the Manager of `dev`: like that of `run`, without leader election, probes and metrics. Nothing runs yet. */
async function createDevManager(options: DevRunOptions, debug: BindAddress | undefined): Promise<Manager> {
  const { cluster, controllers, namespaces, session, flags } = options;
  const { operator: { name, cacheRules }, processEnvironment: { clock, random } } = session;
  const file = RecordFile.create(flags.record, { session, controllers });
  const recording = file === undefined && debug === undefined
    ? undefined
    : new Recording({ now: () => clock.now(), maxBytes: debug === undefined ? 0 : defaultRecordingBytes, sink: file });
  const manager = new Manager({
    ...cluster.managerOptions,
    recorder: recording,
    name,
    instance: processFacts().hostname,
    namespaces: namespaces.length === 0 ? undefined : namespaces,
    namespaceSelector: flags.namespaceSelector,
    cacheRules,
    freezeCache: true,
    clock,
    random,
  });
  for (const controller of controllers) {
    manager.add(controller, { selector: combinedSelector(controller.options.selector, flags.selector) });
  }
  for (const runnable of controllers.flatMap((controller) => controller.runnables ?? [])) {
    await manager.addRunnable(runnable);
  }
  if (debug !== undefined && recording !== undefined) {
    const endpoint = devDebugEndpoint(debug, flags, {
      ...{ session, manager, recording, controllers },
      client: cluster.client,
    });
    await manager.addRunnable(endpoint, "http");
  }
  await file?.open();
  return manager;
}

/** Creates the namespaces of the command line. */
export async function createNamespaces(
  client: Client,
  namespaces: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  for (const name of namespaces) {
    await client.create(builtin.Namespace, { metadata: { name }, spec: {} }, { signal }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
}

/** The samples to create; `namespace` is that of samples that name none. */
interface SampleOptions {
  readonly controllers: readonly OperatorController[];
  /** @default "default" */
  readonly namespace?: string;
}

/** Creates the samples of the controllers. @returns Their names: `Foo default/example-foo` */
async function createSamples(
  client: Client,
  { controllers, namespace = "default" }: SampleOptions,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const discovery = new Discovery(client);
  const created: string[] = [];
  for (const sample of controllers.flatMap(({ samples = [] }) => samples)) {
    const resource = await resourceOf(sample, discovery, signal);
    const object = withNamespace(sample, resource, namespace);
    await client.create(resource, object, { signal }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
    created.push(`${sample.kind} ${keyOf(object)}`);
  }
  return created;
}

async function resourceOf(
  sample: KubeObject,
  discovery: Discovery,
  signal: AbortSignal,
): Promise<Resource<KubeObject>> {
  const { namespace: group = "", name: version } = splitKey(sample.apiVersion);
  const found = await discovery.findKind({ group, version, kind: sample.kind }, signal);
  if (found !== undefined) return found.resource;
  throw new Error(`Cannot create sample ${sample.kind} "${sample.metadata.name}": the server does not know its kind`);
}

function withNamespace(
  sample: KubeObject,
  { scope }: Resource,
  namespace: string,
): KubeObject & NewObject<Resource<KubeObject>> {
  if (scope === "Cluster" || sample.metadata.namespace !== undefined) return sample;
  return { ...sample, metadata: { ...sample.metadata, namespace } };
}

/** The time between two updates of the table. */
const frameMs = 100;
/** Lines that have scrolled off the terminal cannot be overwritten. */
const maxRows = 15;

const tones = {
  waiting: "muted",
  working: "warning",
  retrying: "warning",
  failed: "error",
  settled: "success",
} as const satisfies Record<Activity, Tone>;

/** Shows the table until `signal` aborts. */
async function showTable(
  live: LiveLines,
  controllers: readonly OperatorController[],
  { convergence, clock, signal }: {
    readonly convergence: Convergence;
    readonly clock: Clock;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  while (!signal.aborted) {
    const lines = summaryOf(controllers, convergence, { isOver: false });
    const hidden = lines.length - maxRows;
    live.show(hidden > 0 ? [...lines.slice(0, maxRows), `and ${hidden} more`] : lines);
    await clock.sleep(frameMs, signal).catch(() => {});
  }
}

/**
 * Returns the table: each controller, the number of objects that it reconciled, and its state.
 */
function summaryOf(
  controllers: readonly OperatorController[],
  convergence: Convergence,
  { isOver }: { readonly isOver: boolean },
): readonly Line[] {
  const rows = controllers.map(({ name }): readonly Cell[] => {
    const reconciled = count(convergence.reconciledBy(name), "object");
    return [name, reconciled, stateOf(name, convergence, isOver)];
  });
  return table([["CONTROLLER", "RECONCILED", "STATE"], ...rows]);
}

/** At the end, a controller that waits for objects has settled. Only the result has colours. */
function stateOf(name: string, convergence: Convergence, isOver: boolean): Cell {
  const now = convergence.activityOf(name);
  const activity = isOver && now === "waiting" ? "settled" : now;
  const failed = convergence.failures.filter(({ controller }) => controller === name).length;
  const text = activity === "failed" ? `${failed} failed` : activity;
  return isOver ? { text, tone: tones[activity] } : text;
}

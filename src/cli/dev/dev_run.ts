/**
 * DevRun: what happens on a development cluster, once there is one: controllers run, samples are created, a command is
 * run; the end comes with the command's, when all has settled, or with a signal.
 */
/* MERGED dev/dev_manager.ts  The Manager of `dev`: as that of `run`, on a cluster in the same process, alone and without endpoints. */
/* MERGED dev/install_all.ts  The CRDs of controllers on a server that has none of them yet. */
/* MERGED dev/samples.ts  The objects that show what controllers do. */
/* MERGED dev/run_command.ts  The command behind `--`, with a development cluster as its cluster. */
/* MERGED dev/summary.ts
 * What the controllers of a development cluster do and have done, one line each: a table that fills on a terminal while
 * things converge, and the same table as the result.
 */
import { type Clock, type Scope, scope } from "../../async/mod.ts";
import type { EmbeddedCluster } from "../../cluster/mod.ts";
import { Manager, type OperatorController } from "../../manager/mod.ts";
import { CommandError, crdsOf, type ExitCode, exitCode, type Session } from "../command/mod.ts";
import { type Activity, Convergence } from "../run/mod.ts";
import type { DevFlags } from "./dev_flags.ts";
import { Client, Discovery, isAlreadyExists, type NewObject } from "../../client/mod.ts";
import { processFacts, runAttached } from "../../runtime/mod.ts";
import { builtin, keyOf, type KubeObject, type Resource, splitKey } from "../../api/mod.ts";
import { type Cell, type LiveLines, type Paint, table, type Tone } from "../output/mod.ts";

/** Why everything ends when nobody reads what controllers print: that is no failure of theirs. */
export const outputClosed = new DOMException("Nobody reads the output any more", "AbortError");

/** What it is about. */
interface DevRunOptions {
  readonly cluster: EmbeddedCluster;
  readonly controllers: readonly OperatorController[];
  readonly session: Session;
  readonly flags: DevFlags;
  /** Ends it, and is aborted when it is over. */
  readonly stopping: Scope;
}

/** One session of development. */
export class DevRun {
  readonly #options: DevRunOptions;
  readonly #convergence: Convergence;

  constructor(options: DevRunOptions) {
    this.#options = options;
    this.#convergence = new Convergence(options.session.processEnvironment.clock);
  }

  /** Runs it to its end. @param command What is run; empty: nothing. @throws the reason of `stopping` */
  async run(command: readonly string[], kubeconfig: string): Promise<ExitCode> {
    const { cluster, controllers, session, flags, stopping } = this.#options;
    const watched = flags.untilSettled ? controllers.map((one) => this.#convergence.watched(one)) : controllers;
    const manager = await devManager(cluster, watched, session);
    const running = manager.run(stopping.signal);
    try {
      if (!flags.untilSettled) await this.#createSamples();
      else {
        const settled = this.#settled(manager);
        await Promise.race([settled, running.then(() => settled)]);
      }
      if (flags.untilSettled && this.#convergence.failures.length > 0) return this.#summed();
      if (command.length > 0) return await runCommand(command, kubeconfig, session, stopping.signal);
      if (!flags.untilSettled) await running;
    } finally {
      stopping.abort(new DOMException("The development cluster ends", "AbortError"));
      await running;
    }
    return flags.untilSettled ? this.#summed() : exitCode.done;
  }

  async #createSamples(): Promise<void> {
    const { cluster, controllers, session, flags, stopping } = this.#options;
    if (!flags.samples) return;
    const created = await createSamples(cluster.client, controllers, stopping.signal);
    if (flags.quiet) return;
    session.say(created.length === 0 ? "there are no samples" : `samples: ${created.join(", ")}`);
  }

  /** Creates the samples and waits until nothing is left to do; a terminal shows how that goes. */
  async #settled(manager: Manager): Promise<void> {
    const { controllers, session, flags, stopping } = this.#options;
    const convergence = this.#convergence;
    using board = flags.quiet ? undefined : session.board();
    using showing = scope(stopping.signal);
    const { signal } = showing;
    const shown = board &&
      showTable(board, controllers, { convergence, clock: session.processEnvironment.clock, signal });
    try {
      await this.#createSamples();
      await convergence.reached(manager, stopping.signal);
    } finally {
      showing.abort();
      await shown;
    }
  }

  /** The clear end: a table on stdout, and one line that says the same. @throws CommandError when something failed */
  #summed(): ExitCode {
    const { session, controllers, flags } = this.#options;
    const { failures, reconciled } = this.#convergence;
    if (session.processEnvironment.stdout.isTerminal) session.print("\n");
    session.print(summaryOf(controllers, this.#convergence, session.paint));
    const [first] = failures;
    if (first === undefined) {
      if (!flags.quiet) session.say(`everything has settled: ${reconciled} reconciled`);
      return exitCode.done;
    }
    const others = failures.length === 1 ? "" : `; and ${failures.length - 1} more`;
    const state = `${first.controller} ${first.key}: ${first.error}${others}`;
    throw new CommandError(`Cannot settle: ${state}`, { code: exitCode.failed, advice: "-v shows the details" });
  }
}

/** A signal came too early. */
export function interruptedError(): CommandError {
  return new CommandError("Cannot settle: it was ended before", { code: exitCode.failed });
}

/** Makes it; nothing runs yet. */
async function devManager(
  cluster: EmbeddedCluster,
  controllers: readonly OperatorController[],
  { operator, processEnvironment: { clock, random } }: Session,
): Promise<Manager> {
  const client = new Client(cluster.transport, { clock });
  const { name, cacheRules } = operator;
  const manager = new Manager({ client, name, instance: processFacts().hostname, cacheRules, clock, random });
  for (const controller of controllers) manager.add(controller);
  for (const runnable of controllers.flatMap((controller) => controller.runnables ?? [])) {
    await manager.addRunnable(runnable);
  }
  return manager;
}

/** Creates them; the embedded server serves their kinds when it has answered. */
export async function createCrds(
  client: Client,
  controllers: readonly OperatorController[],
  signal: AbortSignal,
): Promise<void> {
  for (const crd of crdsOf(controllers)) {
    const object = crd as unknown as NewObject<typeof builtin.CustomResourceDefinition>;
    await client.create(builtin.CustomResourceDefinition, object, { signal }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
}

/** Creates them, those without a namespace in `default`. @returns what they are: `Foo default/example-foo` */
async function createSamples(
  client: Client,
  controllers: readonly OperatorController[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const discovery = new Discovery(client);
  const created: string[] = [];
  for (const sample of controllers.flatMap(({ samples = [] }) => samples)) {
    const resource = await resourceOf(sample, discovery, signal);
    const object = placed(sample, resource);
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

function placed(sample: KubeObject, { scope }: Resource): KubeObject & NewObject<Resource<KubeObject>> {
  if (scope === "Cluster" || sample.metadata.namespace !== undefined) return sample;
  return { ...sample, metadata: { ...sample.metadata, namespace: "default" } };
}

/** Runs it. @returns its exit code */
async function runCommand(
  command: readonly string[],
  kubeconfig: string,
  session: Session,
  signal: AbortSignal,
): Promise<ExitCode> {
  const env = { ...definedOnly(session.environment), KUBECONFIG: kubeconfig };
  const ending = await runAttached(command, { env, signal });
  // What the program says is what is answered, whatever the number.
  if (ending.kind === "ended") return ending.code as ExitCode;
  const advice = "Is it installed, and in PATH?";
  throw new CommandError(`Cannot run "${command[0]}": ${ending.message}`, { code: exitCode.failed, advice });
}

function definedOnly(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([key, value]) => value === undefined ? [] : [[key, value]]),
  );
}

/** Fast enough to look alive. */
const frameMs = 100;
/** A terminal is not endlessly high, and what scrolls away cannot be written over. */
const maxRows = 15;

const tones = {
  waiting: "quiet",
  working: "doubtful",
  retrying: "doubtful",
  failed: "bad",
  settled: "good",
} as const satisfies Record<Activity, Tone>;

/** Shows the table on `board` until `signal` aborts. */
async function showTable(
  board: LiveLines,
  controllers: readonly OperatorController[],
  { convergence, clock, signal }: {
    readonly convergence: Convergence;
    readonly clock: Clock;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  while (!signal.aborted) {
    const lines = summaryOf(controllers, convergence).trimEnd().split("\n");
    const hidden = lines.length - maxRows;
    board.show(hidden > 0 ? [...lines.slice(0, maxRows), `and ${hidden} more`] : lines);
    await clock.sleep(frameMs, signal).catch(() => {});
  }
}

/**
 * The table: controller, how many objects it has looked at, what it is at.
 *
 * @param paint Colours of the result; without them this is how things stand meanwhile.
 */
function summaryOf(
  controllers: readonly OperatorController[],
  convergence: Convergence,
  paint?: Paint,
): string {
  const rows = controllers.map(({ name }): readonly Cell[] => {
    const count = convergence.reconciledBy(name);
    return [name, `${count} ${count === 1 ? "object" : "objects"}`, stateOf(name, convergence, paint !== undefined)];
  });
  return table([["CONTROLLER", "RECONCILED", "STATE"], ...rows], paint);
}

/** Who waits for objects in the end has done what there was. */
function stateOf(name: string, convergence: Convergence, isOver: boolean): Cell {
  const now = convergence.activityOf(name);
  const activity = isOver && now === "waiting" ? "settled" : now;
  const failed = convergence.failures.filter(({ controller }) => controller === name).length;
  return { text: activity === "failed" ? `${failed} failed` : activity, tone: tones[activity] };
}

/**
 * `run`: controllers in one process over one shared cache, until a signal ends them.
 *
 * Guarantees: nothing is written to the cluster before it is known that a controller can run; the first signal lets
 * what is being reconciled finish and gives exit code 0, the second one ends it at once with 1.
 */
/* MERGED listenForInterrupts.ts
 * interrupts(): SIGINT and SIGTERM as a long-running command sees them. The first asks it to finish, the second ends it
 * (behaviours.md 61).
 */
import { type Scope, scope } from "../../async/mod.ts";
import { LeaseForbiddenError, LeaseLostError, type OperatorController } from "../../manager/mod.ts";
import { logger } from "../../observe/mod.ts";
import {
  type Call,
  CommandError,
  type ExitCode,
  exitCode,
  selectControllers,
  type Session,
  subcommand,
} from "../command/mod.ts";
import { connect, type Connection, waitForServer } from "../connection/mod.ts";
import { Convergence, interruptedError, runOnce } from "./run_once.ts";
import { createManager, type RunPlan } from "./manager.ts";
import { configureControllers, controllerFlagGroups, linePrinter } from "./controller_flags.ts";
import { preflight } from "./preflight.ts";
import { type RunFlags, runFlags } from "./run_flags.ts";
import { listOf } from "../output/mod.ts";
import { UsageError } from "../flags/mod.ts";
import type { SignalName } from "../../runtime/mod.ts";

/** The command. */
export const run = subcommand({
  description: [
    "Runs controllers in one process over one shared cache, until a signal ends them.",
    "The first SIGINT or SIGTERM lets running reconciles finish, the second one ends at once.",
  ].join("\n"),
  words: { syntax: "[names...]", about: "controllers to run, unless --all" },
  examples: [
    { line: "NAME", about: "one controller, on the cluster of the current context" },
    { line: "--all --context kind-dev", about: "all controllers, on a certain cluster" },
    { line: "NAME -n team-a -n team-b --workers 4", about: "on two namespaces, with four workers" },
    { line: "--all --once", about: "bring everything to what it should be, then end: for a job, or a script" },
    { line: "NAME --dry-run", about: "see what would be written, checked by the server" },
    { line: "NAME --log-format json -v", about: "logs for programs, with all details" },
  ],
  flags: runFlags,
  further: controllerFlagGroups,
  async run(call) {
    using signals = listenForInterrupts(call.session);
    using stopping = scope(signals.stop);
    return await Promise.race([signals.forced, runUntil(stopping, call)]);
  },
});

async function runUntil(stopping: Scope, call: Call<RunFlags>): Promise<ExitCode> {
  const { session, flags } = call;
  const { clock, random } = session.processEnvironment;
  const { signal: stop } = stopping;
  const namespaces = namespacesOf(flags);
  const controllers = await configured(call, namespaces, stopping);
  try {
    using connection = await connect(flags, session);
    const server = await waitForServer(connection, { timeoutMs: flags.connectTimeout, clock, random, signal: stop });
    const subject = { controllers, namespaces, isOnce: flags.once };
    await assertRunnable(connection, { ...subject, session, signal: stop });
    logger("cli").info("server reached", { server: connection.server, version: server });
    await runAll(connection, { controllers, namespaces, flags, session }, stopping);
  } catch (error) {
    if (!stop.aborted || error !== stop.reason) throw explained(error);
    if (flags.once && error !== outputClosed) throw interruptedError();
  }
  logger("cli").info("stopped");
  return exitCode.done;
}

async function runAll(connection: Connection, plan: RunPlan, stopping: Scope): Promise<void> {
  const { flags, controllers, session } = plan;
  if (!flags.once) return await (await createManager(connection, plan)).run(stopping.signal);
  const convergence = new Convergence(session.processEnvironment.clock);
  const watched = controllers.map((controller) => convergence.watched(controller));
  const manager = await createManager(connection, { ...plan, controllers: watched });
  await runOnce(manager, convergence, stopping).catch((error: unknown) => {
    // Who reads what controllers print has seen enough: that is no failure of theirs.
    if (stopping.signal.reason !== outputClosed) throw error;
  });
}

function chosen({ words, flags, session }: Call<RunFlags>): readonly OperatorController[] {
  const { name, controllers } = session.operator;
  if (flags.all && words.length > 0) {
    throw new UsageError("Cannot run controllers: both names and --all are given", "Leave one of them out");
  }
  if (flags.all) return controllers;
  if (words.length > 0) return selectControllers(session.operator, words);
  const known = listOf(controllers.map((controller) => controller.name));
  throw new UsageError(
    `Cannot run controllers: none is named, ${known}`,
    `Run: ${name} run NAME, or ${name} run --all`,
  );
}

function namespacesOf({ namespace, allNamespaces }: RunFlags): readonly string[] {
  if (!allNamespaces) return [...new Set(namespace)];
  if (namespace.length === 0) return [];
  throw new UsageError(
    "Cannot run controllers: both --namespace and --all-namespaces are given",
    "Leave one of them out",
  );
}

const outputClosed = new DOMException("Nobody reads the output any more", "AbortError");

/** The chosen controllers as their own flags want them. Who reads what they print may go away: that ends the run. */
async function configured(
  call: Call<RunFlags>,
  namespaces: readonly string[],
  stopping: Scope,
): Promise<readonly OperatorController[]> {
  const { session, flags: { allNamespaces }, further: flags } = call;
  const gone = () => stopping.abort(outputClosed);
  const print = linePrinter(session.processEnvironment.stdout, gone);
  const { operator } = session;
  return await configureControllers({
    operator,
    controllers: chosen(call),
    flags,
    namespaces,
    allNamespaces,
    print,
  });
}

interface ProjectSpec {
  readonly controllers: readonly OperatorController[];
  readonly namespaces: readonly string[];
  readonly isOnce: boolean;
}

/**
 * Fails when no controller can run. Where some can, the others are named, and start by themselves once they can; nobody
 * waits for that where all is to be done once.
 */
async function assertRunnable(
  connection: Connection,
  subject: ProjectSpec & { readonly session: Session; readonly signal: AbortSignal },
): Promise<void> {
  const { controllers, namespaces, isOnce, session, signal } = subject;
  const operatorName = session.operator.name;
  const failures = await preflight(connection, { controllers, namespaces, operatorName, signal });
  const [first] = failures;
  if (first !== undefined && (isOnce || failures.length === controllers.length)) throw first.error;
  for (const { controller, error } of failures) {
    const { message, advice } = error;
    logger("cli").error("a controller cannot run yet", { controller: controller.name, reason: message, advice });
  }
}

/** What only this command can end with, in the words and codes of the command line. */
function explained(error: unknown): unknown {
  const causes = error instanceof AggregateError ? error.errors : [error];
  for (const cause of causes) {
    if (cause instanceof LeaseForbiddenError) {
      const advice = "Ask for the permission, or use another user";
      return new CommandError(cause.message, { code: exitCode.permission, advice, cause });
    }
    if (cause instanceof LeaseLostError) {
      const advice = "Start it again: it then stands by";
      return new CommandError(cause.message, { code: exitCode.leaseLost, advice, cause });
    }
  }
  return error;
}

/** The signals of one command. While it stands, they do not end the process by themselves. */
interface Interrupts extends Disposable {
  /** Aborts with the first signal. */
  readonly stop: AbortSignal;
  /** Resolves, with the exit code, when a second one says that this takes too long. */
  readonly forced: Promise<ExitCode>;
}

/** Listens to the signals. Others that could end the process are ignored meanwhile. */
export function listenForInterrupts(
  session: Session,
  heeded: readonly SignalName[] = ["SIGINT", "SIGTERM"],
): Interrupts {
  const log = logger("cli");
  const stopping = new AbortController();
  const forced = Promise.withResolvers<ExitCode>();
  const listening = session.processEnvironment.onSignal(["SIGINT", "SIGTERM"], (signal) => {
    if (!heeded.includes(signal)) return;
    if (stopping.signal.aborted) {
      log.warn("second signal: ending at once", { signal });
      return forced.resolve(exitCode.failed);
    }
    log.info("signal: finishing what runs, a second one ends at once", { signal });
    stopping.abort(new DOMException(`Ended by ${signal}`, "AbortError"));
  });
  return {
    stop: stopping.signal,
    forced: forced.promise,
    [Symbol.dispose]: () => listening[Symbol.dispose](),
  };
}

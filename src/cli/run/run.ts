/**
 * `run`: runs controllers in one process over one shared cache, until a signal ends them.
 *
 * Guarantees: nothing is written to the cluster before a check has shown that a controller can run; the first signal lets
 * running reconciles finish and the exit code is 0, the second one ends the command at once with 1 (behaviour 61).
 */
import { type Scope, scope } from "../../async/mod.ts";
import { LeaseForbiddenError, LeaseLostError, type OperatorController } from "../../manager/mod.ts";
import { logger } from "../../observe/mod.ts";
import type { SignalName } from "../../runtime/mod.ts";
import {
  type Call,
  CommandError,
  crdsOf,
  type ExitCode,
  exitCode,
  selectNamedOrAll,
  type Session,
  subcommand,
} from "../command/mod.ts";
import { connect, type Connection, waitForServer } from "../connection/mod.ts";
import { UsageError } from "../flags/mod.ts";
import { listOf } from "../output/mod.ts";
import {
  configureControllers,
  controllerFlagGroups,
  linePrinter,
  namespacesOf,
  outputClosed,
} from "./controller_flags.ts";
import { createManager, type RunPlan } from "./manager.ts";
import { preflight } from "./preflight.ts";
import { type RunFlags, runFlags } from "./run_flags.ts";
import { Convergence, interruptedError, runOnce } from "./run_once.ts";

/** The command. */
export const run = subcommand({
  description: [
    "Runs controllers in one process over one shared cache, until a signal ends them.",
    "The first SIGINT or SIGTERM lets running reconciles finish, the second one ends at once.",
  ].join(" "),
  positionals: { syntax: "[names...]", about: "controllers to run, unless --all is given" },
  examples: [
    { line: "NAME", about: "one controller, on the cluster of the current context" },
    { line: "--all --context kind-dev", about: "all controllers, on the cluster of another context" },
    { line: "NAME -n team-a -n team-b --workers 4", about: "in two namespaces, with four workers" },
    { line: "--all --once", about: "reconcile every object once, then end: for a Job, or a script" },
    { line: "NAME --dry-run", about: "show what would be written, checked by the server" },
    { line: "NAME --log-format json -v", about: "logs for programs, with all details" },
  ],
  flags: runFlags,
  extraFlags: controllerFlagGroups,
  async run(call) {
    using interrupts = listenForInterrupts(call.session);
    using stopping = scope(interrupts.stop);
    return await Promise.race([interrupts.forced, runUntilStopped(stopping, call)]);
  },
});

async function runUntilStopped(stopping: Scope, call: Call<RunFlags>): Promise<ExitCode> {
  const { session, flags } = call;
  const { clock, random } = session.processEnvironment;
  const { signal: stop } = stopping;
  const namespaces = namespacesOf(flags);
  const plan = { controllers: await configure(call, namespaces, stopping), namespaces, flags, session };
  try {
    using connection = await connect(flags, session);
    const version = await waitForServer(connection, { timeoutMs: flags.connectTimeout, clock, random, signal: stop });
    await assertRunnable(connection, plan, stop);
    logger("cli").info("server reached", { server: connection.server, version });
    await runManager(connection, plan, stopping);
  } catch (error) {
    if (!stop.aborted || error !== stop.reason) throw withExitCode(error);
    if (flags.once && error !== outputClosed) throw interruptedError();
  }
  logger("cli").info("stopped");
  return exitCode.done;
}

async function runManager(connection: Connection, plan: RunPlan, stopping: Scope): Promise<void> {
  const { flags, controllers, session } = plan;
  if (!flags.once) return await (await createManager(connection, plan)).run(stopping.signal);
  const convergence = new Convergence(session.processEnvironment.clock);
  const observed = controllers.map((controller) => convergence.observe(controller));
  const manager = await createManager(connection, { ...plan, controllers: observed });
  await runOnce(manager, convergence, stopping).catch((error: unknown) => {
    // The reader of the output has closed it, as `head` does: that is not a failure of the controllers.
    if (stopping.signal.reason !== outputClosed) throw error;
  });
}

/** Configures the selected controllers with their own flags. A closed output ends the run. */
async function configure(
  call: Call<RunFlags>,
  namespaces: readonly string[],
  stopping: Scope,
): Promise<readonly OperatorController[]> {
  const { session: { operator, processEnvironment, metrics }, flags: { allNamespaces }, extraFlags: flags } = call;
  const controllers = selectedControllers(call);
  const { stdout, clock } = processEnvironment;
  const print = linePrinter({ stdout, stopping, clock });
  return await configureControllers({ operator, controllers, flags, namespaces, allNamespaces, metrics, print });
}

function selectedControllers({ positionals, flags, session }: Call<RunFlags>): readonly OperatorController[] {
  const { operator } = session;
  const { name, controllers } = operator;
  if (flags.all || positionals.length > 0) {
    const selected = selectNamedOrAll({ operator, names: positionals, all: flags.all, action: "run" });
    crdsOf(selected); // a kind that nothing converts is refused before anything runs
    return selected;
  }
  const known = listOf(controllers.map((controller) => controller.name));
  throw new UsageError(
    `Cannot run controllers: no controller is named, ${known}`,
    `Run: ${name} run NAME, or ${name} run --all`,
  );
}

/**
 * Fails when no controller can run. When some can, the others are logged and start as soon as they can; with --once there
 * is no later, so that one controller that cannot run is a failure.
 */
async function assertRunnable(connection: Connection, plan: RunPlan, signal: AbortSignal): Promise<void> {
  const { controllers, namespaces, flags, session } = plan;
  const operatorName = session.operator.name;
  const failures = await preflight(connection, {
    controllers,
    installsConversions: flags.webhookHost !== undefined && !flags.dryRun,
    namespaces,
    operatorName,
    signal,
  });
  const [first] = failures;
  if (first !== undefined && (flags.once || failures.length === controllers.length)) throw first.error;
  for (const { controller, error } of failures) {
    const { message, advice } = error;
    logger("cli").error("controller cannot run yet", { controller: controller.name, reason: message, advice });
  }
}

/** Gives the errors of leader election their exit code and their advice. */
function withExitCode(error: unknown): unknown {
  const causes = error instanceof AggregateError ? error.errors : [error];
  for (const cause of causes) {
    if (cause instanceof LeaseForbiddenError) {
      const advice = "Ask for the permission, or use another user";
      return new CommandError(cause.message, { code: exitCode.permission, advice, cause });
    }
    if (cause instanceof LeaseLostError) {
      const advice = "Start it again: it then waits for the lease";
      return new CommandError(cause.message, { code: exitCode.leaseLost, advice, cause });
    }
  }
  return error;
}

/** The signals of a long-running command. While this is not disposed, they do not end the process. */
interface Interrupts extends Disposable {
  /** Aborts with the first signal. */
  readonly stop: AbortSignal;
  /** Resolves with the exit code at the second signal. */
  readonly forced: Promise<ExitCode>;
}

/** Listens for SIGINT and SIGTERM. @param handled Those that end the command; the other one is ignored */
export function listenForInterrupts(
  session: Session,
  handled: readonly SignalName[] = ["SIGINT", "SIGTERM"],
): Interrupts {
  const log = logger("cli");
  const stopping = new AbortController();
  const forced = Promise.withResolvers<ExitCode>();
  const listening = session.processEnvironment.onSignal(["SIGINT", "SIGTERM"], (signal) => {
    if (!handled.includes(signal)) return;
    if (stopping.signal.aborted) {
      log.warn("received a second signal, ending at once", { signal });
      return forced.resolve(exitCode.failed);
    }
    log.info("received a signal, finishing running reconciles", { signal });
    stopping.abort(new DOMException(`Ended by ${signal}`, "AbortError"));
  });
  return {
    stop: stopping.signal,
    forced: forced.promise,
    [Symbol.dispose]: () => listening[Symbol.dispose](),
  };
}

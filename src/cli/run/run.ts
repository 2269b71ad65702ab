/**
 * `run`: runs controllers in one process over one shared cache, until a signal ends them.
 *
 * Guarantees: nothing is written to the cluster before a check has shown that a controller can run; the first signal lets
 * running reconciles finish and the exit code is 0, the second one ends the command at once with 1 (behaviour 61).
 */
import { type Scope, scope, untilAborted } from "../../async/mod.ts";
import { LeaseForbiddenError, LeaseLostError, type OperatorController, StopTimeoutError } from "../../manager/mod.ts";
import { logger } from "../../observe/mod.ts";
import {
  type Call,
  CommandError,
  crdsOf,
  endingSignals,
  type ExitCode,
  exitCode,
  listenForInterrupts,
  selectNamedOrAll,
  subcommand,
} from "../command/mod.ts";
import { connect, type Connection } from "../connection/mod.ts";
import { Convergence } from "../convergence/mod.ts";
import { UsageError } from "../flags/mod.ts";
import { listOf } from "../output/mod.ts";
import {
  checkValues,
  configureControllers,
  configurePlannedControllers,
  controllerFlagGroups,
  ignoresOwnNamespaces,
  linePrinter,
  namespacesOf,
  outputClosed,
} from "./controller_flags.ts";
import { connectTimeoutMs } from "./await_runnable.ts";
import { ConfigReloader } from "./config_reloader.ts";
import { Fleet } from "../../fleet/mod.ts";
import { FleetOnce } from "./fleet_once.ts";
import { createManager } from "./manager.ts";
import { isPlanWorker, runPlanWorker } from "./own_plan.ts";
import type { RunPlan } from "./run_plan.ts";
import { type RunFlags, runFlags } from "./run_flags.ts";
import { interruptedError, runOnce } from "./run_once.ts";
import { findWebhookHost, hostQueries } from "./webhook_host.ts";

/** The command. */
export const run = subcommand({
  description: [
    "Runs controllers in one process over one shared cache, until a signal ends them.",
    "The first SIGINT, SIGTERM or SIGHUP lets running reconciles finish, the second one ends at once.",
    "With --config, changes of the file are taken over while it runs where config says so; without a terminal, SIGHUP",
    "reads the file at once.",
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
  isService: true,
  extraFlags: controllerFlagGroups,
  run: runControllers,
});

/** Runs the controllers that a call selects, until a signal ends them. */
export async function runControllers(call: Call<RunFlags>): Promise<ExitCode> {
  if (isPlanWorker(call.session)) return await planForAnother(call);
  using reloader = createReloader(call);
  const handled = hangupReloads(call) ? endingSignals.filter((signal) => signal !== "SIGHUP") : endingSignals;
  using interrupts = listenForInterrupts(call.session, { handled });
  using stopping = scope(interrupts.stop);
  return await Promise.race([interrupts.forced, runUntilStopped(stopping, call, reloader)]);
}

/** SIGHUP of a terminal says that it was closed: a process that nobody sees any more must not go on holding the Lease. */
function hangupReloads({ configFile, session }: Call<RunFlags>): boolean {
  return configFile !== undefined && !session.processEnvironment.stdin.isTerminal;
}

/** Follows the configuration file, if there is one. */
function createReloader(call: Call<RunFlags>): ConfigReloader<RunFlags> | undefined {
  const { session, configFile: file } = call;
  if (file === undefined) return undefined;
  const { clock, onSignal } = session.processEnvironment;
  const reloader = new ConfigReloader({
    ...{ file, started: call, clock, onSignal, log: logger("configuration") },
    signals: hangupReloads(call) ? ["SIGHUP"] : [],
    check: (values) => checkValues(values, session.operator.controllers),
  });
  reloader.onReload(({ logging }) => session.setVerbosity(logging.verbose));
  return reloader;
}

/** Answers another process of this program, which runs these controllers. */
async function planForAnother(call: Call<RunFlags>): Promise<ExitCode> {
  const { session, flags: { selector }, flags } = call;
  const { operator, metrics, logFormat } = session;
  const namespaces = namespacesOf(flags);
  const allNamespaces = ignoresOwnNamespaces(flags);
  return await runPlanWorker({
    ...{ session, namespaces, selector },
    configure: () =>
      configurePlannedControllers({
        ...{ operator, controllers: selectedControllers(call), flags: call.extraFlags, namespaces, allNamespaces },
        ...{ metrics, logFormat },
      }),
  });
}

async function runUntilStopped(
  stopping: Scope,
  call: Call<RunFlags>,
  reloader: ConfigReloader<RunFlags> | undefined,
): Promise<ExitCode> {
  const { session, flags } = call;
  const { signal: stop } = stopping;
  const namespaces = namespacesOf(flags);
  try {
    // Nothing has begun that must be finished, so a signal ends these steps even if a hook or a request never settles.
    const controllers = await untilAborted(configure(call, { namespaces, stopping, reloader }), stop);
    const plan = { controllers, namespaces, flags, session, reloader };
    using connection = await connect(flags, session);
    await runManager(connection, plan, stopping);
  } catch (error) {
    if (!stop.aborted || error !== stop.reason) throw withExitCode(error);
    if (flags.once && error !== outputClosed) throw interruptedError();
  }
  logger("cli").info("stopped");
  return exitCode.done;
}

async function runManager(connection: Connection, named: RunPlan, stopping: Scope): Promise<void> {
  const plan = { ...named, flags: await withWebhookHost(connection, named, stopping.signal) };
  const { flags, controllers, session } = plan;
  if (!flags.once) return await (await createManager(connection, plan)).run(stopping.signal);
  const convergence = new Convergence(session.processEnvironment.clock);
  const observed = controllers.map((controller) => convergence.observe(controller));
  const runner = await createManager(connection, { ...plan, controllers: observed });
  const timing = { clock: session.processEnvironment.clock, timeoutMs: flags.connectTimeout ?? connectTimeoutMs };
  const manager = runner instanceof Fleet ? new FleetOnce(runner, timing) : runner;
  await runOnce(manager, convergence, stopping).catch((error: unknown) => {
    // The reader of the output has closed it, as `head` does: that is not a failure of the controllers.
    if (stopping.signal.reason !== outputClosed) throw error;
  });
}

/** Replaces `--webhook-host auto` by the address of this machine, when there are webhooks to serve. */
async function withWebhookHost(
  connection: Connection,
  { controllers, flags, session }: RunPlan,
  signal: AbortSignal,
): Promise<RunFlags> {
  const hasWebhooks = controllers.some(({ webhooks = [] }) => webhooks.length > 0);
  if (flags.webhookHost !== "auto" || flags.dryRun || !hasWebhooks) return flags;
  const queries = hostQueries(session.environment, signal);
  const { host, because } = await untilAborted(findWebhookHost(connection.server, queries), signal);
  logger("webhook").info("found the address of this machine for the webhooks", { host, because });
  return { ...flags, webhookHost: host };
}

/** Configures the selected controllers with their own flags. A closed output ends the run. */
async function configure(
  call: Call<RunFlags>,
  { namespaces, stopping, reloader }: Pick<RunPlan, "namespaces" | "reloader"> & { readonly stopping: Scope },
): Promise<readonly OperatorController[]> {
  const { session, flags: given, extraFlags: flags } = call;
  const allNamespaces = ignoresOwnNamespaces(given);
  const controllers = selectedControllers(call);
  const { operator, metrics } = session;
  const print = linePrinter({ session, stopping });
  const { logFormat } = session;
  return await configureControllers({
    ...{ operator, controllers, flags, namespaces, allNamespaces, metrics, print, logFormat },
    onReload: (react) => reloader?.onReload(({ extraFlags }) => react(extraFlags.read)),
  });
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
    if (cause instanceof StopTimeoutError) {
      const advice = "A reconcile, a handler or a hook ignores its signal: see which one ran last with -v";
      return new CommandError(cause.message, { code: exitCode.failed, advice, cause });
    }
  }
  return error;
}

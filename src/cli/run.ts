/**
 * `run`: controllers in one process over one shared cache, until a signal ends them.
 *
 * Guarantees: nothing is written to the cluster before it is known that a controller can run; the first signal lets
 * what is being reconciled finish and gives exit code 0, the second one ends it at once with 1.
 */
import { z } from "zod";
import type { ControllerDefinition } from "../controller/mod.ts";
import { Manager } from "../manager/mod.ts";
import { logger } from "../observe/mod.ts";
import { processFacts } from "../runtime/mod.ts";
import { connect } from "./connect.ts";
import type { Connection } from "./connection.ts";
import { connectionFlags } from "./connection_flags.ts";
import { type ExitCode, exitCode } from "./exit_code.ts";
import { flagSyntax } from "./flag.ts";
import { durationMs, durationMsOrForever, text, wholeNumber } from "./flag_values.ts";
import { interrupts } from "./interrupts.ts";
import { preflight } from "./preflight.ts";
import { listOf, selectControllers } from "./select_controllers.ts";
import type { Session } from "./session.ts";
import { type Call, subcommand } from "./subcommand.ts";
import { UsageError } from "./usage_error.ts";
import { waitForServer } from "./wait_for_server.ts";

const runFlags = z.object({
  all: z.boolean().default(false).register(flagSyntax, {
    flags: "--all",
    about: "run all controllers, instead of naming them",
    fromEnvironment: true,
  }),
  workers: wholeNumber(1, 1_000).optional().register(flagSyntax, {
    flags: "--workers <count>",
    about: "objects that each controller reconciles at the same time, instead of its own number",
    example: "--workers 4",
    fromEnvironment: true,
  }),
  resync: durationMs().optional().register(flagSyntax, {
    flags: "--resync <duration>",
    about: "how often every object counts as changed, instead of the controller's own period; 0 is never",
    example: "--resync 10m",
    fromEnvironment: true,
  }),
  gracefulShutdownTimeout: durationMsOrForever().prefault("30s").register(flagSyntax, {
    flags: "--graceful-shutdown-timeout <duration>",
    about: "how long running reconciles may take to finish after a signal; 0 does not wait, forever has no limit",
    example: "--graceful-shutdown-timeout 1m",
    fromEnvironment: true,
  }),
  allNamespaces: z.boolean().default(false).register(flagSyntax, {
    flags: "-A, --all-namespaces",
    about: "work on all namespaces; so it is anyway, unless --namespace is given",
    fromEnvironment: true,
  }),
  ...connectionFlags.shape,
  namespace: z.array(text()).default([]).register(flagSyntax, {
    flags: "-n, --namespace <name>",
    about: "work on this namespace only; may be given several times; the context's namespace does not matter",
    arity: "list",
    fromEnvironment: true,
  }),
});

type RunFlags = z.output<typeof runFlags>;

/** The command. */
export const run = subcommand({
  description: [
    "Runs controllers in one process over one shared cache, until a signal ends them.",
    "The first SIGINT or SIGTERM lets running reconciles finish, the second one ends at once.",
  ].join("\n"),
  words: { syntax: "[names...]", about: "controllers to run, unless --all" },
  examples: [
    { line: "foo", about: "one controller, on the cluster of the current context" },
    { line: "--all --context kind-dev", about: "all controllers, on a certain cluster" },
    { line: "foo -n team-a -n team-b --workers 4", about: "on two namespaces, with four workers" },
    { line: "foo --log-format json -v", about: "logs for programs, with all details" },
  ],
  flags: runFlags,
  async run(call) {
    using signals = interrupts(call.session);
    return await Promise.race([signals.forced, runUntil(signals.stop, call)]);
  },
});

async function runUntil(stop: AbortSignal, call: Call<RunFlags>): Promise<ExitCode> {
  const { session, flags } = call;
  const { clock, random } = session.surroundings;
  const controllers = chosen(call);
  const namespaces = namespacesOf(flags);
  try {
    using connection = await connect(flags, session);
    const server = await waitForServer(connection, { timeoutMs: flags.connectTimeout, clock, random, signal: stop });
    await assertRunnable(connection, { controllers, namespaces, session, signal: stop });
    logger("cli").info("server reached", { server: connection.server, version: server });
    await manager(connection, { controllers, namespaces, call }).run(stop);
  } catch (error) {
    if (!stop.aborted || error !== stop.reason) throw error;
  }
  logger("cli").info("stopped");
  return exitCode.done;
}

function chosen({ words, flags, session }: Call<RunFlags>): readonly ControllerDefinition[] {
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

interface Subject {
  readonly controllers: readonly ControllerDefinition[];
  readonly namespaces: readonly string[];
}

/** Fails when no controller can run. Where some can, the others are named, and start by themselves once they can. */
async function assertRunnable(
  connection: Connection,
  subject: Subject & { readonly session: Session; readonly signal: AbortSignal },
): Promise<void> {
  const { controllers, namespaces, session, signal } = subject;
  const operatorName = session.operator.name;
  const obstacles = await preflight(connection, { controllers, namespaces, operatorName, signal });
  const [first] = obstacles;
  if (first !== undefined && obstacles.length === controllers.length) throw first.error;
  for (const { controller, error } of obstacles) {
    const { message, advice } = error;
    logger("cli").error("a controller cannot run yet", { controller: controller.name, reason: message, advice });
  }
}

function manager(connection: Connection, subject: Subject & { readonly call: Call<RunFlags> }): Manager {
  const { controllers, namespaces, call: { flags, session } } = subject;
  const { clock, random } = session.surroundings;
  const manager = new Manager({
    client: connection.client,
    name: session.operator.name,
    instance: processFacts().hostname,
    namespaces: namespaces.length === 0 ? undefined : namespaces,
    gracefulShutdownTimeoutMs: flags.gracefulShutdownTimeout,
    clock,
    random,
  });
  for (const controller of controllers) {
    const resyncMs = flags.resync === undefined ? controller.options.resyncMs : noneIfZero(flags.resync);
    const maxConcurrentReconciles = flags.workers ?? controller.options.maxConcurrentReconciles;
    manager.add(controller, { resyncMs, maxConcurrentReconciles });
  }
  return manager;
}

function noneIfZero(ms: number): number | undefined {
  return ms === 0 ? undefined : ms;
}

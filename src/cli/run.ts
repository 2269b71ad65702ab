/**
 * `run`: controllers in one process over one shared cache, until a signal ends them.
 *
 * Guarantees: nothing is written to the cluster before it is known that a controller can run; the first signal lets
 * what is being reconciled finish and gives exit code 0, the second one ends it at once with 1.
 */
import type { OperatorController } from "../manager/mod.ts";
import { LeaseForbiddenError, LeaseLostError } from "../manager/mod.ts";
import { logger } from "../observe/mod.ts";
import { CommandError } from "./command_error.ts";
import { connect } from "./connect.ts";
import type { Connection } from "./connection.ts";
import { type ExitCode, exitCode } from "./exit_code.ts";
import { interrupts } from "./interrupts.ts";
import { managerOf } from "./manager_of.ts";
import { preflight } from "./preflight.ts";
import { type RunFlags, runFlags } from "./run_flags.ts";
import { listOf, selectControllers } from "./select_controllers.ts";
import type { Session } from "./session.ts";
import { type Call, subcommand } from "./subcommand.ts";
import { UsageError } from "./usage_error.ts";
import { waitForServer } from "./wait_for_server.ts";

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
    const manager = await managerOf(connection, { controllers, namespaces, flags, session });
    await manager.run(stop);
  } catch (error) {
    if (!stop.aborted || error !== stop.reason) throw explained(error);
  }
  logger("cli").info("stopped");
  return exitCode.done;
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

interface Subject {
  readonly controllers: readonly OperatorController[];
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

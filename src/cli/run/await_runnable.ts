/**
 * awaitRunnable(): what `run` waits for before anything is written: a server that responds, and a controller that can run.
 *
 * At a terminal an error after `--connect-timeout` is the best answer. In a Pod it is not: the kubelet would start the
 * process again, after a delay that grows to five minutes, and readers of `kubectl get pods` would see a crash where only
 * the API server is away. So in a Pod the process waits without limit, alive and not ready, unless the flag says otherwise.
 */
import { isAbortOf } from "../../async/mod.ts";
import { isUnreachable } from "../../client/mod.ts";
import { logger } from "../../observe/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";
import { type Connection, waitForServer } from "../connection/mod.ts";
import { preflight, selectedNamespaces } from "./preflight.ts";
import type { RunPlan } from "./run_plan.ts";

/** How long `run` tries to reach the server, unless it runs in a Pod. */
export const connectTimeoutMs = 30_000;

/** A server that has just started may refuse what it will allow: its access rules are not loaded yet. */
const settlingMs = 15_000;
const retryMs = 1_000;

/**
 * Resolves when at least one controller can run. With `--once` all of them must, because there is no later.
 *
 * @throws CommandError with the exit code of the first problem, the reason of the signal
 */
export async function awaitRunnable(connection: Connection, plan: RunPlan, signal: AbortSignal): Promise<void> {
  const { flags, session: { processEnvironment: { clock, random } } } = plan;
  const waits = connection.isInCluster && !flags.once;
  const timeoutMs = flags.connectTimeout ?? (waits ? Infinity : connectTimeoutMs);
  let deadline: number | undefined;
  while (true) {
    const version = await waitForServer(connection, { timeoutMs, clock, random, signal });
    deadline ??= clock.monotonic() + settlingMs;
    try {
      await assertRunnable(connection, plan, signal);
      logger("cli").info("server reached", { server: connection.server, version });
      return;
    } catch (error) {
      if (isAbortOf(signal, error) || !waits || !isTemporary(error)) throw error;
      // Away again: a new start of the server.
      if (isUnreachable(error)) deadline = undefined;
      else if (clock.monotonic() >= deadline) throw error;
      logger("cli").debug("controllers cannot run yet, retrying", { error, delayMs: retryMs });
    }
    await clock.sleep(retryMs * (1 + random.next()), signal);
  }
}

/** True for what may be over in a moment: no connection, or a refusal of a server that is starting. */
function isTemporary(error: unknown): boolean {
  return isUnreachable(error) || (error instanceof CommandError && error.code === exitCode.permission);
}

/** Fails when no controller can run. When some can, the others are logged and start as soon as they can. */
async function assertRunnable(connection: Connection, plan: RunPlan, signal: AbortSignal): Promise<void> {
  const { controllers, flags, session } = plan;
  const { namespaceSelector } = flags;
  const namespaces = namespaceSelector === undefined
    ? plan.namespaces
    : await selectedNamespaces(connection, namespaceSelector, signal);
  // Nothing is read before a namespace has the labels.
  if (namespaceSelector !== undefined && namespaces.length === 0) return;
  // In a fleet, what is missing in one cluster must not keep the others from working.
  const checked = flags.clusters === undefined
    ? controllers
    : controllers.filter(({ options }) => options.runsIn === "hub");
  const failures = await preflight(connection, {
    controllers: checked,
    installsConversions: flags.webhookHost !== undefined && !flags.dryRun,
    namespaces,
    operatorName: session.operator.name,
    graphOption: session.graphOption,
    signal,
  });
  const [first] = failures;
  if (first !== undefined && (flags.once || failures.length === checked.length)) throw first.error;
  for (const { controller, error } of failures) {
    const { message, advice } = error;
    logger("cli").error("controller cannot run yet", { controller: controller.name, reason: message, advice });
  }
}

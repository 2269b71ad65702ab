/**
 * runOnce(): runs a Manager until everything is reconciled, for `run --once`.
 *
 * Guarantees: a key that failed finally, or that its own controller requeues again and again, is reported.
 */
import { type Scope, scope } from "../../async/mod.ts";
import type { Manager } from "../../manager/mod.ts";
import { logger } from "../../observe/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";
import type { Convergence } from "../convergence/mod.ts";

/** Failures that a message names; the log contains all. */
const maxNamed = 3;

/**
 * Runs the Manager until its controllers have nothing left to do.
 *
 * @param stopping Aborted at the end. When it is aborted before, the run is incomplete.
 * @throws CommandError that names the objects that failed, or says that the run was incomplete
 */
export async function runOnce(
  manager: Pick<Manager, "run" | "isIdle" | "parked">,
  convergence: Convergence,
  stopping: Scope,
): Promise<void> {
  using watching = scope(stopping.signal);
  const converged = convergence.waitUntilConverged(manager, watching.signal).then(() => true, () => false);
  const ending = converged.then((isConverged) => {
    if (isConverged) stopping.abort(new DOMException("Everything was reconciled", "AbortError"));
  });
  try {
    await manager.run(stopping.signal);
  } finally {
    watching.abort();
    await ending;
  }
  if (!(await converged)) throw interruptedError(convergence);
  assertNoFailures(convergence);
}

/** The error of a run that a signal ended before everything was reconciled. It names an object that still failed. */
export function interruptedError(convergence?: Convergence): CommandError {
  const state = `a signal ended the run before${stillFailing(convergence)}`;
  return new CommandError(`Cannot reconcile everything: ${state}`, {
    code: exitCode.failed,
    advice: "Run it again and let it finish",
  });
}

/** Names the first object that still fails, and its last error; "" if there is none. */
export function stillFailing(convergence: Convergence | undefined): string {
  const [first, ...others] = convergence?.failures ?? [];
  if (first === undefined) return "";
  const more = others.length === 0 ? "" : `; and ${others.length} more`;
  return `, and ${first.controller} ${first.key} still failed: ${first.error}${more}`;
}

function assertNoFailures({ failures, reconciled }: Convergence): void {
  if (failures.length === 0) return logger("cli").info("converged", { objects: reconciled });
  const list = failures.slice(0, maxNamed).map(({ controller, key, error }) => `${controller} ${key}: ${error}`).join(
    "; ",
  );
  const more = failures.length > maxNamed ? `; and ${failures.length - maxNamed} more` : "";
  const state = `${failures.length} of ${reconciled} objects failed: ${list}${more}`;
  throw new CommandError(`Cannot reconcile everything: ${state}`, {
    code: exitCode.failed,
    advice: "Correct these objects, then run it again",
  });
}

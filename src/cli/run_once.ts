/**
 * runOnce(): a Manager until everything was reconciled. Leader election, webhooks and the orderly stop are those of every
 * run; only what ends it is different.
 */
import { type Scope, scope } from "../async/mod.ts";
import type { Manager } from "../manager/mod.ts";
import { logger } from "../observe/mod.ts";
import { CommandError } from "./command_error.ts";
import type { Convergence } from "./convergence.ts";
import { exitCode } from "./exit_code.ts";

/** How many failures a message names; the log has them all. */
const named = 3;

/**
 * Runs the Manager until its controllers have nothing left to do.
 *
 * @param stopping Is aborted then; when it is aborted before, not all was reconciled.
 * @throws CommandError that names what could not be reconciled, or says that there was not time enough
 */
export async function runOnce(manager: Manager, convergence: Convergence, stopping: Scope): Promise<void> {
  using watching = scope(stopping.signal);
  const reached = convergence.reached(manager, watching.signal).then(() => true, () => false);
  const ending = reached.then((isReached) => {
    if (isReached) stopping.abort(new DOMException("Everything was reconciled", "AbortError"));
  });
  try {
    await manager.run(stopping.signal);
  } finally {
    watching.abort();
    await ending;
  }
  if (!(await reached)) throw endedBefore();
  assertDone(convergence);
}

/** A signal came too early. */
export function endedBefore(): CommandError {
  return new CommandError("Cannot reconcile everything: it was ended before", {
    code: exitCode.failed,
    advice: "Run it again and let it finish",
  });
}

function assertDone({ failures, reconciled }: Convergence): void {
  if (failures.length === 0) return logger("cli").info("converged", { objects: reconciled });
  const list = failures.slice(0, named).map(({ controller, key, error }) => `${controller} ${key}: ${error}`).join(
    "; ",
  );
  const more = failures.length > named ? `; and ${failures.length - named} more` : "";
  const state = `${failures.length} of ${reconciled} objects failed: ${list}${more}`;
  throw new CommandError(`Cannot reconcile everything: ${state}`, {
    code: exitCode.failed,
    advice: "Put these right, then run it again",
  });
}

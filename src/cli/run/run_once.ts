/**
 * runOnce(): runs a Manager until everything is reconciled, for `run --once`.
 *
 * Guarantees: a key that failed finally, or that its own controller requeues again and again, is reported; so is a cluster of a
 * fleet in which the controllers could not work, and the others do not wait for it.
 */
import { type Scope, scope } from "../../async/mod.ts";
import type { Manager } from "../../manager/mod.ts";
import { logger } from "../../observe/mod.ts";
import type { ClusterProblem } from "./fleet_once.ts";
import { CommandError, exitCode } from "../command/mod.ts";
import type { Convergence, ConvergingRunner, FailedObject } from "../convergence/mod.ts";

/** Failures that a message names; the log contains all. */
const maxNamed = 3;

/** What runs the controllers until they have nothing left to do. */
export interface OnceRunner extends ConvergingRunner, Pick<Manager, "run"> {
  /** The clusters of a fleet that were given up. @default none */
  problems?(): readonly ClusterProblem[];
}

/**
 * Runs the Manager until its controllers have nothing left to do.
 *
 * @param stopping Aborted at the end. When it is aborted before, the run is incomplete.
 * @throws CommandError that names the objects that failed, or says that the run was incomplete
 */
export async function runOnce(
  manager: OnceRunner,
  convergence: Convergence,
  stopping: Scope,
): Promise<void> {
  using watching = scope(stopping.signal);
  let problems: readonly ClusterProblem[] = [];
  const converged = convergence.waitUntilConverged(manager, watching.signal).then(() => {
    problems = manager.problems?.() ?? [];
    return true;
  }, () => false);
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
  assertNoFailures(convergence, problems);
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
  return `, and ${objectText(first)} still failed: ${first.error}${more}`;
}

function assertNoFailures({ failures, reconciled }: Convergence, problems: readonly ClusterProblem[]): void {
  if (failures.length === 0 && problems.length === 0) {
    return logger("cli").info("converged", { objects: reconciled });
  }
  const clusters = named(problems.map(({ about, problem }) => `${about}: ${problem}`));
  const objects = named(failures.map((object) => `${objectText(object)}: ${object.error}`));
  const states = [
    ...problems.length === 0 ? [] : [clusters],
    ...failures.length === 0 ? [] : [`${failures.length} of ${reconciled} objects failed: ${objects}`],
  ];
  throw new CommandError(`Cannot reconcile everything: ${states.join("; ")}`, {
    code: exitCode.failed,
    advice: problems.length === 0
      ? "Correct these objects, then run it again"
      : "See what the clusters lack with doctor --clusters, then run it again",
  });
}

function objectText({ controller, key, cluster }: Pick<FailedObject, "controller" | "key" | "cluster">): string {
  return `${controller} ${key}${cluster === undefined ? "" : ` in cluster ${cluster}`}`;
}

function named(texts: readonly string[]): string {
  const more = texts.length > maxNamed ? `; and ${texts.length - maxNamed} more` : "";
  return texts.slice(0, maxNamed).join("; ") + more;
}

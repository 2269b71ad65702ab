/**
 * RetryOracle: a success forgets the failures of a key. It counts the failures of each key itself, and compares an attempt
 * after a success with what the engine says about it. Failures that are not forgotten change no object: they make the next
 * retry wait longer, up to the longest delay, and use up `maxRetries`.
 */
import type { OperatorController } from "../manager/mod.ts";
import type { Violation } from "./violation.ts";

/** Violations that are reported for one run. */
const maxReported = 5;

/** Observes all processes of a run. */
export class RetryOracle {
  readonly #problems = new Set<string>();

  /** The controllers for one process. */
  observed(controllers: readonly OperatorController[], processId: number): readonly OperatorController[] {
    return controllers.map((controller) => ({ ...controller, reconciler: this.#counted(controller, processId) }));
  }

  violations(): readonly Violation[] {
    return [...this.#problems].slice(0, maxReported).map((message) => ({ invariant: "retry-count", message }));
  }

  #counted({ name, reconciler }: OperatorController, processId: number): OperatorController["reconciler"] {
    const succeeded = new Set<string>();
    return async (request, toolbox) => {
      if (succeeded.delete(request.key) && toolbox.retries > 0) {
        this.#problems.add(
          `process ${processId} counts ${toolbox.retries} failures of ${name} ${request.key}, whose last reconcile succeeded`,
        );
      }
      const result = await reconciler(request, toolbox);
      succeeded.add(request.key);
      return result;
    };
  }
}

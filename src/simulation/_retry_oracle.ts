/**
 * RetryOracle: a success forgets the failures of a key. It counts the failures of each key itself, and compares an attempt
 * after a success with what the engine says about it. Failures that are not forgotten change no object: they make the next
 * retry wait longer, up to the longest delay, and use up `maxRetries`.
 */
import type { ObjectKey } from "../api/mod.ts";
import type { Clock } from "../async/mod.ts";
import { defaultRateLimiter, type RateLimiter } from "../queue/mod.ts";
import type { OperatorController } from "../manager/mod.ts";
import type { Violation } from "./violation.ts";

/** Violations that are reported for one run. */
const maxReported = 5;

/** Observes all processes of a run. */
export class RetryOracle {
  readonly #problems = new Set<string>();

  /** The controllers for one process. @param clock that of the process */
  observed(
    controllers: readonly OperatorController[],
    { processId, clock }: { readonly processId: number; readonly clock: Clock },
  ): readonly OperatorController[] {
    return controllers.map((controller) => {
      // By cluster of a fleet, because each has a queue of its own.
      const succeeded = new Map<string, Set<string>>();
      const { rateLimiter = () => defaultRateLimiter<ObjectKey>({ clock }) } = controller.options;
      return {
        ...controller,
        options: { ...controller.options, rateLimiter: () => observedLimiter(rateLimiter(), succeeded) },
        reconciler: this.#counted(controller, { processId, succeeded }),
      };
    });
  }

  violations(): readonly Violation[] {
    return [...this.#problems].slice(0, maxReported).map((message) => ({ invariant: "retry-count", message }));
  }

  #counted(
    { name, reconciler }: OperatorController,
    { processId, succeeded }: { readonly processId: number; readonly succeeded: Map<string, Set<string>> },
  ): OperatorController["reconciler"] {
    return async (request, toolbox) => {
      const here = succeeded.get(request.cluster ?? "") ?? new Set();
      succeeded.set(request.cluster ?? "", here);
      if (here.delete(request.key) && toolbox.retries > 0) {
        this.#problems.add(
          `process ${processId} counts ${toolbox.retries} failures of ${name} ${request.key}, whose last reconcile succeeded`,
        );
      }
      const result = await reconciler(request, toolbox);
      here.add(request.key);
      return result;
    };
  }
}

/** An attempt can fail before it calls the reconciler: every failure asks for a delay. It does not say in which cluster. */
function observedLimiter(
  limiter: RateLimiter<ObjectKey>,
  succeeded: ReadonlyMap<string, Set<string>>,
): RateLimiter<ObjectKey> {
  return {
    when(key) {
      for (const keys of succeeded.values()) keys.delete(key);
      return limiter.when(key);
    },
    forget: (key) => limiter.forget(key),
    retries: (key) => limiter.retries(key),
  };
}

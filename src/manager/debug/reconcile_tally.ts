/**
 * ReconcileTally: how often a controller has reconciled and failed since the process began, and how long it took, for the debug
 * endpoint. It takes the same calls as the metrics, which a process may not have.
 *
 * Guarantees: numbers only grow, so that two answers tell what happened between them; one reconcile costs a few additions.
 */
import type { ObjectKey } from "../../api/mod.ts";
import type { DaemonCounts, ReconcileMetrics, ReconcileOutcome } from "../../controller/mod.ts";

/**
 * Upper bounds of the durations, in milliseconds: 0.125 ms to 49 min, each √2 times the one before, so that a quantile is at most
 * 41 % off. The metrics begin at 5 ms, as controller-runtime's; most reconciles here are faster.
 */
export const durationBoundsMs: readonly number[] = Array.from({ length: 50 }, (_, step) => 0.125 * 2 ** (step / 2));

/** What has happened in one controller. */
export class ReconcileTally {
  /** How many reconciles have ended, failed ones included; not those that the end of the process has aborted. */
  reconciles = 0;
  /** How many of them failed. */
  failures = 0;
  /** How many run now. */
  busy = 0;
  maxWorkers = 0;
  /** Its daemons by state, while it runs; undefined for a controller without. */
  daemons: (() => DaemonCounts) | undefined;
  readonly #durations: number[] = new Array<number>(durationBoundsMs.length + 1).fill(0);
  readonly #failing = new Set<ObjectKey>();

  /** How many reconciles took at most as long as the bound at the same index, and longer than the bound before; the last: longer. */
  get durations(): readonly number[] {
    return [...this.#durations];
  }

  /** How many keys failed when they were reconciled last. */
  get failing(): number {
    return this.#failing.size;
  }

  /** Counts, and passes all calls on to `next`. */
  observing(next: ReconcileMetrics | undefined): ReconcileMetrics {
    this.busy = 0;
    this.#failing.clear();
    return {
      setMaxWorkers: (count) => {
        this.maxWorkers = count;
        next?.setMaxWorkers(count);
      },
      onStart: () => {
        this.busy++;
        next?.onStart();
      },
      onFinish: (key, outcome, durationMs) => {
        this.busy--;
        this.#count(key, outcome, durationMs);
        next?.onFinish(key, outcome, durationMs);
      },
      removeWhere: (isGone) => {
        for (const key of [...this.#failing].filter(isGone)) this.#failing.delete(key);
        next?.removeWhere(isGone);
      },
      readParked: (read) => next?.readParked(read),
      daemons: (read) => {
        this.daemons = read;
        return next?.daemons(read) ?? (() => {});
      },
      external: (source, failing) => next?.external(source, failing) ?? (() => {}),
    };
  }

  #count(key: ObjectKey, outcome: ReconcileOutcome, durationMs: number): void {
    if (outcome === "aborted") return;
    this.reconciles++;
    const bucket = bucketOf(durationMs);
    this.#durations[bucket] = (this.#durations[bucket] ?? 0) + 1;
    if (outcome === "failed" || outcome === "terminal") {
      this.failures++;
      this.#failing.add(key);
    } else if (this.#failing.size > 0) this.#failing.delete(key);
  }
}

/** The index of the first bound that is not below `ms`. */
function bucketOf(ms: number): number {
  if (!(ms > 0.125)) return 0;
  return Math.min(durationBoundsMs.length, Math.ceil(Math.log2(ms / 0.125) * 2 - 1e-9));
}

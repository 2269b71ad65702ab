/**
 * The worker loop: takes keys, tries them, and decides by the outcome when they come back. Nothing else calls
 * reconcilers.
 */
import type { ObjectKey } from "../api/mod.ts";
import type { Logger } from "../observe/mod.ts";
import type { QueueItem, WorkQueue } from "../queue/mod.ts";
import type { Attempt } from "./_attempt.ts";
import type { Outages } from "./_outages.ts";
import type { Cause } from "./reconciler.ts";

/** What the workers of one controller share. */
export interface Job {
  readonly queue: WorkQueue<ObjectKey, Cause>;
  readonly attempt: Attempt;
  /** True when the key must wait for the cache to see its last writes; it is added again then. */
  readonly held: (key: ObjectKey) => boolean;
  readonly maxRetries?: number;
  readonly outages: Outages;
  /** Hears of a key that is given up. */
  readonly dropped?: (key: ObjectKey, error: unknown) => void;
  readonly log: Logger;
}

/** Reconciles keys until `stop`. Guarantees: never throws, never runs one key twice at once. */
export async function work(job: Job, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    // Without a promise where there is work already, which under load is always.
    using item = job.queue.tryTake() ?? await job.queue.take(stop);
    if (item === undefined) return;
    if (!job.held(item.key)) await reconcileOnce(job, item);
  }
}

async function reconcileOnce(job: Job, item: QueueItem<ObjectKey, Cause>): Promise<void> {
  const { queue, attempt, maxRetries = Infinity, outages, log } = job;
  const { key } = item;
  const outcome = await attempt(key, item.causes, queue.retries(key));
  const excused = outages.note(key, outcome);
  switch (outcome.kind) {
    case "done":
      return queue.forget(key);
    case "requeue":
      queue.forget(key);
      return queue.addAfter(key, outcome.afterMs, { cause: again(key, "requeue") });
    case "aborted":
      return;
    case "terminal":
      log.error("reconcile failed for good, waiting for a change", { key, error: outcome.error });
      return queue.forget(key);
    case "failed":
      if (queue.retries(key) - excused < maxRetries) {
        log.warn("reconcile failed, will retry", { key, retries: queue.retries(key), error: outcome.error });
        return queue.addRateLimited(key, { cause: again(key, "retry") });
      }
      log.error("reconcile failed too often, dropping the key until it changes", {
        key,
        retries: queue.retries(key),
        error: outcome.error,
      });
      outages.forget(key);
      job.dropped?.(key, outcome.error);
      return queue.forget(key);
    default:
      outcome satisfies never;
  }
}

function again(key: ObjectKey, change: "retry" | "requeue"): Cause {
  return { source: "queue", change, key };
}

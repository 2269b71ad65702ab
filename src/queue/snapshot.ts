/**
 * What `WorkQueue.snapshot()` and `WorkQueue.counts` answer: every key the queue knows, what it is doing, and why it
 * is there. It is a copy, made for people and debug endpoints; nothing in it changes when the queue moves on.
 */

/** Where a key stands. Instants are wall time in milliseconds since the epoch. */
export type QueueEntryState =
  | { readonly kind: "queued"; readonly addedAt: number }
  | { readonly kind: "running"; readonly startedAt: number }
  /** Running, and added again since: it runs once more as soon as it is done. */
  | { readonly kind: "runningDirty"; readonly startedAt: number; readonly addedAt: number }
  | { readonly kind: "waiting"; readonly dueAt: number }
  /** Taken out of circulation. `pending` tells whether somebody has asked for a run since. */
  | { readonly kind: "parked"; readonly reason: string; readonly parkedAt: number; readonly pending: boolean };

/** One key of a queue. */
export interface QueueEntry<K, C = unknown> {
  readonly key: K;
  readonly state: QueueEntryState;
  /** Priority of the run that is to come, or of the running one when none is. */
  readonly priority: number;
  /** The lane the key is served in; "" when the queue has no lanes. */
  readonly lane: string;
  /** Failures counted by the rate limiter since the key was last forgotten. */
  readonly retries: number;
  /** Why the run is to come, oldest first; of the running one when no other is to come. */
  readonly causes: readonly C[];
  /** How many causes were dropped from `causes` to keep it bounded. */
  readonly causesDropped: number;
  /** When a delayed add of this key is due, if there is one besides its state. */
  readonly dueAt?: number;
}

/** How many keys are in each state. A key that waits for a delay while it runs counts in both. */
export interface QueueCounts {
  readonly queued: number;
  /** Running keys, dirty ones included. */
  readonly running: number;
  readonly runningDirty: number;
  readonly waiting: number;
  readonly parked: number;
}

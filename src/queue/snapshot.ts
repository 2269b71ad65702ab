/**
 * The listing that `WorkQueue.snapshot()` and `WorkQueue.counts` return: every key of the queue, its state, and its
 * causes. It is a copy for people and debug endpoints: it does not change when the queue does.
 */
import type { Clock } from "../async/mod.ts";
import type { DelayedKeys } from "./delayed_keys.ts";
import type { ParkedKeys } from "./parked_keys.ts";
import type { Entry, EntryList, RunningItem } from "./queue_item.ts";
import type { RateLimiter } from "./rate_limiter.ts";
import type { ReadyKeys } from "./ready_keys.ts";

/** The state of a key. Instants are wall time in milliseconds since the epoch. */
export type QueueEntryState =
  | { readonly kind: "queued"; readonly addedAt: number }
  | { readonly kind: "running"; readonly startedAt: number }
  /** Running, and added again since: it runs once more when this run ends. */
  | { readonly kind: "runningDirty"; readonly startedAt: number; readonly addedAt: number }
  | { readonly kind: "waiting"; readonly dueAt: number }
  /** It does not run until it is unparked. `isPending`: a run was requested meanwhile. */
  | { readonly kind: "parked"; readonly reason: string; readonly parkedAt: number; readonly isPending: boolean };

/** One key of a queue, in the listing of {@link WorkQueue.snapshot}. */
export interface QueueEntry<K, C = unknown> {
  /** The key. */
  readonly key: K;
  /** Whether it is queued, running, waiting or parked, and since when. */
  readonly state: QueueEntryState;
  /** Priority of the next run, or of the running one when there is no next. */
  readonly priority: number;
  /** The lane in which the key is served; "" when the queue has no lanes. */
  readonly lane: string;
  /** Retries counted by the rate limiter since the key was last forgotten. */
  readonly retries: number;
  /** Causes of the next run, oldest first; of the running one when there is no next. */
  readonly causes: readonly C[];
  /** How many causes were dropped from `causes` because of its bound. */
  readonly causesDropped: number;
  /** When a delayed add of this key is due, if it has one beside its state. */
  readonly dueAt?: number;
}

/** How many keys are in each state. A key that is delayed while it runs counts in both. */
export interface QueueCounts {
  /** Keys that are ready for a worker. */
  readonly queued: number;
  /** Running keys, dirty ones included. */
  readonly running: number;
  /** Running keys that were added again: they run once more. */
  readonly runningDirty: number;
  /** Keys whose delay has not passed. */
  readonly waiting: number;
  /** Parked keys. */
  readonly parked: number;
}

/** What waits for a worker. */
export interface QueueBacklog<K> {
  /** How many keys are queued in each lane that has any; "" is the only lane of a queue without lanes. */
  readonly lanes: ReadonlyMap<string, number>;
  /** The key that has waited longest, and since when: wall time in milliseconds since the epoch. */
  readonly oldest?: { readonly key: K; readonly lane: string; readonly addedAt: number };
}

/** The parts of a queue that contain its keys. */
export interface QueueParts<K, C> {
  readonly clock: Clock;
  readonly rateLimiter: RateLimiter<K>;
  readonly laneOf: ((key: K) => string) | undefined;
  readonly running: EntryList<K, C>;
  readonly ready: ReadyKeys<K, C>;
  readonly delayed: DelayedKeys<K, C>;
  readonly parked: ParkedKeys<K, C>;
  /** True for a key that is queued or running. */
  readonly isActive: (key: K) => boolean;
}

type ListedKey<K, C> = Pick<QueueEntry<K, C>, "key" | "state" | "priority"> & {
  readonly causes: readonly C[] | undefined;
  readonly causesDropped: number;
};

/** Lists at most `limit` keys: running, queued, parked, waiting. Each key is listed once. */
export function listEntries<K, C>(parts: QueueParts<K, C>, limit: number): QueueEntry<K, C>[] {
  const { clock, rateLimiter, laneOf, delayed } = parts;
  const toWall = clock.now() - clock.monotonic();
  const entries: QueueEntry<K, C>[] = [];
  for (const listed of keysOf(parts, toWall)) {
    if (entries.length >= limit) break;
    const { key, state, priority, causes = [], causesDropped } = listed;
    const delay = state.kind === "waiting" ? undefined : delayed.find(key);
    entries.push({
      key,
      state,
      priority,
      lane: laneOf?.(key) ?? "",
      retries: rateLimiter.retries(key),
      causes: [...causes],
      causesDropped,
      ...(delay === undefined ? {} : { dueAt: delay.dueAt + toWall }),
    });
  }
  return entries;
}

/** Counts what is queued. Creates nothing per key. */
export function backlogOf<K, C>({ ready, clock }: Pick<QueueParts<K, C>, "ready" | "clock">): QueueBacklog<K> {
  const lanes = new Map<string, number>();
  let oldest: Entry<K, C> | undefined;
  for (const entry of ready.entries()) {
    const lane = entry.lane?.name ?? "";
    lanes.set(lane, (lanes.get(lane) ?? 0) + 1);
    if (oldest === undefined || entry.addedAt < oldest.addedAt) oldest = entry;
  }
  if (oldest === undefined) return { lanes };
  const addedAt = oldest.addedAt + clock.now() - clock.monotonic();
  return { lanes, oldest: { key: oldest.key, lane: oldest.lane?.name ?? "", addedAt } };
}

function* keysOf<K, C>(parts: QueueParts<K, C>, toWall: number): Generator<ListedKey<K, C>> {
  const { running, ready, parked, delayed, isActive } = parts;
  for (const entry of running) if (entry.item !== undefined) yield runningKey(entry, entry.item, toWall);
  for (const entry of ready.entries()) {
    yield { ...pick(entry), state: { kind: "queued", addedAt: entry.addedAt + toWall } };
  }
  for (const one of parked.values()) {
    if (isActive(one.key)) continue;
    const { reason, isPending } = one;
    yield { ...pick(one), state: { kind: "parked", reason, isPending, parkedAt: one.parkedAt + toWall } };
  }
  for (const one of delayed.values()) {
    if (isActive(one.key) || parked.find(one.key) !== undefined) continue;
    yield { ...pick(one), state: { kind: "waiting", dueAt: one.dueAt + toWall } };
  }
}

function runningKey<K, C>(entry: Entry<K, C>, item: RunningItem<K, C>, toWall: number): ListedKey<K, C> {
  const startedAt = item.startedAt + toWall;
  const state: QueueEntryState = entry.isDirty
    ? { kind: "runningDirty", startedAt, addedAt: entry.addedAt + toWall }
    : { kind: "running", startedAt };
  return { ...pick(entry.isDirty ? entry : item), state };
}

function pick<K, C>(from: Omit<ListedKey<K, C>, "state">): Omit<ListedKey<K, C>, "state"> {
  const { key, priority, causes, causesDropped } = from;
  return { key, priority, causes, causesDropped };
}

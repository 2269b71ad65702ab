/** Makes the listing that `WorkQueue.snapshot()` answers from the parts of a queue. */
import type { Clock } from "../async/mod.ts";
import type { Delays } from "./_delays.ts";
import type { Entry, EntryList } from "./_entry.ts";
import type { Parking } from "./_parking.ts";
import type { Ready } from "./_ready.ts";
import type { RunningItem } from "./queue_item.ts";
import type { RateLimiter } from "./rate_limiter.ts";
import type { QueueEntry, QueueEntryState } from "./snapshot.ts";

/** The parts of a queue that know its keys. */
export interface Parts<K, C> {
  readonly clock: Clock;
  readonly rateLimiter: RateLimiter<K>;
  readonly laneOf: ((key: K) => string) | undefined;
  readonly running: EntryList<K, C>;
  readonly ready: Ready<K, C>;
  readonly delays: Delays<K, C>;
  readonly parking: Parking<K, C>;
  /** Whether a key is queued or running. */
  readonly isActive: (key: K) => boolean;
}

type Known<K, C> = Pick<QueueEntry<K, C>, "key" | "state" | "priority"> & {
  readonly causes: readonly C[] | undefined;
  readonly causesDropped: number;
};

/** Lists at most `limit` keys: running, queued, parked, waiting. A key is listed once. */
export function listing<K, C>(parts: Parts<K, C>, limit: number): QueueEntry<K, C>[] {
  const { clock, rateLimiter, laneOf, delays } = parts;
  const toWall = clock.now() - clock.monotonic();
  const entries: QueueEntry<K, C>[] = [];
  for (const known of knownKeys(parts, toWall)) {
    if (entries.length >= limit) break;
    const { key, state, priority, causes = [], causesDropped } = known;
    const delay = state.kind === "waiting" ? undefined : delays.find(key);
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

function* knownKeys<K, C>(parts: Parts<K, C>, toWall: number): Generator<Known<K, C>> {
  const { running, ready, parking, delays, isActive } = parts;
  for (const entry of running) if (entry.item !== undefined) yield runningKey(entry, entry.item, toWall);
  for (const entry of ready.entries()) {
    yield { ...pick(entry), state: { kind: "queued", addedAt: entry.addedAt + toWall } };
  }
  for (const parked of parking.values()) {
    if (isActive(parked.key)) continue;
    const { reason, pending } = parked;
    yield { ...pick(parked), state: { kind: "parked", reason, pending, parkedAt: parked.parkedAt + toWall } };
  }
  for (const delay of delays.values()) {
    if (isActive(delay.key) || parking.find(delay.key) !== undefined) continue;
    yield { ...pick(delay), state: { kind: "waiting", dueAt: delay.dueAt + toWall } };
  }
}

function runningKey<K, C>(entry: Entry<K, C>, item: RunningItem<K, C>, toWall: number): Known<K, C> {
  const startedAt = item.startedAt + toWall;
  const state: QueueEntryState = entry.dirty
    ? { kind: "runningDirty", startedAt, addedAt: entry.addedAt + toWall }
    : { kind: "running", startedAt };
  return { ...pick(entry.dirty ? entry : item), state };
}

function pick<K, C>(from: Omit<Known<K, C>, "state">): Omit<Known<K, C>, "state"> {
  const { key, priority, causes, causesDropped } = from;
  return { key, priority, causes, causesDropped };
}

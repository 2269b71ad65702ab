/**
 * One key of the queue, seen from both sides: QueueItem is what a worker holds while it reconciles the key, Entry is
 * what the queue stores about it.
 *
 * `using item = await queue.take(signal)` makes leaving the block the Done of client-go, on every path. Disposing
 * an item twice is harmless: the second call does not end a later run of the same key.
 */
import type { Clock } from "../async/mod.ts";

/**
 * One run of a key, from take to dispose: `using item = await queue.take(signal)`. No other worker gets the key before the
 * item is disposed.
 */
export interface QueueItem<K, C = unknown> extends Disposable {
  /** The key to reconcile. */
  readonly key: K;
  /** The highest priority it was added with. Pass it on when you add the key again, to preserve it. */
  readonly priority: number;
  /** Why it runs, oldest first, bounded: the first cause and the latest ones. */
  readonly causes: readonly C[];
  /** How many causes were dropped from `causes` because of its bound. */
  readonly causesDropped: number;
  /** When it was first added, wall time in milliseconds since the epoch. */
  readonly addedAt: number;
  /** How long it was ready before a worker took it, in milliseconds. */
  readonly waitedMs: number;
}

/** What an item needs from its queue. */
export interface ItemOwner<K, C> {
  readonly clock: Clock;
  readonly finish: (entry: Entry<K, C>, item: RunningItem<K, C>) => void;
}

const none: readonly never[] = Object.freeze([]);

/** The queue's own QueueItem. It copies its values, because the entry continues to exist and may run again. */
export class RunningItem<K, C> implements QueueItem<K, C> {
  readonly key: K;
  readonly priority: number;
  readonly causes: readonly C[];
  readonly causesDropped: number;
  readonly waitedMs: number;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  readonly #owner: ItemOwner<K, C>;
  #entry: Entry<K, C> | undefined;

  constructor(owner: ItemOwner<K, C>, entry: Entry<K, C>, startedAt: number) {
    this.key = entry.key;
    this.priority = entry.priority;
    this.causes = entry.causes ?? none;
    this.causesDropped = entry.causesDropped;
    this.waitedMs = startedAt - entry.addedAt;
    this.startedAt = startedAt;
    this.#owner = owner;
    this.#entry = entry;
  }

  get addedAt(): number {
    const { clock } = this.#owner;
    return clock.now() - clock.monotonic() + this.startedAt - this.waitedMs;
  }

  [Symbol.dispose](): void {
    const entry = this.#entry;
    if (entry === undefined) return;
    this.#entry = undefined;
    this.#owner.finish(entry, this);
  }
}

/**
 * What the queue stores about a key that is queued, running or both: queued while `lane` is set, running while `item`
 * is. Instants are monotonic milliseconds.
 *
 * The links of its list are in the entry itself, so that moving a key allocates nothing and an entry leaves its list in
 * constant time (behaviour 43). All fields are set in the constructor's body: JavaScriptCore sizes objects by what it
 * finds there. An entry that left the queue has no causes, links or item, and may be reused for another key.
 */
export class Entry<K, C> implements CauseHolder<C> {
  key: K;
  /** Priority of the queued run; of the running one when `isDirty` is false. */
  priority: number;
  addedAt: number;
  causes: C[] | undefined;
  causesDropped: number;
  /** The list in which it is queued. */
  lane: Lane<K, C> | undefined;
  /** The run that is in progress. */
  item: RunningItem<K, C> | undefined;
  /** Added again while running; client-go calls this the dirty set. */
  isDirty: boolean;
  previous: Entry<K, C> | undefined;
  next: Entry<K, C> | undefined;

  constructor(key: K, priority: number, addedAt: number) {
    this.key = key;
    this.priority = priority;
    this.addedAt = addedAt;
    this.causes = undefined;
    this.causesDropped = 0;
    this.lane = undefined;
    this.item = undefined;
    this.isDirty = false;
    this.previous = undefined;
    this.next = undefined;
  }

  /** Makes the entry, which left the queue after a run, that of another key. */
  reuse(key: K, priority: number, addedAt: number): void {
    this.key = key;
    this.priority = priority;
    this.addedAt = addedAt;
  }
}

/** A doubly linked list of entries. An entry is in one list at most. */
export class EntryList<K, C> {
  first: Entry<K, C> | undefined = undefined;
  last: Entry<K, C> | undefined = undefined;

  append(entry: Entry<K, C>): void {
    const { last } = this;
    entry.previous = last;
    if (last === undefined) this.first = entry;
    else last.next = entry;
    this.last = entry;
  }

  remove(entry: Entry<K, C>): void {
    const { previous, next } = entry;
    if (previous === undefined) this.first = next;
    else previous.next = next;
    if (next === undefined) this.last = previous;
    else next.previous = previous;
    entry.previous = undefined;
    entry.next = undefined;
  }

  *[Symbol.iterator](): Generator<Entry<K, C>> {
    for (let entry = this.first; entry !== undefined; entry = entry.next) yield entry;
  }
}

/** The queued entries of one lane (a namespace, say) of one priority, and its place in the round robin of lanes. */
export class Lane<K, C> extends EntryList<K, C> {
  readonly name: string;
  /** How many entries it may still give in this turn. */
  credit = 0;
  following: Lane<K, C>;
  preceding: Lane<K, C>;

  constructor(name: string) {
    super();
    this.name = name;
    this.following = this;
    this.preceding = this;
  }
}

/**
 * Anything that collects the causes of a run: an entry, a delayed add, a parked key. The list is bounded: it contains
 * the first cause, which began the run, and the latest ones, which explain why it continues.
 */
export interface CauseHolder<C> {
  causes: C[] | undefined;
  causesDropped: number;
}

/** Adds one cause, and drops the second oldest when there are more than `maxCauses`. */
export function addCause<C>(holder: CauseHolder<C>, cause: C, maxCauses: number): void {
  if (holder.causes === undefined) {
    if (maxCauses > 0) holder.causes = [cause];
    else holder.causesDropped++;
    return;
  }
  holder.causes.push(cause);
  if (holder.causes.length > maxCauses) {
    holder.causes.splice(Math.min(1, maxCauses - 1), 1);
    holder.causesDropped++;
  }
}

/** Adds all causes of `from` to `to`. */
export function moveCauses<C>(from: CauseHolder<C>, to: CauseHolder<C>, maxCauses: number): void {
  to.causesDropped += from.causesDropped;
  if (from.causes === undefined) return;
  for (const cause of from.causes) addCause(to, cause, maxCauses);
}

/**
 * WorkQueue: the keys that have to be reconciled, between the event handlers that add them and the workers that take
 * them.
 *
 *   add, addRateLimited, addAfter -> DelayedKeys -> ReadyKeys -> take -> QueueItem -> dispose (Done)
 *
 * Guarantees: one worker at a time has a key; adds of a queued key collapse into one run, adds during a run into
 * one more run; of two delayed adds of a key the earlier time counts; higher priorities go first, without starving
 * lower ones; lanes of one priority take turns. The path from add to take is synchronous.
 * Caveats: the queue works in one thread, and its content is lost when the process ends.
 */
import { type Clock, Latch, systemClock, TurnClock } from "../async/mod.ts";
import { DelayedKeys } from "./delayed_keys.ts";
import type { QueueMetrics, RunningWork } from "./metrics.ts";
import type { QueueObserver } from "./observer.ts";
import { ParkedKeys } from "./parked_keys.ts";
import { PendingTakes } from "./pending_takes.ts";
import {
  addCause,
  type CauseHolder,
  Entry,
  EntryList,
  type ItemOwner,
  moveCauses,
  type QueueItem,
  RunningItem,
} from "./queue_item.ts";
import { defaultRateLimiter, type RateLimiter } from "./rate_limiter.ts";
import { ReadyKeys } from "./ready_keys.ts";
import { backlogOf, listEntries, type QueueBacklog, type QueueCounts, type QueueEntry } from "./snapshot.ts";

/** Priority of adds that may wait, such as those of a first list; the value is controller-runtime's. */
export const lowPriority = -100;

/** Priority of a resync: nothing has changed, so that it comes after the keys of a list that nobody has looked at. */
export const resyncPriority = -200;

/** How a key is added; the last argument of the add methods of a {@link WorkQueue}. */
export interface AddOptions<C = unknown> {
  /** Higher goes first. A key that is added several times has the highest of its priorities. @default 0 */
  readonly priority?: number;
  /** Why the key is added; the item that a worker takes carries it. */
  readonly cause?: C;
}

/** Options of a {@link WorkQueue}. */
export interface WorkQueueOptions<K, C = unknown> {
  /** The queue's name in listings. */
  readonly name: string;
  /** Delays of `addRateLimited`. @default defaultRateLimiter({ clock }) */
  readonly rateLimiter?: RateLimiter<K>;
  /** Measures delays and times. @default systemClock */
  readonly clock?: Clock;
  /** Notified of everything that happens, e.g. `queueMetrics(registry, { name })`. @default none */
  readonly metrics?: QueueMetrics;
  /** Notified of keys that have to wait, e.g. for a recording. @default none */
  readonly observer?: QueueObserver<K, C>;
  /** Sorts keys into lanes that take turns within a priority, e.g. by namespace. @default one lane, first in first out */
  readonly laneOf?: (key: K) => string;
  /** How many keys a lane gives per turn, at least 1. @default 1 for every lane */
  readonly laneWeight?: (lane: string) => number;
  /** Takes that may pass over a lower priority before it has its turn. @default 10 */
  readonly ageingTurns?: number;
  /** How many causes a key carries: the first and the latest ones. @default 8 */
  readonly maxCauses?: number;
}

/**
 * A queue of keys that have to be reconciled, between the handlers that add them and the workers that take them. One worker
 * at a time has a key, and repeated adds collapse into one run.
 *
 * Keys are of type K, their causes of type C. Keys are compared as a Map compares them, so they should be strings or
 * numbers: two objects with equal fields are two keys.
 *
 * @example
 * ```ts
 * import { WorkQueue } from "@pintle/controller/cache";
 *
 * using queue = new WorkQueue<string>({ name: "foo" });
 * queue.add("default/a", { cause: "Foo changed" });
 * queue.add("default/a", { cause: "Deployment changed" });
 * using item = await queue.take(new AbortController().signal);
 * console.assert(item?.key === "default/a" && item.causes.length === 2 && queue.size === 0);
 * ```
 */
export class WorkQueue<K, C = unknown> implements Disposable {
  /** The queue's name in listings. */
  readonly name: string;
  readonly #clock: Clock;
  readonly #rateLimiter: RateLimiter<K>;
  readonly #metrics: QueueMetrics | undefined;
  readonly #observer: QueueObserver<K, C> | undefined;
  readonly #laneOf: ((key: K) => string) | undefined;
  readonly #maxCauses: number;
  /** Every key that is queued or running. */
  readonly #entries = new Map<K, Entry<K, C>>();
  readonly #ready: ReadyKeys<K, C>;
  readonly #running = new EntryList<K, C>();
  /** The entry of a key that is no longer in the queue, for the next key that is added: an allocation less. */
  #spare: Entry<K, C> | undefined = undefined;
  #runningCount = 0;
  #dirtyCount = 0;
  readonly #delayed: DelayedKeys<K, C>;
  readonly #parked = new ParkedKeys<K, C>();
  readonly #takes = new PendingTakes<QueueItem<K, C>>();
  /** Opens when calls of shutDownWithDrain may return; then a new one takes its place. */
  #drained = new Latch();
  readonly #owner: ItemOwner<K, C>;
  #isShuttingDown = false;

  /**
   * Creates an empty queue.
   *
   * @throws {RangeError} when ageingTurns or maxCauses is not a number from 0 up
   */
  constructor(options: WorkQueueOptions<K, C>) {
    const { name, clock = systemClock, metrics } = options;
    const { laneOf, laneWeight = () => 1, ageingTurns = 10, maxCauses = 8 } = options;
    if (!(ageingTurns >= 0 && maxCauses >= 0)) {
      throw new RangeError(
        `Cannot create WorkQueue "${name}": ageingTurns ${ageingTurns} or maxCauses ${maxCauses} is negative`,
      );
    }
    this.name = name;
    this.#clock = new TurnClock(clock);
    this.#owner = { clock, finish: (entry, item) => this.#finish(entry, item) };
    this.#rateLimiter = options.rateLimiter ?? defaultRateLimiter({ clock: this.#clock });
    this.#metrics = metrics;
    this.#observer = options.observer;
    this.#laneOf = laneOf;
    this.#maxCauses = maxCauses;
    this.#ready = new ReadyKeys({ laneOf, laneWeight }, ageingTurns);
    this.#delayed = new DelayedKeys(this.#clock, maxCauses, () => this.#addDue());
    metrics?.running(() => this.#runningWork());
  }

  /** How many keys are queued: ready, and waiting for a worker. */
  get size(): number {
    return this.#ready.size;
  }

  /** True after the first shutDown. */
  get isShuttingDown(): boolean {
    return this.#isShuttingDown;
  }

  /** How many keys are in each state. Constant time. */
  get counts(): QueueCounts {
    return {
      queued: this.#ready.size,
      running: this.#runningCount,
      runningDirty: this.#dirtyCount,
      waiting: this.#delayed.size,
      parked: this.#parked.size,
    };
  }

  /**
   * Requests a run of `key` as soon as possible. Does nothing after shutDown.
   *
   * @throws {RangeError} when the priority is not a finite number
   */
  add(key: K, options?: AddOptions<C>): void {
    if (!this.#isShuttingDown) this.#add(key, checkedPriority(key, options?.priority), options?.cause);
  }

  /** As {@link add}, for all these causes at once. */
  addWithCauses(key: K, causes: readonly C[], options?: Pick<AddOptions, "priority">): void {
    if (this.#isShuttingDown) return;
    this.#addWithCauses(key, checkedPriority(key, options?.priority), { causes: [...causes], causesDropped: 0 });
  }

  /**
   * Requests a run of `key` after `ms` milliseconds; at once when `ms` is 0 or below. If the key is delayed already, the
   * earlier time counts.
   *
   * @throws {RangeError} when `ms` is not a finite number
   */
  addAfter(key: K, ms: number, options?: AddOptions<C>): void {
    if (this.#isShuttingDown) return;
    if (!Number.isFinite(ms)) throw new RangeError(`Cannot add "${String(key)}": the delay is ${ms} ms`);
    this.#addLater(key, ms, options, undefined);
  }

  /**
   * Requests a run of `key` when the rate limiter allows it, for a key that failed. {@link forget} one that succeeded.
   *
   * @param options.minDelayMs The least delay in milliseconds, for example what a server asked for. @default 0
   */
  addRateLimited(key: K, options?: AddOptions<C> & { readonly minDelayMs?: number }): void {
    if (this.#isShuttingDown) return;
    const delayMs = Math.max(this.#rateLimiter.when(key), options?.minDelayMs ?? 0);
    this.#addLater(key, delayMs, options, this.#rateLimiter.retries(key));
  }

  #addLater(key: K, ms: number, options: AddOptions<C> | undefined, retries: number | undefined): void {
    const priority = checkedPriority(key, options?.priority);
    this.#metrics?.retried();
    const cause = this.#observer === undefined
      ? options?.cause
      : this.#observer.delayed(key, Math.max(0, ms), options?.cause, retries);
    if (ms <= 0) this.#add(key, priority, cause);
    else this.#delayed.add(key, { dueAt: this.#clock.monotonic() + ms, priority, cause });
  }

  /** Resets the rate limiter for `key`. Use it when the key succeeded or will not be retried. */
  forget(key: K): void {
    this.#rateLimiter.forget(key);
  }

  /** How often `key` was added with addRateLimited since it was last forgotten. */
  retries(key: K): number {
    return this.#rateLimiter.retries(key);
  }

  /**
   * Takes the next key, and waits until there is one. Dispose the item when its run is over: until then no other worker
   * gets the key.
   *
   * @returns undefined when `signal` is aborted, or when the queue is shut down and empty
   */
  take(signal: AbortSignal): Promise<QueueItem<K, C> | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    const item = this.tryTake();
    if (item !== undefined || this.#isShuttingDown) return Promise.resolve(item);
    return this.#takes.wait(signal);
  }

  /** Takes the next key if there is one, without waiting; else returns undefined. */
  tryTake(): QueueItem<K, C> | undefined {
    const entry = this.#ready.shift();
    return entry === undefined ? undefined : this.#start(entry);
  }

  /**
   * Prevents runs of `key` until it is unparked; a run that is requested meanwhile happens then. A run in progress ends
   * normally. Parking a parked key replaces the reason.
   *
   * @param reason For people: {@link snapshot} lists it.
   * @returns the entry in the recording
   */
  park(key: K, reason: string): number | undefined {
    const parked = this.#parked.park(key, reason, this.#clock.monotonic());
    const recorded = this.#observer?.parked(key, reason);
    const entry = this.#entries.get(key);
    if (entry === undefined || (entry.item !== undefined && !entry.isDirty)) return recorded;
    parked.request(entry.priority);
    moveCauses(entry, parked, this.#maxCauses);
    this.#metrics?.withdrawn(entry.priority);
    this.#withdraw(entry);
    this.#checkDrained();
    return recorded;
  }

  /**
   * Cancels the next run of a key that is running, if all causes of that run are obsolete: the run in progress has
   * considered them. Does nothing if a cause was dropped. Assumes that each run is requested with a cause.
   */
  retract(key: K, isObsolete: (cause: C) => boolean): void {
    const entry = this.#entries.get(key);
    if (entry?.item === undefined || !entry.isDirty || entry.causes === undefined || entry.causesDropped > 0) return;
    const remaining = entry.causes.filter((cause) => !isObsolete(cause));
    if (remaining.length > 0) {
      entry.causes = remaining;
      return;
    }
    this.#metrics?.withdrawn(entry.priority);
    this.#observer?.withdrawn(key);
    this.#withdraw(entry);
  }

  /**
   * Forgets keys: cancels their queued, delayed and parked runs, and resets the rate limiter for them. A run in progress ends
   * normally, and nothing follows it. Takes O(n).
   *
   * @param isRemoved Called with each key of the queue.
   */
  removeWhere(isRemoved: (key: K) => boolean): void {
    const [entries, later] = [[...this.#entries.values()], [...this.#delayed.values(), ...this.#parked.values()]];
    for (const { key } of [...entries, ...later]) {
      if (!isRemoved(key)) continue;
      this.forget(key);
      this.#delayed.remove(key);
      if (this.#parked.unpark(key) !== undefined) this.#observer?.unparked(key);
      const entry = this.#entries.get(key);
      if (entry === undefined || (entry.item !== undefined && !entry.isDirty)) continue;
      this.#metrics?.withdrawn(entry.priority);
      this.#observer?.withdrawn(key);
      this.#withdraw(entry);
    }
    this.#checkDrained();
  }

  /** Allows runs of a parked key again. @returns whether it was parked */
  unpark(key: K): boolean {
    const parked = this.#parked.unpark(key);
    if (parked === undefined) return false;
    this.#observer?.unparked(key);
    if (parked.isPending && !this.#isShuttingDown) this.#addWithCauses(key, parked.priority, parked);
    return true;
  }

  /** Ignores further adds and drops delayed ones. Takes continue until the queue is empty, then return undefined. */
  shutDown(): void {
    this.#stop();
    this.#endDrains();
  }

  /**
   * As shutDown, and waits until no key is queued or running. A later shutDown ends the wait. Workers must continue to
   * take. It does not wait for parked keys.
   *
   * @throws `signal.reason` when aborted first
   */
  shutDownWithDrain(signal: AbortSignal = never): Promise<void> {
    this.#stop();
    return this.#isIdle ? Promise.resolve() : this.#drained.wait(signal);
  }

  /** The same as {@link shutDown}. */
  [Symbol.dispose](): void {
    this.shutDown();
  }

  /**
   * Every key of the queue, running ones first, then in the order of the queue. Takes O(n): for people.
   *
   * @param options.limit Maximum number of keys. @default Infinity
   */
  snapshot(options: { readonly limit?: number } = {}): readonly QueueEntry<K, C>[] {
    const { limit = Infinity } = options;
    return listEntries({
      ...{ clock: this.#clock, rateLimiter: this.#rateLimiter, laneOf: this.#laneOf },
      running: this.#running,
      ready: this.#ready,
      delayed: this.#delayed,
      parked: this.#parked,
      isActive: (key) => this.#entries.has(key),
    }, limit);
  }

  /** How many keys are queued in each lane, and which of them has waited longest. Takes O(n): for people. */
  backlog(): QueueBacklog<K> {
    return backlogOf({ ready: this.#ready, clock: this.#clock });
  }

  get #isIdle(): boolean {
    return this.#ready.size === 0 && this.#runningCount === 0;
  }

  #add(key: K, priority: number, cause: C | undefined): void {
    const holder = this.#request(key, priority);
    if (cause !== undefined) addCause(holder, cause, this.#maxCauses);
    if (this.#takes.size > 0) this.#feed();
  }

  /** As #add, with all causes of `from`. */
  #addWithCauses(key: K, priority: number, from: CauseHolder<C>): void {
    moveCauses(from, this.#request(key, priority), this.#maxCauses);
    if (this.#takes.size > 0) this.#feed();
  }

  /** Makes a run of `key` due. @returns what collects its causes */
  #request(key: K, priority: number): CauseHolder<C> {
    const parked = this.#parked.find(key);
    if (parked !== undefined) {
      parked.request(priority);
      return parked;
    }
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = this.#createEntry(key, priority);
      this.#ready.append(entry);
      this.#entries.set(key, entry);
      this.#metrics?.added(priority);
    } else if (entry.item !== undefined && !entry.isDirty) {
      entry.isDirty = true;
      entry.priority = priority;
      entry.addedAt = this.#clock.monotonic();
      this.#dirtyCount++;
      this.#metrics?.added(priority);
    } else if (priority > entry.priority) {
      this.#raise(entry, priority);
    }
    return entry;
  }

  #createEntry(key: K, priority: number): Entry<K, C> {
    const now = this.#clock.monotonic();
    const spare = this.#spare;
    if (spare === undefined) return new Entry(key, priority, now);
    this.#spare = undefined;
    spare.reuse(key, priority, now);
    return spare;
  }

  #raise(entry: Entry<K, C>, priority: number): void {
    this.#metrics?.raised(entry.priority, priority);
    const { lane } = entry;
    if (lane !== undefined) this.#ready.remove(entry, lane);
    entry.priority = priority;
    if (lane !== undefined) this.#ready.append(entry);
  }

  /** Cancels the queued run of `entry`. */
  #withdraw(entry: Entry<K, C>): void {
    if (entry.lane !== undefined) {
      this.#ready.remove(entry, entry.lane);
      this.#entries.delete(entry.key);
    } else {
      entry.isDirty = false;
      this.#dirtyCount--;
      entry.causes = undefined;
      entry.causesDropped = 0;
    }
  }

  #addDue(): void {
    const now = this.#clock.monotonic();
    for (let due = this.#delayed.take(now); due !== undefined; due = this.#delayed.take(now)) {
      moveCauses(due, this.#request(due.key, due.priority), this.#maxCauses);
    }
    // Only now that all due keys are queued, so that the highest of their priorities goes first.
    this.#feed();
  }

  #feed(): void {
    while (this.#takes.size > 0) {
      const item = this.tryTake();
      if (item === undefined) return;
      this.#takes.deliver(item);
    }
  }

  #start(entry: Entry<K, C>): QueueItem<K, C> {
    const item = new RunningItem(this.#owner, entry, this.#clock.monotonic());
    entry.item = item;
    entry.causes = undefined;
    entry.causesDropped = 0;
    this.#running.append(entry);
    this.#runningCount++;
    this.#metrics?.taken(item.priority, item.waitedMs);
    return item;
  }

  #finish(entry: Entry<K, C>, item: RunningItem<K, C>): void {
    this.#running.remove(entry);
    this.#runningCount--;
    entry.item = undefined;
    this.#metrics?.finished(this.#clock.monotonic() - item.startedAt);
    if (entry.isDirty) {
      entry.isDirty = false;
      this.#dirtyCount--;
      this.#ready.append(entry);
      if (this.#takes.size > 0) this.#feed();
    } else {
      this.#entries.delete(entry.key);
      this.#spare = entry;
      this.#checkDrained();
    }
  }

  #checkDrained(): void {
    if (this.#isShuttingDown && this.#isIdle) this.#endDrains();
  }

  #endDrains(): void {
    this.#drained.open();
    this.#drained = new Latch();
  }

  #stop(): void {
    this.#isShuttingDown = true;
    this.#delayed.clear();
    this.#takes.release();
  }

  #runningWork(): RunningWork {
    const now = this.#clock.monotonic();
    let totalMs = 0, longestMs = 0;
    for (const { item } of this.#running) {
      if (item === undefined) continue;
      totalMs += now - item.startedAt;
      longestMs = Math.max(longestMs, now - item.startedAt);
    }
    return { totalMs, longestMs };
  }
}

function checkedPriority<K>(key: K, priority: number | undefined): number {
  if (priority === undefined) return 0;
  if (!Number.isFinite(priority)) throw new RangeError(`Cannot add "${String(key)}": the priority is ${priority}`);
  return priority;
}

const never = new AbortController().signal;

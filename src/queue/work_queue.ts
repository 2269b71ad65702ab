/**
 * WorkQueue: the keys that have to be reconciled, between the event handlers that add them and the workers that take
 * them.
 *
 * Guarantees: a key is with one worker at a time; adds of a key that is queued collapse into one run, adds while it
 * runs into one more run; delayed adds of a key keep the earlier time; higher priorities go first, without starving
 * lower ones; lanes of one priority take turns. From add to take no promise is made and nothing waits.
 * Caveats: it lives in one thread and forgets everything when the process ends.
 */
import { type Clock, systemClock } from "../async/mod.ts";
import { addCause, type CauseHolder, moveCauses } from "./_causes.ts";
import { Delays } from "./_delays.ts";
import { Drainers } from "./_drainers.ts";
import { Entry, EntryList } from "./_entry.ts";
import { Parking } from "./_parking.ts";
import { Ready } from "./_ready.ts";
import { listing } from "./_listing.ts";
import { TurnClock } from "./_turn_clock.ts";
import { Waiters } from "./_waiters.ts";
import type { QueueMetrics, RunningWork } from "./metrics.ts";
import { type ItemOwner, type QueueItem, RunningItem } from "./queue_item.ts";
import { defaultRateLimiter, type RateLimiter } from "./rate_limiter.ts";
import type { QueueCounts, QueueEntry } from "./snapshot.ts";
import type { AddOptions, WorkQueueOptions } from "./work_queue_options.ts";

/**
 * A queue of keys of type K, whose causes are of type C. Keys are told apart as a Map tells them apart, so they should
 * be strings or numbers: two objects that look alike are two keys.
 *
 * @example
 * ```ts
 * import { WorkQueue } from "../mod.ts";
 *
 * using queue = new WorkQueue<string>({ name: "foo" });
 * queue.add("default/a", { cause: "Foo changed" });
 * queue.add("default/a", { cause: "Deployment changed" });
 * using item = await queue.take(new AbortController().signal);
 * console.assert(item?.key === "default/a" && item.causes.length === 2 && queue.size === 0);
 * ```
 */
export class WorkQueue<K, C = unknown> implements Disposable {
  readonly name: string;
  readonly #clock: Clock;
  readonly #rateLimiter: RateLimiter<K>;
  readonly #metrics: QueueMetrics | undefined;
  readonly #laneOf: ((key: K) => string) | undefined;
  readonly #causeLimit: number;
  /** Every key that is queued or running. */
  readonly #entries = new Map<K, Entry<K, C>>();
  readonly #ready: Ready<K, C>;
  readonly #running = new EntryList<K, C>();
  #runningCount = 0;
  #dirtyCount = 0;
  readonly #delays: Delays<K, C>;
  readonly #parking = new Parking<K, C>();
  readonly #waiters = new Waiters<QueueItem<K, C>>();
  readonly #drainers = new Drainers();
  readonly #owner: ItemOwner<K, C>;
  #shuttingDown = false;

  /** @throws {RangeError} when ageingTurns or causeLimit is not a number from 0 up */
  constructor(options: WorkQueueOptions<K>) {
    const { name, clock = systemClock, metrics } = options;
    const { laneOf, laneWeight = () => 1, ageingTurns = 10, causeLimit = 8 } = options;
    if (!(ageingTurns >= 0 && causeLimit >= 0)) {
      throw new RangeError(
        `Cannot create WorkQueue "${name}": ageingTurns ${ageingTurns} or causeLimit ${causeLimit} is negative`,
      );
    }
    this.name = name;
    this.#clock = new TurnClock(clock);
    this.#owner = { clock, finish: (entry, item) => this.#finish(entry, item) };
    this.#rateLimiter = options.rateLimiter ?? defaultRateLimiter({ clock: this.#clock });
    this.#metrics = metrics;
    this.#laneOf = laneOf;
    this.#causeLimit = causeLimit;
    this.#ready = new Ready({ laneOf, laneWeight }, ageingTurns);
    this.#delays = new Delays(this.#clock, causeLimit, () => this.#addDue());
    metrics?.running(() => this.#runningWork());
  }

  /** How many keys are queued: ready, and waiting for a worker. */
  get size(): number {
    return this.#ready.size;
  }

  /** True from the first shutDown on. */
  get shuttingDown(): boolean {
    return this.#shuttingDown;
  }

  /** How many keys are in each state. Costs the same whatever the queue holds. */
  get counts(): QueueCounts {
    return {
      queued: this.#ready.size,
      running: this.#runningCount,
      runningDirty: this.#dirtyCount,
      waiting: this.#delays.size,
      parked: this.#parking.size,
    };
  }

  /** Asks for a run of `key` as soon as possible. After shutDown nothing is added. */
  add(key: K, options?: AddOptions<C>): void {
    if (this.#shuttingDown) return;
    if (options === undefined) return this.#add(key, 0, undefined);
    this.#add(key, checkedPriority(key, options.priority), options.cause);
  }

  /**
   * Asks for a run of `key` after `ms` milliseconds; zero and less is at once. An earlier time the key has stands.
   *
   * @throws {RangeError} when `ms` is not a finite number
   */
  addAfter(key: K, ms: number, options?: AddOptions<C>): void {
    if (this.#shuttingDown) return;
    if (!Number.isFinite(ms)) throw new RangeError(`Cannot add "${String(key)}": the delay is ${ms} ms`);
    const priority = checkedPriority(key, options?.priority);
    this.#metrics?.retried();
    if (ms <= 0) this.#add(key, priority, options?.cause);
    else this.#delays.add(key, { dueAt: this.#clock.monotonic() + ms, priority, cause: options?.cause });
  }

  /** Asks for a run of `key` when the rate limiter allows it: what one does with a key that failed. */
  addRateLimited(key: K, options?: AddOptions<C>): void {
    if (!this.#shuttingDown) this.addAfter(key, this.#rateLimiter.when(key), options);
  }

  /** Lets the rate limiter start over with `key`: it succeeded, or is given up. */
  forget(key: K): void {
    this.#rateLimiter.forget(key);
  }

  /** How often `key` was added rate-limited since it was last forgotten. */
  retries(key: K): number {
    return this.#rateLimiter.retries(key);
  }

  /**
   * Takes the next key, waiting until there is one. Dispose the item when its run is over: until then its key is with
   * nobody else.
   *
   * @returns undefined when `signal` is aborted, or when the queue is shut down and empty
   */
  take(signal: AbortSignal): Promise<QueueItem<K, C> | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    const item = this.tryTake();
    if (item !== undefined || this.#shuttingDown) return Promise.resolve(item);
    return this.#waiters.wait(signal);
  }

  /** Takes the next key if there is one, without waiting. */
  tryTake(): QueueItem<K, C> | undefined {
    const entry = this.#ready.shift();
    return entry === undefined ? undefined : this.#start(entry);
  }

  /**
   * Takes `key` out of circulation: what asks for it is remembered, and comes to pass when it is unparked. A run in
   * progress ends normally. Parking a parked key replaces the reason.
   */
  park(key: K, reason: string): void {
    const parked = this.#parking.park(key, reason, this.#clock.monotonic());
    const entry = this.#entries.get(key);
    if (entry === undefined || (entry.item !== undefined && !entry.dirty)) return;
    parked.hold(entry.priority);
    moveCauses(entry, parked, this.#causeLimit);
    this.#metrics?.withdrawn(entry.priority);
    this.#withdraw(entry);
    this.#checkDrained();
  }

  /** Lets a parked key run again, at once if it was asked for meanwhile. Returns whether it was parked. */
  unpark(key: K): boolean {
    const parked = this.#parking.unpark(key);
    if (parked === undefined) return false;
    if (parked.pending && !this.#shuttingDown) this.#addHeld(key, parked.priority, parked);
    return true;
  }

  /** Adds nothing more and drops delayed adds. Takes go on until the queue is empty, and then answer undefined. */
  shutDown(): void {
    this.#stop();
    this.#drainers.release();
  }

  /**
   * As shutDown, and waits until nothing is queued, running or to be run again. A later plain shutDown ends the wait.
   * Somebody must go on taking. Parked keys are not waited for.
   *
   * @throws `signal.reason` when aborted first
   */
  shutDownWithDrain(signal?: AbortSignal): Promise<void> {
    this.#stop();
    return this.#idle ? Promise.resolve() : this.#drainers.wait(signal);
  }

  /** The same as {@link shutDown}. */
  [Symbol.dispose](): void {
    this.shutDown();
  }

  /** Every key the queue knows, running ones first, then in the order of the queue. For people: it costs O(n). */
  snapshot(options: { readonly limit?: number } = {}): readonly QueueEntry<K, C>[] {
    const { limit = Infinity } = options;
    return listing({
      clock: this.#clock,
      rateLimiter: this.#rateLimiter,
      laneOf: this.#laneOf,
      running: this.#running,
      ready: this.#ready,
      delays: this.#delays,
      parking: this.#parking,
      isActive: (key) => this.#entries.has(key),
    }, limit);
  }

  get #idle(): boolean {
    return this.#ready.size === 0 && this.#runningCount === 0;
  }

  #add(key: K, priority: number, cause: C | undefined): void {
    const holder = this.#request(key, priority);
    if (cause !== undefined) addCause(holder, cause, this.#causeLimit);
    if (this.#waiters.size > 0) this.#feed();
  }

  /** As #add, with all the causes that `from` has collected. */
  #addHeld(key: K, priority: number, from: CauseHolder<C>): void {
    moveCauses(from, this.#request(key, priority), this.#causeLimit);
    if (this.#waiters.size > 0) this.#feed();
  }

  /** Makes a run of `key` due, and returns what collects its causes. */
  #request(key: K, priority: number): CauseHolder<C> {
    const parked = this.#parking.find(key);
    if (parked !== undefined) {
      parked.hold(priority);
      return parked;
    }
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = new Entry(key, priority, this.#clock.monotonic());
      this.#ready.append(entry);
      this.#entries.set(key, entry);
      this.#metrics?.added(priority);
    } else if (entry.item !== undefined && !entry.dirty) {
      entry.dirty = true;
      entry.priority = priority;
      entry.addedAt = this.#clock.monotonic();
      this.#dirtyCount++;
      this.#metrics?.added(priority);
    } else if (priority > entry.priority) {
      this.#raise(entry, priority);
    }
    return entry;
  }

  #raise(entry: Entry<K, C>, priority: number): void {
    this.#metrics?.raised(entry.priority, priority);
    const { lane } = entry;
    if (lane !== undefined) this.#ready.remove(entry, lane);
    entry.priority = priority;
    if (lane !== undefined) this.#ready.append(entry);
  }

  /** Takes back the run that `entry` is due for. */
  #withdraw(entry: Entry<K, C>): void {
    if (entry.lane !== undefined) {
      this.#ready.remove(entry, entry.lane);
      this.#entries.delete(entry.key);
    } else {
      entry.dirty = false;
      this.#dirtyCount--;
      entry.causes = undefined;
      entry.causesDropped = 0;
    }
  }

  #addDue(): void {
    const now = this.#clock.monotonic();
    for (let delay = this.#delays.take(now); delay !== undefined; delay = this.#delays.take(now)) {
      moveCauses(delay, this.#request(delay.key, delay.priority), this.#causeLimit);
    }
    // Only when all that is due is queued, so that the highest priority of it goes first.
    this.#feed();
  }

  #feed(): void {
    while (this.#waiters.size > 0) {
      const item = this.tryTake();
      if (item === undefined) return;
      this.#waiters.hand(item);
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
    if (entry.dirty) {
      entry.dirty = false;
      this.#dirtyCount--;
      this.#ready.append(entry);
      if (this.#waiters.size > 0) this.#feed();
    } else {
      this.#entries.delete(entry.key);
      this.#checkDrained();
    }
  }

  #checkDrained(): void {
    if (this.#shuttingDown && this.#idle) this.#drainers.release();
  }

  #stop(): void {
    this.#shuttingDown = true;
    this.#delays.clear();
    this.#waiters.release();
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

/**
 * DelayedKeys: the keys whose add is due later, in one heap behind one timer.
 *
 * Guarantees: a key is delayed at most once, until the earlier of the times it was given; keys that are due at the same
 * time become ready in the order in which they were added, all of them before a worker gets one; a delay of any length
 * ends at its time, because the Clock's timers support it (behaviour 44).
 */
import { BinaryHeap, type Clock, type HeapItem } from "../async/mod.ts";
import { addCause, type CauseHolder } from "./queue_item.ts";

/** One delayed add. `dueAt` is monotonic milliseconds. */
export interface DelayedKey<K, C> extends CauseHolder<C>, HeapItem {
  readonly key: K;
  dueAt: number;
  /** Decides the order of keys with the same `dueAt`. */
  sequence: number;
  priority: number;
}

/** How a key is to be added later. */
export interface DelayedAdd<C> {
  readonly dueAt: number;
  readonly priority: number;
  readonly cause: C | undefined;
}

/** All delayed adds of one queue. */
export class DelayedKeys<K, C> {
  readonly #clock: Clock;
  readonly #fire: () => void;
  readonly #maxCauses: number;
  readonly #byKey = new Map<K, DelayedKey<K, C>>();
  readonly #heap = new BinaryHeap<DelayedKey<K, C>>(isDueBefore);
  #sequence = 0;
  #timer: Disposable | undefined = undefined;
  #timerAt = Infinity;

  /** `onDue` is called when at least one key may be due; it calls {@link take} until there is none. */
  constructor(clock: Clock, maxCauses: number, onDue: () => void) {
    this.#clock = clock;
    this.#maxCauses = maxCauses;
    this.#fire = () => {
      this.#timer = undefined;
      this.#timerAt = Infinity;
      onDue();
      this.#arm();
    };
  }

  get size(): number {
    return this.#heap.size;
  }

  find(key: K): DelayedKey<K, C> | undefined {
    return this.#byKey.get(key);
  }

  values(): Iterable<DelayedKey<K, C>> {
    return this.#byKey.values();
  }

  add(key: K, add: DelayedAdd<C>): void {
    const { dueAt, priority, cause } = add;
    let delayed = this.#byKey.get(key);
    if (delayed === undefined) {
      const sequence = this.#sequence++;
      delayed = { key, dueAt, sequence, priority, causes: undefined, causesDropped: 0, heapIndex: -1 };
      this.#byKey.set(key, delayed);
      this.#heap.push(delayed);
    } else {
      if (priority > delayed.priority) delayed.priority = priority;
      if (dueAt < delayed.dueAt) {
        delayed.dueAt = dueAt;
        delayed.sequence = this.#sequence++;
        this.#heap.moveUp(delayed);
      }
    }
    if (cause !== undefined) addCause(delayed, cause, this.#maxCauses);
    if (dueAt < this.#timerAt) this.#arm();
  }

  /** Takes out the next key that is due at `now`. */
  take(now: number): DelayedKey<K, C> | undefined {
    const { first } = this.#heap;
    if (first === undefined || first.dueAt > now) return undefined;
    this.#byKey.delete(first.key);
    return this.#heap.pop();
  }

  /** Drops a key. */
  remove(key: K): void {
    const delayed = this.#byKey.get(key);
    if (delayed === undefined) return;
    this.#byKey.delete(key);
    this.#heap.remove(delayed);
    if (this.#heap.size === 0) this.#disarm();
  }

  /** Drops all keys and disarms the timer. */
  clear(): void {
    this.#heap.clear();
    this.#byKey.clear();
    this.#disarm();
  }

  /** Sets the timer to the time of the first key, unless it fires earlier already. */
  #arm(): void {
    const { first } = this.#heap;
    if (first === undefined || this.#timerAt <= first.dueAt) return;
    this.#disarm();
    this.#timerAt = first.dueAt;
    this.#timer = this.#clock.timer(first.dueAt - this.#clock.monotonic(), this.#fire);
  }

  #disarm(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#timerAt = Infinity;
  }
}

function isDueBefore<K, C>(one: DelayedKey<K, C>, other: DelayedKey<K, C>): boolean {
  return one.dueAt < other.dueAt || (one.dueAt === other.dueAt && one.sequence < other.sequence);
}

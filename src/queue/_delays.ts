/**
 * Delays: the keys whose add is due later, in one heap behind one timer.
 *
 * Guarantees: a key waits at most once, for the earlier of the times it was given; keys that are due at the same
 * time become ready in the order they were added, all of them before any is handed out; delays of any length fire
 * at their time, since the Clock's timers hold them (behaviours.md 44). The heap is an array that shrinks as it empties.
 */
import type { Clock } from "../async/mod.ts";
import { addCause } from "./_causes.ts";

/** One delayed add. `dueAt` is monotonic milliseconds. */
export interface Delay<K, C> {
  readonly key: K;
  dueAt: number;
  /** Breaks ties of `dueAt`. */
  sequence: number;
  priority: number;
  causes: C[] | undefined;
  causesDropped: number;
  /** Its place in the heap. */
  at: number;
}

/** What is to be added later. */
export interface DelayedAdd<C> {
  readonly dueAt: number;
  readonly priority: number;
  readonly cause: C | undefined;
}

/** All delayed adds of one queue. */
export class Delays<K, C> {
  readonly #clock: Clock;
  readonly #fire: () => void;
  readonly #causeLimit: number;
  readonly #byKey = new Map<K, Delay<K, C>>();
  readonly #heap: Delay<K, C>[] = [];
  #sequence = 0;
  #timer: Disposable | undefined = undefined;
  #timerAt = Infinity;

  /** `due` is called when at least one delay may be over; it calls {@link take} until nothing is left. */
  constructor(clock: Clock, causeLimit: number, due: () => void) {
    this.#clock = clock;
    this.#causeLimit = causeLimit;
    this.#fire = () => {
      this.#timer = undefined;
      this.#timerAt = Infinity;
      due();
      this.#arm();
    };
  }

  get size(): number {
    return this.#heap.length;
  }

  find(key: K): Delay<K, C> | undefined {
    return this.#byKey.get(key);
  }

  values(): Iterable<Delay<K, C>> {
    return this.#byKey.values();
  }

  add(key: K, wanted: DelayedAdd<C>): void {
    const { dueAt, priority, cause } = wanted;
    let delay = this.#byKey.get(key);
    if (delay === undefined) {
      const at = this.#heap.length;
      delay = { key, dueAt, sequence: this.#sequence++, priority, causes: undefined, causesDropped: 0, at };
      this.#byKey.set(key, delay);
      this.#heap.push(delay);
      this.#rise(delay);
    } else {
      if (priority > delay.priority) delay.priority = priority;
      if (dueAt < delay.dueAt) {
        delay.dueAt = dueAt;
        delay.sequence = this.#sequence++;
        this.#rise(delay);
      }
    }
    if (cause !== undefined) addCause(delay, cause, this.#causeLimit);
    if (dueAt < this.#timerAt) this.#arm();
  }

  /** Takes out the next delay that is over by `now`. */
  take(now: number): Delay<K, C> | undefined {
    const first = this.#heap[0];
    if (first === undefined || first.dueAt > now) return undefined;
    this.#byKey.delete(first.key);
    const last = this.#heap.pop();
    if (last !== undefined && last !== first) {
      this.#heap[0] = last;
      last.at = 0;
      this.#sink(last);
    }
    return first;
  }

  /** Forgets all of them and disarms the timer. */
  clear(): void {
    this.#heap.length = 0;
    this.#byKey.clear();
    this.#disarm();
  }

  /** Sees to it that the timer fires when the first delay is over. */
  #arm(): void {
    const first = this.#heap[0];
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

  #rise(delay: Delay<K, C>): void {
    const heap = this.#heap;
    let at = delay.at;
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = heap[parentAt];
      if (parent === undefined || isBefore(parent, delay)) break;
      heap[at] = parent;
      parent.at = at;
      at = parentAt;
    }
    heap[at] = delay;
    delay.at = at;
  }

  #sink(delay: Delay<K, C>): void {
    const heap = this.#heap;
    let at = delay.at;
    for (let childAt = 2 * at + 1; childAt < heap.length; childAt = 2 * at + 1) {
      let child = heap[childAt];
      const right = heap[childAt + 1];
      if (child !== undefined && right !== undefined && isBefore(right, child)) {
        child = right;
        childAt++;
      }
      if (child === undefined || isBefore(delay, child)) break;
      heap[at] = child;
      child.at = at;
      at = childAt;
    }
    heap[at] = delay;
    delay.at = at;
  }
}

function isBefore<K, C>(a: Delay<K, C>, b: Delay<K, C>): boolean {
  return a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.sequence < b.sequence);
}

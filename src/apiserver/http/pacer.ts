/**
 * Pacer: many deadlines on one timer of the Clock. A server has a bookmark a minute and an end for each watch; a timer for
 * each would cost more than the watches themselves.
 */
import type { Clock } from "../../async/mod.ts";

interface Deadline {
  readonly at: number;
  readonly fire: () => void;
  isDone: boolean;
}

/** Deadlines, in the order of time. Dispose it and none fires any more. */
export class Pacer implements Disposable {
  readonly #clock: Clock;
  /** A binary heap, the earliest on top. */
  #heap: Deadline[] = [];
  #timer: { readonly at: number; readonly handle: Disposable } | undefined;
  #isDisposed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Deadlines that have not fired, disposed ones aside. */
  get size(): number {
    return this.#heap.reduce((count, { isDone }) => isDone ? count : count + 1, 0);
  }

  /** Calls `fire` once in `ms` milliseconds, unless the result is disposed first. */
  after(ms: number, fire: () => void): Disposable {
    const deadline: Deadline = { at: this.#clock.monotonic() + ms, fire, isDone: false };
    this.#push(deadline);
    this.#arm();
    return {
      [Symbol.dispose]: () => {
        deadline.isDone = true;
        this.#dropDone();
      },
    };
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#heap = [];
    this.#timer?.handle[Symbol.dispose]();
    this.#timer = undefined;
  }

  #arm(): void {
    const [first] = this.#heap;
    if (this.#isDisposed || first === undefined || (this.#timer !== undefined && this.#timer.at <= first.at)) return;
    this.#timer?.handle[Symbol.dispose]();
    const handle = this.#clock.timer(first.at - this.#clock.monotonic(), () => this.#fire());
    this.#timer = { at: first.at, handle };
  }

  #fire(): void {
    this.#timer = undefined;
    const now = this.#clock.monotonic();
    for (let first = this.#heap[0]; first !== undefined && first.at <= now; first = this.#heap[0]) {
      this.#pop();
      if (first.isDone) continue;
      first.isDone = true;
      first.fire();
    }
    this.#arm();
  }

  /** What was disposed goes when it comes up, and with the last of all the timer. */
  #dropDone(): void {
    while (this.#heap[0]?.isDone === true) this.#pop();
    if (this.#heap.length > 0) return;
    this.#timer?.handle[Symbol.dispose]();
    this.#timer = undefined;
  }

  #push(deadline: Deadline): void {
    const heap = this.#heap;
    let index = heap.push(deadline) - 1;
    while (index > 0) {
      const parent = (index - 1) >>> 1;
      const above = heap[parent];
      if (above === undefined || above.at <= deadline.at) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = deadline;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    while (true) {
      const child = this.#smallerChild(index);
      const below = heap[child];
      if (below === undefined || below.at >= last.at) break;
      heap[index] = below;
      index = child;
    }
    heap[index] = last;
  }

  #smallerChild(index: number): number {
    const left = index * 2 + 1;
    const [first, second] = [this.#heap[left], this.#heap[left + 1]];
    return first !== undefined && second !== undefined && second.at < first.at ? left + 1 : left;
  }
}

/**
 * TimerQueue: many deadlines on one timer of the Clock. Each watch has a timeout and a bookmark per minute; a timer for each
 * would cost more than the watches themselves.
 */
import { BinaryHeap, type Clock, type HeapItem } from "../../async/mod.ts";

interface Deadline extends HeapItem {
  readonly at: number;
  readonly fire: () => void;
}

/** Deadlines in the order of time. None fires after it is disposed. */
export class TimerQueue implements Disposable {
  readonly #clock: Clock;
  readonly #deadlines = new BinaryHeap<Deadline>((one, other) => one.at < other.at);
  #timer: { readonly at: number; readonly handle: Disposable } | undefined;
  #isDisposed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The number of deadlines that have not fired. */
  get size(): number {
    return this.#deadlines.size;
  }

  /** Calls `fire` once in `ms` milliseconds, unless the result is disposed first. */
  after(ms: number, fire: () => void): Disposable {
    const deadline: Deadline = { at: this.#clock.monotonic() + ms, fire, heapIndex: -1 };
    this.#deadlines.push(deadline);
    this.#arm();
    return {
      [Symbol.dispose]: () => {
        this.#deadlines.remove(deadline);
        if (this.#deadlines.size === 0) this.#disarm();
      },
    };
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#deadlines.clear();
    this.#disarm();
  }

  #arm(): void {
    const { first } = this.#deadlines;
    if (this.#isDisposed || first === undefined || (this.#timer !== undefined && this.#timer.at <= first.at)) return;
    this.#timer?.handle[Symbol.dispose]();
    const handle = this.#clock.timer(first.at - this.#clock.monotonic(), () => this.#fire());
    this.#timer = { at: first.at, handle };
  }

  #fire(): void {
    this.#timer = undefined;
    const now = this.#clock.monotonic();
    for (let first = this.#deadlines.first; first !== undefined && first.at <= now; first = this.#deadlines.first) {
      this.#deadlines.pop();
      first.fire();
    }
    this.#arm();
  }

  #disarm(): void {
    this.#timer?.handle[Symbol.dispose]();
    this.#timer = undefined;
  }
}

/**
 * ReviewQueue: sends the reviews of unknown clients to the API server slowly. Each bogus token costs one TokenReview, and
 * whoever reaches the port can send thousands of them.
 *
 * Guarantees: at most 5 reviews run at once, and 50 start per second after the first 50. Peers take turns, so a peer that
 * sends many tokens delays the others by one review each. The connections of the server bound the queue.
 */
import type { Clock } from "../../async/mod.ts";

const maxRunning = 5;
/** Reviews that may start at once, and then per second. */
const maxPerSecond = 50;

/** The reviews that wait, and those that run. */
export class ReviewQueue {
  readonly #clock: Clock;
  /** The starts of the waiting reviews by peer; the peer whose turn it is comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #running = 0;
  #allowance = maxPerSecond;
  #refilledAt: number;
  #timer: Disposable | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#refilledAt = clock.monotonic();
  }

  /** Calls `review` when it is the turn of the peer. @param peer The address of the client */
  async run<T>(peer: string, review: () => Promise<T>): Promise<T> {
    await new Promise<void>((start) => {
      const starts = this.#waiting.get(peer);
      if (starts === undefined) this.#waiting.set(peer, [start]);
      else starts.push(start);
      this.#startNext();
    });
    try {
      return await review();
    } finally {
      this.#running--;
      this.#startNext();
    }
  }

  #startNext(): void {
    this.#refill();
    for (const [peer, starts] of this.#waiting) {
      if (this.#running >= maxRunning) return;
      if (this.#allowance < 1) return this.#waitForAllowance();
      const [start, ...rest] = starts;
      this.#waiting.delete(peer);
      // Behind all others, which this loop therefore visits first.
      if (rest.length > 0) this.#waiting.set(peer, rest);
      this.#running++;
      this.#allowance--;
      start?.();
    }
  }

  #refill(): void {
    const now = this.#clock.monotonic();
    const gained = (now - this.#refilledAt) * maxPerSecond / 1000;
    this.#allowance = Math.min(maxPerSecond, this.#allowance + gained);
    this.#refilledAt = now;
  }

  #waitForAllowance(): void {
    this.#timer ??= this.#clock.timer(Math.ceil((1 - this.#allowance) * 1000 / maxPerSecond), () => {
      this.#timer = undefined;
      this.#startNext();
    });
  }
}

/**
 * FrameBudget: what a client of HTTP/2 may make the server do without a request that is served: pings, settings, window
 * updates, resets, frames without content. Each costs points, and a client has so many of them for each period.
 *
 * Guarantees: floods of cheap frames and rapid resets (CVE-2019-9512, 9515, 9518, CVE-2023-44487) end the connection.
 * A client that reads much may send many window updates, because the bytes of responses earn points.
 */
import { ConnectionError, errorCodes } from "./h2/mod.ts";
import type { Timers } from "./timers.ts";

/** The points of each kind of frame. */
export const frameCosts = {
  /** A frame that carries nothing of a request. */
  idle: 1,
  /** A request that came to nothing: reset by its client, refused or malformed. So 100 of them a second are allowed. */
  lostRequest: 10,
} as const;

/** Points of a period. */
const maxPoints = 10_000;
/** Length of a period, in milliseconds. */
const periodMs = 10_000;
/** Bytes of responses that earn a point. The clients of Go send two window updates for each 4 KiB. */
const bytesPerPoint = 1024;
const answerPoints = 2;

/** The points of one connection. */
export class FrameBudget implements Disposable {
  readonly #timers: Timers;
  #points = maxPoints;
  #unearnedBytes = 0;
  #period: Disposable | undefined;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** @throws ConnectionError when the points are used up */
  spend(points: number): void {
    this.charge(points);
    if (this.#points < 0) {
      throw new ConnectionError(errorCodes.enhanceYourCalm, "there are too many frames without content");
    }
  }

  /** Spends points outside of the frames of its client: the next {@link spend} throws when they are used up. */
  charge(points: number): void {
    this.#points -= points;
    if (points > 0) this.#period ??= this.#timers.timer(periodMs, () => this.#renew());
  }

  /** A response was sent. */
  onAnswer(): void {
    this.#earn(answerPoints);
  }

  /** Bytes of a response were sent. */
  onSent(bytes: number): void {
    this.#unearnedBytes += bytes;
    const points = Math.floor(this.#unearnedBytes / bytesPerPoint);
    this.#unearnedBytes -= points * bytesPerPoint;
    this.#earn(points);
  }

  [Symbol.dispose](): void {
    this.#period?.[Symbol.dispose]();
  }

  #earn(points: number): void {
    this.#points = Math.min(maxPoints, this.#points + points);
  }

  #renew(): void {
    this.#period = undefined;
    this.#points = maxPoints;
  }
}

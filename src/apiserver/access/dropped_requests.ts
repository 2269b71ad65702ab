/**
 * DroppedRequests: how many seconds a refused client should wait. It begins with one, doubles while a level refuses many
 * requests, and falls by one a second when it refuses few (as apiserver `util/flowcontrol/dropped_requests_tracker.go`).
 */

const maxSeconds = 32;

/** The refusals of one priority level. */
export class DroppedRequests {
  #seconds = 1;
  #raisedAt = 0;
  #present = { second: 0, count: 0 };
  #history: { readonly second: number; readonly count: number }[] = [];

  /** Counts a refused request. @param nowMs milliseconds since 1970 @returns the seconds that its client should wait */
  record(nowMs: number): number {
    const second = Math.floor(nowMs / 1000);
    if (second === this.#present.second) {
      this.#present.count++;
      return this.#seconds;
    }
    this.#history.push(this.#present);
    const oldest = second - Math.min(maxSeconds, 2 * this.#seconds);
    this.#history = this.#history.filter((one) => one.second >= oldest);
    this.#present = { second, count: 1 };
    this.#adapt(second);
    return this.#seconds;
  }

  #adapt(second: number): void {
    let dropped = 0;
    for (const one of this.#history) if (second - one.second <= this.#seconds) dropped += one.count;
    if (second - this.#raisedAt >= this.#seconds && dropped >= 3 * this.#seconds) {
      this.#seconds = Math.min(maxSeconds, this.#seconds * 2);
      this.#raisedAt = second;
    } else if (dropped < this.#seconds && this.#seconds > 1) this.#seconds--;
  }
}

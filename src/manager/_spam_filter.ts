/**
 * SpamFilter: a token bucket per object, so that one object in trouble cannot flood the cluster with Events.
 * 25 at once, then one each 300 s: client-go's defaults (tools/record, EventSourceObjectSpamFilter).
 */
import { type Clock, TokenBucket } from "../async/mod.ts";

const burst = 25;
const refillMs = 300_000;
const mostBuckets = 4096;

export class SpamFilter {
  readonly #clock: Clock;
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes a token of the object's bucket; false when there is none left. */
  admits(object: string): boolean {
    const bucket = this.#buckets.get(object) ?? new TokenBucket({ intervalMs: refillMs, burst, clock: this.#clock });
    // Re-inserted, so that the object that was quiet longest is the first in the map.
    this.#buckets.delete(object);
    this.#buckets.set(object, bucket);
    if (this.#buckets.size > mostBuckets) this.#forgetQuietest();
    return bucket.tryTake();
  }

  #forgetQuietest(): void {
    const quietest = this.#buckets.keys().next().value;
    if (quietest !== undefined) this.#buckets.delete(quietest);
  }
}

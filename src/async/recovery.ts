/**
 * Recovery: ends the waits for a server that did not respond, as soon as it responds again. All retry loops of a process
 * that talk to one server share a Recovery, so that one request that succeeds wakes all of them.
 *
 * Guarantees: while the server is down, one waiting loop is woken every 1 to 2 s as a probe, however long the backoffs
 * have become; after the first response all loops continue, each at least 1 s after its own failure. The probes of many
 * processes spread over that second, so that a thousand of them do not reach a returning server at one moment. A loop
 * that fails while others get responses is left to its own backoff. It sends no requests of its own, and has a timer
 * only while a loop waits.
 */
import type { Clock } from "./clock.ts";
import { jittered, type Random, systemRandom } from "./random.ts";
import { scope } from "./scope.ts";

/** How often one loop is woken as a probe, before jitter, which up to doubles it. */
const probeMs = 1_000;
/** How long a loop waits at least after its failure. */
const minWaitMs = 1_000;
/**
 * A shorter time without a response is no outage: the backoffs begin below it. It is longer than the pause between two
 * renewals of a Lease, so that one kind that fails does not make each renewal a recovery.
 */
const minOutageMs = 3_000;

/**
 * Whether a server responds, and who waits for it.
 *
 * @example
 * ```ts
 * import { Recovery, VirtualClock } from "./mod.ts";
 *
 * const clock = new VirtualClock();
 * const recovery = new Recovery(clock);
 * recovery.onFailure();
 * const waiting = recovery.sleep(60_000, new AbortController().signal);
 * await clock.advance(2_000);
 * recovery.onResponse();
 * await waiting;
 * console.assert(clock.pendingTimers === 0);
 * ```
 */
export class Recovery {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #listeners = new Set<() => void>();
  /** Ends the wait of a loop, the one that has waited longest first. */
  readonly #waits = new Set<() => void>();
  #respondedAt = -Infinity;
  #isDown = false;
  #failedAt = -Infinity;
  #recoveredAt = -Infinity;
  #timer: Disposable | undefined;

  /** @param random Spreads the probes of many processes. */
  constructor(clock: Clock, random: Random = systemRandom) {
    this.#clock = clock;
    this.#random = random;
  }

  /** The monotonic time at which the server responded again after its last outage; -Infinity before the first one. */
  get recoveredAt(): number {
    return this.#recoveredAt;
  }

  /** The monotonic time of the first failure of the last outage; -Infinity before the first one. */
  get failedAt(): number {
    return this.#failedAt;
  }

  /** Milliseconds since the first failure without a response after it; 0 while the server responds. */
  get downMs(): number {
    return this.#isDown ? this.#clock.monotonic() - this.#failedAt : 0;
  }

  /** A request got no response, or one that says that the server is not available. */
  onFailure(): void {
    if (!this.#isDown) this.#failedAt = this.#clock.monotonic();
    this.#isDown = true;
    this.#arm();
  }

  /** The server has responded to a request. */
  onResponse(): void {
    const silentMs = this.#silentMs();
    this.#respondedAt = this.#clock.monotonic();
    if (!this.#isDown) return;
    this.#isDown = false;
    this.#disarm();
    if (silentMs < minOutageMs) return;
    this.#recoveredAt = this.#respondedAt;
    for (const wake of this.#waits) wake();
    for (const listener of this.#listeners) listener();
  }

  /** Calls `listener` each time the server responds again. Dispose the result to end that. */
  listen(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /**
   * Waits `ms` milliseconds after a failed request, less if the server responds again or this wait is chosen as the probe.
   *
   * @throws `signal.reason` when aborted first.
   */
  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    const { recoveredAt } = this;
    await this.#clock.sleep(Math.min(ms, minWaitMs), signal);
    if (ms <= minWaitMs || recoveredAt !== this.#recoveredAt) return;
    using waiting = scope(signal);
    const wake = () => waiting.abort();
    this.#waits.add(wake);
    this.#arm();
    try {
      await this.#clock.sleep(ms - minWaitMs, waiting.signal);
    } catch (error) {
      if (signal.aborted) throw error;
    } finally {
      this.#waits.delete(wake);
      if (this.#waits.size === 0) this.#disarm();
    }
  }

  #silentMs(): number {
    return this.#clock.monotonic() - this.#respondedAt;
  }

  #arm(): void {
    if (!this.#isDown || this.#waits.size === 0 || this.#timer !== undefined) return;
    this.#timer = this.#clock.timer(jittered(probeMs, 1, this.#random), () => {
      this.#timer = undefined;
      const [longest] = this.#waits;
      // Others got responses a moment ago, so that this is no outage.
      const isProbe = this.#silentMs() >= minOutageMs;
      if (isProbe) longest?.();
      // The woken loop leaves #waits a moment later; the others wait for the next probe.
      if (!isProbe || this.#waits.size > 1) this.#arm();
    });
  }

  #disarm(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }
}

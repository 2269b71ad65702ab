/**
 * Recovery: ends the waits for a server that did not respond, as soon as it responds again. All retry loops of a process
 * that talk to one server share a Recovery, so that one request that succeeds wakes all of them.
 *
 * Guarantees: while the server is down, one waiting loop is woken every 2.5 s as a probe, however long the backoffs have
 * become; after the first response all loops continue, each at least 1 s after its own failure, so that a loop that fails
 * alone does not become a busy loop. It sends no requests of its own, draws no random numbers, and has a timer only while
 * a loop waits.
 */
import type { Clock } from "./clock.ts";
import { scope } from "./scope.ts";

/** How often one loop is woken as a probe. */
const probeMs = 2_500;
/** How long a loop waits at least after its failure. */
const minWaitMs = 1_000;

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
  readonly #listeners = new Set<() => void>();
  /** Ends the wait of a loop, the one that has waited longest first. */
  readonly #waits = new Set<() => void>();
  #isDown = false;
  #recoveries = 0;
  #timer: Disposable | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A request got no response, or one that says that the server is not available. */
  onFailure(): void {
    this.#isDown = true;
    this.#arm();
  }

  /** The server has responded to a request. */
  onResponse(): void {
    if (!this.#isDown) return;
    this.#isDown = false;
    this.#recoveries++;
    this.#disarm();
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
    const recoveries = this.#recoveries;
    await this.#clock.sleep(Math.min(ms, minWaitMs), signal);
    if (ms <= minWaitMs || recoveries !== this.#recoveries) return;
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

  #arm(): void {
    if (!this.#isDown || this.#waits.size === 0 || this.#timer !== undefined) return;
    this.#timer = this.#clock.timer(probeMs, () => {
      this.#timer = undefined;
      const [longest] = this.#waits;
      longest?.();
      // The woken loop leaves #waits a moment later; the others wait for the next probe.
      if (this.#waits.size > 1) this.#arm();
    });
  }

  #disarm(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }
}

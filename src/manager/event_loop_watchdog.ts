/**
 * EventLoopWatchdog: notices that the event loop did not turn for a while, and says so (behaviours.md 88). A blocked loop
 * renews no Lease and answers no probe, and nothing else tells which code was to blame for a lost leadership.
 *
 * Caveats: it speaks when the loop turns again. Writes are safe meanwhile, since a blocked process sends none and the
 * fence looks at the Lease before the next; a loop that never turns again is ended from outside (a probe of /livez) or by
 * the second thread of `killWhenStuck` (runtime/).
 */
import { type Clock, systemClock } from "../async/mod.ts";
import { type Logger, logger } from "../observe/mod.ts";
import { elapsedMs, instantOn } from "./_instant.ts";
import type { Life, Runnable } from "./runnable.ts";

/** Options of an {@link EventLoopWatchdog}. */
export interface EventLoopWatchdogOptions {
  /** Milliseconds of standstill from which on it is logged. @default 1_000 */
  readonly warnAfterMs?: number;
  /** Milliseconds of standstill from which on the watchdog fails, and with it the Manager; e.g. the renew deadline. @default Infinity */
  readonly failAfterMs?: number;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default logger("watchdog") */
  readonly log?: Logger;
}

/** How often it looks. */
const everyMs = 250;

export class EventLoopWatchdog implements Runnable {
  readonly name = "event-loop-watchdog";
  readonly #options: EventLoopWatchdogOptions;
  #longestMs = 0;

  constructor(options: EventLoopWatchdogOptions = {}) {
    this.#options = options;
  }

  /** The longest standstill so far, in milliseconds. */
  get longestMs(): number {
    return this.#longestMs;
  }

  /** @throws Error after a standstill of `failAfterMs` */
  async run({ stop }: Pick<Life, "stop">): Promise<void> {
    const { warnAfterMs = 1_000, failAfterMs = Infinity, clock = systemClock, log = logger("watchdog") } =
      this.#options;
    while (!stop.aborted) {
      const asleep = instantOn(clock);
      await clock.sleep(everyMs, stop).catch(() => undefined);
      if (stop.aborted) return;
      const lateMs = Math.round(elapsedMs(clock, asleep) - everyMs);
      this.#longestMs = Math.max(this.#longestMs, lateMs);
      if (lateMs >= failAfterMs) throw new Error(`Cannot go on: the event loop did not turn for ${lateMs} ms`);
      if (lateMs > warnAfterMs) {
        log.warn("the event loop did not turn: blocked, stopped, or the clock was set", { lateMs });
      }
    }
  }
}

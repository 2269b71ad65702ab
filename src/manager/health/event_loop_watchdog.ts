/**
 * EventLoopWatchdog: detects that the event loop was blocked, or the process was paused, and logs it (behaviour 88). A
 * blocked process renews no Lease and responds to no probe; without this log, nothing shows why leadership was lost.
 *
 * The process ends after a long block in two ways, and both work without a second thread:
 * - A leader that was blocked past the renew deadline has lost its Lease (`election/term.ts`). It writes nothing more and
 *   ends as soon as the event loop runs again.
 * - A process that stays blocked does not respond to /livez, so the kubelet restarts it. {@link EventLoopWatchdog.check}
 *   fails the same probe if the block has just ended and no timer has run yet.
 *
 * Caveats: it logs only after the block has ended.
 */
import { type Clock, systemClock } from "../../async/mod.ts";
import { type Logger, logger } from "../../observe/mod.ts";
import { elapsedMs, type Instant, instantOn } from "../election/mod.ts";
import type { ImmediateCheck } from "./health_checks.ts";

/** Options of an {@link EventLoopWatchdog}. */
export interface EventLoopWatchdogOptions {
  /** Milliseconds of a block from which on it is logged. @default 1_000 */
  readonly warnAfterMs?: number;
  /** Milliseconds of a block from which on the liveness check fails. @default 10_000, the default renew deadline */
  readonly failAfterMs?: number;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default logger("watchdog") */
  readonly log?: Logger;
}

/** Milliseconds between two timers of the watchdog. */
const intervalMs = 250;

/** A Runnable of the Manager. */
export class EventLoopWatchdog {
  readonly name = "event-loop-watchdog";
  readonly #warnAfterMs: number;
  readonly #failAfterMs: number;
  readonly #clock: Clock;
  readonly #log: Logger;
  #longestMs = 0;
  /** When the watchdog began to sleep; undefined while it does not run. */
  #asleep: Instant | undefined;

  constructor(options: EventLoopWatchdogOptions = {}) {
    const { warnAfterMs = 1_000, failAfterMs = 10_000, clock = systemClock, log = logger("watchdog") } = options;
    this.#warnAfterMs = warnAfterMs;
    this.#failAfterMs = failAfterMs;
    this.#clock = clock;
    this.#log = log;
  }

  /** The longest block so far, in milliseconds. */
  get longestMs(): number {
    return this.#longestMs;
  }

  /** The liveness check "event-loop": fails during a block of `failAfterMs`. */
  get check(): ImmediateCheck {
    return {
      name: "event-loop",
      probe: "live",
      problem: () => {
        const blockedMs = this.#blockedMs();
        return blockedMs < this.#failAfterMs ? undefined : `the event loop has been blocked for ${blockedMs} ms`;
      },
    };
  }

  async run({ stop }: { readonly stop: AbortSignal }): Promise<void> {
    while (!stop.aborted) {
      this.#asleep = instantOn(this.#clock);
      await this.#clock.sleep(intervalMs, stop).catch(() => undefined);
      if (stop.aborted) break;
      const blockedMs = this.#blockedMs();
      this.#longestMs = Math.max(this.#longestMs, blockedMs);
      if (blockedMs > this.#warnAfterMs) {
        this.#log.warn("event loop was blocked, the process was paused, or the clock was set", { blockedMs });
      }
    }
    this.#asleep = undefined;
  }

  /** By how many milliseconds the timer is late. */
  #blockedMs(): number {
    return this.#asleep === undefined ? 0 : Math.round(elapsedMs(this.#clock, this.#asleep) - intervalMs);
  }
}

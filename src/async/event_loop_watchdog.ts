/**
 * watchEventLoop(): notices that the event loop was blocked: by a long synchronous computation, a stopped process, a
 * paused machine. While it is, nothing here runs, so it can only be told afterwards; what must not happen late is
 * guarded where it happens (a write by the fence, which looks at the clock at that very moment).
 */
import { type Clock, systemClock } from "./clock.ts";

/** Options of {@link watchEventLoop}. */
export interface EventLoopWatchdogOptions {
  /** Told that the loop was blocked for about so many milliseconds. */
  readonly blocked: (ms: number) => void;
  /** Milliseconds of delay from which on it counts. @default 1_000 */
  readonly fromMs?: number;
  /** Milliseconds between two looks. @default 500 */
  readonly everyMs?: number;
  /** @default systemClock */
  readonly clock?: Clock;
}

/** Watches until disposed. */
export function watchEventLoop(options: EventLoopWatchdogOptions): Disposable {
  const { blocked, fromMs = 1_000, everyMs = 500, clock = systemClock } = options;
  let timer: Disposable;
  const arm = () => {
    const dueAt = clock.monotonic() + everyMs;
    timer = clock.timer(everyMs, () => {
      const lateMs = clock.monotonic() - dueAt;
      arm();
      if (lateMs >= fromMs) blocked(lateMs);
    });
  };
  arm();
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}

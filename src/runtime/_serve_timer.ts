/** Timers of the server in `serve.ts`: the machine's own, and waiting that can be abandoned. */
import type { ServeTimer } from "./serve.ts";

/** The machine's time. */
export const systemTimer: ServeTimer = {
  timer(ms, fire) {
    const handle = setTimeout(fire, Math.min(ms, 2 ** 31 - 1));
    return { [Symbol.dispose]: () => clearTimeout(handle) };
  },
};

/** A promise that its owner may let go of. */
export interface Pause extends Disposable {
  readonly over: Promise<void>;
}

/** Is over after `ms`, or when the signal aborts. Dispose it to disarm it. */
export function pause(clock: ServeTimer, ms: number, signal: AbortSignal): Pause {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => resolve();
  const timer = clock.timer(ms, end);
  if (signal.aborted) end();
  signal.addEventListener("abort", end, { once: true });
  return {
    over: promise,
    [Symbol.dispose]: () => {
      timer[Symbol.dispose]();
      signal.removeEventListener("abort", end);
    },
  };
}

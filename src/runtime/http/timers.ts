/** Timers of this folder: those of the system by default, those of a virtual clock in tests. */

/** Makes timers. Every Clock of `async/` has this method. */
export interface Timers {
  /** Calls `fire` after `ms`. @returns Dispose it to cancel the call. */
  timer(ms: number, fire: () => void): Disposable;
}

/** The timers of the system. */
export const systemTimers: Timers = {
  timer(ms, fire) {
    const handle = setTimeout(fire, Math.min(ms, 2 ** 31 - 1));
    return { [Symbol.dispose]: () => clearTimeout(handle) };
  },
};

/**
 * Listening to an AbortSignal, for this folder: `src/async` has the same for all others, which this one cannot import.
 *
 * Guarantees: for a signal that is already aborted, `act` is called at once. A listener that is added to such a signal
 * directly would never be called, and what waits for it would hang.
 */

/** Calls `act` once when `signal` aborts, at once if it is aborted already. @returns Dispose it to remove the listener. */
export function onAbort(signal: AbortSignal, act: () => void): Disposable {
  if (signal.aborted) {
    act();
    return { [Symbol.dispose]: () => {} };
  }
  signal.addEventListener("abort", act, { once: true });
  return { [Symbol.dispose]: () => signal.removeEventListener("abort", act) };
}

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

/**
 * Settles as `work` does, or rejects with the reason of `signal` at once when that aborts first. The work continues;
 * `onLate` gets its result, to release what it holds.
 */
export function untilAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
  onLate: (result: T) => void = () => {},
): Promise<T> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const listening = onAbort(signal, () => {
      isLate = true;
      reject(signal.reason);
    });
    work.then((result) => {
      listening[Symbol.dispose]();
      if (isLate) onLate(result);
      else resolve(result);
    }, (error) => {
      listening[Symbol.dispose]();
      reject(error);
    });
  });
}

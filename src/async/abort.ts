/**
 * Waiting for the abort of an AbortSignal. The only place, except for src/runtime, that adds listeners to signals. Those of
 * the signals of a scope (`scope.ts`) are in a set of that scope, because an event listener of the runtime costs much more.
 *
 * Guarantees: for a signal that is already aborted, the abort happens at once; a wait that is over or disposed leaves no
 * listener on its signal, so signals may live as long as the process.
 */

/**
 * Calls `act` once when `signal` aborts, at once if it is aborted already.
 *
 * @returns Dispose it to remove the listener.
 * @example
 * ```ts
 * import { onAbort } from "./mod.ts";
 *
 * const controller = new AbortController();
 * let calls = 0;
 * using _listening = onAbort(controller.signal, () => calls++);
 * controller.abort();
 * console.assert(calls === 1);
 * ```
 */
export function onAbort(signal: AbortSignal, act: () => void): Disposable {
  if (signal.aborted) {
    act();
    return nothing;
  }
  const listeners = scopeListeners.get(signal);
  return listeners === undefined ? new AbortListener(signal, act) : new ScopeListener(listeners, act);
}

/**
 * Resolves when `signal` aborts. Where something else may end the wait first, dispose it: then it never settles.
 *
 * @example
 * ```ts
 * import { aborted } from "./mod.ts";
 *
 * const controller = new AbortController();
 * {
 *   using stopped = aborted(controller.signal);
 *   await Promise.race([stopped, Promise.resolve()]);
 * }
 * controller.abort();
 * await aborted(controller.signal);
 * ```
 */
export function aborted(signal: AbortSignal): Promise<void> & Disposable {
  const { promise, resolve } = Promise.withResolvers<void>();
  const listening = onAbort(signal, resolve);
  return Object.assign(promise, { [Symbol.dispose]: () => listening[Symbol.dispose]() });
}

/**
 * Resolves or rejects as `work` does, or rejects with `signal.reason` when that aborts first. The work is not ended:
 * it continues, and its result is dropped.
 *
 * @example
 * ```ts
 * import { untilAborted } from "./mod.ts";
 *
 * const endless = new Promise<number>(() => {});
 * const result = untilAborted(endless, AbortSignal.abort("stopped"));
 * console.assert(await result.catch((reason) => reason) === "stopped");
 * ```
 */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const listening = onAbort(signal, () => reject(signal.reason));
    const end = () => listening[Symbol.dispose]();
    work.then((value) => (end(), resolve(value)), (error) => (end(), reject(error)));
  });
}

/** True when `error` is what aborting `signal` makes its waiters throw. */
export function isAbortOf(signal: AbortSignal, error: unknown): boolean {
  if (!signal.aborted) return false;
  return error === signal.reason || (error instanceof DOMException && error.name === "AbortError");
}

/** What is called when the signal of a scope aborts. */
const scopeListeners = new WeakMap<AbortSignal, Set<() => void>>();

/** For `scope.ts`: keeps the listeners of a signal, which {@link callListeners} calls after its abort. */
export function keepListeners(signal: AbortSignal): void {
  scopeListeners.set(signal, new Set());
}

/** For `scope.ts`: calls the listeners of a signal that has just aborted, each once. What one throws is not caught. */
export function callListeners(signal: AbortSignal): void {
  const listeners = scopeListeners.get(signal) ?? new Set();
  for (const act of listeners) {
    listeners.delete(act);
    try {
      act();
    } catch (error) {
      // As the runtime does it for its own listeners: the others are called.
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}

const nothing: Disposable = { [Symbol.dispose]: () => {} };
const once = { once: true };

/** A listener of the signal of a scope. Two may have the same function. */
class ScopeListener implements Disposable {
  readonly #listeners: Set<() => void>;
  readonly #act: () => void;

  constructor(listeners: Set<() => void>, act: () => void) {
    this.#listeners = listeners;
    this.#act = () => act();
    listeners.add(this.#act);
  }

  [Symbol.dispose](): void {
    this.#listeners.delete(this.#act);
  }
}

/** A class, because it needs less memory than a closure, and each take of a queue that has to wait creates one. */
class AbortListener implements Disposable {
  readonly #signal: AbortSignal;
  readonly #act: () => void;

  constructor(signal: AbortSignal, act: () => void) {
    this.#signal = signal;
    this.#act = act;
    signal.addEventListener("abort", act, once);
  }

  [Symbol.dispose](): void {
    this.#signal.removeEventListener("abort", this.#act);
  }
}

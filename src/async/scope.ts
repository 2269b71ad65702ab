/**
 * scope(): a child of an AbortSignal that can be released, for the work of one item, request or connection.
 *
 * Guarantees: the child aborts when its parent aborts, after its timeout, and on `abort()`; the end of the `using` block
 * removes the listener and the timer. (`AbortSignal.any` is not used, because on some runtimes a process-long signal
 * keeps all its children in memory.)
 */
import { callListeners, keepListeners, onAbort } from "./abort.ts";
import { type Clock, systemClock } from "./clock.ts";

/** A signal for one piece of work. Dispose it when the work is over. */
export interface Scope extends Disposable {
  readonly signal: AbortSignal;
  /** Aborts the signal of the scope. Does nothing when it is aborted already. */
  abort(reason?: unknown): void;
}

/** Options of {@link scope}. */
export interface ScopeOptions {
  /** Milliseconds after which the signal aborts with a TimeoutError. @default Infinity */
  readonly timeoutMs?: number;
  /** @default systemClock */
  readonly clock?: Clock;
}

/**
 * Creates a child of `parent`.
 *
 * @example
 * ```ts
 * import { scope } from "./mod.ts";
 *
 * const parent = new AbortController();
 * using child = scope(parent.signal, { timeoutMs: 30_000 });
 * parent.abort();
 * console.assert(child.signal.aborted);
 * ```
 */
export function scope(parent: AbortSignal, options: ScopeOptions = {}): Scope {
  return new ChildScope(parent, options);
}

/** A class, because each request and each reconcile has scopes, and closures would need more memory. */
class ChildScope implements Scope {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #following: Disposable;
  readonly #timer: Disposable | undefined;

  constructor(parent: AbortSignal, { timeoutMs = Infinity, clock = systemClock }: ScopeOptions) {
    this.signal = this.#controller.signal;
    keepListeners(this.signal);
    this.#following = onAbort(parent, () => this.abort(parent.reason));
    if (timeoutMs === Infinity || parent.aborted) return;
    this.#timer = clock.timer(
      timeoutMs,
      () => this.abort(new DOMException(`Timed out after ${timeoutMs} ms`, "TimeoutError")),
    );
  }

  abort(reason?: unknown): void {
    if (this.signal.aborted) return;
    this.#controller.abort(reason);
    callListeners(this.signal);
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]();
    this.#timer?.[Symbol.dispose]();
  }
}

/**
 * scope(): a child of an AbortSignal that can be let go. What runs per item, per request or per connection gets one.
 *
 * Guarantees: the child aborts when the parent does, when its time is up or when told to; leaving the `using` block
 * removes the listener and the timer. (`AbortSignal.any` on a process-long signal keeps every child alive on some
 * runtimes; this is why it is not used.)
 */
import { onAbort } from "./abort.ts";
import { type Clock, systemClock } from "./clock.ts";

/** A signal with an owner: dispose it when the work is over. */
export interface Scope extends Disposable {
  readonly signal: AbortSignal;
  /** Aborts the scope's signal. Does nothing when it is aborted already. */
  abort(reason?: unknown): void;
}

/** Options of {@link scope}. */
export interface ScopeOptions {
  /** Aborts with a TimeoutError after so many milliseconds. @default Infinity */
  readonly timeoutMs?: number;
  /** @default systemClock */
  readonly clock?: Clock;
}

/** Makes a child of `parent`. */
export function scope(parent: AbortSignal, options: ScopeOptions = {}): Scope {
  const { timeoutMs = Infinity, clock = systemClock } = options;
  const controller = new AbortController();
  const following = onAbort(parent, () => controller.abort(parent.reason));
  const timer = timeoutMs === Infinity || parent.aborted
    ? undefined
    : clock.timer(timeoutMs, () =>
      controller.abort(new DOMException(`Timed out after ${timeoutMs} ms`, "TimeoutError")));
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    [Symbol.dispose]: () => {
      following[Symbol.dispose]();
      timer?.[Symbol.dispose]();
    },
  };
}

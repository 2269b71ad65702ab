/**
 * SkewedClock: the clock of one of several machines in a test. It can run at a different rate, its wall clock can be
 * wrong, and its process can be paused: "stopped" (SIGSTOP, a blocked event loop), or "suspended" with its machine, which
 * also stops the monotonic clock.
 */
import type { Clock, VirtualClock } from "../../async/mod.ts";

/** Options of a {@link SkewedClock}. */
export interface SkewedClockOptions {
  /** Seconds it counts per second of the base clock. @default 1 */
  readonly rate?: number;
  /** Milliseconds by which its wall clock is ahead. @default 0 */
  readonly wallAheadMs?: number;
}

interface Pending {
  readonly dueAt: number;
  readonly fire: () => void;
  base: Disposable | undefined;
}

/** Rates lead to fractions. A timer that fires by less than this too early has fired in time. */
const epsilon = 1e-6;

export class SkewedClock implements Clock {
  readonly #base: VirtualClock;
  readonly #rate: number;
  readonly #pending = new Set<Pending>();
  readonly #sleepers: (() => void)[] = [];
  #wallAheadMs: number;
  #suspendedMs = 0;
  #paused: { readonly kind: "stopped" | "suspended"; readonly at: number } | undefined;

  constructor(base: VirtualClock, options: SkewedClockOptions = {}) {
    this.#base = base;
    this.#rate = options.rate ?? 1;
    this.#wallAheadMs = options.wallAheadMs ?? 0;
  }

  get isPaused(): boolean {
    return this.#paused !== undefined;
  }

  now(): number {
    return this.#base.now() + this.#base.monotonic() * (this.#rate - 1) + this.#wallAheadMs;
  }

  monotonic(): number {
    return this.#running() * this.#rate;
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abort = () => reject(signal.reason);
    using _timer = this.timer(ms, resolve);
    signal.addEventListener("abort", abort, { once: true });
    await promise.finally(() => signal.removeEventListener("abort", abort));
  }

  timer(ms: number, fire: () => void): Disposable {
    const pending: Pending = { dueAt: this.monotonic() + Math.max(0, ms), fire, base: undefined };
    this.#pending.add(pending);
    if (this.#paused === undefined) this.#arm(pending);
    return {
      [Symbol.dispose]: () => {
        this.#pending.delete(pending);
        pending.base?.[Symbol.dispose]();
      },
    };
  }

  /** Sets the wall clock, and not the monotonic clock. */
  jump(ms: number): void {
    this.#wallAheadMs += ms;
  }

  pause(kind: "stopped" | "suspended"): void {
    if (this.#paused !== undefined) return;
    this.#paused = { kind, at: this.#base.monotonic() };
    for (const pending of this.#pending) pending.base?.[Symbol.dispose]();
  }

  /** Timers that became due during the pause fire next, in the order in which they were due. */
  resume(): void {
    if (this.#paused === undefined) return;
    if (this.#paused.kind === "suspended") this.#suspendedMs += this.#base.monotonic() - this.#paused.at;
    this.#paused = undefined;
    for (const pending of [...this.#pending].sort((a, b) => a.dueAt - b.dueAt)) this.#arm(pending);
    for (const wake of this.#sleepers.splice(0)) wake();
  }

  /** Resolves when the process runs. A paused process receives nothing from the network. */
  async awake(): Promise<void> {
    while (this.#paused !== undefined) await new Promise<void>((resolve) => this.#sleepers.push(resolve));
  }

  /** Milliseconds of the base clock that the monotonic clock has counted. */
  #running(): number {
    const at = this.#paused?.kind === "suspended" ? this.#paused.at : this.#base.monotonic();
    return at - this.#suspendedMs;
  }

  #arm(pending: Pending): void {
    const leftMs = Math.max(0, pending.dueAt - this.monotonic());
    pending.base = this.#base.timer(leftMs / this.#rate, () => {
      if (this.monotonic() < pending.dueAt - epsilon) return this.#arm(pending);
      this.#pending.delete(pending);
      pending.fire();
    });
  }
}

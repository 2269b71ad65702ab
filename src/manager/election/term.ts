/**
 * Term: the Leadership of a LeaderElector. It renews the Lease every retry period, and it ends when another process holds
 * the Lease or when the renew deadline has passed.
 *
 * This file keeps a paused or disconnected leader from writing: `mayWrite()` compares the time since the last successful
 * renewal with the renew deadline, on both clocks, at each call. It needs no timer for that, so it is right even in the
 * first moment after a pause of the process. A timer ends the term at the deadline as well, so that running work aborts.
 *
 * Attempts to renew never overlap, because two writes of one process would conflict with each other.
 */
import { type Clock, scope, untilAborted } from "../../async/mod.ts";
import type { Logger } from "../../observe/mod.ts";
import { elapsedMs, type Instant, instantOn } from "./instant.ts";
import { type Leadership, LeaseLostError } from "./leadership.ts";
import type { ClaimOutcome, LeaseClaim } from "./lease_claim.ts";

/** Options of a {@link Term}. */
export interface TermOptions {
  readonly claim: LeaseClaim;
  /** `Lease "namespace/name"`. */
  readonly lease: string;
  /** The outcome of the attempt that acquired the Lease. */
  readonly acquiredLease: ClaimOutcome & { readonly kind: "held" };
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  readonly releaseOnCancel: boolean;
  /** Creates a deleted Lease again while no other process can have led. @default true */
  readonly recreatesLease?: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called after each attempt to renew. */
  readonly onAttempt: () => void;
  /** Called once, when the term ends. */
  readonly onEnd: () => void;
  /** Called once, before the Lease is released; the Lease is released when it has resolved. @default nothing is done */
  readonly beforeRelease?: () => Promise<void>;
  /** Called once, when the work of the term has ended too. */
  readonly onRelease: (outcome: ReleaseOutcome) => void;
}

/** What became of the Lease. `kept`: nothing was sent, because it was lost before or expires by itself. */
export type ReleaseOutcome =
  | { readonly kind: "released" | "kept" }
  | { readonly kind: "failed"; readonly error: unknown };

export class Term implements Leadership {
  readonly #options: TermOptions;
  readonly #end = new AbortController();
  readonly #loop: Promise<void>;
  /** Before the last successful renewal was sent. */
  #renewed: Instant;
  /** After the last attempt to renew, successful or not. */
  #attempted: Instant;
  #renewal: Promise<void> | undefined;
  #deadline: Disposable | undefined;
  #lastError: unknown;
  #releasing: Promise<void> | undefined;

  constructor(options: TermOptions) {
    this.#options = options;
    this.#renewed = options.acquiredLease.since;
    this.#attempted = instantOn(options.clock);
    this.#armDeadline();
    this.#loop = this.#renewUntilEnd();
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** `Lease "namespace/name"`. */
  get lease(): string {
    return this.#options.lease;
  }

  get epoch(): number {
    return this.#options.acquiredLease.transitions;
  }

  get renewedAt(): number {
    return this.#renewed.monotonic;
  }

  get lost(): LeaseLostError | undefined {
    const { aborted, reason } = this.#end.signal;
    return aborted && reason instanceof LeaseLostError ? reason : undefined;
  }

  mayWrite(): boolean {
    const { clock, renewDeadlineMs } = this.#options;
    return !this.#end.signal.aborted && elapsedMs(clock, this.#renewed) < renewDeadlineMs;
  }

  async confirm(signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    this.#endIfOverdue();
    if (!this.#end.signal.aborted && this.#isRenewalDue()) await untilAborted(this.#renewOnce(), signal);
    return this.mayWrite();
  }

  /** Renews with a write that is sent after this call. @returns whether the server has acknowledged it */
  async renew(): Promise<boolean> {
    await this.#renewal;
    if (this.#end.signal.aborted) return false;
    const before = this.#renewed;
    await this.#renewOnce();
    return !this.#end.signal.aborted && this.#renewed !== before;
  }

  release(): Promise<void> {
    return this.#releasing ??= this.#release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  async #release(): Promise<void> {
    const { lease, releaseOnCancel, onRelease } = this.#options;
    const wasHeld = !this.#end.signal.aborted || this.lost?.loss.kind === "superseded";
    this.#endWith(new DOMException(`${lease} was released`, "AbortError"));
    await this.#loop;
    await this.#renewal;
    await this.#options.beforeRelease?.();
    onRelease(wasHeld && releaseOnCancel ? await this.#releaseLease() : { kind: "kept" });
  }

  async #releaseLease(): Promise<ReleaseOutcome> {
    const { claim, clock, renewDeadlineMs } = this.#options;
    using limited = scope(new AbortController().signal, { timeoutMs: renewDeadlineMs, clock });
    try {
      await claim.release(limited.signal);
      return { kind: "released" };
    } catch (error) {
      return { kind: "failed", error };
    }
  }

  async #renewUntilEnd(): Promise<void> {
    const { clock, retryPeriodMs } = this.#options;
    const { signal } = this.#end;
    let startedAt = this.#renewed.monotonic;
    while (!signal.aborted) {
      // From start to start, so that the next attempt follows immediately after one that reached its time limit.
      const pauseMs = retryPeriodMs - (clock.monotonic() - startedAt);
      await clock.sleep(pauseMs, signal).catch(() => undefined);
      startedAt = clock.monotonic();
      if (!signal.aborted) await this.#renewOnce();
    }
  }

  /** Renews, or waits for the running renewal. Never rejects. */
  #renewOnce(): Promise<void> {
    return this.#renewal ??= this.#renew().finally(() => this.#renewal = undefined);
  }

  async #renew(): Promise<void> {
    const { claim, clock, lease, log, onAttempt, recreatesLease = true } = this.#options;
    // After a pause of the process, the loop may wake up before the timer of the deadline.
    this.#endIfOverdue();
    if (this.#end.signal.aborted) return;
    const outcome = await claim.renew(this.#end.signal, () => recreatesLease && this.mayWrite());
    if (this.#end.signal.aborted) return;
    this.#attempted = instantOn(clock);
    onAttempt();
    switch (outcome.kind) {
      case "held":
        this.#renewed = outcome.since;
        this.#lastError = undefined;
        return this.#armDeadline();
      case "heldByOther":
        return this.#lose({ kind: "heldByOther", holder: outcome.holder });
      case "superseded":
        return this.#lose({ kind: "superseded", holder: outcome.holder });
      case "failed":
        this.#lastError = outcome.error;
        log.warn("lease renewal failed", { lease, error: outcome.error });
        // By the wall clock the deadline has passed, and the renewal that could have proved otherwise failed.
        if (!this.mayWrite()) this.#loseByTime();
        return;
      default:
        outcome satisfies never;
    }
  }

  /** True when this process may have been paused, or may have failed to renew, for longer than the clocks show. */
  #isRenewalDue(): boolean {
    const { clock, retryPeriodMs } = this.#options;
    return !this.mayWrite() || elapsedMs(clock, this.#attempted) > 2 * retryPeriodMs;
  }

  #armDeadline(): void {
    this.#deadline?.[Symbol.dispose]();
    const { clock, renewDeadlineMs } = this.#options;
    const leftMs = renewDeadlineMs - (clock.monotonic() - this.#renewed.monotonic);
    this.#deadline = clock.timer(leftMs, () => this.#loseByTime());
  }

  #endIfOverdue(): void {
    const { clock, renewDeadlineMs } = this.#options;
    if (clock.monotonic() - this.#renewed.monotonic >= renewDeadlineMs) this.#loseByTime();
  }

  #loseByTime(): void {
    this.#lose({ kind: "expired", afterMs: elapsedMs(this.#options.clock, this.#renewed) });
  }

  #lose(loss: LeaseLostError["loss"]): void {
    if (this.#end.signal.aborted) return;
    const { lease } = this.#options;
    this.#endWith(new LeaseLostError({ lease, loss, cause: this.#lastError }));
  }

  #endWith(reason: LeaseLostError | DOMException): void {
    if (this.#end.signal.aborted) return;
    this.#deadline?.[Symbol.dispose]();
    this.#end.abort(reason);
    this.#options.onEnd();
  }
}

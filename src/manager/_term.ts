/**
 * Term: the Leadership of a LeaderElector. Renews the Lease every retry period and ends when that does not work out.
 *
 * One loop renews, one timer ends the term at the renew deadline whatever the loop waits for, and `confirm` may ask for
 * a renewal in between; attempts never overlap, since two writes of one process would conflict with each other.
 */
import { type Clock, scope, untilAborted } from "../async/mod.ts";
import type { Logger } from "../observe/mod.ts";
import { elapsedMs, type Instant, instantOn } from "./_instant.ts";
import type { ClaimOutcome, LeaseClaim } from "./_lease_claim.ts";
import { LeaseLostError } from "./lease_lost_error.ts";
import type { Leadership } from "./leadership.ts";

/** What a term works with. */
export interface TermParts {
  readonly claim: LeaseClaim;
  /** `Lease "namespace/name"`. */
  readonly lease: string;
  /** The attempt that took the Lease. */
  readonly taken: ClaimOutcome & { readonly kind: "held" };
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  readonly releaseOnCancel: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  /** Told after each look at the Lease. */
  readonly looked: () => void;
  /** Told once, when the term ends. */
  readonly ended: () => void;
  /** Told once, when whoever had the term has said that its work ended too. */
  readonly released: () => void;
}

export class Term implements Leadership {
  readonly #parts: TermParts;
  readonly #end = new AbortController();
  readonly #loop: Promise<void>;
  /** Before the last successful renewal was sent. */
  #renewed: Instant;
  /** After the last attempt, whatever came of it. */
  #looked: Instant;
  #looking: Promise<void> | undefined;
  #deadline: Disposable | undefined;
  #lastError: unknown;
  #releasing: Promise<void> | undefined;

  constructor(parts: TermParts) {
    this.#parts = parts;
    this.#renewed = parts.taken.since;
    this.#looked = instantOn(parts.clock);
    this.#armDeadline();
    this.#loop = this.#renewUntilEnd();
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  get epoch(): number {
    return this.#parts.taken.transitions;
  }

  get renewedAt(): number {
    return this.#renewed.monotonic;
  }

  get lost(): LeaseLostError | undefined {
    const { aborted, reason } = this.#end.signal;
    return aborted && reason instanceof LeaseLostError ? reason : undefined;
  }

  mayWrite(): boolean {
    const { clock, renewDeadlineMs } = this.#parts;
    return !this.#end.signal.aborted && elapsedMs(clock, this.#renewed) < renewDeadlineMs;
  }

  async confirm(signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    this.#endIfOverdue();
    if (!this.#end.signal.aborted && this.#isLookDue()) await untilAborted(this.#look(), signal);
    return this.mayWrite();
  }

  release(): Promise<void> {
    return this.#releasing ??= this.#release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  async #release(): Promise<void> {
    const { lease, releaseOnCancel, released } = this.#parts;
    const wasHeld = !this.#end.signal.aborted;
    this.#endWith(new DOMException(`${lease} was released`, "AbortError"));
    await this.#loop;
    await this.#looking;
    if (wasHeld && releaseOnCancel) await this.#giveUp();
    released();
  }

  async #giveUp(): Promise<void> {
    const { claim, lease, clock, renewDeadlineMs, log } = this.#parts;
    using limited = scope(new AbortController().signal, { timeoutMs: renewDeadlineMs, clock });
    try {
      await claim.release(limited.signal);
      log.info("lease released", { lease });
    } catch (error) {
      log.warn("Cannot release the lease, it will run out", { lease, error });
    }
  }

  async #renewUntilEnd(): Promise<void> {
    const { clock, retryPeriodMs } = this.#parts;
    const { signal } = this.#end;
    let startedAt = this.#renewed.monotonic;
    while (!signal.aborted) {
      // From start to start, so that an attempt that ran into its time limit is followed by the next one at once.
      const pauseMs = retryPeriodMs - (clock.monotonic() - startedAt);
      await clock.sleep(pauseMs, signal).catch(() => undefined);
      startedAt = clock.monotonic();
      if (!signal.aborted) await this.#look();
    }
  }

  /** Renews, or waits for the renewal that is under way. Never rejects. */
  #look(): Promise<void> {
    return this.#looking ??= this.#renewOnce().finally(() => this.#looking = undefined);
  }

  async #renewOnce(): Promise<void> {
    const { claim, clock, lease, log, looked } = this.#parts;
    // After a pause the loop may wake before the timer that is due.
    this.#endIfOverdue();
    if (this.#end.signal.aborted) return;
    const outcome = await claim.renew(this.#end.signal, () => this.mayWrite());
    if (this.#end.signal.aborted) return;
    this.#looked = instantOn(clock);
    looked();
    switch (outcome.kind) {
      case "held":
        this.#renewed = outcome.since;
        this.#lastError = undefined;
        return this.#armDeadline();
      case "taken":
        return this.#lose({ kind: "taken", by: outcome.by });
      case "failed":
        this.#lastError = outcome.error;
        log.warn("Cannot renew the lease", { lease, error: outcome.error });
        // By the wall clock time was up already, and the look that could have disproved it did not succeed.
        if (!this.mayWrite()) this.#loseByTime();
        return;
      default:
        outcome satisfies never;
    }
  }

  /** True when this process may have been away, or may have been renewing in vain, for longer than it seems. */
  #isLookDue(): boolean {
    const { clock, retryPeriodMs } = this.#parts;
    return !this.mayWrite() || elapsedMs(clock, this.#looked) > 2 * retryPeriodMs;
  }

  #armDeadline(): void {
    this.#deadline?.[Symbol.dispose]();
    const { clock, renewDeadlineMs } = this.#parts;
    const leftMs = renewDeadlineMs - (clock.monotonic() - this.#renewed.monotonic);
    this.#deadline = clock.timer(leftMs, () => this.#loseByTime());
  }

  #endIfOverdue(): void {
    const { clock, renewDeadlineMs } = this.#parts;
    if (clock.monotonic() - this.#renewed.monotonic >= renewDeadlineMs) this.#loseByTime();
  }

  #loseByTime(): void {
    this.#lose({ kind: "expired", afterMs: elapsedMs(this.#parts.clock, this.#renewed) });
  }

  #lose(loss: LeaseLostError["loss"]): void {
    if (this.#end.signal.aborted) return;
    const { lease, log } = this.#parts;
    const error = new LeaseLostError({ lease, loss, cause: this.#lastError });
    log.error("leadership lost", { lease, error });
    this.#endWith(error);
  }

  #endWith(reason: LeaseLostError | DOMException): void {
    if (this.#end.signal.aborted) return;
    this.#deadline?.[Symbol.dispose]();
    this.#end.abort(reason);
    this.#parts.ended();
  }
}

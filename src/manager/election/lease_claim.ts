/**
 * LeaseClaim: the rules of leader election. Each method is one attempt to acquire, renew or release the Lease, with one
 * or two requests. LeaderElector and Term decide when to attempt.
 *
 * Guarantees: a Lease of another process is taken only after it has not changed for its whole duration on our monotonic
 * clock. The times in the Lease are ignored, so clocks may differ by any amount (behaviour 47). The server compares
 * versions, so if two processes write at the same time, one succeeds. `acquire` and `renew` never throw.
 *
 * Caveats: if a user deletes the Lease, the record of its holder is lost. A process that saw the holder waits for the
 * lease duration, or for 5 minutes if that of the holder is longer and its own is not. A process that starts then, or that
 * missed a holder between two deletions, leads immediately. The old leader notices that at its next renewal.
 */
import { type Clock, scope } from "../../async/mod.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../../client/mod.ts";
import { type Instant, instantOn, microTime } from "./instant.ts";
import type { LeaseLock, LeaseRecord } from "./lease_lock.ts";
import { deletedLeaseMs } from "./lease_timing.ts";

/** The outcome of an attempt. */
export type ClaimOutcome =
  /** This process holds the Lease. `since` is the moment before the successful request was sent. */
  | { readonly kind: "held"; readonly since: Instant; readonly transitions: number }
  /** Another process holds it, "" if none is known. It can be taken in `freeInMs`, unless its holder renews it. */
  | { readonly kind: "heldByOther"; readonly holder: string; readonly freeInMs: number }
  /** The holder is unknown. */
  | { readonly kind: "failed"; readonly error: unknown };

/** The outcome of a renewal. */
export type RenewalOutcome =
  | ClaimOutcome
  /** This process holds the Lease, and the API server has chosen `holder` as the next leader, in a coordinated election. */
  | { readonly kind: "superseded"; readonly holder: string };

/** Options of a {@link LeaseClaim}. */
export interface LeaseClaimOptions {
  readonly lock: LeaseLock;
  readonly identity: string;
  readonly leaseDurationMs: number;
  /** Time limit of an attempt, in milliseconds. */
  readonly attemptTimeoutMs: number;
  readonly clock: Clock;
  /** True while the API server chooses the leader: a Lease of another process is not taken, even if it has expired. @default never */
  readonly isCoordinated?: () => boolean;
  /** Called for each renewal that had to read the Lease first. */
  readonly onSlowPath: () => void;
}

/** The record that was seen last, and since when it has not changed. */
interface Observation {
  readonly record: LeaseRecord;
  /** The Lease was deleted. */
  readonly isDeleted: boolean;
  /** Monotonic. */
  readonly at: number;
}

const maxTransitions = 2 ** 31 - 1;
/** The duration in a released Lease, as client-go writes it. */
const releasedSeconds = 1;
/** Another process may write the Lease between our read and our write. */
const maxReleaseAttempts = 3;
/** For a write whose outcome must be known: it is limited in time, but not aborted. */
const neverAborted = new AbortController().signal;

export class LeaseClaim {
  readonly #options: LeaseClaimOptions;
  #observed: Observation | undefined;

  constructor(options: LeaseClaimOptions) {
    this.#options = options;
  }

  /** The holder that was seen last; "" when there was none. */
  get holder(): string {
    return this.#observed?.record.holder ?? "";
  }

  /** Takes the Lease if it has no holder, if it is already ours, or if it has expired. */
  acquire(signal: AbortSignal): Promise<ClaimOutcome> {
    return this.#attempt(signal, async (limited) => {
      const { lock, identity, isCoordinated } = this.#options;
      this.#observe(await lock.read(limited));
      const isChosen = isCoordinated?.() !== true || lock.record?.holder === identity;
      const freeInMs = isChosen ? this.#freeInMs() : Infinity;
      if (freeInMs > 0) return { kind: "heldByOther", holder: this.holder, freeInMs };
      // Not under `signal`: a stop must not leave a Lease with our identity although this process does not lead.
      using writing = scope(neverAborted, {
        timeoutMs: this.#options.attemptTimeoutMs,
        clock: this.#options.clock,
      });
      return await this.#write(writing.signal);
    });
  }

  /**
   * Renews our Lease: with one request, unless another client has written the Lease.
   *
   * @param isInTime Returns true while the last renewal is so recent that no other process can have led since.
   */
  renew(signal: AbortSignal, isInTime: () => boolean): Promise<RenewalOutcome> {
    const { lock, identity, isCoordinated, onSlowPath } = this.#options;
    return this.#attempt(signal, async (limited) => {
      if (lock.record?.holder === identity) {
        try {
          return await this.#write(limited);
        } catch (error) {
          if (!isConflict(error) && !isNotFound(error)) throw error;
        }
      }
      onSlowPath();
      const record = await lock.read(limited);
      this.#observe(record);
      const { preferredHolder: holder } = lock;
      if (isCoordinated?.() === true && record?.holder === identity && holder !== undefined && holder !== identity) {
        return { kind: "superseded", holder };
      }
      // A deleted Lease does not show who led after us: it is created again only if no other process can have led.
      if (record === undefined ? isInTime() : record.holder === identity) return await this.#write(limited);
      return { kind: "heldByOther", holder: record?.holder ?? "", freeInMs: this.#freeInMs() };
    });
  }

  /** Releases the Lease if it is ours, so that other processes need not wait. @throws the error of a failed request */
  async release(signal: AbortSignal): Promise<void> {
    const { lock, identity, clock } = this.#options;
    for (let attempt = 1;; attempt++) {
      const record = await lock.read(signal);
      if (record?.holder !== identity) return;
      const now = microTime(clock.now());
      const { transitions } = record;
      const released = { holder: "", durationSeconds: releasedSeconds, transitions, acquireTime: now, renewTime: now };
      try {
        await lock.write(released, signal);
        return this.#observe(released);
      } catch (error) {
        if (!isConflict(error) || attempt === maxReleaseAttempts) throw error;
      }
    }
  }

  async #attempt<Outcome extends RenewalOutcome>(
    signal: AbortSignal,
    attempt: (signal: AbortSignal) => Promise<Outcome>,
  ): Promise<Outcome | ClaimOutcome> {
    const { attemptTimeoutMs, clock } = this.#options;
    using limited = scope(signal, { timeoutMs: attemptTimeoutMs, clock });
    try {
      return await attempt(limited.signal);
    } catch (error) {
      return { kind: "failed", error };
    }
  }

  async #write(signal: AbortSignal): Promise<ClaimOutcome> {
    const { lock, clock } = this.#options;
    const record = this.#ownRecord();
    const since = instantOn(clock);
    try {
      await lock.write(record, signal);
    } catch (error) {
      if (isConflict(error) || isAlreadyExists(error)) this.#noteConflictingWrite();
      throw error;
    }
    this.#observe(record);
    return { kind: "held", since, transitions: record.transitions };
  }

  #ownRecord(): LeaseRecord {
    const { identity, leaseDurationMs, clock } = this.#options;
    const now = microTime(clock.now());
    const last = this.#observed?.record;
    const isOurs = last?.holder === identity;
    return {
      holder: identity,
      // Whole seconds, rounded up: other processes must not wait for less time than we assume.
      durationSeconds: Math.ceil(leaseDurationMs / 1000),
      // The server refuses a number above int32, and with it every later leader.
      transitions: last === undefined ? 0 : Math.min(last.transitions + (isOurs ? 0 : 1), maxTransitions),
      acquireTime: isOurs ? last.acquireTime : now,
      renewTime: now,
    };
  }

  #observe(record: LeaseRecord | undefined): void {
    const at = this.#options.clock.monotonic();
    const before = this.#observed;
    if (record !== undefined) {
      const isChanged = before === undefined || before.isDeleted || !isSameRecord(record, before.record);
      if (isChanged) this.#observed = { record, isDeleted: false, at };
    } else if (before !== undefined && !before.isDeleted) {
      this.#observed = { ...before, isDeleted: true, at };
    }
  }

  /** Another process has written the Lease. Its lease duration counts from now, even if we never read that version. */
  #noteConflictingWrite(): void {
    if (this.#observed !== undefined) this.#observed = { ...this.#observed, at: this.#options.clock.monotonic() };
  }

  /** Milliseconds until this process may take the Lease; 0 or less when it may do so now. */
  #freeInMs(): number {
    const { identity, leaseDurationMs, clock } = this.#options;
    if (this.#observed === undefined) return 0;
    const { record: { holder, durationSeconds = 0 }, at, isDeleted } = this.#observed;
    const isFree = holder === identity || (holder === "" && durationSeconds <= releasedSeconds);
    // A deleted Lease was not released: its last holder may not have noticed yet.
    if (isFree && !isDeleted) return 0;
    if (isDeleted) return at + deletedLeaseMs(durationSeconds * 1000, leaseDurationMs) - clock.monotonic();
    // The longer of its duration and ours, so that a manual edit of the Lease does not give a leader less time than it
    // assumes. No holder with a long duration is such an edit, too.
    return at + Math.max(durationSeconds * 1000, leaseDurationMs) - clock.monotonic();
  }
}

function isSameRecord(a: LeaseRecord, b: LeaseRecord): boolean {
  return a.holder === b.holder && a.durationSeconds === b.durationSeconds && a.transitions === b.transitions &&
    a.acquireTime === b.acquireTime && a.renewTime === b.renewTime;
}

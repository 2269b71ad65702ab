/**
 * LeaseClaim: the rules of leader election, one request or two at a time. Says whether the Lease is ours after an
 * attempt; when to attempt is the business of the elector and of the term.
 *
 * Guarantees: somebody else's Lease is taken only after it has not changed for its whole duration on our own monotonic
 * clock; the times in it are not looked at, so clocks may differ by any amount (behaviours.md 47). The server compares
 * versions, so of two who try at the same time one succeeds. Never throws.
 *
 * Caveats: whoever deletes a Lease by hand deletes the memory of who leads. Who saw the leader before waits for its
 * duration to pass; a process that starts at that moment, or that missed a leader between two deletions, does not know
 * and leads at once. The old leader notices at its next renewal.
 */
import { type Clock, scope } from "../async/mod.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../client/mod.ts";
import { type Instant, instantOn } from "./_instant.ts";
import type { LeaseLock, LeaseRecord } from "./lease_lock.ts";

/** What came of an attempt. */
export type ClaimOutcome =
  /** It is ours, counted from the moment before the request that made it so was sent. */
  | { readonly kind: "held"; readonly since: Instant; readonly transitions: number }
  /** It is not ours; it may be in `freeInMs`, unless its holder renews it. */
  | { readonly kind: "taken"; readonly by: string; readonly freeInMs: number }
  /** Nobody knows. */
  | { readonly kind: "failed"; readonly error: unknown };

/** Options of a {@link LeaseClaim}. */
export interface LeaseClaimOptions {
  readonly lock: LeaseLock;
  readonly identity: string;
  readonly leaseDurationMs: number;
  /** Milliseconds an attempt may take. */
  readonly attemptTimeoutMs: number;
  readonly clock: Clock;
  /** Told of each renewal for which the Lease had to be read first. */
  readonly slowPath: () => void;
}

/** What was seen last, and since when it looks like that on the monotonic clock. */
interface Observation {
  readonly record: LeaseRecord;
  /** The Lease itself is gone since then. */
  readonly isGone: boolean;
  readonly at: number;
}

/** What a released Lease says, as client-go writes it: nobody, and one second. */
const releasedSeconds = 1;
/** Others may write the Lease between our read and our write; one of a few tries gets through. */
const releaseTries = 3;
/** A write whose fate we want to know is not aborted, only limited in time. */
const never = new AbortController().signal;

export class LeaseClaim {
  readonly #options: LeaseClaimOptions;
  #observed: Observation | undefined;

  constructor(options: LeaseClaimOptions) {
    this.#options = options;
  }

  /** Who leads, as far as was seen; "" when nobody does. */
  get holder(): string {
    return this.#observed?.record.holder ?? "";
  }

  /** Takes the Lease if it is free, ours already, or has run out. */
  acquire(signal: AbortSignal): Promise<ClaimOutcome> {
    return this.#attempt(signal, async (limited) => {
      this.#observe(await this.#options.lock.read(limited));
      const freeInMs = this.#freeInMs();
      if (freeInMs > 0) return { kind: "taken", by: this.holder, freeInMs };
      // Not under `signal`: a stop must not leave behind a Lease that is ours although nobody leads.
      using writing = scope(never, { timeoutMs: this.#options.attemptTimeoutMs, clock: this.#options.clock });
      return await this.#write(writing.signal);
    });
  }

  /**
   * Renews a Lease that is ours: with one request, as long as nobody else touches it.
   *
   * @param isInTime Whether the last renewal is recent enough for nobody else to have led since.
   */
  renew(signal: AbortSignal, isInTime: () => boolean): Promise<ClaimOutcome> {
    const { lock, identity, slowPath } = this.#options;
    return this.#attempt(signal, async (limited) => {
      if (lock.record?.holder === identity) {
        try {
          return await this.#write(limited);
        } catch (error) {
          if (!isConflict(error) && !isNotFound(error)) throw error;
        }
      }
      slowPath();
      const record = await lock.read(limited);
      this.#observe(record);
      // A Lease that was deleted does not say who led after us: made anew only when nobody can have.
      if (record === undefined ? isInTime() : record.holder === identity) return await this.#write(limited);
      return { kind: "taken", by: record?.holder ?? "", freeInMs: this.#freeInMs() };
    });
  }

  /** Gives the Lease up if it is ours, so that others need not wait. @throws whatever keeps the request from succeeding */
  async release(signal: AbortSignal): Promise<void> {
    const { lock, identity, clock } = this.#options;
    for (let tries = 1;; tries++) {
      const record = await lock.read(signal);
      if (record?.holder !== identity) return;
      const now = microTime(clock.now());
      const { transitions } = record;
      const released = { holder: "", durationSeconds: releasedSeconds, transitions, acquireTime: now, renewTime: now };
      try {
        await lock.write(released, signal);
        return this.#observe(released);
      } catch (error) {
        if (!isConflict(error) || tries === releaseTries) throw error;
      }
    }
  }

  async #attempt(
    signal: AbortSignal,
    attempt: (signal: AbortSignal) => Promise<ClaimOutcome>,
  ): Promise<ClaimOutcome> {
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
      if (isConflict(error) || isAlreadyExists(error)) this.#noteStranger();
      throw error;
    }
    this.#observe(record);
    return { kind: "held", since, transitions: record.transitions };
  }

  #ownRecord(): LeaseRecord {
    const { identity, leaseDurationMs, clock } = this.#options;
    const now = microTime(clock.now());
    const held = this.#observed?.record;
    const isOurs = held?.holder === identity;
    return {
      holder: identity,
      // The field holds whole seconds. Rounded up: others must not count less than we do.
      durationSeconds: Math.ceil(leaseDurationMs / 1000),
      transitions: held === undefined ? 0 : held.transitions + (isOurs ? 0 : 1),
      acquireTime: isOurs ? held.acquireTime : now,
      renewTime: now,
    };
  }

  #observe(record: LeaseRecord | undefined): void {
    const at = this.#options.clock.monotonic();
    const before = this.#observed;
    if (record !== undefined) {
      const isNew = before === undefined || before.isGone || !isSame(record, before.record);
      if (isNew) this.#observed = { record, isGone: false, at };
    } else if (before !== undefined && !before.isGone) {
      this.#observed = { ...before, isGone: true, at };
    }
  }

  /** Somebody else has written the Lease: even if nobody ever sees it like that, their time counts from now. */
  #noteStranger(): void {
    if (this.#observed !== undefined) this.#observed = { ...this.#observed, at: this.#options.clock.monotonic() };
  }

  /** Milliseconds until we may take the Lease; 0 or less when we may now. */
  #freeInMs(): number {
    const { identity, leaseDurationMs, clock } = this.#options;
    if (this.#observed === undefined) return 0;
    const { record: { holder, durationSeconds = 0 }, at, isGone } = this.#observed;
    const isFree = holder === identity || (holder === "" && durationSeconds <= releasedSeconds);
    // A Lease that is gone was not given up: whoever held it last may not know yet.
    if (isFree && !isGone) return 0;
    // The longer of its duration and ours, so that an edit of the Lease does not make a leader's time shorter than it
    // believes; nobody as the holder for a long time is such an edit too.
    return at + Math.max(durationSeconds * 1000, leaseDurationMs) - clock.monotonic();
  }
}

function isSame(a: LeaseRecord, b: LeaseRecord): boolean {
  return a.holder === b.holder && a.durationSeconds === b.durationSeconds && a.transitions === b.transitions &&
    a.acquireTime === b.acquireTime && a.renewTime === b.renewTime;
}

/** MicroTime of the API: RFC 3339 with six decimals. */
function microTime(at: number): string {
  return new Date(at).toISOString().replace("Z", "000Z");
}

/**
 * LeaderElector: of all replicas that use one Lease, lets one lead.
 *
 * Its states, and what moves it from one to the next:
 *
 * | state   | on                                        | next    |
 * |---------|-------------------------------------------|---------|
 * | idle    | acquire()                                 | standby |
 * | standby | the Lease is free, or has run out         | leading |
 * | standby | abort, not allowed to touch the Lease     | idle    |
 * | leading | release()                                 | idle    |
 * | leading | renew deadline over, somebody else has it | lost    |
 * | lost    | release(), which says that work has ended | idle    |
 *
 * Guarantees and assumptions: those of {@link Leadership}.
 */
import { type Clock, isAbortOf, type Random, systemClock, systemRandom } from "../async/mod.ts";
import { type Client, isAlreadyExists, isConflict } from "../client/mod.ts";
import { type Logger, logger } from "../observe/mod.ts";
import { type ClaimOutcome, LeaseClaim } from "./_lease_claim.ts";
import { Term } from "./_term.ts";
import { isFenced } from "./fenced_error.ts";
import type { Leadership } from "./leadership.ts";
import { LeaseForbiddenError } from "./lease_forbidden_error.ts";
import { LeaseLock } from "./lease_lock.ts";
import type { LeaderElectionMetrics } from "./metrics.ts";

/** Options of a {@link LeaderElector}. */
export interface LeaderElectorOptions {
  /** Must not be fenced. One with a connection of its own renews while others are busy. */
  readonly client: Client;
  readonly namespace: string;
  /** Name of the Lease: the same for all replicas of one operator, and of no other. */
  readonly name: string;
  /** Names this process. No other process may ever have the same, not even this one's successor on the same host. */
  readonly identity: string;
  /** Milliseconds without a renewal after which others take over. @default 15_000 */
  readonly leaseDurationMs?: number;
  /** Milliseconds without a renewal after which the leader stops. @default 10_000 */
  readonly renewDeadlineMs?: number;
  /** Milliseconds between two attempts to take or renew the Lease. @default 2_000 */
  readonly retryPeriodMs?: number;
  /** Gives the Lease up when a term is released. Work must have ended by then. @default true */
  readonly releaseOnCancel?: boolean;
  /** What `run` does when leadership is lost: end with a LeaseLostError, or stand by again. @default "throw" */
  readonly whenLost?: "throw" | "standby";
  /** Told of each other leader that is seen, this process included. */
  readonly onNewLeader?: (identity: string) => void;
  readonly metrics?: LeaderElectionMetrics;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default systemRandom */
  readonly random?: Random;
  /** @default logger("leader") */
  readonly log?: Logger;
}

/** Where an elector is. */
export type ElectorState =
  | { readonly kind: "idle" }
  | { readonly kind: "standby" }
  | { readonly kind: "leading"; readonly leadership: Leadership }
  /** No longer leading, but what was done as the leader may not have ended yet. */
  | { readonly kind: "lost"; readonly leadership: Leadership };

/** The part by which retry periods differ, so that replicas do not ask in step. As client-go's JitterFactor. */
const jitter = 1.2;

/**
 * Takes part in the election of a leader.
 *
 * @example Working as the leader; the Lease is given up when the work has ended
 * ```ts
 * import { Client } from "../client/mod.ts";
 * import { LeaderElector } from "./mod.ts";
 *
 * const client = new Client(async (request) =>
 *   request.method === "GET" ? new Response("", { status: 404 }) : Response.json(await request.json())
 * );
 * const elector = new LeaderElector({ client, namespace: "shop", name: "shop-operator", identity: "pod-1_7f3a" });
 * let wasLeader = false;
 * await elector.run(async (leadership) => {
 *   wasLeader = await leadership.confirm(leadership.signal);
 * }, new AbortController().signal);
 * console.assert(wasLeader);
 * ```
 */
export class LeaderElector {
  readonly #options: LeaderElectorOptions;
  readonly #retryPeriodMs: number;
  readonly #leaseDurationMs: number;
  readonly #renewDeadlineMs: number;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #lock: LeaseLock;
  readonly #claim: LeaseClaim;
  #state: ElectorState = { kind: "idle" };
  #reportedLeader = "";

  /** @throws {RangeError} when the three times do not leave a leader room to stop before its Lease runs out */
  constructor(options: LeaderElectorOptions) {
    const { client, namespace, name, identity, metrics } = options;
    const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 } = options;
    const { clock = systemClock, random = systemRandom, log = logger("leader") } = options;
    assertOrder({ leaseDurationMs, renewDeadlineMs, retryPeriodMs });
    if (identity === "" || name === "" || namespace === "") {
      throw new TypeError("Cannot create LeaderElector: identity, name or namespace is empty");
    }
    this.#options = options;
    this.#leaseDurationMs = leaseDurationMs;
    this.#renewDeadlineMs = renewDeadlineMs;
    this.#retryPeriodMs = retryPeriodMs;
    this.#clock = clock;
    this.#random = random;
    this.#log = log;
    this.#lock = new LeaseLock({ client, namespace, name });
    this.#claim = new LeaseClaim({
      lock: this.#lock,
      identity,
      leaseDurationMs,
      // Half, so that one request without an answer leaves time for another. As controller-runtime's client timeout.
      attemptTimeoutMs: renewDeadlineMs / 2,
      clock,
      slowPath: () => metrics?.slowPath(),
    });
    metrics?.leading(false);
  }

  /** `Lease "namespace/name"`: what messages call it. */
  get lease(): string {
    return this.#lock.description;
  }

  get identity(): string {
    return this.#options.identity;
  }

  get state(): ElectorState {
    return this.#state;
  }

  /** Who leads, as far as this process has seen; undefined when nobody does, or nothing was seen yet. */
  get leader(): string | undefined {
    const { holder } = this.#claim;
    return holder === "" ? undefined : holder;
  }

  /** The term that lasts at present. What makes an elector the gate of a fence. */
  get leadership(): Leadership | undefined {
    return this.#state.kind === "leading" ? this.#state.leadership : undefined;
  }

  /**
   * False when this process should have stopped leading and has not: what it did as the leader goes on although the
   * Lease has run out. Standing by is healthy.
   *
   * @param toleranceMs Milliseconds beyond the lease duration that are granted.
   */
  isHealthy(toleranceMs = 0): boolean {
    if (this.#state.kind !== "leading" && this.#state.kind !== "lost") return true;
    const sinceRenewalMs = this.#clock.monotonic() - this.#state.leadership.renewedAt;
    return sinceRenewalMs <= this.#leaseDurationMs + toleranceMs;
  }

  /**
   * Stands by until this process leads.
   *
   * @throws LeaseForbiddenError when RBAC does not allow it, the signal's reason when aborted. Whatever else goes wrong is
   *   logged and tried again.
   * @throws TypeError when this elector stands by or leads already
   */
  async acquire(signal: AbortSignal): Promise<Leadership> {
    if (this.#state.kind !== "idle") throw new TypeError(`Cannot acquire ${this.lease}: it is ${this.#state.kind}`);
    this.#state = { kind: "standby" };
    this.#log.info("standing by for the lease", { lease: this.lease, identity: this.identity });
    try {
      while (true) {
        signal.throwIfAborted();
        const outcome = await this.#claim.acquire(signal);
        this.#reportLeader();
        if (outcome.kind === "held") return await this.#lead(outcome, signal);
        signal.throwIfAborted();
        await this.#clock.sleep(this.#pauseAfter(outcome), signal);
      }
    } catch (error) {
      this.#state = { kind: "idle" };
      throw error;
    }
  }

  /**
   * Leads again and again: stands by, calls `work` with the term, and gives the Lease up when `work` has ended. Work is
   * expected to end when the term's signal or `stop` aborts; only after it did, this process stands by again or `run`
   * returns, so nothing of one term is left in the next.
   *
   * @throws LeaseLostError when leadership was lost and `whenLost` is "throw"; what `work` throws; LeaseForbiddenError.
   */
  async run(work: (leadership: Leadership) => Promise<void>, stop: AbortSignal): Promise<void> {
    const { whenLost = "throw" } = this.#options;
    while (!stop.aborted) {
      let leadership: Leadership;
      try {
        leadership = await this.acquire(stop);
      } catch (error) {
        if (stop.aborted) return;
        throw error;
      }
      await using term = leadership;
      try {
        await work(term);
      } catch (error) {
        if (term.lost === undefined || !(isAbortOf(term.signal, error) || isFenced(error))) throw error;
      }
      if (term.lost === undefined) return;
      if (whenLost === "throw") throw term.lost;
      this.#log.info("stepping down", { lease: this.lease });
    }
  }

  async #lead(taken: ClaimOutcome & { readonly kind: "held" }, signal: AbortSignal): Promise<Leadership> {
    const { releaseOnCancel = true, metrics } = this.#options;
    const leadership: Leadership = new Term({
      claim: this.#claim,
      lease: this.lease,
      taken,
      renewDeadlineMs: this.#renewDeadlineMs,
      retryPeriodMs: this.#retryPeriodMs,
      releaseOnCancel,
      clock: this.#clock,
      log: this.#log,
      looked: () => this.#reportLeader(),
      ended: () => {
        metrics?.leading(false);
        this.#state = { kind: "lost", leadership };
      },
      released: () => this.#state = { kind: "idle" },
    });
    this.#state = { kind: "leading", leadership };
    metrics?.leading(true);
    if (signal.aborted) {
      await leadership.release();
      throw signal.reason;
    }
    this.#log.info("leading", { lease: this.lease, identity: this.identity, epoch: leadership.epoch });
    return leadership;
  }

  /** Milliseconds until the next attempt. @throws LeaseForbiddenError */
  #pauseAfter(outcome: Exclude<ClaimOutcome, { readonly kind: "held" }>): number {
    // Shorter by up to the jitter, not longer: a retry period is the promise of how fast a released Lease is taken.
    const pauseMs = this.#retryPeriodMs / (1 + this.#random.next() * (jitter - 1));
    if (outcome.kind === "taken") return Math.min(pauseMs, outcome.freeInMs);
    if (outcome.error instanceof LeaseForbiddenError) throw outcome.error;
    const isBeaten = isConflict(outcome.error) || isAlreadyExists(outcome.error);
    if (!isBeaten) this.#log.warn("Cannot find out who leads", { lease: this.lease, error: outcome.error });
    return pauseMs;
  }

  #reportLeader(): void {
    const { onNewLeader } = this.#options;
    const { holder } = this.#claim;
    if (holder === this.#reportedLeader) return;
    this.#reportedLeader = holder;
    if (holder === "") return;
    if (holder !== this.identity) this.#log.info("another process leads", { lease: this.lease, leader: holder });
    try {
      onNewLeader?.(holder);
    } catch (error) {
      this.#log.error("onNewLeader failed", { error });
    }
  }
}

interface Timing {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

function assertOrder({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }: Timing): void {
  const isOrdered = retryPeriodMs > 0 && renewDeadlineMs > jitter * retryPeriodMs && leaseDurationMs > renewDeadlineMs;
  if (isOrdered && leaseDurationMs < Infinity) return;
  throw new RangeError(
    `Cannot create LeaderElector: leaseDurationMs ${leaseDurationMs} > renewDeadlineMs ${renewDeadlineMs} > ` +
      `${jitter} * retryPeriodMs ${retryPeriodMs} > 0 does not hold`,
  );
}

/**
 * LeaderElector: elects one leader among all replicas that use the same Lease.
 *
 * | state   | on                                                      | next    |
 * |---------|---------------------------------------------------------|---------|
 * | idle    | acquire()                                               | standby |
 * | standby | the Lease has no holder, or has expired                 | leading |
 * | standby | abort, or RBAC does not allow to use the Lease          | idle    |
 * | leading | release()                                               | idle    |
 * | leading | renew deadline passed, or another process has the Lease | lost    |
 * | lost    | release(), because the work of the term has ended       | idle    |
 *
 * Guarantees and assumptions: those of {@link Leadership}. The rules are in `lease_claim.ts`, a term is in `term.ts`.
 */
import type { KubeObject } from "../../api/mod.ts";
import { type Clock, isAbortOf, type Random, systemClock, systemRandom } from "../../async/mod.ts";
import { type Client, isAlreadyExists, isConflict } from "../../client/mod.ts";
import {
  type EntryId,
  errorText,
  type Fields,
  type LeaseEntry,
  type Logger,
  logger,
  type MetricsRegistry,
  printable,
  type Recorder,
} from "../../observe/mod.ts";
import { isFenced } from "../fence/mod.ts";
import { type Leadership, maxShownHolder } from "./leadership.ts";
import { type CandidateVersions, LeaseCandidate } from "./lease_candidate.ts";
import { type ClaimOutcome, LeaseClaim } from "./lease_claim.ts";
import { LeaseForbiddenError, LeaseLock } from "./lease_lock.ts";
import { leaseTimingOf, retryJitter } from "./lease_timing.ts";
import { type ReleaseOutcome, Term } from "./term.ts";

/** Options of a {@link LeaderElector}. */
export interface LeaderElectorOptions {
  /** Must not be fenced. A client with a separate connection can renew while other connections are busy. */
  readonly client: Client;
  /** Namespace of the Lease. */
  readonly namespace: string;
  /** Name of the Lease: the same for all replicas of one operator, and different for every other operator. */
  readonly name: string;
  /** Identity of this process. Every process needs its own, also the next one on the same host. */
  readonly identity: string;
  /** Milliseconds without a renewal after which another process can take the Lease. @default 15_000 */
  readonly leaseDurationMs?: number;
  /** Milliseconds without a renewal after which the leader stops leading. @default 10_000 */
  readonly renewDeadlineMs?: number;
  /** Milliseconds between two attempts to acquire or renew the Lease. @default 2_000 */
  readonly retryPeriodMs?: number;
  /** Releases the Lease at the end of a term. The work of the term must have ended by then. @default true */
  readonly releaseOnCancel?: boolean;
  /** What `run` does when leadership is lost: throw a LeaseLostError, or stand by again. @default "throw" */
  readonly whenLost?: "throw" | "standby";
  /**
   * Annotations of the Lease while this process leads, e.g. where it can be asked; undefined removes one that an earlier
   * leader has left. They are read before each write of the Lease, and removed when it is released.
   * @default annotations stay as they are
   */
  readonly annotations?: () => Readonly<Record<string, string | undefined>>;
  /**
   * Lets the API server choose the leader among the replicas: the one with the oldest version, so that a rolling update
   * changes it last. If the server does not have the feature CoordinatedLeaderElection, the replicas elect the leader
   * themselves. The clocks of server and replicas may differ by less than the lease duration.
   * @default the replicas elect the leader
   */
  readonly coordinated?: CandidateVersions;
  /** Called with the identity of each new leader, also if it is this process. */
  readonly onNewLeader?: (identity: string) => void;
  /** Notified of the state. @default no metrics */
  readonly metrics?: LeaderElectionMetrics;
  /** Records changes of leadership. @default nothing is recorded */
  readonly recorder?: Recorder;
  /** Measures durations and deadlines. @default systemClock */
  readonly clock?: Clock;
  /** Varies the retry period. @default systemRandom */
  readonly random?: Random;
  /** Receives the log records of the election. @default logger("leader") */
  readonly log?: Logger;
}

/** The state of a {@link LeaderElector}. */
export type ElectorState =
  | { readonly kind: "idle" }
  | { readonly kind: "standby" }
  | { readonly kind: "leading"; readonly leadership: Leadership }
  /** No longer leading, but the work of the term may not have ended yet. */
  | { readonly kind: "lost"; readonly leadership: Leadership };

/**
 * Takes part in the election of a leader, with a Lease as all clients of Kubernetes use it. A Manager with
 * `leaderElection` does this for its controllers.
 *
 * @example Work as the leader. The Lease is released when the work has ended
 * ```ts
 * import { Client, LeaderElector } from "@pintle/controller/client";
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
  /** Since when, and until when, this process is a candidate; undefined in an election without candidates. */
  #candidacy: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;

  /**
   * Creates an elector. It sends no request before {@link acquire} or {@link run}.
   *
   * @throws {RangeError} when the three times do not give a leader time to stop before its Lease expires
   * @throws {TypeError} when identity, name or namespace is empty
   */
  constructor(options: LeaderElectorOptions) {
    const { client, namespace, name, identity, metrics, annotations } = options;
    const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = leaseTimingOf(options, "create LeaderElector");
    const { clock = systemClock, random = systemRandom, log = logger("leader") } = options;
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
    this.#lock = new LeaseLock({ client, namespace, name, annotations });
    this.#claim = new LeaseClaim({
      lock: this.#lock,
      identity,
      leaseDurationMs,
      // Half, so that after a request without a response there is time for another. As controller-runtime's client timeout.
      attemptTimeoutMs: renewDeadlineMs / 2,
      clock,
      isCoordinated: () => this.#candidacy !== undefined,
      onSlowPath: () => metrics?.countSlowPath(),
    });
    metrics?.setLeading(false);
  }

  /** `Lease "namespace/name"`, for messages. */
  get lease(): string {
    return this.#lock.description;
  }

  /** The Lease as it was last read or written, for Events about it; undefined when there was none. */
  get leaseObject(): KubeObject | undefined {
    return this.#lock.object;
  }

  /** Identity of this process. */
  get identity(): string {
    return this.#options.identity;
  }

  /** Whether this process leads, stands by, or has lost the Lease. */
  get state(): ElectorState {
    return this.#state;
  }

  /** The leader that was seen last; undefined when there was none, or the Lease was not read yet. */
  get leader(): string | undefined {
    const { holder } = this.#claim;
    return holder === "" ? undefined : holder;
  }

  /** The current term; undefined while this process does not lead. The fence depends on it. */
  get leadership(): Leadership | undefined {
    return this.#state.kind === "leading" ? this.#state.leadership : undefined;
  }

  /**
   * False when the Lease has expired and the work of the term has not ended. A standby is healthy.
   *
   * @param toleranceMs Milliseconds that the work may take after the lease duration.
   */
  isHealthy(toleranceMs = 0): boolean {
    if (this.#state.kind !== "leading" && this.#state.kind !== "lost") return true;
    const sinceRenewalMs = this.#clock.monotonic() - this.#state.leadership.renewedAt;
    return sinceRenewalMs <= this.#leaseDurationMs + toleranceMs;
  }

  /**
   * Stands by until this process leads.
   *
   * @throws LeaseForbiddenError when RBAC does not allow it, the signal's reason when aborted. All other errors are logged
   *   and retried.
   * @throws TypeError when this elector already stands by or leads
   */
  async acquire(signal: AbortSignal): Promise<Leadership> {
    if (this.#state.kind !== "idle") throw new TypeError(`Cannot acquire ${this.lease}: it is ${this.#state.kind}`);
    this.#state = { kind: "standby" };
    this.#report("info", "standing by for the lease", "standby", { identity: this.identity });
    try {
      await this.#announce(signal);
      while (true) {
        signal.throwIfAborted();
        const outcome = await this.#claim.acquire(signal);
        this.#reportLeader();
        if (outcome.kind === "held") return await this.#lead(outcome, signal);
        signal.throwIfAborted();
        await this.#clock.sleep(this.#pauseAfter(outcome), signal);
      }
    } catch (error) {
      await this.#withdraw();
      this.#state = { kind: "idle" };
      throw error;
    }
  }

  /** Makes this process a candidate, if that is asked for and the server has candidates. @throws as {@link acquire} */
  async #announce(signal: AbortSignal): Promise<void> {
    const { coordinated: versions, client, namespace, name: lease, identity } = this.#options;
    if (versions === undefined || this.#candidacy !== undefined) return;
    const parts = { clock: this.#clock, random: this.#random, log: this.#log, timeoutMs: this.#renewDeadlineMs / 2 };
    const candidate = new LeaseCandidate({ ...parts, client, namespace, lease, identity, versions });
    while (true) {
      signal.throwIfAborted();
      try {
        if (await candidate.announce(signal)) break;
        return this.#log.info("the server does not coordinate elections, replicas elect the leader", { lease });
      } catch (error) {
        if (signal.aborted || error instanceof LeaseForbiddenError) throw error;
        this.#log.warn("lease candidate not announced", { lease: this.lease, error });
        await this.#clock.sleep(this.#retryPeriodMs, signal);
      }
    }
    const stop = new AbortController();
    this.#candidacy = { stop, ended: candidate.run(stop.signal) };
  }

  async #withdraw(): Promise<void> {
    this.#candidacy?.stop.abort();
    await this.#candidacy?.ended;
    this.#candidacy = undefined;
  }

  /**
   * Leads until `stop`: stands by, calls `work` with the term, and releases the Lease when `work` has ended. `work` must
   * end when the term's signal or `stop` aborts. Only then does this process stand by again, or does `run` return, so
   * no work of one term continues in the next.
   *
   * @throws LeaseLostError when leadership was lost and `whenLost` is "throw"; LeaseForbiddenError; the error of `work`.
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

  async #lead(acquiredLease: ClaimOutcome & { readonly kind: "held" }, signal: AbortSignal): Promise<Leadership> {
    const { releaseOnCancel = true, metrics } = this.#options;
    const leadership: Leadership = new Term({
      claim: this.#claim,
      lease: this.lease,
      acquiredLease,
      renewDeadlineMs: this.#renewDeadlineMs,
      retryPeriodMs: this.#retryPeriodMs,
      releaseOnCancel,
      clock: this.#clock,
      log: this.#log,
      onAttempt: () => this.#reportLeader(),
      onEnd: () => {
        metrics?.setLeading(false);
        this.#state = { kind: "lost", leadership };
        const error = leadership.lost;
        if (error !== undefined) this.#report("error", "leadership lost", "lost", { error });
      },
      // A candidate without the Lease would be elected again.
      beforeRelease: () => this.#withdraw(),
      onRelease: (outcome) => {
        this.#state = { kind: "idle" };
        this.#reportRelease(outcome);
      },
    });
    this.#state = { kind: "leading", leadership };
    metrics?.setLeading(true);
    this.#report("info", "leading", "leading", { identity: this.identity, epoch: leadership.epoch });
    if (signal.aborted) {
      await leadership.release();
      throw signal.reason;
    }
    return leadership;
  }

  /** Milliseconds until the next attempt. @throws LeaseForbiddenError */
  #pauseAfter(outcome: Exclude<ClaimOutcome, { readonly kind: "held" }>): number {
    // The jitter only shortens the pause, because a released Lease must be taken within one retry period.
    const pauseMs = this.#retryPeriodMs / (1 + this.#random.next() * (retryJitter - 1));
    if (outcome.kind === "heldByOther") return Math.min(pauseMs, outcome.freeInMs);
    if (outcome.error instanceof LeaseForbiddenError) throw outcome.error;
    const isConflicting = isConflict(outcome.error) || isAlreadyExists(outcome.error);
    if (!isConflicting) this.#log.warn("lease acquisition failed", { lease: this.lease, error: outcome.error });
    return pauseMs;
  }

  #reportRelease(outcome: ReleaseOutcome): void {
    switch (outcome.kind) {
      case "kept":
        return void this.#record("released");
      case "released":
        return this.#report("info", "lease released", "released");
      case "failed":
        return this.#report("warn", "lease not released, it will expire", "released", { error: outcome.error });
      default:
        outcome satisfies never;
    }
  }

  /** Records and logs a state, in the same words. */
  #report(
    level: "info" | "warn" | "error",
    message: string,
    state: LeaseEntry["state"],
    fields: Fields & { readonly error?: unknown } = {},
  ): void {
    const { lease, leader } = this;
    const entry = this.#record(state, fields.error);
    const holder = leader === undefined ? undefined : printable(leader, maxShownHolder);
    this.#log[level](message, { lease, state, holder, ...fields, entry });
  }

  #record(state: LeaseEntry["state"], error?: unknown): EntryId | undefined {
    const { lease, leader: holder } = this;
    const details = {
      ...(holder === undefined ? {} : { holder }),
      ...(error === undefined ? {} : { error: errorText(error) }),
    };
    return this.#options.recorder?.record({ kind: "lease", causes: [], lease, state, ...details });
  }

  #reportLeader(): void {
    const { onNewLeader, metrics } = this.#options;
    const { holder } = this.#claim;
    const { record } = this.#lock;
    if (record !== undefined) metrics?.setTransitions(record.transitions);
    if (holder === this.#reportedLeader) return;
    this.#reportedLeader = holder;
    if (holder === "") return;
    if (holder !== this.identity) this.#report("info", "another process is leading", "other-leader");
    try {
      onNewLeader?.(holder);
    } catch (error) {
      this.#log.error("onNewLeader failed", { error });
    }
  }
}

/** Called by a {@link LeaderElector}, for metrics. */
export interface LeaderElectionMetrics {
  /** This process began or ended a term. */
  setLeading(isLeader: boolean): void;
  /** A renewal had to read the Lease first. */
  countSlowPath(): void;
  /** The Lease, as it was last read or written, has changed its holder so many times. */
  setTransitions(count: number): void;
}

/** Options of {@link leaderElectionMetrics}. */
interface LeaderElectionMetricsOptions {
  /** Value of the label `name`: the name of the Lease. */
  readonly name: string;
}

/** Creates the metrics of one Lease in `registry`: `leader_election_master_status` and others. */
export function leaderElectionMetrics(
  registry: MetricsRegistry,
  options: LeaderElectionMetricsOptions,
): LeaderElectionMetrics {
  const { name } = options;
  const status = registry.gauge({
    name: "leader_election_master_status",
    help: "Whether this process is the leader by the lease of this name: 1 leader, 0 standby",
    labelNames: ["name"],
  }).labels({ name });
  const slowPath = registry.counter({
    name: "leader_election_slowpath_total",
    help: "Renewals of the lease of this name that had to read it first",
    labelNames: ["name"],
  }).labels({ name });
  const transitions = registry.gauge({
    name: "leader_election_lease_transitions",
    help: "How often the lease of this name has changed its holder, as the lease says: the same on all replicas",
    labelNames: ["name"],
  });
  return {
    setLeading: (isLeader) => status.set(isLeader ? 1 : 0),
    countSlowPath: () => slowPath.inc(),
    // Without a value until the Lease is known: a 0 would look like the Lease of another cluster.
    setTransitions: (count) => transitions.labels({ name }).set(count),
  };
}

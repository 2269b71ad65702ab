/**
 * ShardMember: one replica of a group that divides the keys of its controllers by slots (`slots.ts`). It joins the group with
 * a Lease of its own, follows the Leases of the others, and holds the slots that are its own (`slot_holds.ts`).
 *
 *   read all Leases -> Membership (who is alive) -> planSlots (what follows) -> hold, drain, or write the claim -> read ...
 *
 * Guarantees: those of `membership.ts`. From the renew deadline of its Lease on, or when another replica has taken it, a
 * replica holds nothing, and `run` ends as with a lost leadership. At a stop the slots are given away when the work has ended.
 *
 * Assumptions: as for a Leadership: the rates of the clocks of two machines differ by less than leaseDuration / renewDeadline,
 * and a machine whose monotonic clock stops has a wall clock that does not.
 */
import { type Clock, isAbortOf, type Random, scope, systemClock, systemRandom } from "../../async/mod.ts";
import type { Client } from "../../client/mod.ts";
import { type Logger, logger, type MetricsRegistry } from "../../observe/mod.ts";
import { LeaseClaim, LeaseForbiddenError, LeaseLock, type LeaseTiming, leaseTimingOf, Term } from "../election/mod.ts";
import { isFenced } from "../fence/mod.ts";
import { claimAnnotation, groupLabels, MemberLeases, workAnnotation } from "./member_leases.ts";
import {
  areSameSlots,
  commonSlots,
  type GroupView,
  type MemberLease,
  Membership,
  planSlots,
  type SlotPlan,
} from "./membership.ts";
import { SlotHolds } from "./slot_holds.ts";
import { printSlots, slotCount } from "./slots.ts";

/** Sharding settings of a Manager: how its replicas divide the keys of their controllers. */
export interface ShardingOptions {
  /** A client with a separate connection, so that renewals do not wait for other requests. @default the Manager's */
  readonly client?: Client;
  /** Namespace of the Leases. */
  readonly namespace: string;
  /** Name of the group: the same for all replicas of one operator, and different for every other operator. */
  readonly name: string;
  /** Identity of this process. Every process needs its own, also the next one on the same host. */
  readonly identity: string;
  /**
   * How many replicas there usually are. A replica that starts takes nothing until so many are there, or until the lease
   * duration has passed: so the first one does not take, list and give away everything. @default 1
   */
  readonly expectedReplicas?: number;
  /** Milliseconds without a renewal after which the slots of a replica are taken over. @default 15_000 */
  readonly leaseDurationMs?: number;
  /** Milliseconds without a renewal after which a replica stops writing. @default 10_000 */
  readonly renewDeadlineMs?: number;
  /** Milliseconds between two renewals, and between two looks at the other replicas. @default 2_000 */
  readonly retryPeriodMs?: number;
  /** What a Manager does when it loses its Lease: throw a LeaseLostError, or join again. @default "throw" */
  readonly whenLost?: "throw" | "standby";
  /** Further annotations of the Lease, e.g. where the replica can be asked; undefined removes one. @default none */
  readonly annotations?: () => Readonly<Record<string, string | undefined>>;
}

/** Options of a {@link ShardMember}. */
export interface ShardMemberOptions extends ShardingOptions {
  readonly client: Client;
  /** What the replica divides with the others, see `dividedWork`. @default it is not compared */
  readonly work?: () => string;
  /** Notified of the state. @default no metrics */
  readonly metrics?: ShardMetrics;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default systemRandom */
  readonly random?: Random;
  /** @default logger("shards") */
  readonly log?: Logger;
}

/** Called by a {@link ShardMember}, for metrics. */
export interface ShardMetrics {
  /** This replica holds so many slots. */
  setSlots(count: number): void;
  /** So many replicas are alive. */
  setMembers(count: number): void;
}

/** While slots move, the Leases are read more often than every retry period. */
const movingPauseMs = 300;

/** A replica that is a member of its group. */
interface Membered {
  readonly term: Term;
  readonly leases: MemberLeases;
  readonly membership: Membership;
  readonly joinedAt: number;
}

export class ShardMember {
  /** The slots that this replica may reconcile. */
  readonly holds = new SlotHolds();
  readonly #options: ShardMemberOptions;
  readonly #timing: LeaseTiming;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #lock: LeaseLock;
  readonly #claim: LeaseClaim;
  /** The name of this replica in the group, and of its Lease. */
  readonly name: string;
  #term: Term | undefined;
  /** What the next write of the Lease says. */
  #toClaim: ReadonlySet<number> = new Set();
  /** What the Lease on the server says for certain. */
  #claimed: ReadonlySet<number> = new Set();
  #view: GroupView | undefined;
  #plan: SlotPlan | undefined;
  #isReady = false;
  #wake: (() => void) | undefined;
  /** The replicas with other work that the log has named already. */
  #named: ReadonlySet<string> = new Set();

  /**
   * @throws TypeError when identity, name or namespace is empty
   * @throws RangeError when the times do not give a replica time to stop before its Lease expires
   */
  constructor(options: ShardMemberOptions) {
    const { client, namespace, name: group, identity, clock = systemClock, random = systemRandom } = options;
    if (identity === "" || group === "" || namespace === "") {
      throw new TypeError("Cannot shard controllers: identity, name or namespace is empty");
    }
    this.#options = options;
    this.#timing = leaseTimingOf(options, "shard controllers");
    const { leaseDurationMs, renewDeadlineMs } = this.#timing;
    this.#clock = clock;
    this.#random = random;
    this.#log = options.log ?? logger("shards");
    this.name = leaseNameOf(group, identity);
    this.#lock = new LeaseLock({
      client,
      namespace,
      name: this.name,
      labels: groupLabels(group),
      hasOwnName: true,
      annotations: () => ({
        ...options.annotations?.(),
        [claimAnnotation]: printSlots(this.#toClaim),
        [workAnnotation]: options.work?.(),
      }),
    });
    this.#claim = new LeaseClaim({
      lock: this.#lock,
      identity,
      leaseDurationMs,
      attemptTimeoutMs: renewDeadlineMs / 2,
      clock,
      onSlowPath: () => {},
    });
    this.holds.listen({ onGained: () => this.#measure(), onEnded: () => this.#ended() });
  }

  /** `Lease "namespace/name"`, for messages. */
  get lease(): string {
    return this.#lock.description;
  }

  /** The name of the group. */
  get group(): string {
    return this.#options.name;
  }

  /** The right to write of this process; undefined while it is no member of its group. The fence depends on it. */
  get leadership(): Term | undefined {
    return this.#term;
  }

  /** The replica that each slot belongs to, as far as it is known: undefined for a slot that no claim contains. */
  get holders(): ReadonlyMap<number, string> {
    const claims = [...this.#view?.claims ?? [], [this.name, this.holds.slots] as const];
    return new Map(claims.flatMap(([member, slots]) => [...slots].map((slot) => [slot, member] as const)));
  }

  /** The names of the replicas that are alive. */
  get members(): readonly string[] {
    return this.#view?.live ?? [];
  }

  /** True when no slot of this replica is about to come or go. */
  isSettled(): boolean {
    return this.#plan !== undefined && this.#plan.waiting.size === 0 && this.holds.draining.size === 0 &&
      areSameSlots(this.#claimed, this.holds.slots) && this.#isReady;
  }

  /** True when the group has more replicas than it can divide the slots between, and this one has got none. */
  isWithoutSlots(): boolean {
    return this.isSettled() && this.holds.slots.size === 0;
  }

  /** False when the Lease has expired and the work of the replica has not ended. */
  isHealthy(): boolean {
    const term = this.#term;
    return term === undefined || this.#clock.monotonic() - term.renewedAt <= this.#timing.leaseDurationMs;
  }

  /**
   * Takes part in the group until `stop`: joins it, calls `work`, and leaves it when `work` has ended. `work` must end when
   * the term's signal or `stop` aborts.
   *
   * @throws LeaseLostError when the Lease was lost and `whenLost` is "throw"; LeaseForbiddenError; the error of `work`.
   */
  async run(work: (term: Term) => Promise<void>, stop: AbortSignal): Promise<void> {
    const { whenLost = "throw" } = this.#options;
    while (!stop.aborted) {
      const joined = await this.#join(stop);
      if (joined === undefined) return;
      await using term = joined;
      this.#term = term;
      try {
        await this.#takePart(term, work);
      } finally {
        this.#term = undefined;
      }
      if (term.lost === undefined) return;
      if (whenLost === "throw") throw term.lost;
      this.#log.info("joining again", { lease: this.lease });
    }
  }

  async #takePart(term: Term, work: (term: Term) => Promise<void>): Promise<void> {
    using following = scope(term.signal);
    using _ending = this.holds.endWith(term);
    const follows = this.#follow(term, following.signal);
    try {
      await work(term);
    } catch (error) {
      if (term.lost === undefined || !(isAbortOf(term.signal, error) || isFenced(error))) throw error;
    } finally {
      following.abort();
      this.#wake?.();
      await follows;
      this.holds.endAll(new DOMException("The replica leaves its group", "AbortError"));
    }
  }

  /** Writes the Lease of this replica, with an empty claim. @returns undefined when aborted. @throws LeaseForbiddenError */
  async #join(stop: AbortSignal): Promise<Term | undefined> {
    const { renewDeadlineMs, retryPeriodMs } = this.#timing;
    this.#toClaim = this.#claimed = new Set();
    this.#isReady = false;
    this.#view = this.#plan = undefined;
    while (!stop.aborted) {
      const outcome = await this.#claim.acquire(stop);
      if (outcome.kind === "held") {
        this.#log.info("joined", { lease: this.lease, group: this.group });
        return new Term({
          claim: this.#claim,
          lease: this.lease,
          acquiredLease: outcome,
          renewDeadlineMs,
          retryPeriodMs,
          releaseOnCancel: true,
          // The others count a deleted Lease as that of a replica that is gone, after its duration.
          recreatesLease: false,
          clock: this.#clock,
          log: this.#log,
          onAttempt: () => {},
          onEnd: () => {},
          onRelease: ({ kind }) => this.#log.info("left", { lease: this.lease, outcome: kind }),
        });
      }
      if (outcome.kind === "failed" && outcome.error instanceof LeaseForbiddenError) throw outcome.error;
      if (outcome.kind === "failed" && !stop.aborted) this.#log.warn("cannot join yet", { error: outcome.error });
      await this.#clock.sleep(retryPeriodMs * (0.8 + 0.2 * this.#random.next()), stop).catch(() => undefined);
    }
    return undefined;
  }

  /** Follows the group until `signal`. Never rejects. */
  async #follow(term: Term, signal: AbortSignal): Promise<void> {
    const { client, namespace, name: group } = this.#options;
    const { renewDeadlineMs, retryPeriodMs } = this.#timing;
    const clock = this.#clock;
    const member: Membered = {
      term,
      leases: new MemberLeases({ client, namespace, group, timeoutMs: renewDeadlineMs / 2, clock }),
      membership: new Membership(this.name, this.#timing),
      joinedAt: clock.monotonic(),
    };
    while (!signal.aborted) {
      let pauseMs = retryPeriodMs;
      try {
        pauseMs = await this.#step(member, signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#log.warn("cannot follow the group", { group, error });
      }
      if (pauseMs > 0) await this.#pause(pauseMs, signal);
    }
  }

  /** One look at the group, and what follows from it. @returns milliseconds until the next one */
  async #step(member: Membered, signal: AbortSignal): Promise<number> {
    const { term, leases, membership, joinedAt } = member;
    const read = await leases.read(signal);
    const view = membership.observe(read, this.#clock.monotonic());
    this.#view = view;
    this.#options.metrics?.setMembers(view.live.length);
    this.#compareWork(read);
    if (read.find(({ name }) => name === this.name)?.holder !== this.#options.identity) {
      // The renewal finds out who has it now.
      await term.renew();
      return movingPauseMs;
    }
    if (view.expired.length > 0) {
      for (const expired of view.expired) await this.#takeAway(member, expired, signal);
      return 0; // What the others claim now has to be read.
    }
    for (const left of view.left) await leases.delete(left, signal);
    this.#becomeReady(view, joinedAt);
    const own = { claimed: this.#claimed, held: this.holds.slots, draining: this.holds.draining };
    const plan = planSlots({ self: this.name, view, own, isReady: this.#isReady });
    this.#plan = plan;
    this.holds.gain(plan.gained, term);
    this.holds.drain(plan.toDrain);
    // A claim that was not acknowledged is what each renewal writes, until another one replaces it.
    const isWritten = [this.#claimed, this.#toClaim].every((claim) => areSameSlots(plan.claim, claim));
    if (!isWritten) return await this.#writeClaim(term, plan.claim);
    return this.#pauseMs(membership, plan);
  }

  /** Warns of replicas that divide other work: together with them no key is certain to have one replica. */
  #compareWork(leases: readonly MemberLease[]): void {
    const own = this.#options.work?.();
    const others = leases.filter(({ holder, work }) => holder !== "" && work !== undefined && work !== own);
    if (own === undefined || (others.length === 0 && this.#named.size === 0)) return;
    const known = this.#named;
    this.#named = new Set(others.map(({ name }) => name));
    const advice = "replicas with other controllers, shard keys, namespaces or selectors need another Lease name";
    for (const { name: member, work } of others) {
      if (known.has(member)) continue;
      this.#log.warn("a replica of the group divides other work", { group: this.group, member, work, own, advice });
    }
  }

  /** Writes the claim. A slot that it leaves out counts as not claimed from the moment before it is sent. */
  async #writeClaim(term: Term, claim: ReadonlySet<number>): Promise<number> {
    this.#toClaim = claim;
    this.#claimed = commonSlots(this.#claimed, claim);
    if (!await term.renew()) return movingPauseMs;
    this.#claimed = claim;
    this.#log.info("claimed slots", { lease: this.lease, count: claim.size });
    return 0;
  }

  async #takeAway({ leases, membership }: Membered, expired: MemberLease, signal: AbortSignal): Promise<void> {
    const isTaken = await leases.takeAway(expired, signal);
    membership.forget(expired.name);
    if (isTaken) this.#log.warn("a replica has not renewed its lease, taking its slots over", { member: expired.name });
  }

  #becomeReady({ live, claims }: GroupView, joinedAt: number): void {
    if (this.#isReady) return;
    const { expectedReplicas = 1 } = this.#options;
    // In a group that works already, nobody starts from nothing.
    const isWorking = [...claims.values()].some((claim) => claim.size > 0);
    const hasWaited = this.#clock.monotonic() - joinedAt >= this.#timing.leaseDurationMs;
    this.#isReady = live.length >= expectedReplicas || isWorking || hasWaited;
  }

  #pauseMs(membership: Membership, { waiting }: SlotPlan): number {
    const { retryPeriodMs } = this.#timing;
    const isMoving = waiting.size > 0 || this.holds.draining.size > 0 || !this.#isReady;
    const regularMs = isMoving ? Math.min(movingPauseMs, retryPeriodMs) : retryPeriodMs;
    return Math.min(
      regularMs * (0.8 + 0.2 * this.#random.next()),
      membership.nextExpiryInMs(this.#clock.monotonic()) + 1,
    );
  }

  /** Waits, but not longer than until a slot has drained. */
  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    using waiting = scope(signal);
    this.#wake = () => waiting.abort();
    await this.#clock.sleep(ms, waiting.signal).catch(() => undefined);
    this.#wake = undefined;
  }

  #ended(): void {
    this.#measure();
    this.#wake?.();
  }

  #measure(): void {
    this.#options.metrics?.setSlots(this.holds.slots.size);
  }
}

/** A DNS name of at most 63 characters: of the group, and of what makes the identity unique. */
function leaseNameOf(group: string, identity: string): string {
  const suffix = identity.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(-40);
  return `${group.slice(0, 200)}-${suffix}`.replace(/-+$/, "");
}

/** Creates the metrics of one group in `registry`. */
export function shardMetrics(
  registry: MetricsRegistry,
  { name: group, identity }: Pick<ShardingOptions, "name" | "identity">,
): ShardMetrics {
  const labelNames = ["group", "replica"] as const;
  const labels = { group, replica: leaseNameOf(group, identity) };
  const slots = registry.gauge({
    name: "shard_slots",
    help: `Slots of ${slotCount} that this replica reconciles, of the group and with the Lease of these names`,
    labelNames,
  }).labels(labels);
  const members = registry.gauge({
    name: "shard_members",
    help: "Replicas that are alive, as the replica with this Lease sees its group",
    labelNames,
  }).labels(labels);
  return { setSlots: (count) => slots.set(count), setMembers: (count) => members.set(count) };
}

/**
 * Membership: the rules by which the replicas of a group divide the slots. Each replica has a Lease of its own, and its
 * claim (the slots that it may reconcile) is in that Lease. Nothing here sends a request or waits; `shard_member.ts` does.
 *
 * | a slot of this replica | becomes          | when                                                                      |
 * |------------------------|------------------|---------------------------------------------------------------------------|
 * | not claimed            | claimed          | the slot is assigned to this replica; the claim is written                |
 * | claimed                | held             | a read that began after that write shows the slot in no other claim       |
 * | held                   | draining         | it is assigned to another replica, whose claim contains it                |
 * | draining               | claimed          | no reconcile of the slot runs any more                                    |
 * | claimed                | not claimed      | as above; the claim without it is written                                 |
 *
 * Guarantees: two replicas never hold a slot at the same time. Both would have had to write their claim first and read the
 * claims of all others then, and of two such pairs at least one read comes after both writes. A replica that does not renew
 * its Lease is ignored only after its Lease was taken from it: another replica writes it, which fails if it was renewed, and
 * does so when the Lease has not changed for its whole duration. By then the replica has stopped writing (`term.ts`).
 *
 * Assumptions: the server orders the writes of all Leases, and a list without a version contains every write that was
 * acknowledged before (the API server's consistent read).
 */
import { deletedLeaseMs } from "../election/mod.ts";
import { allSlots, assignSlots } from "./slots.ts";

/** The Lease of a replica, as it was read. */
export interface MemberLease {
  /** The name of the Lease, which is the name of the replica in the group. */
  readonly name: string;
  /** Changes with each write, and when the Lease is created again. */
  readonly version: string;
  /** The identity of the replica; "" when it has left the group, or when a user has removed it. */
  readonly holder: string;
  readonly durationMs: number;
  /** The claim; undefined when it cannot be read, which counts as all slots. */
  readonly claim: ReadonlySet<number> | undefined;
  /** What the replica divides with the others, as `dividedWork` says it; undefined when the Lease does not tell. */
  readonly work?: string | undefined;
}

/** What a replica knows of the others after a read. */
export interface GroupView {
  /** The names of the replicas that are alive, this one included. */
  readonly live: readonly string[];
  /** Those of them whose Leases have not changed for a while. They may be gone, so nothing waits for them to claim a slot. */
  readonly silent: ReadonlySet<string>;
  /** The claims of all other replicas whose claims count. */
  readonly claims: ReadonlyMap<string, ReadonlySet<number>>;
  /** Leases that have not changed for their whole duration. Their claims count until the Lease is taken away. */
  readonly expired: readonly MemberLease[];
  /** Leases of replicas that left the group long ago. They can be deleted. */
  readonly left: readonly MemberLease[];
}

/** A version of a Lease, and when it was seen first, by the monotonic clock. */
interface Observation {
  readonly lease: MemberLease;
  readonly at: number;
  /** A user deleted the Lease. Its replica may not have noticed yet. */
  readonly isDeleted: boolean;
}

/** What a replica does not wait for: a claim of one whose Lease has not changed for so many periods of its renewals. */
const silentAfterPeriods = 2.5;

/** The Lease of a replica that has left is deleted when so many durations have passed: the others have seen it by then. */
const leftAfterDurations = 4;

/** The longest duration in a released Lease. */
const releasedMs = 1_000;

/**
 * True when the replica gave its Lease back, or when it was taken from it. A Lease without a holder that still has a claim was
 * edited: its replica may not have noticed yet.
 */
function hasLeft({ holder, claim, durationMs }: MemberLease): boolean {
  return holder === "" && (claim === undefined ? durationMs <= releasedMs : claim.size === 0);
}

/** Remembers since when each Lease has not changed. */
export class Membership {
  readonly #self: string;
  readonly #leaseDurationMs: number;
  readonly #silentAfterMs: number;
  readonly #observed = new Map<string, Observation>();

  /** @param leaseDurationMs the shortest time that a silent replica gets @param retryPeriodMs between two renewals */
  constructor(
    self: string,
    { leaseDurationMs, retryPeriodMs }: { readonly leaseDurationMs: number; readonly retryPeriodMs: number },
  ) {
    this.#self = self;
    this.#leaseDurationMs = leaseDurationMs;
    this.#silentAfterMs = silentAfterPeriods * retryPeriodMs;
  }

  /**
   * Takes a consistent read of all Leases.
   *
   * @param at The monotonic time after the read.
   */
  observe(leases: readonly MemberLease[], at: number): GroupView {
    for (const lease of leases) {
      const known = this.#observed.get(lease.name);
      if (known?.lease.version === lease.version && !known.isDeleted) continue;
      this.#observed.set(lease.name, { lease, at, isDeleted: false });
    }
    const names = new Set(leases.map(({ name }) => name));
    for (const [name, known] of this.#observed) {
      if (names.has(name)) continue;
      if (hasLeft(known.lease)) this.#observed.delete(name);
      else if (!known.isDeleted) this.#observed.set(name, { ...known, at, isDeleted: true });
      else if (this.#isExpired(known, at)) this.#observed.delete(name);
    }
    return this.#view(at);
  }

  /** The Lease was taken from its replica, or has got another version: what was read of it is outdated. */
  forget(name: string): void {
    this.#observed.delete(name);
  }

  /** Milliseconds until a Lease expires if it does not change; Infinity when there is no other. */
  nextExpiryInMs(now: number): number {
    const others = this.#others().filter(({ lease }) => !hasLeft(lease));
    return Math.min(...others.map((one) => Math.max(0, one.at + this.#durationOf(one) - now)));
  }

  #view(now: number): GroupView {
    const others = this.#others();
    const holding = others.filter(({ lease }) => !hasLeft(lease));
    const alive = holding.filter((one) => one.lease.holder !== "" && !one.isDeleted && !this.#isExpired(one, now));
    const left = others.filter(({ lease, at }) =>
      hasLeft(lease) && now - at >= leftAfterDurations * this.#leaseDurationMs
    );
    return {
      live: [this.#self, ...alive.map(({ lease }) => lease.name)],
      silent: new Set(alive.filter(({ at }) => now - at >= this.#silentAfterMs).map(({ lease }) => lease.name)),
      claims: new Map(holding.map(({ lease }) => [lease.name, lease.claim ?? allSlots])),
      expired: holding.filter((one) => !one.isDeleted && this.#isExpired(one, now)).map(({ lease }) => lease),
      left: left.map(({ lease }) => lease),
    };
  }

  #others(): readonly Observation[] {
    return [...this.#observed.values()].filter(({ lease }) => lease.name !== this.#self);
  }

  #durationOf({ lease, isDeleted }: Observation): number {
    if (isDeleted) return deletedLeaseMs(lease.durationMs, this.#leaseDurationMs);
    return Math.max(lease.durationMs, this.#leaseDurationMs);
  }

  #isExpired(observation: Observation, now: number): boolean {
    return now - observation.at >= this.#durationOf(observation);
  }
}

/** What a replica has. */
export interface OwnSlots {
  /**
   * The slots that are in the claim in its Lease for certain: what the server has acknowledged, without what a write that
   * was sent since then leaves out.
   */
  readonly claimed: ReadonlySet<number>;
  /** The slots that it may reconcile, and those that are draining. */
  readonly held: ReadonlySet<number>;
  readonly draining: ReadonlySet<number>;
}

/** What a replica does next. */
export interface SlotPlan {
  /** Slots that it may reconcile from now on. */
  readonly gained: ReadonlySet<number>;
  /** Slots of which it must start nothing more. */
  readonly toDrain: ReadonlySet<number>;
  /** The claim to write; equal to the present one when nothing changes. */
  readonly claim: ReadonlySet<number>;
  /** Slots that are claimed, and that another replica still has. */
  readonly waiting: ReadonlySet<number>;
}

/** Options of {@link planSlots}. */
export interface PlanOptions {
  readonly self: string;
  /** From a read that began after the present claim was acknowledged. */
  readonly view: GroupView;
  readonly own: OwnSlots;
  /** False while the replica waits for others to arrive, and when it stops: it claims nothing new. */
  readonly isReady: boolean;
  /** The replica stops: it gives everything away, also when nobody waits for it. */
  readonly isStopping?: boolean;
}

/** Decides what follows from a read. */
export function planSlots({ self, view, own, isReady, isStopping = false }: PlanOptions): SlotPlan {
  const { claimed, held, draining } = own;
  const ownerOf = slotOwners(view);
  const blocked = new Set([...view.claims.values()].flatMap((claim) => [...claim]));
  // A slot stays where it is until the replica to which it is assigned asks for it.
  const isToGive = (slot: number) => {
    const member = ownerOf(slot);
    return isStopping || (member !== self && view.claims.get(member)?.has(slot) === true);
  };
  const gained = new Set([...claimed].filter((slot) => !held.has(slot) && !blocked.has(slot) && !isToGive(slot)));
  const toDrain = new Set([...held].filter((slot) => !draining.has(slot) && isToGive(slot)));
  const isKept = (slot: number) => held.has(slot) || gained.has(slot) || !isToGive(slot);
  const wanted = isReady && !isStopping ? [...allSlots].filter((slot) => ownerOf(slot) === self) : [];
  const claim = new Set([...[...claimed].filter(isKept), ...wanted]);
  const waiting = new Set([...claim].filter((slot) => !held.has(slot) && !gained.has(slot)));
  return { gained, toDrain, claim, waiting };
}

/**
 * The replica that each slot belongs to. A silent one gets no slot that it has not claimed: it may be gone, and the slot would
 * have no replica until its Lease has expired too.
 */
function slotOwners({ live, silent, claims }: GroupView): (slot: number) => string {
  const assigned = assignSlots(live);
  if (silent.size === 0) return (slot) => assigned[slot] ?? "";
  const amongOthers = assignSlots(live.filter((name) => !silent.has(name)));
  return (slot) => {
    const member = assigned[slot] ?? "";
    const isWaitedFor = !silent.has(member) || claims.get(member)?.has(slot) === true;
    return isWaitedFor ? member : amongOthers[slot] ?? "";
  };
}

/** The slots that both have. */
export function commonSlots(a: ReadonlySet<number>, b: ReadonlySet<number>): ReadonlySet<number> {
  return new Set([...a].filter((slot) => b.has(slot)));
}

/** True when both have the same slots. */
export function areSameSlots(a: ReadonlySet<number>, b: ReadonlySet<number>): boolean {
  return a.size === b.size && [...a].every((slot) => b.has(slot));
}

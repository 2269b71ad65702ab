/**
 * A model of a group of replicas: each of them reads, writes its claim, drains and takes expired Leases in steps that
 * interleave at random, over a store that orders writes. Writes can be lost, delayed, or take effect without an answer;
 * replicas crash, pause, join and leave; users delete Leases of replicas.
 *
 * Invariants: no two replicas that may write hold the same slot; when faults end, every slot is held by exactly one replica,
 * and each holds what it is assigned.
 */
import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { type Random, seededRandom } from "../../async/mod.ts";
import { areSameSlots, commonSlots, type MemberLease, Membership, planSlots } from "./membership.ts";
import { allSlots, assignSlots } from "./slots.ts";

const leaseMs = 15_000, deadlineMs = 10_000, pollMs = 500;
const timing = { leaseDurationMs: leaseMs, retryPeriodMs: 2_000 };
const none: ReadonlySet<number> = new Set();

interface Stored extends MemberLease {
  readonly number: number;
}

/** The Leases on the server. */
class Store {
  readonly leases = new Map<string, Stored>();
  #versions = 0;

  /** Replaces a version; undefined creates. @returns undefined for a conflict */
  write(lease: Omit<MemberLease, "version">, version: string | undefined): string | undefined {
    if (this.leases.get(lease.name)?.version !== version) return undefined;
    const number = ++this.#versions;
    this.leases.set(lease.name, { ...lease, version: String(number), number });
    return String(number);
  }

  read(): readonly MemberLease[] {
    return [...this.leases.values()];
  }
}

interface Send {
  readonly claim: ReadonlySet<number>;
  readonly at: number;
}

class Member {
  readonly name: string;
  readonly membership: Membership;
  version: string | undefined;
  renewedAt: number;
  claimed: ReadonlySet<number> = none;
  held = new Set<number>();
  draining = new Set<number>();
  isStopping = false;
  hasLeft = false;
  isLost = false;
  pausedUntil = 0;
  nextAt: number;
  /** The claim that is to be written next. */
  next: ReadonlySet<number> = none;
  sending: Send | undefined;
  /** The replicas that it knows. */
  seen = new Set<string>();

  constructor(name: string, now: number) {
    this.name = name;
    this.membership = new Membership(name, timing);
    this.renewedAt = now;
    this.nextAt = now;
  }

  mayWrite(now: number): boolean {
    return !this.isLost && !this.hasLeft && now - this.renewedAt < deadlineMs;
  }

  lose(): void {
    this.isLost = true;
    this.held.clear();
    this.draining.clear();
  }
}

class Group {
  now = 0;
  readonly store = new Store();
  readonly members: Member[] = [];
  readonly #random: Random;
  hasFaults = true;
  #deletedAt = -Infinity;
  /** Writes that are on their way. */
  #travelling: { readonly at: number; readonly deliver: () => void }[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  join(): void {
    this.members.push(new Member(`member-${this.members.length + 1}`, this.now));
  }

  get live(): readonly Member[] {
    return this.members.filter((member) => !member.isLost && !member.hasLeft);
  }

  chance(part: number): boolean {
    return this.#random.next() < part;
  }

  pick<T>(values: readonly T[]): T | undefined {
    return values[Math.floor(this.#random.next() * values.length)];
  }

  tick(): void {
    this.now += 50;
    const due = this.#travelling.filter(({ at }) => at <= this.now);
    this.#travelling = this.#travelling.filter(({ at }) => at > this.now);
    for (const { deliver } of due) deliver();
    if (this.hasFaults) this.#fault();
    for (const member of this.live) {
      if (member.pausedUntil > this.now) continue;
      if (this.now - member.renewedAt >= deadlineMs) member.lose();
      else if (this.now >= member.nextAt) this.#step(member);
    }
    this.#check();
  }

  #fault(): void {
    const member = this.pick(this.live);
    if (member === undefined) return;
    if (this.chance(0.004)) member.pausedUntil = this.now + this.#random.next() * 40_000;
    if (this.chance(0.001)) member.lose(); // a crash: the Lease stays
    if (this.chance(0.002)) member.isStopping = true;
    // A replica that starts after a deletion knows nothing of the one whose Lease it was: a caveat of the protocol.
    const mayJoin = this.now - this.#deletedAt > deadlineMs && this.live.length < 5;
    if (this.chance(0.004) && mayJoin) this.join();
    const isDeletable = this.live.every(({ version, seen }) => version !== undefined && seen.has(member.name));
    if (this.chance(0.001) && isDeletable) {
      this.store.leases.delete(member.name);
      this.#deletedAt = this.now;
    }
  }

  /** Drains, writes a claim that differs or renews, else reads and plans. */
  #step(member: Member): void {
    member.nextAt = this.now + pollMs * (0.5 + this.#random.next());
    for (const slot of [...member.draining]) {
      if (!this.chance(0.7)) continue;
      member.draining.delete(slot);
      member.held.delete(slot);
    }
    if (member.sending !== undefined) return;
    const isNews = member.version === undefined || !areSameSlots(member.next, member.claimed);
    if (isNews || this.now - member.renewedAt > 2_000) return this.#write(member);
    this.#read(member);
  }

  #write(member: Member): void {
    const { name, next: claim, version } = member;
    const at = this.now;
    const isRelease = member.isStopping && member.held.size === 0 && member.claimed.size === 0;
    const lease = { name, holder: isRelease ? "" : name, durationMs: leaseMs, claim };
    const delayMs = this.hasFaults && this.chance(0.1) ? this.#random.next() * 25_000 : 50;
    const isAnswered = !this.hasFaults || this.chance(0.95);
    member.sending = { claim, at };
    // The write may be on the server already, or not.
    member.claimed = commonSlots(member.claimed, claim);
    this.#travelling.push({
      at: at + delayMs,
      deliver: () => {
        const written = this.store.write(lease, version);
        if (isAnswered) this.#answer(member, { claim, at }, written, isRelease);
        else member.sending = undefined;
      },
    });
  }

  #answer(member: Member, { claim, at }: Send, written: string | undefined, isRelease: boolean): void {
    member.sending = undefined;
    if (member.isLost || member.hasLeft) return;
    if (written === undefined) {
      // As LeaseClaim.renew(): the Lease is read, and it is lost if it is no longer ours.
      const live = this.store.leases.get(member.name);
      if (live === undefined || live.holder !== member.name) return member.lose();
      member.version = live.version;
      return;
    }
    member.version = written;
    member.renewedAt = at;
    member.claimed = claim;
    if (isRelease) member.hasLeft = true;
  }

  #read(member: Member): void {
    // A write without an answer may have changed the version.
    const view = member.membership.observe(this.store.read(), this.now);
    member.seen = new Set(view.live);
    for (const expired of view.expired) {
      this.store.write({ ...expired, holder: "", claim: none }, expired.version);
      member.membership.forget(expired.name);
    }
    if (view.expired.length > 0) return;
    const { name: self, claimed, held, draining, isStopping } = member;
    const plan = planSlots({ self, view, own: { claimed, held, draining }, isReady: true, isStopping });
    for (const slot of plan.gained) held.add(slot);
    for (const slot of plan.toDrain) draining.add(slot);
    member.next = plan.claim;
    if (isStopping && held.size === 0 && claimed.size === 0) this.#write(member);
  }

  #check(): void {
    const owners = new Map<number, string>();
    for (const member of this.members) {
      if (!member.mayWrite(this.now)) continue;
      for (const slot of member.held) {
        const other = owners.get(slot);
        assert(other === undefined, `${this.now}: slot ${slot} is held by ${other} and ${member.name}`);
        owners.set(slot, member.name);
      }
    }
  }

  checkSettled(): void {
    const assigned = assignSlots(this.live.map(({ name }) => name));
    for (const { name, held, claimed, draining } of this.live) {
      const own = new Set([...allSlots].filter((slot) => assigned[slot] === name));
      assertEquals([...held].sort((a, b) => a - b), [...own], `${name} holds what it is assigned`);
      assert(areSameSlots(claimed, own) && draining.size === 0);
    }
  }
}

test("no two replicas hold a slot, whatever happens, and every slot finds its replica when faults end", () => {
  for (let seed = 1; seed <= 30; seed++) {
    const group = new Group(seededRandom(seed));
    for (let member = 0; member < 1 + seed % 4; member++) group.join();
    for (let tick = 0; tick < 2_400; tick++) group.tick(); // two minutes
    group.hasFaults = false;
    if (group.live.every(({ isStopping }) => isStopping)) group.join();
    for (let tick = 0; tick < 2_000; tick++) group.tick();
    group.checkSettled();
  }
});

test("a replica that crashed is replaced within the lease duration and a few seconds", () => {
  for (let seed = 1; seed <= 10; seed++) {
    const group = new Group(seededRandom(seed));
    group.hasFaults = false;
    for (let member = 0; member < 4; member++) group.join();
    for (let tick = 0; tick < 400; tick++) group.tick();
    group.checkSettled();
    group.members[seed % 4]?.lose();
    const crashedAt = group.now;
    while (new Set(group.live.flatMap(({ held }) => [...held])).size < allSlots.size) group.tick();
    assert(group.now - crashedAt <= leaseMs + 5_000, `${group.now - crashedAt} ms`);
  }
});

test("a slot stays with its replica until the one to which it is assigned asks for it", () => {
  const view = { live: ["a", "b"], silent: new Set<string>(), claims: new Map([["b", none]]), expired: [], left: [] };
  const own = { claimed: allSlots, held: allSlots, draining: none };
  const plan = planSlots({ self: "a", view, own, isReady: true });
  assertEquals([plan.toDrain.size, plan.claim.size], [0, allSlots.size]);
});

test("a claim that cannot be read counts as all slots", () => {
  const lease = { name: "b", version: "1", holder: "b", durationMs: leaseMs, claim: undefined };
  const view = new Membership("a", timing).observe([lease], 0);
  assertEquals(view.claims.get("b")?.size, allSlots.size);
});

test("a Lease without a holder is that of a replica that has left, unless it has a claim", () => {
  const leave = { name: "b", version: "1", holder: "" };
  const released = { ...leave, durationMs: 1_000, claim: undefined };
  const taken = { ...leave, durationMs: leaseMs, claim: none };
  for (const lease of [released, taken]) {
    assertEquals(new Membership("a", timing).observe([lease], 0).claims.has("b"), false);
  }
  const edited = { ...leave, durationMs: leaseMs, claim: new Set([1]) };
  for (const lease of [edited, { ...edited, durationMs: 0 }, { ...edited, claim: undefined }]) {
    const membership = new Membership("a", timing);
    const { live, claims, expired } = membership.observe([lease], 0);
    assertEquals([live, claims.has("b"), expired.length], [["a"], true, 0]);
    assertEquals(membership.observe([lease], leaseMs).expired, [lease]);
  }
});

test("a Lease that a user deletes blocks the slots of its replica for the lease duration", () => {
  const membership = new Membership("a", timing);
  const lease = { name: "b", version: "1", holder: "b", durationMs: leaseMs, claim: new Set([1]) };
  membership.observe([lease], 0);
  const deleted = membership.observe([], 1_000);
  assertEquals([deleted.live, deleted.claims.has("b")], [["a"], true]);
  assertEquals(membership.observe([], 15_999).claims.has("b"), true);
  assertEquals(membership.observe([], 16_000).claims.has("b"), false);
});

test("a deleted Lease with an absurd duration blocks the slots of its replica for 5 minutes", () => {
  const membership = new Membership("a", timing);
  const ghost = { name: "b", version: "1", holder: "b", durationMs: (2 ** 31 - 1) * 1000, claim: undefined };
  membership.observe([ghost], 0);
  membership.observe([], 1_000);
  assertEquals(membership.observe([], 300_000).claims.has("b"), true);
  membership.observe([], 301_000);
  assertEquals(membership.observe([], 301_500).claims.has("b"), false);
});

test("a replica that went silent before it claimed its slots gets none until it renews its Lease", () => {
  const membership = new Membership("a", timing);
  const lease = { name: "b", version: "1", holder: "b", durationMs: leaseMs, claim: none };
  const own = { claimed: none, held: none, draining: none };
  const claimAt = (now: number, version: string) =>
    planSlots({ self: "a", view: membership.observe([{ ...lease, version }], now), own, isReady: true }).claim.size;
  const part = claimAt(0, "1");
  assert(part < allSlots.size, `${part} slots`);
  assertEquals([claimAt(4_999, "1"), claimAt(5_000, "1"), claimAt(6_000, "2")], [part, allSlots.size, part]);
});

test("a replica that went silent keeps the slots that it has claimed until its Lease has expired", () => {
  const membership = new Membership("a", timing);
  const lease = { name: "b", version: "1", holder: "b", durationMs: leaseMs, claim: allSlots };
  const own = { claimed: none, held: none, draining: none };
  membership.observe([lease], 0);
  const [before, after] = [14_999, 15_000].map((now) => membership.observe([lease], now));
  assertEquals([before?.silent.has("b"), before?.expired.length, after?.expired.length], [true, 0, 1]);
  const plan = planSlots({ self: "a", view: before ?? membership.observe([lease], 0), own, isReady: true });
  assertEquals(plan.gained.size, 0);
});

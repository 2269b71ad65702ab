/**
 * Two or three replicas, one server, random trouble: schedules of a seed, on virtual time (behaviours.md, I6).
 *
 * Invariants, looked at after every timer of any machine:
 * - in true time there are never two running processes that may write;
 * - no write of one arrives between two writes of another's term, and none after its renew deadline;
 * - epochs of terms do not fall, as long as nobody deletes the Lease;
 * - when the trouble ends somebody leads; after a kill within lease duration + retry period, after a release within one
 *   retry period, by the slowest clock around.
 *
 * A failure names its seed; PINTLE_SEEDS=17 replays it alone, PINTLE_SEEDS=1-5000 plays more than usual.
 */
import { assert, test } from "../../tests/testing.ts";
import { type Random, seededRandom, VirtualClock } from "../async/mod.ts";
import { Client, type Transport } from "../client/mod.ts";
import { logger } from "../observe/mod.ts";
import { environment, runtimeName } from "../runtime/mod.ts";
import { LeaseServer, type Link, pass } from "./_lease_server.ts";
import { SkewedClock } from "./_skewed_clock.ts";
import { fencedTransport } from "./fence.ts";
import { LeaderElector } from "./leader_elector.ts";
import type { Leadership } from "./leadership.ts";

/** Seeds of each runtime, 500 in all: a turn of virtual time costs Deno five times what it costs Bun. */
const seeds = runtimeName === "bun" ? { from: 61, to: 500 } : { from: 1, to: 60 };
const troubleMs = 30_000;
const leaseDurationMs = 15_000;
const renewDeadlineMs = 10_000;
const retryPeriodMs = 2_000;
/** Rates of clocks: the fastest is 1.43 times the slowest, and 1.5 is what the times above allow. */
const slowest = 0.84;
const fastest = 1.2;
const hourMs = 3_600_000;

/** One process of the operator. */
class Replica {
  readonly world: World;
  readonly identity: string;
  readonly clock: SkewedClock;
  readonly elector: LeaderElector;
  readonly link: Link = { isCut: false, latencyMs: 200, lossRate: 0, refusal: undefined };
  readonly stop = new AbortController();
  isKilled = false;

  constructor(world: World, identity: string, clock: SkewedClock) {
    this.world = world;
    this.identity = identity;
    this.clock = clock;
    const { base, server, random } = world;
    const client = new Client(server.over(this.link, { base, clock, random }), { clock });
    const parts = { client, namespace: "shop", name: "operator", identity, clock, random, log: logger("test") };
    this.elector = new LeaderElector({ ...parts, whenLost: "standby" });
    const running = this.elector.run((term) => this.#work(term), this.stop.signal);
    running.catch((error) => world.failures.push(`${identity} ended: ${error}`));
  }

  get mayWrite(): boolean {
    return !this.clock.isPaused && this.elector.leadership?.mayWrite() === true;
  }

  kill(): void {
    this.isKilled = true;
    this.clock.pause("stopped");
  }

  /** Writes every now and then, as controllers do, until the term ends or the process is asked to stop. */
  async #work(term: Leadership): Promise<void> {
    this.world.led(this, term);
    const write = fencedTransport(this.#arrive(term), this.elector);
    while (!term.signal.aborted && !this.stop.signal.aborted) {
      const url = "https://kubernetes.invalid/api/v1/namespaces/shop/configmaps";
      await write(new Request(url, { method: "POST", signal: term.signal })).catch(() => undefined);
      await this.clock.sleep(this.world.random.next() * 3_000, this.stop.signal).catch(() => undefined);
    }
  }

  #arrive(term: Leadership): Transport {
    return () => {
      this.world.wrote(this, term);
      return Promise.resolve(new Response("{}"));
    };
  }
}

/** A schedule: the replicas, what happens to them, and what was seen. */
class World {
  readonly base = new VirtualClock();
  readonly server = new LeaseServer();
  readonly replicas: Replica[] = [];
  readonly failures: string[] = [];
  readonly random: Random;
  /** Once, and then nobody starts anew: a deletion can hide a leader from who did not see it (LeaseClaim, Caveats). */
  readonly #hasDeletions: boolean;
  #wasDeleted = false;
  /** Where a monotonic clock stands still, the wall clock must not be set back (Leadership, Assumptions). */
  readonly #hasSuspends: boolean;
  #terms = 0;
  #writes = 0;
  #lastEpoch = 0;
  #lastTerm: Leadership | undefined;
  readonly #pastTerms = new Set<Leadership>();

  constructor(seed: number) {
    this.random = seededRandom(seed);
    this.#hasDeletions = this.random.next() < 0.5;
    this.#hasSuspends = this.random.next() < 0.5;
    const count = this.random.next() < 0.5 ? 2 : 3;
    for (let index = 0; index < count; index++) this.start();
  }

  get terms(): number {
    return this.#terms;
  }

  get writes(): number {
    return this.#writes;
  }

  start(): void {
    const rate = slowest + this.random.next() * (fastest - slowest);
    const clock = new SkewedClock(this.base, { rate, wallAheadMs: (this.random.next() - 0.5) * 20 * hourMs });
    this.replicas.push(new Replica(this, `replica-${this.replicas.length}`, clock));
  }

  led(replica: Replica, term: Leadership): void {
    this.#terms++;
    this.look();
    // Whoever was away while a Lease was deleted and made anew cannot know how far its epochs had come.
    if (term.epoch < this.#lastEpoch && !this.#hasDeletions) {
      this.failures.push(`epoch ${term.epoch} of ${replica.identity} is an old one`);
    }
    this.#lastEpoch = term.epoch;
  }

  wrote(replica: Replica, term: Leadership): void {
    this.#writes++;
    const sinceMs = replica.clock.monotonic() - term.renewedAt;
    if (sinceMs >= renewDeadlineMs) this.failures.push(`${replica.identity} wrote ${sinceMs} ms after its renewal`);
    if (term === this.#lastTerm) return;
    if (this.#pastTerms.has(term)) this.failures.push(`${replica.identity} wrote between writes of another`);
    if (this.#lastTerm !== undefined) this.#pastTerms.add(this.#lastTerm);
    this.#lastTerm = term;
  }

  /** The invariant. */
  look(): void {
    const writers = this.replicas.filter((replica) => replica.mayWrite).map(({ identity }) => identity);
    if (writers.length > 1) this.failures.push(`at ${this.base.monotonic()} ms: ${writers.join(" and ")} may write`);
  }

  async pass(ms: number): Promise<void> {
    await this.until(() => false, ms);
  }

  /** Lets time pass until `holds`, for at most `ms`. */
  async until(holds: () => boolean, ms: number): Promise<boolean> {
    await pass(this.base, ms, () => {
      this.look();
      return holds();
    });
    return holds();
  }

  async trouble(): Promise<void> {
    // Everybody has seen the Lease before it may be deleted.
    await this.pass(10_000);
    const endsAt = this.base.monotonic() + troubleMs;
    while (this.base.monotonic() < endsAt) {
      this.#act();
      await this.pass(200 + this.random.next() * 6_000);
    }
  }

  heal(): void {
    for (const { clock, link, isKilled } of this.replicas) {
      Object.assign(link, { isCut: false, latencyMs: 50, lossRate: 0, refusal: undefined });
      if (!isKilled) clock.resume();
    }
  }

  #act(): void {
    const alive = this.replicas.filter(({ isKilled, stop }) => !isKilled && !stop.signal.aborted);
    const leading = alive.filter(({ elector }) => elector.state.kind === "leading");
    // Trouble of the leader is the interesting one.
    const among = leading.length > 0 && this.random.next() < 0.6 ? leading : alive;
    const replica = among[Math.floor(this.random.next() * among.length)];
    if (replica !== undefined) this.#trouble(replica);
  }

  #trouble(replica: Replica): void {
    const { clock, link } = replica;
    const choice = Math.floor(this.random.next() * 13);
    switch (choice) {
      case 0:
        return void (link.isCut = !link.isCut);
      case 1:
        return void (link.latencyMs = this.random.next() < 0.3 ? 4_900 : this.random.next() * 3_000);
      case 2:
        return void (link.lossRate = link.lossRate > 0 ? 0 : this.random.next());
      case 3:
        return void (link.refusal = link.refusal === undefined ? (this.random.next() < 0.5 ? 500 : 409) : undefined);
      case 4:
      case 5:
        return clock.isPaused ? clock.resume() : clock.pause("stopped");
      case 6:
        return clock.isPaused ? clock.resume() : clock.pause(this.#hasSuspends ? "suspended" : "stopped");
      case 7:
        return clock.jump(this.#hasSuspends || this.random.next() < 0.5 ? hourMs : -hourMs);
      case 8:
        return this.server.edit({ holderIdentity: this.random.next() < 0.5 ? "ghost" : "", leaseDurationSeconds: 15 });
      case 9:
        return this.#hasDeletions ? this.#delete() : this.#restart(replica);
      case 10:
        return this.#hasDeletions ? undefined : this.#roll(replica);
      default:
        for (const each of this.replicas) Object.assign(each.link, { isCut: false, refusal: undefined, lossRate: 0 });
        return clock.resume();
    }
  }

  #delete(): void {
    if (!this.#wasDeleted) this.server.delete();
    this.#wasDeleted = true;
  }

  #restart(replica: Replica): void {
    replica.kill();
    this.start();
  }

  /** As a rolling update does. */
  #roll(replica: Replica): void {
    replica.stop.abort();
    this.start();
  }

  /** Nobody is in trouble: who leads is killed, then who leads stops. */
  async recover(): Promise<void> {
    const leader = () => this.replicas.find((replica) => !replica.isKilled && replica.mayWrite);
    this.heal();
    if (this.server.lease !== undefined) this.start();
    // What is still on its way arrives.
    await this.pass(10_000);
    const takeoverMs = (leaseDurationMs + retryPeriodMs) / slowest + 1_000;
    // Twice: the Lease may have been written by hand, or late, while the trouble went on.
    if (!await this.until(() => leader() !== undefined, 2 * takeoverMs)) return this.#missing("after the trouble");
    leader()?.kill();
    if (!await this.until(() => leader() !== undefined, takeoverMs)) return this.#missing("after the kill");
    const last = leader();
    this.start();
    await this.pass(3_000);
    last?.stop.abort();
    const releaseMs = retryPeriodMs / slowest + 1_000 + 1_500;
    if (!await this.until(() => leader() !== last && leader() !== undefined, releaseMs)) {
      this.#missing("after the release");
    }
  }

  #missing(when: string): void {
    const states = this.replicas.map(({ identity, elector, isKilled }) =>
      `${identity} ${isKilled ? "killed" : elector.state.kind}`
    );
    this.failures.push(`nobody leads ${when}: ${states.join(", ")}, ${JSON.stringify(this.server.lease)}`);
  }

  end(): void {
    for (const { stop, clock, elector } of this.replicas) {
      stop.abort();
      void elector.leadership?.release();
      clock.pause("stopped");
    }
  }
}

interface Tally {
  terms: number;
  writes: number;
}

async function play(seed: number, tally: Tally): Promise<void> {
  const world = new World(seed);
  await world.trouble();
  await world.recover();
  world.end();
  tally.terms += world.terms;
  tally.writes += world.writes;
  assert(world.failures.length === 0, `seed ${seed}: ${world.failures.slice(0, 3).join("; ")}`);
}

test("[48, 49, 52, 53] of replicas in trouble never two may write, and one leads soon after", async () => {
  const { from, to } = chosenSeeds(environment()["PINTLE_SEEDS"]) ?? seeds;
  const tally: Tally = { terms: 0, writes: 0 };
  for (let seed = from; seed <= to; seed++) await play(seed, tally);
  // The schedules are worth something only while leadership moves and writes are made.
  const count = to - from + 1;
  assert(count < 20 || tally.terms > 3 * count, `${tally.terms} terms in ${count} schedules`);
  assert(count < 20 || tally.writes > 15 * count, `${tally.writes} writes in ${count} schedules`);
});

/** `17`, or `1-2000`. */
function chosenSeeds(text: string | undefined): typeof seeds | undefined {
  const [from, to = from] = (text ?? "").split("-").map(Number);
  return text === undefined || from === undefined || to === undefined ? undefined : { from, to };
}

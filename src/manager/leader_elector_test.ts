import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows, test } from "../../tests/testing.ts";
import { drain, seededRandom, VirtualClock } from "../async/mod.ts";
import { Client } from "../client/mod.ts";
import { logger } from "../observe/mod.ts";
import { LeaseServer, type Link, pass } from "./_lease_server.ts";
import { SkewedClock } from "./_skewed_clock.ts";
import type { Leadership } from "./leadership.ts";
import { LeaderElector, type LeaderElectorOptions } from "./leader_elector.ts";
import { LeaseForbiddenError } from "./lease_forbidden_error.ts";
import { LeaseLostError } from "./lease_lost_error.ts";

interface Replica {
  readonly elector: LeaderElector;
  readonly clock: SkewedClock;
  readonly link: Link;
  readonly stop: AbortController;
}

type ReplicaOptions = Partial<Omit<LeaderElectorOptions, "clock">> & { readonly clock?: SkewedClock };

/** One server and as many replicas as a test wants, under one true time. */
class Cluster {
  readonly base = new VirtualClock();
  readonly server = new LeaseServer();

  replica(identity: string, options: ReplicaOptions = {}): Replica {
    const clock = options.clock ?? new SkewedClock(this.base);
    const link: Link = { isCut: false, latencyMs: 0, lossRate: 0, refusal: undefined };
    const random = seededRandom(identity.length + 7);
    const client = new Client(this.server.over(link, { base: this.base, clock, random }), { clock });
    const log = logger("test");
    const parts = { client, namespace: "shop", name: "operator", identity, random, log, ...options, clock };
    return { elector: new LeaderElector(parts), clock, link, stop: new AbortController() };
  }

  /** A replica that leads already. */
  async leader(
    identity: string,
    options: ReplicaOptions = {},
  ): Promise<Replica & { leadership: Leadership }> {
    const replica = this.replica(identity, options);
    const leadership = await this.within(100, replica.elector.acquire(replica.stop.signal));
    return { ...replica, leadership };
  }

  async pass(ms: number): Promise<void> {
    await pass(this.base, ms);
  }

  /** Advances until `promise` settles, and no longer than `ms`. */
  async within<T>(ms: number, promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settled = () => isSettled = true;
    promise.then(settled, settled);
    const until = this.base.monotonic() + ms;
    await pass(this.base, 0);
    while (!isSettled) {
      const nextMs = this.base.nextTimerInMs ?? Infinity;
      if (this.base.monotonic() + nextMs > until) throw new Error(`Cannot await: not settled after ${ms} ms`);
      await pass(this.base, nextMs);
    }
    return await promise;
  }

  get spec(): Readonly<Record<string, unknown>> {
    return this.server.lease?.spec ?? {};
  }
}

function lossOf(leadership: Leadership): string | undefined {
  return leadership.lost?.loss.kind;
}

for (
  const [timing, isRefused] of [
    [{}, false],
    [{ leaseDurationMs: 10_000 }, true],
    [{ leaseDurationMs: 9_000 }, true],
    [{ renewDeadlineMs: 2_400 }, true],
    [{ renewDeadlineMs: 2_401 }, false],
    [{ retryPeriodMs: 0 }, true],
    [{ leaseDurationMs: NaN }, true],
    [{ leaseDurationMs: Infinity }, true],
    [{ retryPeriodMs: -1 }, true],
  ] as const
) {
  test(`[46] the times ${JSON.stringify(timing)} are ${isRefused ? "refused" : "taken"}`, () => {
    const make = () => new Cluster().replica("a", timing);
    if (isRefused) assertThrows(make, /does not hold/);
    else make();
  });
}

test("a Lease that does not exist is created, and says who leads", async () => {
  const cluster = new Cluster();
  const { leadership, elector } = await cluster.leader("a");
  assertEquals(leadership.mayWrite(), true);
  assertEquals([leadership.epoch, elector.leader, elector.state.kind], [0, "a", "leading"]);
  assertEquals(cluster.spec, {
    holderIdentity: "a",
    leaseDurationSeconds: 15,
    leaseTransitions: 0,
    acquireTime: "2026-01-01T00:00:00.000000Z",
    renewTime: "2026-01-01T00:00:00.000000Z",
  });
  await cluster.within(100, leadership.release());
  assertEquals(elector.state.kind, "idle");
});

test("a lease duration that is no whole second is rounded up, so that others do not count less than we do", async () => {
  const cluster = new Cluster();
  const timing = { leaseDurationMs: 1_500, renewDeadlineMs: 1_000, retryPeriodMs: 200 };
  const { leadership } = await cluster.leader("a", timing);
  assertEquals(cluster.spec["leaseDurationSeconds"], 2);
  await cluster.within(100, leadership.release());
});

for (const hours of [-10, 10]) {
  test(`[47] clocks that differ by ${hours} h make no difference: expiry counts from the last change that was seen`, async () => {
    const cluster = new Cluster();
    const a = await cluster.leader("a");
    const clock = new SkewedClock(cluster.base, { wallAheadMs: hours * 3_600_000 });
    const b = cluster.replica("b", { clock });
    const waiting = b.elector.acquire(b.stop.signal);
    await cluster.pass(60_000);
    assertEquals([b.elector.state.kind, b.elector.leader], ["standby", "a"]);
    a.link.isCut = true;
    a.clock.pause("stopped");
    const cutAt = cluster.base.monotonic();
    const leadership = await cluster.within(20_000, waiting);
    const tookMs = cluster.base.monotonic() - cutAt;
    assert(tookMs > 13_000 && tookMs <= 17_000, `took ${tookMs} ms`);
    assertEquals([leadership.epoch, b.elector.leader], [1, "b"]);
    await cluster.within(100, leadership.release());
  });
}

test("[47] a Lease whose other fields change does not live longer for it", async () => {
  const cluster = new Cluster();
  const lease = {
    holderIdentity: "gone",
    leaseDurationSeconds: 15,
    leaseTransitions: 4,
    renewTime: "2035-01-01T00:00:00Z",
  };
  cluster.server.put({ metadata: { name: "operator", namespace: "shop" }, spec: lease });
  const { elector, stop } = cluster.replica("b");
  const waiting = elector.acquire(stop.signal);
  for (let second = 0; second < 14; second++) {
    await cluster.pass(1_000);
    cluster.server.put({
      metadata: { name: "operator", namespace: "shop", labels: { second: `${second}` } },
      spec: lease,
    });
  }
  const leadership = await cluster.within(2_000, waiting);
  assertEquals(leadership.epoch, 5);
  await cluster.within(100, leadership.release());
});

test("[48] without a renewal the term is lost at the renew deadline, before anybody else can lead", async () => {
  const cluster = new Cluster();
  const a = await cluster.leader("a");
  const b = cluster.replica("b");
  const waiting = b.elector.acquire(b.stop.signal);
  await cluster.pass(6_000);
  const renewedAt = a.leadership.renewedAt;
  a.link.isCut = true;
  await cluster.pass(renewedAt + 9_999 - cluster.base.monotonic());
  assertEquals([a.leadership.mayWrite(), a.leadership.signal.aborted], [true, false]);
  await cluster.pass(1);
  assertEquals([a.leadership.mayWrite(), lossOf(a.leadership), a.elector.state.kind], [false, "expired", "lost"]);
  assert(a.leadership.signal.reason instanceof LeaseLostError);
  assertEquals(b.elector.state.kind, "standby");
  const leadership = await cluster.within(8_000, waiting);
  await cluster.within(100, leadership.release());
});

test("[48] [53] by the wall clock alone nothing is written past the deadline, until a look at the Lease has succeeded", async () => {
  const cluster = new Cluster();
  const { leadership, clock, link } = await cluster.leader("a");
  clock.jump(3_600_000);
  assertEquals(leadership.mayWrite(), false);
  assertEquals(await cluster.within(10, leadership.confirm(new AbortController().signal)), true);
  assertEquals([leadership.mayWrite(), leadership.signal.aborted], [true, false]);

  link.refusal = 500;
  clock.jump(3_600_000);
  assertEquals(await cluster.within(10, leadership.confirm(new AbortController().signal)), false);
  assertEquals(lossOf(leadership), "expired");
});

test("[53] a wall clock that is set back an hour hides nothing from the monotonic one", async () => {
  const cluster = new Cluster();
  const { leadership, clock, link } = await cluster.leader("a");
  clock.jump(-3_600_000);
  assertEquals(leadership.mayWrite(), true);
  link.isCut = true;
  await cluster.pass(10_000);
  assertEquals([leadership.mayWrite(), lossOf(leadership)], [false, "expired"]);
});

test("[49] a released Lease names nobody, and a standby leads within one retry period", async () => {
  const cluster = new Cluster();
  const a = await cluster.leader("a");
  const b = cluster.replica("b");
  const waiting = b.elector.acquire(b.stop.signal);
  await cluster.pass(31_234);
  await cluster.within(100, a.leadership.release());
  assertEquals([cluster.spec["holderIdentity"], cluster.spec["leaseDurationSeconds"]], ["", 1]);
  assertEquals([a.leadership.signal.aborted, a.leadership.lost, a.elector.state.kind], [true, undefined, "idle"]);
  const leadership = await cluster.within(2_000, waiting);
  assertEquals(leadership.epoch, 1);
  await cluster.within(100, leadership.release());
});

test("[49] run() releases only after the work of the term has ended", async () => {
  const cluster = new Cluster();
  const { elector, stop } = cluster.replica("a");
  const lastWrite = Promise.withResolvers<void>();
  const running = elector.run(() => lastWrite.promise, stop.signal);
  await cluster.pass(5_000);
  stop.abort();
  await cluster.pass(30_000);
  assertEquals([cluster.spec["holderIdentity"], elector.state.kind], ["a", "leading"]);
  lastWrite.resolve();
  await cluster.within(100, running);
  assertEquals(cluster.spec["holderIdentity"], "");
});

test("[49] without releaseOnCancel the Lease is left to run out", async () => {
  const cluster = new Cluster();
  const { leadership } = await cluster.leader("a", { releaseOnCancel: false });
  await cluster.within(100, leadership.release());
  assertEquals(cluster.spec["holderIdentity"], "a");
});

test("[49] a release meets a conflict and is done anyway; without a server it gives up at the renew deadline", async () => {
  const cluster = new Cluster();
  const a = await cluster.leader("a");
  cluster.server.edit({ somebodysField: 1 });
  await cluster.within(100, a.leadership.release());
  assertEquals([cluster.spec["holderIdentity"], cluster.spec["somebodysField"]], ["", 1]);

  const b = await cluster.leader("b");
  b.link.isCut = true;
  await cluster.within(10_001, b.leadership.release());
  assertEquals([cluster.spec["holderIdentity"], b.elector.state.kind], ["b", "idle"]);
});

test("[49] who stops standing by while its claim is under way leaves no Lease of its own behind", async () => {
  const cluster = new Cluster();
  const { elector, link, stop } = cluster.replica("a");
  link.latencyMs = 1_000;
  const waiting = elector.acquire(stop.signal);
  while (!cluster.server.requests.some(({ method }) => method === "POST")) await cluster.pass(50);
  stop.abort();
  await assertRejects(() => cluster.within(10_000, waiting));
  assertEquals([cluster.spec["holderIdentity"], elector.state.kind], ["", "idle"]);
});

test("[50] a renewal is one request; after a conflict the Lease is read, and renewed with what others wrote in it", async () => {
  const cluster = new Cluster();
  let slowPaths = 0;
  const metrics = { leading() {}, slowPath: () => void slowPaths++ };
  const { leadership } = await cluster.leader("a", { metrics });
  const methods = () => cluster.server.requests.splice(0).map(({ method, code }) => `${method} ${code}`);
  assertEquals(methods(), ["GET 404", "POST 200"]);
  await cluster.pass(4_000);
  assertEquals([methods(), slowPaths], [["PUT 200", "PUT 200"], 0]);
  const lease = cluster.server.lease ?? { metadata: {}, spec: {} };
  cluster.server.put({
    metadata: { ...lease.metadata, labels: { constructor: "x" }, annotations: { a: "b" } },
    spec: { ...lease.spec, strategy: "OldestEmulationVersion" },
  });
  await cluster.pass(2_000);
  assertEquals([methods(), slowPaths], [["PUT 409", "GET 200", "PUT 200"], 1]);
  await cluster.pass(2_000);
  assertEquals(methods(), ["PUT 200"]);
  const { metadata, spec } = cluster.server.lease ?? lease;
  assertEquals([metadata["labels"], metadata["annotations"], spec["strategy"], spec["acquireTime"]], [
    { constructor: "x" },
    { a: "b" },
    "OldestEmulationVersion",
    "2026-01-01T00:00:00.000000Z",
  ]);
  await cluster.within(100, leadership.release());
});

test("[50] a renewal whose answer is lost is followed by one that succeeds", async () => {
  const cluster = new Cluster();
  const { leadership, link } = await cluster.leader("a");
  link.lossRate = 1;
  await cluster.pass(2_500);
  link.lossRate = 0;
  await cluster.pass(20_000);
  assertEquals(leadership.mayWrite(), true);
  await cluster.within(100, leadership.release());
});

test("[50] a leader whose Lease was deleted makes it anew; a standby that knew the leader waits for that", async () => {
  const cluster = new Cluster();
  const a = await cluster.leader("a");
  const b = cluster.replica("b");
  const waiting = b.elector.acquire(b.stop.signal);
  await cluster.pass(5_000);
  cluster.server.delete();
  await cluster.pass(60_000);
  assertEquals([a.leadership.mayWrite(), b.elector.state.kind, cluster.spec["holderIdentity"]], [true, "standby", "a"]);
  cluster.server.delete();
  a.clock.pause("stopped");
  const leadership = await cluster.within(17_000, waiting);
  assertEquals(leadership.epoch, 1);
  await cluster.within(100, leadership.release());
});

test("a Lease that was edited to name somebody else, or nobody, ends the term; nobody leads for a lease duration", async () => {
  for (const holderIdentity of ["ghost", ""]) {
    const cluster = new Cluster();
    const a = await cluster.leader("a");
    const b = cluster.replica("b");
    const waiting = b.elector.acquire(b.stop.signal);
    await cluster.pass(5_000);
    cluster.server.edit({ holderIdentity, leaseDurationSeconds: 15 });
    const editedAt = cluster.base.monotonic();
    await cluster.pass(2_000);
    assertEquals([a.leadership.mayWrite(), lossOf(a.leadership)], [false, "taken"]);
    const leadership = await cluster.within(17_000, waiting);
    await cluster.within(100, leadership.release());
    const tookMs = cluster.base.monotonic() - editedAt;
    assert(tookMs >= 15_000, `b led ${tookMs} ms after the edit`);
  }
});

test("[51] health is red while something of a lost term goes on after the Lease has run out", async () => {
  const cluster = new Cluster();
  const { elector, leadership, link } = await cluster.leader("a");
  await cluster.pass(60_000);
  assertEquals(elector.isHealthy(), true);
  const { renewedAt } = leadership;
  link.isCut = true;
  await cluster.pass(renewedAt + 15_000 - cluster.base.monotonic());
  assertEquals([elector.state.kind, elector.isHealthy()], ["lost", true]);
  await cluster.pass(1);
  assertEquals([elector.isHealthy(), elector.isHealthy(20_000)], [false, true]);
  await cluster.within(100, leadership.release());
  assertEquals(elector.isHealthy(), true);
});

for (const kind of ["stopped", "suspended"] as const) {
  test(`[53] after 8 s of being ${kind} the first write waits for a look at the Lease`, async () => {
    const cluster = new Cluster();
    const { leadership, clock, link } = await cluster.leader("a");
    await cluster.pass(1_000);
    clock.pause(kind);
    await cluster.pass(8_000);
    clock.resume();
    link.latencyMs = 100;
    cluster.server.requests.splice(0);
    assertEquals(leadership.mayWrite(), true);
    assertEquals(await cluster.within(1_000, leadership.confirm(new AbortController().signal)), true);
    assertEquals(cluster.server.requests.map(({ method }) => method), ["PUT"]);
    await cluster.within(1_000, leadership.release());
  });

  test(`[53] after 60 s of being ${kind}, in which another one took over, nothing is written`, async () => {
    const cluster = new Cluster();
    const a = await cluster.leader("a");
    const b = cluster.replica("b");
    const waiting = b.elector.acquire(b.stop.signal);
    await cluster.pass(1_000);
    a.clock.pause(kind);
    const leadership = await cluster.within(60_000, waiting);
    await cluster.pass(30_000);
    a.clock.resume();
    assertEquals(a.leadership.mayWrite(), false);
    assertEquals(await cluster.within(1_000, a.leadership.confirm(new AbortController().signal)), false);
    assertEquals(lossOf(a.leadership), kind === "stopped" ? "expired" : "taken");
    await cluster.within(100, leadership.release());
  });
}

test("[53] a write that waits for a look at the Lease gives up when it is aborted itself", async () => {
  const cluster = new Cluster();
  const { leadership, clock, link } = await cluster.leader("a");
  link.isCut = true;
  clock.jump(60_000);
  const write = new AbortController();
  const confirming = leadership.confirm(write.signal);
  await drain();
  write.abort(new Error("enough"));
  await assertRejects(() => confirming, /enough/);
  link.isCut = false;
  await cluster.within(100, leadership.release());
});

for (const [verb, prepare] of [["get", 0], ["create", 1]] as const) {
  test(`[54] who may not ${verb} the Lease is told so, and which rule is missing`, async () => {
    const cluster = new Cluster();
    const { elector, link, stop } = cluster.replica("a");
    link.latencyMs = 100;
    const waiting = elector.acquire(stop.signal);
    waiting.catch(() => undefined);
    if (prepare === 1) { while (cluster.server.requests.length === 0) await cluster.pass(10); }
    link.refusal = 403;
    const error = await assertRejects(() => cluster.within(1_000, waiting));
    assert(error instanceof LeaseForbiddenError);
    const resourceNames = verb === "create" ? "" : ', resourceNames: ["operator"]';
    assertEquals(
      error.message,
      `Cannot lead by Lease "shop/operator": it is not allowed to ${verb} it; a Role in namespace "shop" needs ` +
        `{apiGroups: ["coordination.k8s.io"], resources: ["leases"]${resourceNames}, verbs: ["${verb}"]}`,
    );
    assertStringIncludes(error.rules, '  verbs: ["get", "update"]\n');
    assertEquals(elector.state.kind, "idle");
  });
}

test("run() ends with the loss, or stands by and leads again in a new term", async () => {
  for (const whenLost of ["throw", "standby"] as const) {
    const cluster = new Cluster();
    const seen: string[] = [];
    const { elector, link, stop } = cluster.replica("a", { whenLost, onNewLeader: (leader) => seen.push(leader) });
    const terms: Leadership[] = [];
    const work = async (leadership: Leadership) => {
      terms.push(leadership);
      await new Promise((_, reject) =>
        leadership.signal.addEventListener("abort", () => reject(leadership.signal.reason))
      );
    };
    const running = elector.run(work, stop.signal);
    running.catch(() => undefined);
    await cluster.pass(5_000);
    link.isCut = true;
    await cluster.pass(10_000);
    link.isCut = false;
    await cluster.pass(10_000);
    if (whenLost === "throw") {
      assertEquals(terms.length, 1);
      await assertRejects(() => running, /^Cannot lead on: Lease "shop\/operator" was not renewed for \d+ ms$/);
      continue;
    }
    assertEquals([terms.length, terms[0]?.mayWrite(), terms[1]?.mayWrite()], [2, false, true]);
    assertEquals(seen, ["a"]);
    stop.abort();
    assert(terms[1] !== undefined);
    await cluster.within(100, terms[1].release());
    await assertRejects(() => running, /was released/);
  }
});

test("what the work of a term throws of its own is what run() throws", async () => {
  const cluster = new Cluster();
  const { elector, stop } = cluster.replica("a", { whenLost: "standby" });
  await assertRejects(
    () => cluster.within(1_000, elector.run(() => Promise.reject(new Error("broken")), stop.signal)),
    /broken/,
  );
  assertEquals(cluster.spec["holderIdentity"], "");
});

test("standing by ends at once when aborted, and leaves no timer behind", async () => {
  const cluster = new Cluster();
  const a = await cluster.leader("a");
  const b = cluster.replica("b");
  const waiting = b.elector.acquire(b.stop.signal);
  await cluster.pass(7_000);
  assertEquals(b.elector.state.kind, "standby");
  b.stop.abort(new Error("stopped"));
  await assertRejects(() => waiting, /stopped/);
  await assertRejects(() => a.elector.acquire(a.stop.signal), /Cannot acquire Lease "shop\/operator": it is leading/);
  await cluster.within(100, a.leadership.release());
  assertEquals(cluster.base.pendingTimers, 0);
});

test("errors of the server while standing by are survived, and a Lease without a spec is free", async () => {
  const cluster = new Cluster();
  cluster.server.put({ metadata: { name: "operator", namespace: "shop" }, spec: {} });
  const { elector, link, stop } = cluster.replica("a");
  link.refusal = 500;
  const waiting = elector.acquire(stop.signal);
  await cluster.pass(60_000);
  assertEquals(elector.state.kind, "standby");
  link.refusal = undefined;
  const leadership = await cluster.within(2_000, waiting);
  await cluster.within(100, leadership.release());
});

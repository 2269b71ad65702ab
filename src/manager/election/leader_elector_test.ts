import type { NewEntry, Recorder } from "../../observe/mod.ts";
import { assert, assertEquals, assertMatch, assertRejects, assertThrows, test } from "../../../tests/testing.ts";
import { ElectionCluster, lossOf } from "../testing/election_cluster.ts";
import { SkewedClock } from "../testing/skewed_clock.ts";
import { LeaseLostError } from "./leadership.ts";
import { LeaseForbiddenError } from "./lease_lock.ts";

for (
  const [timing, isRejected] of [
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
  test(`[46] a LeaderElector with the times ${JSON.stringify(timing)} is ${isRejected ? "rejected" : "accepted"}`, () => {
    const make = () => new ElectionCluster().replica("a", timing);
    if (isRejected) assertThrows(make, /does not hold/);
    else make();
  });
}

test("acquire() creates a missing Lease with its identity", async () => {
  const cluster = new ElectionCluster();
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

test("the Lease has the annotations of its leader, keeps those of others, and has none of a leader that has gone", async () => {
  const cluster = new ElectionCluster();
  const others = { "example.dev/team": "a" };
  const spec = { leaseTransitions: 3 };
  cluster.server.put({
    metadata: { name: "operator", namespace: "shop", annotations: { ...others, "example.dev/at": "old" } },
    spec,
  });
  const annotations = () => cluster.server.lease?.metadata["annotations"];
  let at: string | undefined = undefined;
  const { leadership } = await cluster.leader("a", { annotations: () => ({ "example.dev/at": at }) });
  assertEquals(annotations(), others, "what an earlier leader has left");
  at = "here";
  await cluster.pass(2_500);
  assertEquals(annotations(), { ...others, "example.dev/at": "here" });
  await cluster.within(100, leadership.release());
  assertEquals([annotations(), cluster.spec["holderIdentity"]], [others, ""]);
});

test("a recording has who leads, from the standby to the release", async () => {
  const entries: NewEntry[] = [];
  const recorder: Recorder = { keepsStates: false, record: (entry) => entries.push(entry) };
  const cluster = new ElectionCluster();
  const { leadership } = await cluster.leader("a", { recorder });
  await cluster.within(100, leadership.release());
  const leases = entries.filter((entry) => entry.kind === "lease");
  assertEquals(leases.map(({ state }) => state), ["standby", "leading", "released"]);
  assertEquals([leases[0]?.holder, leases[1]?.holder], [undefined, "a"]);
});

test("the lease duration in the Lease is rounded up to whole seconds, so that other processes do not wait for less time", async () => {
  const cluster = new ElectionCluster();
  const timing = { leaseDurationMs: 1_500, renewDeadlineMs: 1_000, retryPeriodMs: 200 };
  const { leadership } = await cluster.leader("a", timing);
  assertEquals(cluster.spec["leaseDurationSeconds"], 2);
  await cluster.within(100, leadership.release());
});

for (const hours of [-10, 10]) {
  test(`[47] a clock that differs by ${hours} h has no effect: the lease duration counts from the last change that was seen`, async () => {
    const cluster = new ElectionCluster();
    const a = await cluster.leader("a");
    const clock = new SkewedClock(cluster.base, { wallAheadMs: hours * 3_600_000 });
    const b = cluster.replica("b", { clock });
    const waiting = b.elector.acquire(b.stop.signal);
    await cluster.pass(60_000);
    assertEquals([b.elector.state.kind, b.elector.leader], ["standby", "a"]);
    a.link.isDisconnected = true;
    a.clock.pause("stopped");
    const disconnectedAt = cluster.base.monotonic();
    const leadership = await cluster.within(20_000, waiting);
    const tookMs = cluster.base.monotonic() - disconnectedAt;
    assert(tookMs > 13_000 && tookMs <= 17_000, `took ${tookMs} ms`);
    assertEquals([leadership.epoch, b.elector.leader], [1, "b"]);
    await cluster.within(100, leadership.release());
  });
}

test("[47] changes of labels do not extend the lease duration", async () => {
  const cluster = new ElectionCluster();
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

test("[48] without a renewal the term is lost at the renew deadline, before another process can lead", async () => {
  const cluster = new ElectionCluster();
  const a = await cluster.leader("a");
  const b = cluster.replica("b");
  const waiting = b.elector.acquire(b.stop.signal);
  await cluster.pass(6_000);
  const renewedAt = a.leadership.renewedAt;
  a.link.isDisconnected = true;
  await cluster.pass(renewedAt + 9_999 - cluster.base.monotonic());
  assertEquals([a.leadership.mayWrite(), a.leadership.signal.aborted], [true, false]);
  await cluster.pass(1);
  assertEquals([a.leadership.mayWrite(), lossOf(a.leadership), a.elector.state.kind], [false, "expired", "lost"]);
  assert(a.leadership.signal.reason instanceof LeaseLostError);
  assertEquals(b.elector.state.kind, "standby");
  const leadership = await cluster.within(8_000, waiting);
  await cluster.within(100, leadership.release());
});

test("[48, 53] after the deadline by the wall clock alone, mayWrite() is false until a renewal has succeeded", async () => {
  const cluster = new ElectionCluster();
  const { leadership, clock, link } = await cluster.leader("a");
  clock.jump(3_600_000);
  assertEquals(leadership.mayWrite(), false);
  assertEquals(await cluster.within(10, leadership.confirm(new AbortController().signal)), true);
  assertEquals([leadership.mayWrite(), leadership.signal.aborted], [true, false]);

  link.errorCode = 500;
  clock.jump(3_600_000);
  assertEquals(await cluster.within(10, leadership.confirm(new AbortController().signal)), false);
  assertEquals(lossOf(leadership), "expired");
});

test("[53] a wall clock that is set back by an hour does not extend the renew deadline", async () => {
  const cluster = new ElectionCluster();
  const { leadership, clock, link } = await cluster.leader("a");
  clock.jump(-3_600_000);
  assertEquals(leadership.mayWrite(), true);
  link.isDisconnected = true;
  await cluster.pass(10_000);
  assertEquals([leadership.mayWrite(), lossOf(leadership)], [false, "expired"]);
});

test("[49] a released Lease has no holder, and a standby leads within one retry period", async () => {
  const cluster = new ElectionCluster();
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
  const cluster = new ElectionCluster();
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

test("[49] without releaseOnCancel the Lease is not released", async () => {
  const cluster = new ElectionCluster();
  const { leadership } = await cluster.leader("a", { releaseOnCancel: false });
  await cluster.within(100, leadership.release());
  assertEquals(cluster.spec["holderIdentity"], "a");
});

test("[49] release() succeeds after a conflict; without a response it ends at the renew deadline", async () => {
  const cluster = new ElectionCluster();
  const a = await cluster.leader("a");
  cluster.server.edit({ otherField: 1 });
  await cluster.within(100, a.leadership.release());
  assertEquals([cluster.spec["holderIdentity"], cluster.spec["otherField"]], ["", 1]);

  const b = await cluster.leader("b");
  b.link.isDisconnected = true;
  await cluster.within(10_001, b.leadership.release());
  assertEquals([cluster.spec["holderIdentity"], b.elector.state.kind], ["b", "idle"]);
});

test("[49] a standby that stops while it acquires the Lease releases it", async () => {
  const cluster = new ElectionCluster();
  const { elector, link, stop } = cluster.replica("a");
  link.latencyMs = 1_000;
  const waiting = elector.acquire(stop.signal);
  while (!cluster.server.requests.some(({ method }) => method === "POST")) await cluster.pass(50);
  stop.abort();
  await assertRejects(() => cluster.within(10_000, waiting));
  assertEquals([cluster.spec["holderIdentity"], elector.state.kind], ["", "idle"]);
});

const coordinated = { binaryVersion: "1.4.0" };

test("a coordinated election with a server that has no candidates is an election among the replicas", async () => {
  const cluster = new ElectionCluster();
  const { leadership, elector } = await cluster.leader("a", { coordinated });
  assertEquals([elector.leader, cluster.spec["holderIdentity"]], ["a", "a"]);
  const b = cluster.replica("b", { coordinated });
  const waiting = b.elector.acquire(b.stop.signal);
  await cluster.pass(5_000);
  await cluster.within(100, leadership.release());
  const next = await cluster.within(2_000, waiting);
  assertEquals(b.elector.leader, "b");
  await cluster.within(100, next.release());
});

test("a replica that may not be a candidate names the missing rule", async () => {
  const cluster = new ElectionCluster();
  const { elector, link, stop } = cluster.replica("a", { coordinated });
  link.candidatesCode = 403;
  const error = await assertRejects(() => cluster.within(100, elector.acquire(stop.signal)));
  assert(error instanceof LeaseForbiddenError);
  assertMatch(error.message, /LeaseCandidate "shop\/a".*"leasecandidates"\], verbs: \["create", "patch"/);
  assertEquals([elector.state.kind, cluster.server.lease], ["idle", undefined]);
});

test("a replica tries to become a candidate until the server answers", async () => {
  const cluster = new ElectionCluster();
  const { elector, link, stop } = cluster.replica("a", { coordinated });
  link.candidatesCode = 500;
  const waiting = elector.acquire(stop.signal);
  await cluster.pass(20_000);
  assertEquals([elector.state.kind, cluster.server.lease], ["standby", undefined]);
  link.candidatesCode = 404;
  const leadership = await cluster.within(20_000, waiting);
  await cluster.within(100, leadership.release());
});

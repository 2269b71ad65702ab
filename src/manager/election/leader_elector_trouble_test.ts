import { assert, assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { ElectionCluster, lossOf } from "../testing/election_cluster.ts";
import { drain } from "../../async/mod.ts";
import type { Leadership } from "./leadership.ts";
import { LeaseForbiddenError } from "./lease_lock.ts";

test("[50] a renewal is one request; after a conflict the Lease is read, and renewed with the fields of other clients", async () => {
  const cluster = new ElectionCluster();
  let slowPaths = 0;
  const transitions: number[] = [];
  const metrics = {
    setLeading() {},
    countSlowPath: () => void slowPaths++,
    setTransitions: (count: number) => void transitions.push(count),
  };
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
  assertEquals(new Set(transitions), new Set([0]));
});

test("[124] every replica measures how often the Lease has changed its holder", async () => {
  const cluster = new ElectionCluster();
  const seen: Record<string, number | undefined> = {};
  const metricsOf = (name: string) => ({
    setLeading() {},
    countSlowPath() {},
    setTransitions: (count: number) => void (seen[name] = count),
  });
  const a = await cluster.leader("a", { metrics: metricsOf("a") });
  const b = cluster.replica("b", { metrics: metricsOf("b") });
  const waiting = b.elector.acquire(b.stop.signal);
  await cluster.pass(4_000);
  assertEquals(seen, { a: 0, b: 0 });
  await cluster.within(100, a.leadership.release());
  const leadership = await cluster.within(20_000, waiting);
  assertEquals(seen.b, 1);
  await cluster.within(100, leadership.release());
});

test("[50] after a renewal whose response is lost, the next renewal succeeds", async () => {
  const cluster = new ElectionCluster();
  const { leadership, link } = await cluster.leader("a");
  link.lossRate = 1;
  await cluster.pass(2_500);
  link.lossRate = 0;
  await cluster.pass(20_000);
  assertEquals(leadership.mayWrite(), true);
  await cluster.within(100, leadership.release());
});

test("[50] a leader creates its deleted Lease again, while a standby that has seen the leader waits", async () => {
  const cluster = new ElectionCluster();
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

test("[50] a deleted Lease with an absurd duration is created again after 5 minutes", async () => {
  const cluster = new ElectionCluster();
  const a = await cluster.leader("a");
  cluster.server.edit({ holderIdentity: "ghost", leaseDurationSeconds: 2 ** 31 - 1 });
  await cluster.pass(5_000);
  assertEquals(lossOf(a.leadership), "heldByOther");
  const b = cluster.replica("b");
  const waiting = b.elector.acquire(b.stop.signal);
  await cluster.pass(600_000);
  assertEquals(b.elector.state.kind, "standby");
  cluster.server.delete();
  await cluster.pass(290_000);
  assertEquals(b.elector.state.kind, "standby");
  const leadership = await cluster.within(15_000, waiting);
  await cluster.within(100, leadership.release());
});

test("an edit that sets another holder, or none, ends the term; no process leads for the lease duration", async () => {
  for (const holderIdentity of ["ghost", ""]) {
    const cluster = new ElectionCluster();
    const a = await cluster.leader("a");
    const b = cluster.replica("b");
    const waiting = b.elector.acquire(b.stop.signal);
    await cluster.pass(5_000);
    cluster.server.edit({ holderIdentity, leaseDurationSeconds: 15 });
    const editedAt = cluster.base.monotonic();
    await cluster.pass(2_000);
    assertEquals([a.leadership.mayWrite(), lossOf(a.leadership)], [false, "heldByOther"]);
    const leadership = await cluster.within(17_000, waiting);
    await cluster.within(100, leadership.release());
    const tookMs = cluster.base.monotonic() - editedAt;
    assert(tookMs >= 15_000, `b led ${tookMs} ms after the edit`);
  }
});

test("[51] isHealthy() is false while the work of a lost term continues after the Lease has expired", async () => {
  const cluster = new ElectionCluster();
  const { elector, leadership, link } = await cluster.leader("a");
  await cluster.pass(60_000);
  assertEquals(elector.isHealthy(), true);
  const { renewedAt } = leadership;
  link.isDisconnected = true;
  await cluster.pass(renewedAt + 15_000 - cluster.base.monotonic());
  assertEquals([elector.state.kind, elector.isHealthy()], ["lost", true]);
  await cluster.pass(1);
  assertEquals([elector.isHealthy(), elector.isHealthy(20_000)], [false, true]);
  await cluster.within(100, leadership.release());
  assertEquals(elector.isHealthy(), true);
});

for (const kind of ["stopped", "suspended"] as const) {
  test(`[53] after the process was ${kind} for 8 s, confirm() renews the Lease first`, async () => {
    const cluster = new ElectionCluster();
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

  test(`[53] after the process was ${kind} for 60 s and another process took over, mayWrite() is false`, async () => {
    const cluster = new ElectionCluster();
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
    assertEquals(lossOf(a.leadership), kind === "stopped" ? "expired" : "heldByOther");
    await cluster.within(100, leadership.release());
  });
}

test("[53] confirm() rejects when its own signal aborts", async () => {
  const cluster = new ElectionCluster();
  const { leadership, clock, link } = await cluster.leader("a");
  link.isDisconnected = true;
  clock.jump(60_000);
  const write = new AbortController();
  const confirming = leadership.confirm(write.signal);
  await drain();
  write.abort(new Error("enough"));
  await assertRejects(() => confirming, /enough/);
  link.isDisconnected = false;
  await cluster.within(100, leadership.release());
});

for (const [verb, prepare] of [["get", 0], ["create", 1]] as const) {
  test(`[54] without permission to ${verb} the Lease, the error names the missing rule`, async () => {
    const cluster = new ElectionCluster();
    const { elector, link, stop } = cluster.replica("a");
    link.latencyMs = 100;
    const waiting = elector.acquire(stop.signal);
    waiting.catch(() => undefined);
    if (prepare === 1) { while (cluster.server.requests.length === 0) await cluster.pass(10); }
    link.errorCode = 403;
    const error = await assertRejects(() => cluster.within(1_000, waiting));
    assert(error instanceof LeaseForbiddenError);
    const resourceNames = verb === "create" ? "" : ', resourceNames: ["operator"]';
    assertEquals(
      error.message,
      `Cannot lead by Lease "shop/operator": it is not allowed to ${verb} it; a Role in namespace "shop" needs ` +
        `{apiGroups: ["coordination.k8s.io"], resources: ["leases"]${resourceNames}, verbs: ["${verb}"]}`,
    );
    assertEquals(elector.state.kind, "idle");
  });
}

test("run() throws the loss, or stands by and leads again in a new term", async () => {
  for (const whenLost of ["throw", "standby"] as const) {
    const cluster = new ElectionCluster();
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
    link.isDisconnected = true;
    await cluster.pass(10_000);
    link.isDisconnected = false;
    await cluster.pass(10_000);
    if (whenLost === "throw") {
      assertEquals(terms.length, 1);
      await assertRejects(() => running, /^Cannot keep leading: Lease "shop\/operator" was not renewed for \d+ ms$/);
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

test("run() throws the error of the work of a term", async () => {
  const cluster = new ElectionCluster();
  const { elector, stop } = cluster.replica("a", { whenLost: "standby" });
  await assertRejects(
    () => cluster.within(1_000, elector.run(() => Promise.reject(new Error("broken")), stop.signal)),
    /broken/,
  );
  assertEquals(cluster.spec["holderIdentity"], "");
});

test("a standby ends immediately when aborted, and has no timer left", async () => {
  const cluster = new ElectionCluster();
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

test("a standby retries after server errors, and takes a Lease without a spec", async () => {
  const cluster = new ElectionCluster();
  cluster.server.put({ metadata: { name: "operator", namespace: "shop" }, spec: {} });
  const { elector, link, stop } = cluster.replica("a");
  link.errorCode = 500;
  const waiting = elector.acquire(stop.signal);
  await cluster.pass(60_000);
  assertEquals(elector.state.kind, "standby");
  link.errorCode = undefined;
  const leadership = await cluster.within(2_000, waiting);
  await cluster.within(100, leadership.release());
});

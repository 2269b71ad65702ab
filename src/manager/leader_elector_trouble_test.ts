import { assert, assertEquals, assertRejects, assertStringIncludes, test } from "../../tests/testing.ts";
import { Cluster, lossOf } from "./_election_cluster.ts";
import { drain } from "../async/mod.ts";
import type { Leadership } from "./leadership.ts";
import { LeaseForbiddenError } from "./lease_forbidden_error.ts";

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

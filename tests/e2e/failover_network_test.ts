/**
 * Failover after a network failure: the leader disconnected from the API server, all replicas disconnected, and an API
 * server that is almost too slow. Checked like failover_test.ts: fault class F9.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../controlplane/mod.ts";
import { assert, assertEquals } from "../testing.ts";
import { electionTest } from "./_elections.ts";
import { claimsOf } from "./_election_record.ts";
import type { Cut } from "./_proxy.ts";
import {
  defaultTimes,
  ended,
  isDeploymentChange,
  isDeploymentCreate,
  isLeaseWrite,
  note,
  type Replica,
  Replicas,
} from "./_replicas.ts";

/** Disconnects a leader with writes in flight, until its successor has done the same work. */
async function cutLeader(replicas: Replicas, how: Cut): Promise<Replica> {
  const [old, next] = await replicas.startPair();
  const { namespace } = replicas;
  await replicas.makeFoo("a");
  await replicas.synced("a");
  await replicas.quiet();
  const [create, change] = [old.proxy.hold(isDeploymentCreate), old.proxy.hold(isDeploymentChange)];
  await namespace.applyFoo({ name: "b", deploymentName: "b", replicas: 1 });
  await namespace.applyFoo({ name: "a", deploymentName: "a", replicas: 2 });
  await Promise.all([create.arrived, change.arrived]);
  const cutAt = performance.now();
  await old.proxy.cut(how);
  create.release();
  change.release();
  const [{ code, stderr, at }, takenAt] = await Promise.all([ended(old), next.leads()]);
  note(`cut off (${how}), until the leader is gone`, at - cutAt);
  note(`cut off (${how}), until another replica has the Lease`, takenAt - cutAt);
  assertEquals(code, 7, stderr);
  assert(at < takenAt, "the Lease had a new holder before the old one's process was gone");
  // By now the change that was in flight is outdated.
  await namespace.applyFoo({ name: "a", deploymentName: "a", replicas: 3 });
  await namespace.eventually("deployment/a", ({ spec }) => spec?.replicas === 3);
  await namespace.eventually("deployment/b", () => true);
  await replicas.quiet();
  return old;
}

for (const how of ["silent", "refusing"] as const) {
  electionTest(
    `[48] a leader that cannot reach the API server (${how}) is gone before its Lease runs out`,
    async (controlPlane) => {
      await using replicas = await Replicas.in(controlPlane);
      const old = await cutLeader(replicas, how);
      const uid = (await replicas.namespace.find("deployment/b"))?.metadata.uid;
      old.proxy.heal(); // a network may deliver late
      await until("see what was swallowed arrive", () => {
        const open = old.proxy.writes.filter(({ response: answer }) => answer === undefined);
        const isOver = how === "refusing" || open.every(isLeaseWrite);
        return isOver ? { kind: "found", value: undefined } : { kind: "pending", state: `${open.length} are open` };
      });
      await replicas.assertInOrder({ a: 3, b: 1 });
      assertEquals((await replicas.namespace.find("deployment/b"))?.metadata.uid, uid);
    },
  );
}

electionTest(
  "[48] when all replicas are disconnected none works, and one continues afterwards",
  async (controlPlane) => {
    await using replicas = await Replicas.in(controlPlane, { whenLost: "standby" });
    const [first] = await replicas.startPair();
    await (await replicas.start()).standsBy();
    await replicas.makeFoo("a");
    await replicas.synced("a");
    await replicas.quiet();
    await Promise.all(replicas.all.map(({ proxy }, index) => proxy.cut(index === 1 ? "refusing" : "silent")));
    await first.binary.logged(/stepping down/);
    await replicas.namespace.kubectl(["scale", "deployment/a", "--replicas=5"]);
    await sleep(2 * replicas.times.leaseMs);
    for (const { proxy } of replicas.all) proxy.heal();
    const healedAt = performance.now();
    await replicas.namespace.eventually("deployment/a", ({ spec }) => spec?.replicas === 1);
    note("all cut off, from the end of it to the first repair", performance.now() - healedAt);
    await replicas.makeFoo("b");
    await replicas.assertInOrder({ a: 1, b: 1 });
    assert(replicas.all.every(({ binary }) => binary.isRunning));
  },
);

electionTest(
  "[48] a leader whose renewals arrive after 95 % of the deadline keeps leading",
  async (controlPlane) => {
    await using replicas = await Replicas.in(controlPlane, { times: defaultTimes });
    const [leader, standby] = await replicas.startPair();
    const { renewDeadlineMs } = replicas.times;
    // From sending a renewal to the response of the next one: twice the time of one.
    using _slow = leader.proxy.delay(0.475 * renewDeadlineMs, isLeaseWrite);
    await replicas.makeFoo("a");
    await leader.renewsFor(3 * renewDeadlineMs);
    await replicas.makeFoo("b");
    const claims = claimsOf(leader).slice(-4);
    const waits = claims.slice(1).map(({ storedAt }, index) => storedAt - (claims[index]?.at ?? NaN));
    for (const waitMs of waits) {
      note("from a renewal to the answer of the next one", waitMs);
      assert(waitMs >= 0.95 * renewDeadlineMs, "the API was not slow");
    }
    await replicas.assertInOrder({ a: 1, b: 1 });
    assertEquals(claimsOf(standby), []);
    assert(leader.binary.isRunning && !/leadership lost/.test(leader.binary.stderr), leader.binary.stderr);
  },
);

electionTest(
  "a leader that loses the response to a renewal keeps leading, and so does one that loses the response to its first claim",
  async (controlPlane) => {
    await using replicas = await Replicas.in(controlPlane);
    const [leader, standby] = await replicas.startPair();
    await replicas.makeFoo("a");
    const renewal = leader.proxy.hold(isLeaseWrite, "response");
    await renewal.arrived;
    await leader.renewsFor(2 * replicas.times.leaseMs);
    renewal.release();
    assertEquals(claimsOf(standby), []);
    const claim = standby.proxy.hold(isLeaseWrite, "response");
    leader.binary.signal("SIGTERM");
    assertEquals((await ended(leader)).code, 0);
    await claim.arrived;
    await replicas.makeFoo("b");
    claim.release();
    await replicas.assertInOrder({ a: 1, b: 1 });
    assert(standby.binary.isRunning);
  },
);

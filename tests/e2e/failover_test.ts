/**
 * Failover: two and three processes of the compiled binary and one Lease on a real control plane, with everything that
 * can happen to a leader from outside (behaviours.md, F9). After each test what the replicas sent is judged: one writer
 * at a time (I6), each object created once (I2), the cluster as it should be (I1), one Event per Foo and not one per
 * leader.
 *
 * Assumptions: clocks that jump or run at another rate cannot be had for a process without libfaketime; what they do is
 * tested on a virtual clock in src/manager/leader_elector_test.ts and leader_election_property_test.ts.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type ControlPlane, until } from "../controlplane/mod.ts";
import { controlPlaneTest } from "../controlplane/test.ts";
import { assert, assertEquals, assertMatch } from "../testing.ts";
import type { Binary } from "./_binary.ts";
import { assertOneWriterAtATime, claimsOf, createdBy, releasesOf, workOf } from "./_election_record.ts";
import type { Cut, RequestMatch } from "./_proxy.ts";
import { defaultTimes, leaseName, type Replica, Replicas, type ReplicasOptions } from "./_replicas.ts";

const isDeploymentWrite: RequestMatch = ({ method, path }) => method !== "GET" && path.includes("/deployments");
const isDeploymentCreate: RequestMatch = ({ method, path }) => method === "POST" && path.includes("/deployments");
const isDeploymentChange: RequestMatch = ({ method, path }) => method === "PATCH" && path.includes("/deployments");
const isLeaseWrite: RequestMatch = ({ method, path }) => method !== "GET" && path.includes("/leases");

/** Figures are for whoever reads the log; a busy machine must not fail a test. */
function note(what: string, ms: number): void {
  console.log(`${what}: ${Math.round(ms)} ms`);
}

/** I1, I2, I6: the Foos are served, by Deployments that were created once, and told of once. */
async function assertInOrder(replicas: Replicas, foos: Readonly<Record<string, number>>): Promise<void> {
  const { all, namespace, times } = replicas;
  for (const [name, count] of Object.entries(foos)) {
    await namespace.eventually(`deployment/${name}`, ({ spec }) => spec?.replicas === count);
    await namespace.eventually(`foo/${name}`, ({ status }) => status?.availableReplicas === 0);
    await replicas.synced(name);
  }
  await replicas.quiet();
  assertOneWriterAtATime(all, times.renewDeadlineMs);
  assertEquals(createdBy(all, "deployments"), Object.keys(foos).length);
}

async function endedAt(binary: Binary): Promise<{ readonly code: number; readonly stderr: string; readonly at: number }> {
  const { code, stderr } = await binary.ended();
  return { code, stderr, at: performance.now() };
}

controlPlaneTest("[52] of three replicas one works; another takes over when it is killed", async (controlPlane) => {
  await using replicas = await Replicas.in(controlPlane);
  await Promise.all([replicas.start(), replicas.start(), replicas.start()]);
  const killed = await replicas.firstToLead();
  const others = replicas.all.filter((replica) => replica !== killed);
  const uid = await replicas.makeFoo("a");
  await replicas.synced("a");
  await Promise.all(others.map((other) => other.standsBy()));
  await replicas.quiet();
  assertEquals([workOf(others), others.flatMap(claimsOf)], [[], []]);
  killed.binary.signal("SIGKILL");
  const killedAt = performance.now();
  await replicas.namespace.applyFoo({ name: "b", deploymentName: "b", replicas: 2 });
  const next = await replicas.firstToLead(others);
  const takenAt = await next.leads();
  note("SIGKILL, until another replica has the Lease", takenAt - killedAt);
  const renewedAt = claimsOf(killed).at(-1)?.at ?? NaN;
  note("  counted from the last renewal", takenAt - renewedAt);
  assert(takenAt - renewedAt >= replicas.times.leaseMs, "it was taken before it had run out");
  await assertInOrder(replicas, { a: 1, b: 2 });
  assertEquals((await replicas.namespace.find("deployment/a"))?.metadata.uid, uid);
  await replicas.assertEventsOf({ a: 1, b: 1 });
  assertEquals(claimsOf(next).filter(({ isRenewal }) => !isRenewal).length, 1);
});

controlPlaneTest(
  "[49] SIGTERM: the leader keeps the Lease until its last write, gives it up and ends with 0",
  async (controlPlane) => {
    await using replicas = await Replicas.in(controlPlane);
    const [leader, standby] = await replicas.startPair();
    const hold = leader.proxy.hold(isDeploymentCreate);
    await replicas.namespace.applyFoo({ name: "a", deploymentName: "a", replicas: 1 });
    await hold.arrived;
    leader.binary.signal("SIGTERM");
    await leader.binary.logged(/signal: finishing what runs/);
    // A reconcile that takes longer than the Lease lasts.
    await renewsFor(leader, 2 * replicas.times.leaseMs);
    assertEquals(claimsOf(standby), []);
    hold.release();
    const { code, stderr } = await leader.binary.ended();
    assertEquals(code, 0, stderr);
    const takenAt = await standby.leads();
    const [released] = releasesOf(leader);
    assert(released !== undefined, "it was not given up");
    note("SIGTERM, from the release to the next leader", takenAt - released.at);
    for (const { request } of workOf([leader])) assert((request.answer?.at ?? Infinity) <= released.at);
    await assertInOrder(replicas, { a: 1 });
    await replicas.assertEventsOf({ a: 1 });
    assertEquals(createdBy([leader], "deployments"), 1);
    standby.binary.signal("SIGTERM");
    assertEquals((await standby.binary.ended()).code, 0);
    assertEquals(await replicas.holder(), "");
  },
);

controlPlaneTest("[61] a second SIGTERM ends the leader with 1, and its Lease runs out", async (controlPlane) => {
  await using replicas = await Replicas.in(controlPlane);
  const [leader, standby] = await replicas.startPair();
  const hold = leader.proxy.hold(isDeploymentCreate);
  await replicas.namespace.applyFoo({ name: "a", deploymentName: "a", replicas: 1 });
  await hold.arrived;
  leader.binary.signal("SIGTERM");
  await leader.binary.logged(/signal: finishing what runs/);
  leader.binary.signal("SIGTERM");
  const signalledAt = performance.now();
  const { code, at } = await endedAt(leader.binary);
  note("second SIGTERM, until the process is gone", at - signalledAt);
  assertEquals(code, 1);
  const takenAt = await standby.leads();
  note("second SIGTERM, until another replica has the Lease", takenAt - signalledAt);
  assertEquals(releasesOf(leader), []);
  await replicas.namespace.eventually("deployment/a", () => true);
  hold.release(); // what the dead process had sent arrives after all
  await assertInOrder(replicas, { a: 1 });
  await replicas.assertEventsOf({ a: 1 });
});

/** Waits until a replica has renewed the Lease again and again for so long. */
async function renewsFor(replica: Replica, ms: number): Promise<void> {
  const since = performance.now();
  await until(`see ${replica.name} renew for ${ms} ms`, () => {
    const lastMs = (claimsOf(replica).at(-1)?.at ?? 0) - since;
    return lastMs >= ms ? { kind: "found", value: undefined } : { kind: "pending", state: `${lastMs} ms` };
  });
}

/** A leader that is stopped in the midst of a reconcile, and its successor, who has work that the old one sees too. */
async function pausedLeader(controlPlane: ControlPlane, options: ReplicasOptions) {
  const replicas = await Replicas.in(controlPlane, options);
  const [old, next] = await replicas.startPair();
  await replicas.makeFoo("a");
  await replicas.synced("a");
  await replicas.quiet();
  // The server has done what was asked; the answer waits in the socket until the process goes on.
  const hold = old.proxy.hold(isDeploymentCreate, "answer");
  await replicas.namespace.applyFoo({ name: "b", deploymentName: "b", replicas: 1 });
  await hold.arrived;
  old.binary.signal("SIGSTOP");
  const stoppedAt = performance.now();
  hold.release();
  note("SIGSTOP, until another replica has the Lease", await next.leads() - stoppedAt);
  await replicas.namespace.kubectl(["scale", "deployment/a", "--replicas=5"]);
  await replicas.namespace.eventually("deployment/a", ({ spec }) => spec?.replicas === 1);
  await replicas.namespace.applyFoo({ name: "c", deploymentName: "c", replicas: 1 });
  await replicas.synced("c");
  await replicas.quiet();
  return { replicas, old, next, sent: workOf([old]).length };
}

controlPlaneTest("[53] a leader that was stopped writes nothing when it goes on, and exits with 7", async (controlPlane) => {
  const { replicas, old, sent } = await pausedLeader(controlPlane, {});
  await using _replicas = replicas;
  old.binary.signal("SIGCONT");
  const continuedAt = performance.now();
  const { code, stderr, at } = await endedAt(old.binary);
  note("SIGCONT, until the process is gone", at - continuedAt);
  assertEquals(code, 7, stderr);
  assertMatch(stderr, /^controller: Cannot lead on: Lease ".*" .*\. Start it again: it then stands by$/m);
  assertEquals(workOf([old]).length, sent);
  assertEquals(releasesOf(old), []);
  await assertInOrder(replicas, { a: 1, b: 1, c: 1 });
  await replicas.assertEventsOf({ a: 1, b: 1, c: 1 });
});

controlPlaneTest(
  "[53] with --leader-election-when-lost standby it writes nothing either, stands by and leads again later",
  async (controlPlane) => {
    const { replicas, old, next, sent } = await pausedLeader(controlPlane, { whenLost: "standby" });
    await using _replicas = replicas;
    old.binary.signal("SIGCONT");
    await old.binary.logged(/(standing by for the lease[^]*){2}/);
    await replicas.quiet();
    assertEquals(workOf([old]).length, sent);
    next.binary.signal("SIGTERM");
    assertEquals((await next.binary.ended()).code, 0);
    note("from the release to the second term of the first leader", await old.leads(2) - (releasesOf(next)[0]?.at ?? NaN));
    await replicas.makeFoo("d", 3);
    await assertInOrder(replicas, { a: 1, b: 1, c: 1, d: 3 });
    await replicas.assertEventsOf({ a: 1, b: 1, c: 1, d: 1 });
    old.binary.signal("SIGTERM");
    assertEquals((await old.binary.ended()).code, 0);
  },
);

controlPlaneTest(
  "[52] what the server asked to repeat later is not repeated by who leads no more",
  async (controlPlane) => {
    await using replicas = await Replicas.in(controlPlane);
    const [old, next] = await replicas.startPair();
    {
      const tooMany = () => new Response(null, { status: 429, headers: { "retry-after": "1" } });
      using _busy = old.proxy.answer(tooMany, isDeploymentWrite);
      await replicas.namespace.applyFoo({ name: "a", deploymentName: "a", replicas: 1 });
      await until("see the write refused", () => {
        const isSent = old.proxy.requests.some(isDeploymentWrite);
        return isSent ? { kind: "found", value: undefined } : { kind: "pending", state: "it was not sent" };
      });
      // Renewals go on, so the repetition is due before the renew deadline is: the first thing to do after the pause.
      await renewsFor(old, replicas.times.retryMs);
    }
    const sent = workOf([old]).length;
    old.binary.signal("SIGSTOP");
    await next.leads();
    await replicas.namespace.eventually("deployment/a", () => true);
    await replicas.quiet();
    old.binary.signal("SIGCONT");
    const { code, stderr } = await old.binary.ended();
    assertEquals(code, 7, stderr);
    assertEquals(workOf([old]).slice(sent).map(({ request: { method, path } }) => `${method} ${path}`), []);
    await assertInOrder(replicas, { a: 1 });
  },
);

/** A leader that is cut off with writes under way, until its successor has done the same work. */
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
  const [{ code, stderr, at }, takenAt] = await Promise.all([endedAt(old.binary), next.leads()]);
  note(`cut off (${how}), until the leader is gone`, at - cutAt);
  note(`cut off (${how}), until another replica has the Lease`, takenAt - cutAt);
  assertEquals(code, 7, stderr);
  assert(at < takenAt, "the Lease had a new holder before the old one's process was gone");
  // By now the change that was under way is an old one.
  await namespace.applyFoo({ name: "a", deploymentName: "a", replicas: 3 });
  await namespace.eventually("deployment/a", ({ spec }) => spec?.replicas === 3);
  await namespace.eventually("deployment/b", () => true);
  await replicas.quiet();
  return old;
}

for (const how of ["silent", "refusing"] as const) {
  controlPlaneTest(
    `[48] a leader that cannot reach the API server (${how}) is gone before its Lease runs out`,
    async (controlPlane) => {
      await using replicas = await Replicas.in(controlPlane);
      const old = await cutLeader(replicas, how);
      const uid = (await replicas.namespace.find("deployment/b"))?.metadata.uid;
      old.proxy.heal(); // a network may deliver late what was sent in time
      await until("see what was swallowed arrive", () => {
        const open = old.proxy.writes.filter(({ answer }) => answer === undefined);
        const isOver = how === "refusing" || open.every(isLeaseWrite);
        return isOver ? { kind: "found", value: undefined } : { kind: "pending", state: `${open.length} are open` };
      });
      await assertInOrder(replicas, { a: 3, b: 1 });
      assertEquals((await replicas.namespace.find("deployment/b"))?.metadata.uid, uid);
    },
  );
}

controlPlaneTest("[48] when all are cut off at once nobody works, and one goes on afterwards", async (controlPlane) => {
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
  await replicas.namespace.eventually("deployment/a", ({ spec }) => spec?.replicas === 1, 60_000);
  note("all cut off, from the end of it to the first repair", performance.now() - healedAt);
  await replicas.makeFoo("b");
  await assertInOrder(replicas, { a: 1, b: 1 });
  assert(replicas.all.every(({ binary }) => binary.isRunning));
});

controlPlaneTest("a Lease that is deleted while it is held is made anew by its holder", async (controlPlane) => {
  await using replicas = await Replicas.in(controlPlane);
  const [leader, standby] = await replicas.startPair();
  const holder = await replicas.holder();
  await replicas.makeFoo("a");
  for (let round = 0; round < 3; round++) {
    await replicas.namespace.kubectl(["delete", "lease", leaseName]);
    await replicas.namespace.eventually(`lease/${leaseName}`, () => true);
    await renewsFor(leader, replicas.times.leaseMs);
    assertEquals(await replicas.holder(), holder);
  }
  await replicas.makeFoo("b");
  await assertInOrder(replicas, { a: 1, b: 1 });
  await replicas.assertEventsOf({ a: 1, b: 1 });
  assertEquals([claimsOf(standby), workOf([standby])], [[], []]);
  assert(leader.binary.isRunning && standby.binary.isRunning);
});

controlPlaneTest("a Lease that somebody gives to another, or to nobody, ends a term", async (controlPlane) => {
  await using replicas = await Replicas.in(controlPlane);
  const { namespace, times } = replicas;
  const leaders = [...await replicas.startPair(), await replicas.start()];
  await replicas.makeFoo("a");
  for (const [index, thief] of ["thief", ""].entries()) {
    const old = await replicas.firstToLead(leaders);
    leaders.splice(leaders.indexOf(old), 1);
    const patch = JSON.stringify({ spec: { holderIdentity: thief } });
    await namespace.kubectl(["patch", "lease", leaseName, "--type=merge", `--patch=${patch}`]);
    const stolenAt = performance.now();
    const { code, stderr } = await old.binary.ended();
    assertEquals(code, 7, stderr);
    assertMatch(stderr, thief === "" ? /names nobody now\. Start/ : /is held by "thief" now\. Start/);
    const next = await replicas.firstToLead(leaders);
    const takenAt = await next.leads();
    note(`holderIdentity set to "${thief}", until another replica has the Lease`, takenAt - stolenAt);
    const renewedAt = claimsOf(old).at(-1)?.at ?? NaN;
    assert(takenAt - renewedAt >= times.leaseMs, "the Lease was taken although the thief might have been working");
    await replicas.makeFoo(`b${index}`);
  }
  await assertInOrder(replicas, { a: 1, b0: 1, b1: 1 });
  await replicas.assertEventsOf({ a: 1, b0: 1, b1: 1 });
});

controlPlaneTest("[50] what others write on the Lease stays there and ends no term", async (controlPlane) => {
  await using replicas = await Replicas.in(controlPlane);
  const [leader, standby] = await replicas.startPair();
  for (let round = 0; round < 5; round++) {
    await replicas.namespace.kubectl(["label", "lease", leaseName, `round-${round}=yes`]);
  }
  await renewsFor(leader, replicas.times.leaseMs);
  await replicas.makeFoo("a");
  const lease = await replicas.namespace.find(`lease/${leaseName}`);
  assertEquals(Object.keys(lease?.metadata.labels ?? {}), [0, 1, 2, 3, 4].map((round) => `round-${round}`));
  await assertInOrder(replicas, { a: 1 });
  assertEquals(claimsOf(standby), []);
  assertEquals(claimsOf(leader).filter(({ isRenewal }) => !isRenewal).length, 1);
});

/** Lets a ServiceAccount use what foo needs, but no Lease. @returns Its token. */
async function workerToken({ namespace }: Replicas): Promise<string> {
  await namespace.kubectl(["create", "serviceaccount", "worker"]);
  const rules = [
    ["samplecontroller.k8s.io", ["foos", "foos/status"]],
    ["apps", ["deployments"]],
    ["events.k8s.io", ["events"]],
  ] as const;
  const apiVersion = "rbac.authorization.k8s.io/v1";
  const role = {
    apiVersion,
    kind: "Role",
    metadata: { name: "worker" },
    rules: rules.map(([group, resources]) => ({ apiGroups: [group], resources, verbs: ["*"] })),
  };
  await namespace.kubectl(["apply", "-f", "-"], JSON.stringify(role));
  const worker = `--serviceaccount=${namespace.name}:worker`;
  await namespace.kubectl(["create", "rolebinding", "worker", "--role=worker", worker]);
  return (await namespace.kubectl(["create", "token", "worker"])).trim();
}

async function allowLease({ namespace }: Replicas, ...verbs: readonly string[]): Promise<void> {
  const name = `lease-${verbs.join("-")}`;
  await namespace.kubectl(["create", "role", name, "--resource=leases", `--verb=${verbs.join(",")}`]);
  const worker = `--serviceaccount=${namespace.name}:worker`;
  await namespace.kubectl(["create", "rolebinding", name, `--role=${name}`, worker]);
}

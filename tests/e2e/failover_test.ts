/**
 * Failover: two and three processes of the compiled binary and one Lease on a real control plane, with faults of the
 * leader's process (fault classes F8 and F9; network faults are in failover_network_test.ts, faults of the Lease in
 * failover_lease_test.ts). After each test the requests of the replicas are checked: one writer at a time (invariant I6),
 * each object created once (invariant I2), the expected final state (invariant I1), one Event per Foo, not per leader.
 *
 * Assumptions: a process cannot have a clock that jumps or runs at another rate without libfaketime. Such clocks are
 * tested on a virtual clock in src/manager/election/leader_elector_test.ts and leader_election_property_test.ts.
 */
import { type ControlPlane, until } from "../controlplane/mod.ts";
import { assert, assertEquals, assertMatch } from "../testing.ts";
import { runBinary } from "./_binary.ts";
import { electionTest } from "./_elections.ts";
import { claimsOf, createdBy, releasesOf, workOf } from "./_election_record.ts";
import {
  ended,
  isDeploymentCreate,
  isDeploymentWrite,
  note,
  type Replica,
  Replicas,
  type ReplicasOptions,
} from "./_replicas.ts";

electionTest("[52] of three replicas one works, and another takes over when it is killed", async (controlPlane) => {
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
  await replicas.assertInOrder({ a: 1, b: 2 });
  assertEquals((await replicas.namespace.find("deployment/a"))?.metadata.uid, uid);
  await replicas.assertEventsOf({ a: 1, b: 1 });
  assertEquals(claimsOf(next).filter(({ isRenewal }) => !isRenewal).length, 1);
});

electionTest(
  "[52] with all controllers in each process, the other one takes over all of them",
  async (controlPlane) => {
    const { kubeconfig } = controlPlane;
    assertEquals((await runBinary(["install-crds"], { kubeconfig })).code, 0);
    await using replicas = await Replicas.in(controlPlane, { controllers: "--all" });
    const [leader, standby] = await replicas.startPair();
    await replicas.makeFoo("a");
    await replicas.synced("a");
    const service = (name: string) => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, annotations: { "ingress/http": "true" } },
      spec: { ports: [{ port: 80 }], clusterIP: "None" },
    });
    const serve = async (name: string) => {
      await replicas.namespace.kubectl(["apply", "-f", "-"], JSON.stringify(service(name)));
      return await replicas.namespace.eventually(`ingress/${name}`, () => true);
    };
    const { metadata } = await serve("one");
    await replicas.quiet();
    assertEquals(workOf([standby]), []);
    leader.binary.signal("SIGKILL");
    await replicas.makeFoo("b", 2);
    await serve("two");
    await standby.leads();
    await replicas.namespace.kubectl(["scale", "deployment/a", "--replicas=5"]);
    await replicas.namespace.eventually("deployment/a", ({ spec }) => spec?.replicas === 1);
    await replicas.namespace.kubectl(["delete", "ingress", "one"]);
    const again = await replicas.namespace.eventually("ingress/one", () => true);
    assert(again.metadata.uid !== metadata.uid);
    await replicas.assertInOrder({ a: 1, b: 2 });
    standby.binary.signal("SIGTERM");
    assertEquals((await standby.binary.ended()).code, 0);
  },
);

electionTest(
  "[49] SIGTERM: the leader keeps the Lease until its last write, releases it and ends with 0",
  async (controlPlane) => {
    await using replicas = await Replicas.in(controlPlane);
    const [leader, standby] = await replicas.startPair();
    const hold = leader.proxy.hold(isDeploymentCreate);
    await replicas.namespace.applyFoo({ name: "a", deploymentName: "a", replicas: 1 });
    await hold.arrived;
    leader.binary.signal("SIGTERM");
    await leader.binary.logged(/received a signal, finishing running reconciles/);
    // A reconcile that takes longer than the Lease lasts.
    await leader.renewsFor(2 * replicas.times.leaseMs);
    assertEquals(claimsOf(standby), []);
    hold.release();
    const { code, stderr } = await leader.binary.ended();
    assertEquals(code, 0, stderr);
    const takenAt = await standby.leads();
    const [released] = releasesOf(leader);
    assert(released !== undefined, "it was not given up");
    note("SIGTERM, from the release to the next leader", takenAt - released.at);
    for (const { request } of workOf([leader])) assert((request.response?.at ?? Infinity) <= released.at);
    await replicas.assertInOrder({ a: 1 });
    await replicas.assertEventsOf({ a: 1 });
    assertEquals(createdBy([leader], "deployments"), 1);
    standby.binary.signal("SIGTERM");
    assertEquals((await standby.binary.ended()).code, 0);
    assertEquals(await replicas.holder(), "");
  },
);

electionTest("[61] a second SIGTERM ends the leader with 1, and its Lease expires", async (controlPlane) => {
  await using replicas = await Replicas.in(controlPlane);
  const [leader, standby] = await replicas.startPair();
  const hold = leader.proxy.hold(isDeploymentCreate);
  await replicas.namespace.applyFoo({ name: "a", deploymentName: "a", replicas: 1 });
  await hold.arrived;
  leader.binary.signal("SIGTERM");
  await leader.binary.logged(/received a signal, finishing running reconciles/);
  leader.binary.signal("SIGTERM");
  const signalledAt = performance.now();
  const { code, at } = await ended(leader);
  note("second SIGTERM, until the process is gone", at - signalledAt);
  assertEquals(code, 1);
  const takenAt = await standby.leads();
  note("second SIGTERM, until another replica has the Lease", takenAt - signalledAt);
  assertEquals(releasesOf(leader), []);
  await replicas.namespace.eventually("deployment/a", () => true);
  hold.release(); // the request of the dead process arrives late
  await replicas.assertInOrder({ a: 1 });
  await replicas.assertEventsOf({ a: 1 });
});

/** A leader that is stopped during a reconcile, and its successor, whose work the old leader sees as well. */
async function pausedLeader(controlPlane: ControlPlane, options: ReplicasOptions) {
  const replicas = await Replicas.in(controlPlane, options);
  const [old, next] = await replicas.startPair();
  await replicas.makeFoo("a");
  await replicas.synced("a");
  await replicas.quiet();
  // The server has committed the request; the response waits in the socket until the process continues.
  const hold = old.proxy.hold(isDeploymentCreate, "response");
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

electionTest(
  "[53] a leader that was stopped writes nothing when it continues, and exits with 7",
  async (controlPlane) => {
    const { replicas, old, sent } = await pausedLeader(controlPlane, {});
    await using _replicas = replicas;
    old.binary.signal("SIGCONT");
    const continuedAt = performance.now();
    const { code, stderr, at } = await ended(old);
    note("SIGCONT, until the process is gone", at - continuedAt);
    assertEquals(code, 7, stderr);
    assertMatch(
      stderr,
      /^controller: Cannot keep leading: Lease ".*" .*\. Start it again: it then waits for the lease$/m,
    );
    assertEquals(workOf([old]).length, sent);
    assertEquals(releasesOf(old), []);
    await replicas.assertInOrder({ a: 1, b: 1, c: 1 });
    await replicas.assertEventsOf({ a: 2, b: 1, c: 1 }); // a was repaired once
  },
);

electionTest(
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
    note(
      "from the release to the second term of the first leader",
      await old.leads(2) - (releasesOf(next)[0]?.at ?? NaN),
    );
    await replicas.makeFoo("d", 3);
    await replicas.assertInOrder({ a: 1, b: 1, c: 1, d: 3 });
    await replicas.assertEventsOf({ a: 2, b: 1, c: 1, d: 1 });
    old.binary.signal("SIGTERM");
    assertEquals((await old.binary.ended()).code, 0);
  },
);

/** When a leader renews the Lease next, about. */
function nextRenewal({ times }: Replicas, leader: Replica): number {
  return (claimsOf(leader).at(-1)?.at ?? -Infinity) + times.retryMs;
}

electionTest(
  "[52] a former leader does not repeat a request that the server asked to retry later",
  async (controlPlane) => {
    await using replicas = await Replicas.in(controlPlane);
    const [old, next] = await replicas.startPair();
    const tooMany = () => new Response(null, { status: 429, headers: { "retry-after": "1" } });
    using busy = new DisposableStack();
    busy.use(old.proxy.respond(tooMany, isDeploymentWrite));
    await replicas.namespace.applyFoo({ name: "a", deploymentName: "a", replicas: 1 });
    await until("see the repetition due before the next renewal", () => {
      const dueAt = (workOf([old]).at(-1)?.request.at ?? Infinity) + 1_000;
      const dueInMs = dueAt - performance.now(), renewalMs = nextRenewal(replicas, old) - performance.now();
      const isFirst = dueInMs > 20 && dueInMs < renewalMs - 30;
      return isFirst ? { kind: "found", value: undefined } : { kind: "pending", state: `due in ${dueInMs} ms` };
    }, { everyMs: 1 });
    // So the retry is the first action of the process after the pause.
    old.binary.signal("SIGSTOP");
    busy.dispose();
    const sent = workOf([old]).length;
    await next.leads();
    await replicas.namespace.eventually("deployment/a", () => true);
    await replicas.quiet();
    old.binary.signal("SIGCONT");
    const { code, stderr } = await old.binary.ended();
    assertEquals(code, 7, stderr);
    assertEquals(workOf([old]).slice(sent).map(({ request: { method, path } }) => `${method} ${path}`), []);
    await replicas.assertInOrder({ a: 1 });
  },
);

electionTest(
  "[53] a leader that is stopped while it drains after SIGTERM does not continue draining later",
  async (controlPlane) => {
    await using replicas = await Replicas.in(controlPlane);
    const [old, next] = await replicas.startPair();
    const hold = old.proxy.hold(isDeploymentCreate, "response");
    await replicas.namespace.applyFoo({ name: "a", deploymentName: "a", replicas: 1 });
    await hold.arrived;
    old.binary.signal("SIGTERM");
    await old.binary.logged(/received a signal, finishing running reconciles/);
    old.binary.signal("SIGSTOP");
    hold.release();
    await next.leads();
    await replicas.synced("a");
    const sent = workOf([old]).length;
    old.binary.signal("SIGCONT");
    const { code, stderr } = await old.binary.ended();
    assertEquals(code, 7, stderr);
    assertEquals([workOf([old]).length, releasesOf(old)], [sent, []]);
    await replicas.assertInOrder({ a: 1 });
    await replicas.assertEventsOf({ a: 1 });
  },
);

electionTest(
  "[49] a rolling update of three replicas, and a crash of all of them, lose and repeat nothing",
  async (controlPlane) => {
    await using replicas = await Replicas.in(controlPlane);
    const foos: Record<string, number> = {};
    const makeFoos = async (prefix: string) => {
      for (let index = 0; index < 5; index++) {
        const name = `${prefix}-${index}`;
        foos[name] = index;
        await replicas.namespace.applyFoo({ name, deploymentName: name, replicas: index });
      }
    };
    await Promise.all([replicas.start(), replicas.start(), replicas.start()]);
    await replicas.firstToLead();
    for (const [index, old] of [...replicas.all].entries()) {
      const applying = makeFoos(`round-${index}`);
      await (await replicas.start()).standsBy();
      old.binary.signal("SIGTERM");
      const { code, stderr } = await old.binary.ended();
      assertEquals(code, 0, stderr);
      await applying;
    }
    const running = replicas.all.filter(({ binary }) => binary.isRunning);
    await replicas.firstToLead(running);
    const applying = makeFoos("killed");
    for (const { binary } of running) binary.signal("SIGKILL");
    const killedAt = performance.now();
    await Promise.all([...running.map(({ binary }) => binary.ended()), applying]);
    const next = await Promise.all([replicas.start(), replicas.start()]);
    const takenAt = await (await replicas.firstToLead(next)).leads();
    note("SIGKILL of all, until a new process has the Lease", takenAt - killedAt);
    await replicas.assertInOrder(foos);
    const counts = await Promise.all(Object.keys(foos).map((name) => replicas.namespace.events("Foo", name)));
    // A process that died between its write and its Event never sent the Event.
    assert(counts.every((events) => events.length <= 1), "an Event was repeated");
  },
);

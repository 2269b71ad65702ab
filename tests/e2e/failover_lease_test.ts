/**
 * Failover after a change of the Lease: deleted, given to another holder, labelled, forbidden. Checked like
 * failover_test.ts.
 */
import { assert, assertEquals, assertMatch } from "../testing.ts";
import { Binary, runBinary } from "./_binary.ts";
import { electionTest } from "./_elections.ts";
import { claimsOf, workOf } from "./_election_record.ts";
import { leaseName, note, Replicas } from "./_replicas.ts";

electionTest("a Lease that is deleted while it is held is created again by its holder", async (controlPlane) => {
  await using replicas = await Replicas.in(controlPlane);
  const [leader, standby] = await replicas.startPair();
  const holder = await replicas.holder();
  await replicas.makeFoo("a");
  for (let round = 0; round < 3; round++) {
    await replicas.namespace.kubectl(["delete", "lease", leaseName]);
    await replicas.namespace.eventually(`lease/${leaseName}`, () => true);
    await leader.renewsFor(replicas.times.leaseMs);
    assertEquals(await replicas.holder(), holder);
  }
  await replicas.makeFoo("b");
  await replicas.assertInOrder({ a: 1, b: 1 });
  await replicas.assertEventsOf({ a: 1, b: 1 });
  assertEquals([claimsOf(standby), workOf([standby])], [[], []]);
  assert(leader.binary.isRunning && standby.binary.isRunning);
});

electionTest(
  "a Lease that another user assigns to another holder, or to none, ends a term",
  async (controlPlane) => {
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
      assertMatch(stderr, thief === "" ? /has no holder now\. Start/ : /is held by "thief" now\. Start/);
      const next = await replicas.firstToLead(leaders);
      const takenAt = await next.leads();
      note(`holderIdentity set to "${thief}", until another replica has the Lease`, takenAt - stolenAt);
      const renewedAt = claimsOf(old).at(-1)?.at ?? NaN;
      assert(takenAt - renewedAt >= times.leaseMs, "the Lease was taken although the thief might have been working");
      await replicas.makeFoo(`b${index}`);
    }
    await replicas.assertInOrder({ a: 1, b0: 1, b1: 1 });
    await replicas.assertEventsOf({ a: 1, b0: 1, b1: 1 });
  },
);

electionTest(
  "[50] labels and annotations of other users stay on the Lease and do not end a term",
  async (controlPlane) => {
    await using replicas = await Replicas.in(controlPlane);
    const [leader, standby] = await replicas.startPair();
    for (let round = 0; round < 5; round++) {
      await replicas.namespace.kubectl(["label", "lease", leaseName, `round-${round}=yes`]);
    }
    await leader.renewsFor(replicas.times.leaseMs);
    await replicas.makeFoo("a");
    const lease = await replicas.namespace.find(`lease/${leaseName}`);
    assertEquals(Object.keys(lease?.metadata.labels ?? {}), [0, 1, 2, 3, 4].map((round) => `round-${round}`));
    await replicas.assertInOrder({ a: 1 });
    assertEquals(claimsOf(standby), []);
    assertEquals(claimsOf(leader).filter(({ isRenewal }) => !isRenewal).length, 1);
  },
);

/** Grants a ServiceAccount what foo needs, without the Lease. @returns Its token. */
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

electionTest(
  "[54] without a permission on the Lease the process ends with 4 and names the rule",
  async (controlPlane) => {
    await using replicas = await Replicas.in(controlPlane);
    const token = await workerToken(replicas);
    const kubeconfig = await controlPlane.kubeconfigFor({ user: "nobody" });
    const startWorker = () => runBinary([...replicas.args, "--token", token], { kubeconfig });
    await replicas.namespace.applyFoo({ name: "a", deploymentName: "a", replicas: 1 });
    for (const verb of ["get", "create"] as const) {
      const { code, stdout, stderr } = await startWorker();
      assertEquals([code, stdout], [4, ""], stderr);
      const said = stderr.split("\n").filter((line) => line.startsWith("controller: "));
      const names = verb === "create" ? "" : `, resourceNames: ["${leaseName}"]`;
      assertEquals(said, [
        `controller: Cannot lead by Lease "${replicas.namespace.name}/${leaseName}": it is not allowed to ${verb} it; ` +
        `a Role in namespace "${replicas.namespace.name}" needs ` +
        `{apiGroups: ["coordination.k8s.io"], resources: ["leases"]${names}, verbs: ["${verb}"]}. ` +
        "Ask for the permission, or use another user",
      ]);
      await allowLease(replicas, verb);
    }
    assertEquals(await replicas.namespace.find("deployment/a"), undefined);
    // It may create the Lease and not renew it: it works for one renew deadline at most.
    const { code, stderr } = await startWorker();
    assertEquals(code, 7, stderr);
    assertMatch(stderr, /lease renewal failed .*not allowed to update it; a Role .*verbs: \[\\?"update\\?"\]/);
    await allowLease(replicas, "update");
    await using worker = new Binary([...replicas.args, "--token", token], { kubeconfig });
    await worker.logged(/INFO +leader +leading /);
    await replicas.namespace.eventually("deployment/a", () => true);
    assert(worker.isRunning);
  },
);

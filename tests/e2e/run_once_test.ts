/** run --once and run --dry-run with the compiled binary: their effects on a real cluster, output and exit codes. */
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { type ControlPlane } from "../controlplane/mod.ts";
import { assert, assertEquals, assertMatch } from "../testing.ts";
import { Binary, runBinary } from "./_binary.ts";
import { TestNamespace } from "./_cluster.ts";
import { ApiProxy } from "./_proxy.ts";

async function prepared(controlPlane: ControlPlane): Promise<TestNamespace> {
  const { code, stderr } = await runBinary(["install-crds"], { kubeconfig: controlPlane.kubeconfig });
  assertEquals(code, 0, stderr);
  return new TestNamespace(controlPlane, await createNamespace(controlPlane));
}

controlPlaneTest("run --all --once converges everything and ends with 0", async (controlPlane) => {
  const namespace = await prepared(controlPlane);
  for (const name of ["a", "b", "c"]) await namespace.applyFoo({ name, deploymentName: name, replicas: 0 });
  const annotations = { "ingress/http": "true" };
  const service = { apiVersion: "v1", kind: "Service", metadata: { name: "web", annotations } };
  const spec = { ports: [{ port: 80 }], clusterIP: "None" };
  await namespace.kubectl(["apply", "-f", "-"], JSON.stringify({ ...service, spec }));
  await using proxy = await ApiProxy.start(controlPlane);
  const args = ["run", "--all", "--once", "-n", namespace.name];
  const first = await runBinary(args, { kubeconfig: proxy.kubeconfig });
  assertEquals(first.code, 0, first.stderr);
  assertMatch(first.stderr, /INFO +cli +converged +objects=\d+/);
  for (const what of ["deployment/a", "deployment/b", "deployment/c", "ingress/web"]) {
    assert(await namespace.find(what) !== undefined, what);
  }
  assertEquals((await namespace.find("foo/a"))?.status?.availableReplicas, 0);
  await proxy.quiet(500);
  const before = proxy.writes.length;
  const second = await runBinary(args, { kubeconfig: proxy.kubeconfig });
  assertEquals(second.code, 0, second.stderr);
  assertEquals(proxy.writes.slice(before), []);
});

controlPlaneTest("run --once with --leader-elect waits for the Lease and releases it", async (controlPlane) => {
  const namespace = await prepared(controlPlane);
  await namespace.applyFoo({ name: "a", deploymentName: "a", replicas: 0 });
  const { kubeconfig } = controlPlane;
  // Nobody waits for the end of a Lease here, so it is long enough for a busy machine.
  const times = ["--leader-election-lease-duration", "120s", "--leader-election-renew-deadline", "90s"];
  const lease = ["--leader-election-id", "once", "--leader-election-namespace", namespace.name];
  const election = ["--leader-elect", ...lease, ...times, "--leader-election-retry-period", "400ms"];
  await using leader = new Binary(["run", "foo", "-n", namespace.name, ...election], { kubeconfig });
  await namespace.eventuallyEvent("Foo", "a", "Synced");
  await using once = new Binary(["run", "foo", "--once", "-n", namespace.name, ...election], { kubeconfig });
  await once.logged(/standing by for the lease/);
  leader.signal("SIGTERM");
  assertEquals((await leader.ended()).code, 0);
  const { code, stderr } = await once.ended();
  assertEquals(code, 0, stderr);
  assertMatch(stderr, /lease released[^]*converged +objects=1/);
  const holder = ["get", "lease", "once", "--output=jsonpath={.spec.holderIdentity}"];
  assertEquals(await namespace.kubectl(holder), "");
});

controlPlaneTest(
  "run --once ends with 1 and names the failed keys, and reconciles the others",
  async (controlPlane) => {
    const namespace = await prepared(controlPlane);
    await namespace.kubectl(["create", "deployment", "taken", "--image=nginx", "--replicas=0"]);
    await namespace.applyFoo({ name: "bad", deploymentName: "taken", replicas: 0 });
    await namespace.applyFoo({ name: "good", deploymentName: "good", replicas: 0 });
    const args = ["run", "foo", "--once", "-n", namespace.name];
    const { code, stderr } = await runBinary(args, { kubeconfig: controlPlane.kubeconfig });
    assertEquals(code, 1, stderr);
    const last = stderr.trimEnd().split("\n").at(-1) ?? "";
    assertMatch(last, /^controller: Cannot reconcile everything: 1 of 2 objects failed: foo test-\w+\/bad: .*taken/);
    assert(await namespace.find("deployment/good") !== undefined);
  },
);

controlPlaneTest("run --dry-run logs what it would write, and the cluster does not change", async (controlPlane) => {
  const namespace = await prepared(controlPlane);
  await namespace.applyFoo({ name: "a", deploymentName: "a", replicas: 0 });
  await using proxy = await ApiProxy.start(controlPlane);
  const args = ["run", "foo", "--once", "--dry-run", "-n", namespace.name];
  const { code, stdout, stderr } = await runBinary(args, { kubeconfig: proxy.kubeconfig });
  assertEquals([code, stdout], [0, ""], stderr);
  assertMatch(stderr, /dry-run +would write +action=apply resource=deployments\.apps object=test-\w+\/a\n/);
  assert(proxy.writes.length > 0 && proxy.writes.every(({ path }) => path.includes("dryRun=All")));
  assertEquals(await namespace.find("deployment/a"), undefined);
});

controlPlaneTest("every flag of run can be set in the environment", async (controlPlane) => {
  const namespace = await prepared(controlPlane);
  await namespace.applyFoo({ name: "a", deploymentName: "a", replicas: 0 });
  const env = {
    CONTROLLER_ALL: "true",
    CONTROLLER_ONCE: "1",
    CONTROLLER_NAMESPACE: namespace.name,
    CONTROLLER_KUBECONFIG: controlPlane.kubeconfig,
    CONTROLLER_WORKERS: "3",
    CONTROLLER_LOG_FORMAT: "json",
    CONTROLLER_INGRESS_CLASS: "internal",
  };
  const { code, stderr } = await runBinary(["run"], { env });
  assertEquals(code, 0, stderr);
  const records = stderr.trimEnd().split("\n").map((line) => JSON.parse(line));
  assert(records.some(({ msg, count }) => msg === "starting workers" && count === 3), stderr);
  assert(await namespace.find("deployment/a") !== undefined);
});

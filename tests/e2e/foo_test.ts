/**
 * The controller foo end to end: the compiled binary, kubectl and a real control plane, one test per line of its
 * description in controllers.md. Run with:
 *
 *   ./compile.sh && deno run -A tests/controlplane/with.ts -- deno test -A tests/e2e
 */
import { type ControlPlane, until } from "../controlplane/mod.ts";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { assert, assertEquals, assertMatch, assertNotEquals } from "../testing.ts";
import { Binary } from "./_binary.ts";
import { exampleFoo, installFoo, TestNamespace } from "./_cluster.ts";
import { ApiProxy } from "./_proxy.ts";

const needsControllers = { needs: "kube-controller-manager" } as const;

async function freshNamespace(controlPlane: ControlPlane): Promise<TestNamespace> {
  await installFoo(controlPlane);
  return new TestNamespace(controlPlane, await createNamespace(controlPlane));
}

function runFoo(controlPlane: ControlPlane, namespace: TestNamespace, ...args: readonly string[]): Binary {
  const { kubeconfig } = controlPlane;
  return new Binary(["run", "foo", "--namespace", namespace.name, ...args], { kubeconfig });
}

controlPlaneTest("a Foo becomes a Deployment that it owns, in whatever namespace", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  await using _binary = new Binary(["run", "foo"], { kubeconfig: controlPlane.kubeconfig });
  await namespace.kubectl(["apply", "-f", exampleFoo]);
  const deployment = await namespace.eventually("deployment/example-foo", () => true);
  const foo = await namespace.find("foo/example-foo");
  assertEquals(deployment.metadata.ownerReferences?.map(({ kind, uid, controller }) => ({ kind, uid, controller })), [
    { kind: "Foo", uid: foo?.metadata.uid ?? "", controller: true },
  ]);
  assertEquals(deployment.metadata.labels, { app: "nginx", controller: "example-foo" });
  assertEquals(deployment.spec?.replicas, 1);
  assertEquals(deployment.spec?.template?.spec.containers.map(({ image }) => image), ["nginx:latest"]);
  const event = await namespace.eventuallyEvent("Foo", "example-foo", "Synced");
  assertEquals([event.type, event.note], ["Normal", "Foo synced successfully"]);
});

controlPlaneTest("status.availableReplicas follows the Deployment", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  await using _binary = runFoo(controlPlane, namespace);
  await namespace.applyFoo({ name: "a", deploymentName: "web", replicas: 1 });
  await namespace.eventually("foo/a", ({ status }) => status?.availableReplicas === 0);
  await makePodsAvailable(namespace);
  await namespace.eventually("foo/a", ({ status }) => status?.availableReplicas === 1);
  await namespace.kubectl(["delete", "pods", "--all", "--grace-period=0", "--force"]);
  await namespace.eventually("foo/a", ({ status }) => status?.availableReplicas === 0);
}, needsControllers);

controlPlaneTest("what kubectl scale does to the Deployment is undone", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  await using _binary = runFoo(controlPlane, namespace);
  await namespace.applyFoo({ name: "a", deploymentName: "web", replicas: 2 });
  const { metadata } = await namespace.eventually("deployment/web", ({ spec }) => spec?.replicas === 2);
  await namespace.kubectl(["scale", "deployment/web", "--replicas=5"]);
  await namespace.eventually(
    "deployment/web",
    (live) => live.spec?.replicas === 2 && live.metadata.resourceVersion !== metadata.resourceVersion,
  );
});

controlPlaneTest("a Deployment that somebody deletes comes back", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  await using _binary = runFoo(controlPlane, namespace);
  await namespace.applyFoo({ name: "a", deploymentName: "web", replicas: 2 });
  const first = await namespace.eventually("deployment/web", () => true);
  await namespace.kubectl(["delete", "deployment", "web"]);
  const second = await namespace.eventually("deployment/web", ({ metadata }) => metadata.uid !== first.metadata.uid);
  assertEquals(second.spec?.replicas, 2);
});

controlPlaneTest("a change of spec.replicas reaches the Deployment", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  await using _binary = runFoo(controlPlane, namespace);
  await namespace.applyFoo({ name: "a", deploymentName: "web", replicas: 1 });
  const first = await namespace.eventually("deployment/web", ({ spec }) => spec?.replicas === 1);
  await namespace.applyFoo({ name: "a", deploymentName: "web", replicas: 3 });
  const second = await namespace.eventually("deployment/web", ({ spec }) => spec?.replicas === 3);
  assertEquals(second.metadata.uid, first.metadata.uid);
});

controlPlaneTest("somebody else's Deployment of that name is left alone, until it is gone", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  await namespace.kubectl(["create", "deployment", "web", "--image=someone/else:1", "--replicas=1"]);
  const foreign = await namespace.find("deployment/web");
  await using binary = runFoo(controlPlane, namespace);
  await namespace.applyFoo({ name: "a", deploymentName: "web", replicas: 2 });
  const event = await namespace.eventuallyEvent("Foo", "a", "ErrResourceExists");
  assertEquals([event.type, event.note], ["Warning", 'Resource "web" already exists and is not managed by Foo']);
  await binary.logged(/reconcile failed, will retry .*not by Foo/);
  const untouched = await namespace.find("deployment/web");
  assertEquals(untouched?.metadata.uid, foreign?.metadata.uid);
  assertEquals([untouched?.spec, untouched?.metadata.ownerReferences], [foreign?.spec, undefined]);
  await namespace.kubectl(["delete", "deployment", "web"]);
  const own = await namespace.eventually("deployment/web", ({ spec }) => spec?.replicas === 2, 60_000);
  assertEquals(own.metadata.ownerReferences?.[0]?.kind, "Foo");
});

controlPlaneTest("the garbage collector removes the Deployment of a deleted Foo", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  await using binary = runFoo(controlPlane, namespace);
  await namespace.applyFoo({ name: "a", deploymentName: "web", replicas: 1 });
  await namespace.eventually("deployment/web", () => true);
  await namespace.kubectl(["delete", "foo", "a"]);
  await namespace.gone("deployment/web", 90_000); // the garbage collector looks for new kinds every 30 s
  assert(binary.isRunning);
}, needsControllers);

controlPlaneTest("an empty deploymentName is reported once and not retried", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  await using proxy = await ApiProxy.start(controlPlane);
  await using binary = new Binary(["run", "foo", "-n", namespace.name], { kubeconfig: proxy.kubeconfig });
  await namespace.applyFoo({ name: "a", deploymentName: "", replicas: 1 });
  await binary.logged(/failed for good.*spec\.deploymentName is empty/);
  // A Foo that comes later is served meanwhile, which gives a retry of the first one time to be seen.
  await namespace.applyFoo({ name: "b", deploymentName: "web", replicas: 1 });
  await namespace.eventually("deployment/web", () => true);
  await proxy.quiet(2_000);
  assertEquals(binary.stderr.match(/spec\.deploymentName is empty/g)?.length, 1);
  await namespace.applyFoo({ name: "a", deploymentName: "web2", replicas: 1 });
  await namespace.eventually("deployment/web2", () => true);
});

controlPlaneTest(
  "[65] converged is silent: no write and no Event, however often everything is looked at",
  async (controlPlane) => {
    const namespace = await freshNamespace(controlPlane);
    await using proxy = await ApiProxy.start(controlPlane);
    const args = ["run", "foo", "-n", namespace.name, "--resync", "500ms", "-v"];
    const options = { kubeconfig: proxy.kubeconfig };
    await using first = new Binary(args, options);
    await namespace.applyFoo({ name: "a", deploymentName: "web", replicas: 0 });
    await namespace.applyFoo({ name: "b", deploymentName: "api", replicas: 0 });
    await namespace.eventuallyEvent("Foo", "a", "Synced");
    await namespace.eventuallyEvent("Foo", "b", "Synced");
    await proxy.quiet(3_000);
    const [writes, noted, before] = [proxy.writes.length, eventsNoted(first), await stateOf(namespace)];
    assert(writes >= 4 && noted >= 2, `only ${writes} writes and ${noted} Events were seen`);
    await proxy.quiet(5_000);
    assertEquals(proxy.writes.slice(writes), []);
    assertEquals(eventsNoted(first), noted);
    first.signal("SIGTERM");
    await first.ended();
    // A process that knows nothing of the first one's Events would write them anew.
    await using second = new Binary(args, options);
    await second.logged(/workers start/);
    await proxy.quiet(4_000);
    assertEquals([proxy.writes.slice(writes), eventsNoted(second)], [[], 0]);
    assertEquals(await stateOf(namespace), before);
  },
);

/** How many Events a binary wanted to record, those included that are not written because they repeat others. */
function eventsNoted(binary: Binary): number {
  return binary.stderr.match(/reason=Synced/g)?.length ?? 0;
}

controlPlaneTest("[61] SIGTERM lets a running reconcile finish: exit code 0, nothing lost", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  await using proxy = await ApiProxy.start(controlPlane);
  const hold = proxy.hold(({ method, path }) => method === "POST" && path.includes("/deployments"));
  await using binary = new Binary(["run", "foo", "-n", namespace.name], { kubeconfig: proxy.kubeconfig });
  await namespace.applyFoo({ name: "a", deploymentName: "web", replicas: 1 });
  await hold.arrived;
  binary.signal("SIGTERM");
  await binary.logged(/signal: finishing what runs/);
  await namespace.applyFoo({ name: "late", deploymentName: "late", replicas: 1 });
  assertEquals(await namespace.find("deployment/web"), undefined);
  assert(binary.isRunning);
  hold.release();
  const { code, stdout, stderr } = await binary.ended();
  assertEquals([code, stdout], [0, ""], stderr);
  assertEquals(stderr.match(/SIGTERM/g)?.length, 1);
  assertNotEquals(await namespace.find("deployment/web"), undefined);
  assertEquals((await namespace.find("foo/a"))?.status?.availableReplicas, 0);
  assertEquals((await namespace.events("Foo", "a")).map(({ reason }) => reason), ["Synced"]);
  // What came after the signal was not taken on, and the next process does it.
  assertEquals(await namespace.find("deployment/late"), undefined);
  await using _next = runFoo(controlPlane, namespace);
  await namespace.eventually("deployment/late", () => true);
});

controlPlaneTest("[61] a second signal ends at once with 1, whatever runs", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  await using proxy = await ApiProxy.start(controlPlane);
  await namespace.applyFoo({ name: "a", deploymentName: "web", replicas: 1 });
  const times: number[] = [];
  for (const signal of ["SIGTERM", "SIGINT", "SIGTERM"] as const) {
    const hold = proxy.hold(({ method, path }) => method === "POST" && path.includes("/deployments"));
    await using binary = new Binary(["run", "foo", "-n", namespace.name], { kubeconfig: proxy.kubeconfig });
    await hold.arrived;
    binary.signal("SIGTERM");
    await binary.logged(/signal: finishing what runs/);
    const sentAt = performance.now();
    binary.signal(signal);
    const { code } = await binary.ended();
    times.push(performance.now() - sentAt);
    assertEquals(code, 1);
  }
  // The machine may be busy with other tests at any one time; it is not so at all times.
  assert(Math.min(...times) <= 100, `it took ${times.map(Math.round).join(", ")} ms`);
});

controlPlaneTest(
  "the API server's absence is survived, and what happened meanwhile is caught up with",
  async (controlPlane) => {
    const namespace = await freshNamespace(controlPlane);
    await using binary = runFoo(controlPlane, namespace);
    await namespace.applyFoo({ name: "a", deploymentName: "web", replicas: 1 });
    await namespace.eventually("deployment/web", () => true);
    await controlPlane.stopApiServer();
    await binary.logged(/unreachable|refused/i, 60_000);
    await controlPlane.startApiServer();
    await namespace.applyFoo({ name: "b", deploymentName: "api", replicas: 1 });
    await namespace.eventually("deployment/api", () => true, 60_000);
    binary.signal("SIGTERM");
    assertMatch((await binary.ended()).stderr, /stopped/);
  },
  { own: {} },
);

/** What a converged controller must not change: versions of the objects, and Events. */
async function stateOf(namespace: TestNamespace): Promise<readonly string[]> {
  const text = await namespace.kubectl([
    "get",
    "foos,deployments,events.events.k8s.io",
    '--output=jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.resourceVersion}{"\\n"}{end}',
  ]);
  return text.trim().split("\n").filter((line) => line.includes("Foo") || /^(Foo|Deployment)/.test(line)).sort();
}

/** Plays the kubelet for the Pods of a namespace: says that they run. */
async function makePodsAvailable(namespace: TestNamespace): Promise<void> {
  const pods = await until("see a Pod", async () => {
    const names = (await namespace.kubectl(["get", "pods", "--output=name"])).trim().split("\n").filter(Boolean);
    return names.length > 0 ? { kind: "found", value: names } : { kind: "pending", state: "there is none" };
  });
  const now = new Date().toISOString().replace(/\.\d+Z$/, "Z");
  const status = { phase: "Running", conditions: [{ type: "Ready", status: "True", lastTransitionTime: now }] };
  for (const pod of pods) {
    await namespace.kubectl([
      "patch",
      pod,
      "--subresource=status",
      "--type=merge",
      `--patch=${JSON.stringify({ status })}`,
    ]);
  }
}

/**
 * What `why` says about incidents of the controller foo, word by word: the answers are in tests/golden/why/foo_*. Run with:
 *
 *   ./compile.sh && deno run -A tests/controlplane/with.ts -- deno test -A tests/e2e/why_foo_test.ts
 */
import type { ControlPlane } from "../controlplane/mod.ts";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { installFoo, TestNamespace } from "./_cluster.ts";
import { Incident, nextSecond } from "./_incident.ts";
import { ApiProxy } from "./_proxy.ts";

const foo = { name: "foo-1", deploymentName: "web-7", replicas: 2 };

async function freshNamespace(controlPlane: ControlPlane): Promise<TestNamespace> {
  await installFoo(controlPlane);
  return new TestNamespace(controlPlane, await createNamespace(controlPlane));
}

async function start(
  controlPlane: ControlPlane,
  { name }: TestNamespace,
  { kubeconfig, args = [] }: { readonly kubeconfig?: string; readonly args?: readonly string[] } = {},
): Promise<Incident> {
  return await Incident.start(controlPlane, {
    controller: "foo",
    args: ["-n", name, ...args],
    ...(kubeconfig && { kubeconfig }),
    names: { [name]: "shop" },
  });
}

/** Waits until the Foo is reconciled. */
async function settled(namespace: TestNamespace): Promise<void> {
  await undone(namespace);
  await namespace.eventuallyEvent("Foo", "foo-1", "Synced");
}

/** Waits until the Deployment has the replicas of the Foo. */
async function undone(namespace: TestNamespace): Promise<void> {
  await namespace.eventually("deployment/web-7", ({ spec }) => spec?.replicas === 2);
}

async function scale(namespace: TestNamespace, manager: string): Promise<void> {
  const patch = ["patch", "deployment/web-7", "--type=merge", `--field-manager=${manager}`];
  await namespace.kubectl([...patch, '-p={"spec":{"replicas":5}}']);
}

controlPlaneTest("[130] foo: why explains a hand edit of the Deployment", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  await namespace.applyFoo(foo);
  await using incident = await start(controlPlane, namespace);
  await settled(namespace);
  await nextSecond();
  await scale(namespace, "kubectl-edit");
  await incident.compare("foo_hand_edit", [
    { ask: ["deploy", `${namespace.name}/web-7`], seen: /kubectl-edit[^]*applied/ },
    { ask: ["foo", "foo-1"], seen: /kubectl-edit[^]*applied/ },
    { ask: ["foo", "foo-1", "--not"], seen: /^Nothing/ },
  ]);
});

controlPlaneTest(
  "[130] foo: why explains a client that writes the same field again and again",
  async (controlPlane) => {
    const namespace = await freshNamespace(controlPlane);
    await namespace.applyFoo(foo);
    await using incident = await start(controlPlane, namespace);
    await settled(namespace);
    while (!/parking the key/.test(incident.log)) {
      await scale(namespace, "autoscaler");
      await undone(namespace);
    }
    await scale(namespace, "autoscaler");
    await incident.compare("foo_conflict", [
      { ask: ["deploy", "web-7"], seen: /not reconciled/ },
      { ask: ["foo", "foo-1", "--not"], seen: /not reconciled/ },
    ]);
  },
);

controlPlaneTest("[130] foo: why explains a Deployment of another owner", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  await namespace.kubectl(["create", "deployment", "web-7", "--image=nginx:1"]);
  await using incident = await start(controlPlane, namespace);
  await namespace.applyFoo(foo);
  await incident.compare("foo_foreign_owner", [
    { ask: ["foo", "foo-1"], seen: /failed N times/ },
    { ask: ["foo", "foo-1", "--not"], seen: /waits/ },
  ]);
});

controlPlaneTest("[130] foo: why explains a missing permission", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  const kinds = "--resource=foos.samplecontroller.k8s.io,deployments.apps";
  const user = `system:serviceaccount:${namespace.name}:foo`;
  await namespace.kubectl(["create", "role", "reader", "--verb=get,list,watch", kinds]);
  await namespace.kubectl(["create", "rolebinding", "reader", "--role=reader", `--user=${user}`]);
  await using incident = await start(controlPlane, namespace, { args: ["--as", user] });
  await namespace.applyFoo(foo);
  await incident.compare("foo_missing_permission", [
    { ask: ["foo", "foo-1"], seen: /failed/ },
    { ask: ["foo", "foo-1", "--not"], seen: /waits/ },
  ]);
});

controlPlaneTest("[130] foo: why explains that the server is unreachable", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  await using proxy = await ApiProxy.start(controlPlane);
  await namespace.applyFoo(foo);
  await using incident = await start(controlPlane, namespace, { kubeconfig: proxy.kubeconfig });
  await settled(namespace);
  // Otherwise a reconcile could be cut off, and its key would wait for a retry.
  await proxy.quiet(1_000);
  await proxy.cut("refusing");
  await incident.compare("foo_unreachable", [
    { ask: ["foo", "foo-1", "--not"], seen: /cannot be reached: .*refused/ },
    { ask: ["foo", "foo-1"], seen: /cannot be reached: .*refused/ },
  ]);
});

controlPlaneTest("[130] foo: why explains a poisoned object", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  await using incident = await start(controlPlane, namespace);
  await namespace.applyFoo({ ...foo, deploymentName: "" });
  await incident.compare("foo_poisoned", [
    { ask: ["foo", "foo-1"], seen: /failed/ },
    { ask: ["foo", "foo-1", "--not"], seen: /failed/ },
  ]);
});

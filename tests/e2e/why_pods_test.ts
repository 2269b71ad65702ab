/**
 * What `why` says about incidents of the controller pods, word by word: the answers are in tests/golden/why/pods_*. It only
 * prints, so that its users ask why a line came, or did not. Run with:
 *
 *   ./compile.sh && deno run -A tests/controlplane/with.ts -- deno test -A tests/e2e/why_pods_test.ts
 */
import type { ControlPlane } from "../controlplane/mod.ts";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { TestNamespace } from "./_cluster.ts";
import { Incident, nextSecond } from "./_incident.ts";
import { ApiProxy } from "./_proxy.ts";

async function freshNamespace(controlPlane: ControlPlane): Promise<TestNamespace> {
  return new TestNamespace(controlPlane, await createNamespace(controlPlane));
}

async function start(
  controlPlane: ControlPlane,
  { name }: TestNamespace,
  { kubeconfig, args = [] }: { readonly kubeconfig?: string; readonly args?: readonly string[] } = {},
): Promise<Incident> {
  const options = { controller: "pods", args: ["-n", name, ...args], ...(kubeconfig && { kubeconfig }) };
  return await Incident.start(controlPlane, { ...options, names: { [name]: "shop" } });
}

/** A Pod that is never scheduled, so that nothing but the test changes it. */
async function createPod(namespace: TestNamespace): Promise<void> {
  const spec = { containers: [{ name: "a", image: "example.invalid/a:1" }], schedulerName: "none" };
  const metadata = { name: "web", finalizers: ["example.dev/hold"] };
  const pod = { apiVersion: "v1", kind: "Pod", metadata, spec };
  await namespace.kubectl(["create", "-f", "-"], JSON.stringify(pod));
}

controlPlaneTest(
  "[130] pods: why explains the lines about a Pod that a user has changed and deleted",
  async (controlPlane) => {
    const namespace = await freshNamespace(controlPlane);
    await createPod(namespace);
    await using incident = await start(controlPlane, namespace);
    await nextSecond();
    await namespace.kubectl(["label", "pod", "web", "tier=front", "--field-manager=kubectl-label"]);
    const asked = { ask: ["po", `${namespace.name}/web`], seen: /kubectl-label/ };
    await incident.answered(asked);
    await namespace.kubectl(["delete", "pod", "web", "--wait=false"]);
    await incident.answered({ ...asked, seen: /deletion was asked for[^]*as desired[^]*kubectl-label/ });
    await namespace.kubectl(["patch", "pod", "web", "--type=merge", '-p={"metadata":{"finalizers":null}}']);
    await incident.compare("pods_hand_edit", [{ ...asked, seen: /was deleted/ }]);
  },
);

controlPlaneTest("[130] pods: why explains that a namespace is not selected", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  const other = await freshNamespace(controlPlane);
  await createPod(other);
  const names = { [namespace.name]: "shop", [other.name]: "bank" };
  const options = { controller: "pods", args: ["-n", namespace.name], names };
  await using incident = await Incident.start(controlPlane, options);
  await incident.compare("pods_other_namespace", [
    { ask: ["pod", `${other.name}/web`, "--not"], seen: /namespace/ },
    { ask: ["pod", `${other.name}/web`], seen: /./ },
  ]);
});

controlPlaneTest("[130] pods: why explains a Pod that does not exist", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  await using incident = await start(controlPlane, namespace);
  await incident.compare("pods_missing", [
    { ask: ["pod", `${namespace.name}/web`, "--not"], seen: /./ },
    { ask: ["deploy", `${namespace.name}/web`, "--not"], seen: /./ },
  ]);
});

controlPlaneTest("[130] pods: why explains a permission that was taken away", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  await using proxy = await ApiProxy.start(controlPlane);
  await createPod(namespace);
  const user = `system:serviceaccount:${namespace.name}:pods`;
  await namespace.kubectl(["create", "role", "reader", "--verb=get,list,watch", "--resource=pods"]);
  await namespace.kubectl(["create", "rolebinding", "reader", "--role=reader", `--user=${user}`]);
  await using incident = await start(controlPlane, namespace, { kubeconfig: proxy.kubeconfig, args: ["--as", user] });
  await namespace.kubectl(["delete", "rolebinding", "reader"]);
  // A watch that is open stays allowed.
  await proxy.cut("refusing");
  proxy.heal();
  await incident.compare("pods_missing_permission", [
    { ask: ["pod", `${namespace.name}/web`, "--not"], seen: /does not allow/ },
    { ask: ["pod", `${namespace.name}/web`], seen: /does not allow/ },
  ]);
});

controlPlaneTest("[130] pods: why explains that the server is unreachable", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  await using proxy = await ApiProxy.start(controlPlane);
  await createPod(namespace);
  await using incident = await start(controlPlane, namespace, { kubeconfig: proxy.kubeconfig });
  await incident.answered({ ask: ["pod", `${namespace.name}/web`], seen: /existed/ });
  await proxy.cut("refusing");
  await incident.compare("pods_unreachable", [
    { ask: ["pod", `${namespace.name}/web`, "--not"], seen: /cannot be reached: .*refused/ },
  ]);
});

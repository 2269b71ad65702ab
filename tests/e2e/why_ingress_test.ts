/**
 * What `why` says about incidents of the controller ingress, word by word: the answers are in tests/golden/why/ingress_*.
 * Run with:
 *
 *   ./compile.sh && deno run -A tests/controlplane/with.ts -- deno test -A tests/e2e/why_ingress_test.ts
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
  return await Incident.start(controlPlane, {
    controller: "ingress",
    args: ["-n", name, "--ingress-class", "nginx", "--allowed-hosts", "*.example.com", ...args],
    ...(kubeconfig && { kubeconfig }),
    names: { [name]: "shop" },
  });
}

/** A Service that claims a host. */
async function applyService(namespace: TestNamespace, host: string): Promise<void> {
  const metadata = { name: "web", annotations: { "ingress/http": host } };
  const spec = { ports: [{ port: 80 }], selector: { app: "web" } };
  await namespace.kubectl(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "Service", metadata, spec }));
}

/** Waits until the Service has its Ingress. */
async function exposed(namespace: TestNamespace): Promise<void> {
  await namespace.eventually("ingress/web", ({ metadata }) => metadata.ownerReferences?.[0]?.kind === "Service");
}

controlPlaneTest("[130] ingress: why explains a hand edit of the Ingress", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  await applyService(namespace, "web.example.com");
  await using incident = await start(controlPlane, namespace);
  await exposed(namespace);
  await nextSecond();
  const edit = ["patch", "ingress/web", "--type=json", "--field-manager=kubectl-edit"];
  await namespace.kubectl([...edit, '-p=[{"op":"replace","path":"/spec/rules/0/host","value":"www.example.com"}]']);
  await incident.compare("ingress_hand_edit", [
    { ask: ["ing", `${namespace.name}/web`], seen: /kubectl-edit[^]*applied/ },
    { ask: ["svc", `${namespace.name}/web`, "--not"], seen: /^Nothing is left/ },
  ]);
});

controlPlaneTest("[130] ingress: why explains that a user has deleted the Ingress", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  await applyService(namespace, "web.example.com");
  await using incident = await start(controlPlane, namespace);
  await exposed(namespace);
  await namespace.kubectl(["delete", "ingress", "web"]);
  await incident.compare("ingress_deleted", [
    { ask: ["ing", `${namespace.name}/web`], seen: /was deleted[^]*applied/ },
  ]);
});

controlPlaneTest("[130] ingress: why explains an Ingress of another owner", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  await namespace.kubectl(["create", "ingress", "web", "--rule=www.example.com/=other:80"]);
  await using incident = await start(controlPlane, namespace);
  await applyService(namespace, "web.example.com");
  await incident.compare("ingress_foreign_owner", [
    { ask: ["svc", `${namespace.name}/web`], seen: /left Ingress/ },
    { ask: ["svc", `${namespace.name}/web`, "--not"], seen: /warning/ },
    { ask: ["ing", `${namespace.name}/web`], seen: /left Ingress/ },
  ]);
});

controlPlaneTest("[130] ingress: why explains a missing permission", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  const kinds = "--resource=services,ingresses.networking.k8s.io";
  const user = `system:serviceaccount:${namespace.name}:ingress`;
  await namespace.kubectl(["create", "role", "reader", "--verb=get,list,watch", kinds]);
  await namespace.kubectl(["create", "rolebinding", "reader", "--role=reader", `--user=${user}`]);
  await using incident = await start(controlPlane, namespace, { args: ["--as", user] });
  await applyService(namespace, "web.example.com");
  await incident.compare("ingress_missing_permission", [
    { ask: ["svc", `${namespace.name}/web`], seen: /failed N times/ },
    { ask: ["svc", `${namespace.name}/web`, "--not"], seen: /waits/ },
  ]);
});

controlPlaneTest("[130] ingress: why explains that the server is unreachable", async (controlPlane) => {
  const namespace = await freshNamespace(controlPlane);
  await using proxy = await ApiProxy.start(controlPlane);
  await applyService(namespace, "web.example.com");
  await using incident = await start(controlPlane, namespace, { kubeconfig: proxy.kubeconfig });
  await exposed(namespace);
  // Otherwise a reconcile could be cut off, and its key would wait for a retry.
  await proxy.quiet(1_000);
  await proxy.cut("refusing");
  await incident.compare("ingress_unreachable", [
    { ask: ["svc", `${namespace.name}/web`, "--not"], seen: /cannot be reached: .*refused/ },
    { ask: ["svc", `${namespace.name}/web`], seen: /cannot be reached: .*refused/ },
  ]);
});

controlPlaneTest(
  "[130] ingress: why explains a Service that claims a host which it may not have",
  async (controlPlane) => {
    const namespace = await freshNamespace(controlPlane);
    await applyService(namespace, "web.example.com");
    await using incident = await start(controlPlane, namespace);
    await exposed(namespace);
    await applyService(namespace, "bank.example.org");
    await incident.compare("ingress_poisoned", [
      { ask: ["svc", `${namespace.name}/web`], seen: /recorded the warning/ },
      { ask: ["svc", `${namespace.name}/web`, "--not"], seen: /warning/ },
      { ask: ["ing", `${namespace.name}/web`], seen: /deleted/ },
    ]);
  },
);

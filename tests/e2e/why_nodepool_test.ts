/**
 * What `why` says about incidents of the controller nodepool, word by word: the answers are in tests/golden/why/nodepool_*.
 * Run with:
 *
 *   ./compile.sh && deno run -A tests/controlplane/with.ts -- deno test -A tests/e2e/why_nodepool_test.ts
 */
import { type ControlPlane, until } from "../controlplane/mod.ts";
import { controlPlaneTest } from "../controlplane/test.ts";
import { Incident, nextSecond } from "./_incident.ts";
import { NodePoolObjects, type Taint } from "./_node_pool_objects.ts";
import { ApiProxy } from "./_proxy.ts";

const dedicated: Taint = { key: "example.dev/dedicated", value: "shop", effect: "NoSchedule" };
const spec = { labels: { "example.dev/disk": "ssd" }, taints: [dedicated] };

async function start(
  controlPlane: ControlPlane,
  { pool, node }: NodePoolObjects,
  { kubeconfig, args = [] }: { readonly kubeconfig?: string; readonly args?: readonly string[] } = {},
): Promise<Incident> {
  return await Incident.start(controlPlane, {
    controller: "nodepool",
    args,
    ...(kubeconfig && { kubeconfig }),
    names: { [pool]: "pool-1", [node]: "node-1" },
  });
}

/** A member of the pool, as a kubelet registers it. Without a kubelet it is soon not ready. */
async function makeMember(site: NodePoolObjects, labels: Readonly<Record<string, string>> = {}): Promise<void> {
  await site.makeNode(site.node, { [site.role]: "", ...labels });
  await site.eventually(
    `node/${site.node}`,
    ({ spec }) => spec?.taints?.some(({ key }) => key === "node.kubernetes.io/not-ready") === true,
  );
}

controlPlaneTest("[130] nodepool: why explains a taint that a user has removed from a Node", async (controlPlane) => {
  await using site = await NodePoolObjects.open(controlPlane);
  await makeMember(site);
  await site.applyPool(spec);
  await using incident = await start(controlPlane, site);
  await site.ready("Settled");
  const { spec: { taints: all = [] } = {} } = await site.get(`node/${site.node}`);
  const taints = all.filter(({ key }) => key !== dedicated.key);
  await nextSecond();
  await site.patch(`node/${site.node}`, { spec: { taints } }, "--field-manager=kubectl-edit");
  await incident.compare("nodepool_hand_edit", [
    { ask: ["node", site.node], seen: /key=example.dev\/dedicated\] removed[^]*patched/ },
    { ask: ["nodepool", site.pool, "--not"], seen: /^Nothing is left/ },
  ]);
});

controlPlaneTest("[130] nodepool: why explains a label that another client has set", async (controlPlane) => {
  await using site = await NodePoolObjects.open(controlPlane);
  await makeMember(site, { "example.dev/disk": "hdd" });
  await using incident = await start(controlPlane, site);
  await site.applyPool(spec);
  await site.ready("Conflict");
  await incident.compare("nodepool_conflict", [
    { ask: ["nodepool", site.pool], seen: /recorded the warning Conflict/ },
    { ask: ["nodepool", site.pool, "--not"], seen: /warning/ },
  ]);
});

controlPlaneTest("[130] nodepool: why explains a missing permission", async (controlPlane) => {
  await using site = await NodePoolObjects.open(controlPlane);
  await makeMember(site);
  const user = `system:serviceaccount:ops:${site.pool}`;
  const role = `reader-${site.pool}`;
  const resources = "--resource=nodepools.nodes.lailin.xyz,nodes,runtimeclasses.node.k8s.io";
  try {
    await site.kubectl(["create", "clusterrole", role, "--verb=get,list,watch", resources]);
    await site.kubectl(["create", "clusterrolebinding", role, `--clusterrole=${role}`, `--user=${user}`]);
    await using incident = await start(controlPlane, site, { args: ["--as", user] });
    await site.applyPool(spec);
    await incident.compare("nodepool_missing_permission", [
      { ask: ["nodepool", site.pool], seen: /failed N times/ },
      { ask: ["nodepool", site.pool, "--not"], seen: /waits/ },
    ]);
  } finally {
    await site.kubectl(["delete", "clusterrolebinding,clusterrole", role, "--ignore-not-found"]);
  }
});

controlPlaneTest("[130] nodepool: why explains a spec that its webhook rejects", async (controlPlane) => {
  await using site = await NodePoolObjects.open(controlPlane);
  const args = ["--webhook-host", "auto", "--webhook-port", "0"];
  await using incident = await start(controlPlane, site, { args });
  const probe = ["apply", "-f", "-", "--dry-run=server"];
  const poisoned = site.poolText({ labels: { "example.dev/disk": "not a value" } });
  await until("see the webhook called", async () => {
    const { stderr } = await controlPlane.kubectl(probe, { stdin: poisoned });
    return /is invalid/.test(stderr) ? { kind: "found", value: undefined } : { kind: "pending", state: stderr };
  });
  await site.applyPool(spec);
  await site.ready("Settled");
  await site.refusal(["apply", "-f", "-"], poisoned);
  await incident.compare("nodepool_poisoned", [
    { ask: ["nodepool", site.pool], seen: /rejected it/ },
    { ask: ["nodepool", site.pool, "--not"], seen: /./ },
  ]);
});

controlPlaneTest("[130] nodepool: why explains that the server is unreachable", async (controlPlane) => {
  await using site = await NodePoolObjects.open(controlPlane);
  await using proxy = await ApiProxy.start(controlPlane);
  await makeMember(site);
  await site.applyPool(spec);
  await using incident = await start(controlPlane, site, { kubeconfig: proxy.kubeconfig });
  await site.ready("Settled");
  // Otherwise a reconcile could be cut off, and its key would wait for a retry.
  await proxy.quiet(1_000);
  await proxy.cut("refusing");
  await incident.compare("nodepool_unreachable", [
    { ask: ["node", site.node, "--not"], seen: /cannot be reached: .*refused/ },
  ]);
});

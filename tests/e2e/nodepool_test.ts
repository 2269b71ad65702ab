/**
 * The controller nodepool end to end: the compiled binary, kubectl and a real control plane. Nodes are plain objects
 * here; there is no kubelet, so nothing but these tests and the binary changes them. Run with:
 *
 *   ./compile.sh && deno run -A tests/controlplane/with.ts --apply crds -- deno test -A tests/e2e/nodepool_test.ts
 */
import { controlPlaneTest } from "../controlplane/test.ts";
import { assert, assertEquals, assertMatch } from "../testing.ts";
import { runBinary } from "./_binary.ts";
import { claimsOf, type LiveNode, NodePoolSite, taintsOf } from "./_node_pool_site.ts";
import { ApiProxy } from "./_proxy.ts";

const needsControllers = { needs: "kube-controller-manager" } as const;

const dedicated = { key: "example.dev/dedicated", value: "e2e", effect: "NoSchedule" };
const foreign = { key: "somebody.dev/else", value: "x", effect: "PreferNoSchedule" };

controlPlaneTest(
  "a Node that joins gets labels and taints, one that leaves loses them, and no others",
  async (controlPlane) => {
    await using site = await NodePoolSite.open(controlPlane);
    await using _binary = site.run();
    await site.makeNode(site.node, { own: "x" }, [foreign]);
    await site.applyPool({ labels: { disk: "ssd" }, taints: [dedicated] });
    await site.kubectl(["label", "node", site.node, `${site.role}=`]);
    const joined = await site.eventually(`node/${site.node}`, ({ metadata }) => metadata.labels?.disk === "ssd");
    assertEquals(joined.metadata.labels, { own: "x", disk: "ssd", [site.role]: "" });
    assertEquals(taintsOf(joined), [foreign, dedicated]);
    assertEquals(await site.eventuallyEvent("NodeJoined"), `Node "${site.node}" joined`);
    await site.kubectl(["label", "node", site.node, `${site.role}-`, "late=y"]);
    const left = await site.eventually(`node/${site.node}`, ({ metadata }) => metadata.labels?.disk === undefined);
    assertEquals(left.metadata.labels, { own: "x", late: "y" });
    assertEquals([taintsOf(left), claimsOf(left)], [[foreign], []]);
    assertEquals(await site.eventuallyEvent("NodeLeft"), `Node "${site.node}" left`);
  },
);

controlPlaneTest(
  "what the pool drops or changes is dropped or changed on its Nodes and its RuntimeClass",
  async (controlPlane) => {
    await using site = await NodePoolSite.open(controlPlane);
    await using _binary = site.run();
    await site.makeNode(site.node, { [site.role]: "" }, [foreign]);
    await site.applyPool({
      labels: { disk: "ssd", zone: "a" },
      taints: [dedicated, { key: "spot", effect: "NoExecute" }],
    });
    await site.eventually(`node/${site.node}`, ({ metadata }) => metadata.labels?.disk === "ssd");
    await site.applyPool({ labels: { disk: "nvme" }, taints: [{ ...dedicated, value: "other" }] });
    const live = await site.eventually(`node/${site.node}`, ({ metadata }) => metadata.labels?.disk === "nvme");
    assertEquals(live.metadata.labels, { [site.role]: "", disk: "nvme" });
    assertEquals(taintsOf(live), [foreign, { ...dedicated, value: "other" }]);
    const isLean = ({ scheduling }: LiveNode) => Object.keys(scheduling?.nodeSelector ?? {}).length === 1;
    const { scheduling } = await site.eventually(`runtimeclass/node-pool-${site.pool}`, isLean);
    assertEquals(scheduling?.nodeSelector, { disk: "nvme" });
    assertEquals(scheduling?.tolerations?.length, 1);
    await site.applyPool({ labels: { disk: "nvme" }, taints: [] });
    await site.eventually(`node/${site.node}`, (node) => taintsOf(node).length === 1);
  },
);

controlPlaneTest("the pool's RuntimeClass is its own, and its status adds its Nodes up", async (controlPlane) => {
  await using site = await NodePoolSite.open(controlPlane);
  await using _binary = site.run();
  await site.makeNode(site.node, { [site.role]: "true" });
  await site.makeNode(`${site.node}-b`, { [site.role]: "" });
  await site.applyPool({ taints: [dedicated] });
  await site.ready("Settled");
  const runtimeClass = await site.get(`runtimeclass/node-pool-${site.pool}`);
  const pool = await site.eventually(`nodepool/${site.pool}`, ({ status }) => status?.nodeCount === 2);
  assertEquals(runtimeClass.metadata.ownerReferences?.map(({ kind, uid, controller }) => ({ kind, uid, controller })), [
    { kind: "NodePool", uid: pool.metadata.uid, controller: true },
  ]);
  assertEquals(runtimeClass.handler, "runc");
  assertEquals(runtimeClass.scheduling, {
    nodeSelector: { [`node-pool.lailin.xyz/${site.pool}`]: "" },
    tolerations: [{ ...dedicated, operator: "Equal" }],
  });
  assertEquals(pool.status?.allocatable, { cpu: "7840m", memory: "32Gi", pods: "220" });
  assertMatch(await site.kubectl(["get", "nodepool", site.pool]), /2 +7840m +32Gi +runc +True/);
  await site.kubectl(["delete", "node", site.node, `${site.node}-b`]);
  const empty = await site.eventually(`nodepool/${site.pool}`, ({ status }) => status?.nodeCount === 0);
  assertEquals(empty.status?.allocatable ?? {}, {});
});

controlPlaneTest(
  "a Node that left and a pool that changed while the controller was down are put right at its start",
  async (controlPlane) => {
    await using site = await NodePoolSite.open(controlPlane);
    await site.makeNode(site.node, { [site.role]: "" }, [foreign]);
    await site.makeNode(`${site.node}-b`, { [site.role]: "" });
    await site.applyPool({ labels: { disk: "ssd" }, taints: [dedicated] });
    await using first = site.run();
    await site.ready("Settled");
    first.signal("SIGKILL");
    await first.ended();
    await site.kubectl(["label", "node", site.node, `${site.role}-`]);
    await site.applyPool({ labels: { disk: "nvme" }, taints: [] });
    await using _second = site.run();
    const left = await site.eventually(`node/${site.node}`, (node) => claimsOf(node).length === 0);
    assertEquals([left.metadata.labels?.disk, taintsOf(left)], [undefined, [foreign]]);
    const stayed = await site.eventually(`node/${site.node}-b`, ({ metadata }) => metadata.labels?.disk === "nvme");
    assertEquals(taintsOf(stayed), []);
  },
);

controlPlaneTest(
  "a deleted pool waits for the controller, which takes everything back before it goes",
  async (controlPlane) => {
    await using site = await NodePoolSite.open(controlPlane);
    await site.makeNode(site.node, { [site.role]: "", own: "x" }, [foreign]);
    await site.applyPool({ labels: { disk: "ssd" }, taints: [dedicated] });
    await using first = site.run();
    await site.ready("Settled");
    assertEquals((await site.get(`nodepool/${site.pool}`)).metadata.finalizers, ["nodes.lailin.xyz/nodepool"]);
    first.signal("SIGTERM");
    await first.ended();
    await site.kubectl(["delete", "nodepool", site.pool, "--wait=false"]);
    await site.eventually(`nodepool/${site.pool}`, ({ metadata }) => metadata.deletionTimestamp !== undefined);
    await using proxy = await ApiProxy.start(controlPlane);
    await using _second = site.run(proxy.kubeconfig);
    await site.gone(`nodepool/${site.pool}`);
    const node = await site.get(`node/${site.node}`);
    assertEquals(node.metadata.labels, { [site.role]: "", own: "x" });
    assertEquals([taintsOf(node), claimsOf(node)], [[foreign], []]);
    const writes = proxy.writes.filter(({ path }) => path.includes(site.node) || path.includes(site.pool));
    assertEquals(writes.map(({ path }) => path.replace(/.*\/|\?.*/g, "")), [site.node, site.pool]);
  },
);

controlPlaneTest("the garbage collector removes the RuntimeClass of a deleted pool", async (controlPlane) => {
  await using site = await NodePoolSite.open(controlPlane);
  await using _binary = site.run();
  await site.applyPool({});
  await site.ready("Settled");
  await site.kubectl(["delete", "nodepool", site.pool]);
  await site.gone(`runtimeclass/node-pool-${site.pool}`, 90_000); // it looks for new kinds every 30 s
}, needsControllers);

controlPlaneTest(
  "what others set stays theirs: before the pool came, instead of it, and beside it",
  async (controlPlane) => {
    await using site = await NodePoolSite.open(controlPlane);
    await using _binary = site.run();
    await site.makeNode(site.node, { [site.role]: "", disk: "hdd", rack: "1" });
    await site.applyPool({ labels: { disk: "ssd", rack: "1", zone: "a", shared: "yes" } });
    await site.ready("Conflict");
    assertMatch(await site.eventuallyEvent("Conflict"), /label "disk" of Node "node-.*" is "hdd" by somebody else/);
    await site.kubectl(["label", "node", site.node, "zone=b", "--overwrite"]);
    const applied = { apiVersion: "v1", kind: "Node", metadata: { name: site.node, labels: { shared: "yes" } } };
    await site.kubectl(["apply", "--server-side", "--field-manager=gitops", "-f", "-"], JSON.stringify(applied));
    await site.applyPool({ labels: { ours: "z" } });
    const live = await site.eventually(`node/${site.node}`, ({ metadata }) => metadata.labels?.ours === "z");
    const labels = { [site.role]: "", disk: "hdd", rack: "1", zone: "b", shared: "yes" };
    assertEquals(live.metadata.labels, { ...labels, ours: "z" });
    await site.ready("Settled");
    await site.kubectl(["delete", "nodepool", site.pool]);
    assertEquals((await site.get(`node/${site.node}`)).metadata.labels, labels);
  },
);

controlPlaneTest("a Node in two pools gets what both give, and keeps what one still gives", async (controlPlane) => {
  await using site = await NodePoolSite.open(controlPlane);
  await using _binary = site.run();
  const other = `node-role.kubernetes.io/${site.pool}-b`;
  await site.makeNode(site.node, { [site.role]: "", [other]: "" });
  await site.applyPool({ labels: { shared: "yes", a: "1" }, taints: [dedicated] });
  await site.applyPool({ labels: { shared: "yes", b: "2" }, taints: [dedicated] }, `${site.pool}-b`);
  await site.eventually(`node/${site.node}`, (node) => claimsOf(node).length === 2);
  await site.kubectl(["delete", "nodepool", site.pool]);
  const live = await site.get(`node/${site.node}`);
  assertEquals(live.metadata.labels, { [site.role]: "", [other]: "", shared: "yes", b: "2" });
  assertEquals(taintsOf(live), [dedicated]);
  await site.kubectl(["delete", "nodepool", `${site.pool}-b`]);
  const bare = await site.get(`node/${site.node}`);
  assertEquals([bare.metadata.labels, taintsOf(bare)], [{ [site.role]: "", [other]: "" }, []]);
});

controlPlaneTest(
  "a pool without Nodes changes its handler by a new RuntimeClass, one with Nodes keeps it",
  async (controlPlane) => {
    await using site = await NodePoolSite.open(controlPlane);
    await using _binary = site.run();
    await site.applyPool({ labels: { disk: "ssd" } });
    const first = await site.eventually(`runtimeclass/node-pool-${site.pool}`, ({ handler }) => handler === "runc");
    await site.applyPool({ labels: { disk: "ssd" }, handler: "kata" });
    const second = await site.eventually(`runtimeclass/node-pool-${site.pool}`, ({ handler }) => handler === "kata");
    assert(first.metadata.uid !== second.metadata.uid);
    await site.makeNode(site.node, { [site.role]: "" });
    await site.eventually(`nodepool/${site.pool}`, ({ status }) => status?.nodeCount === 1);
    await site.applyPool({ labels: { disk: "ssd" }, handler: "gvisor" });
    await site.ready("HandlerInUse");
    assertEquals((await site.get(`runtimeclass/node-pool-${site.pool}`)).metadata.uid, second.metadata.uid);
  },
);

controlPlaneTest(
  "[65] a settled pool is silent: no write and no Event, in this process and the next",
  async (controlPlane) => {
    await using site = await NodePoolSite.open(controlPlane);
    await using proxy = await ApiProxy.start(controlPlane);
    await site.makeNode(site.node, { [site.role]: "", disk: "hdd" }, [foreign]);
    await site.applyPool({ labels: { disk: "ssd", zone: "a" }, taints: [dedicated] });
    await using first = site.run(proxy.kubeconfig, "--resync", "500ms");
    await site.ready("Conflict");
    await site.eventuallyEvent("Conflict");
    await proxy.quiet(2_000);
    const writes = proxy.writes.length;
    await proxy.quiet(4_000);
    assertEquals(proxy.writes.slice(writes), []);
    first.signal("SIGTERM");
    await first.ended();
    await using second = site.run(proxy.kubeconfig, "--resync", "500ms");
    await second.logged(/workers start/);
    await proxy.quiet(4_000);
    assertEquals(proxy.writes.slice(writes), []);
  },
);

controlPlaneTest(
  "killed when the server has written a Node and nobody knows, the next process finishes without doing it twice",
  async (controlPlane) => {
    await using site = await NodePoolSite.open(controlPlane);
    await using proxy = await ApiProxy.start(controlPlane);
    await site.makeNode(site.node, { [site.role]: "" }, [foreign]);
    await site.applyPool({ labels: { disk: "ssd" }, taints: [dedicated] });
    const isNodeWrite = ({ method, path }: { readonly method: string; readonly path: string }) =>
      method === "PATCH" && path.includes(`/nodes/${site.node}`);
    const hold = proxy.hold(isNodeWrite, "answer");
    await using first = site.run(proxy.kubeconfig);
    await hold.arrived;
    first.signal("SIGKILL");
    await first.ended();
    hold.release();
    const before = await site.get(`node/${site.node}`);
    assertEquals(taintsOf(before), [foreign, dedicated]);
    await using _second = site.run(proxy.kubeconfig);
    await site.ready("Settled");
    assertEquals(proxy.writes.filter(isNodeWrite).length, 1);
    assertEquals(taintsOf(await site.get(`node/${site.node}`)), [foreign, dedicated]);
  },
);

controlPlaneTest("the API server refuses what no webhook needs to be asked about", async (controlPlane) => {
  await using site = await NodePoolSite.open(controlPlane);
  const apply = ["apply", "-f", "-"];
  const long = "p".repeat(64);
  assertMatch(await site.refusal(apply, site.poolText({}, long)), /so it has 63 characters at most/);
  const twice = { taints: [dedicated, { ...dedicated, value: "other" }] };
  assertMatch(await site.refusal(apply, site.poolText(twice)), /spec\.taints\[1\]: Duplicate value/);
  const effect = { taints: [{ key: "a", effect: "Nothing" }] };
  assertMatch(
    await site.refusal(apply, site.poolText(effect)),
    /spec\.taints\[0\]\.effect: Unsupported value: "Nothing"/,
  );
  assertMatch(await site.refusal(apply, site.poolText({ handler: "Not a label" })), /spec\.handler.*"Not a label"/);
});

controlPlaneTest("install-crds installs the kind, and a second time changes nothing", async (controlPlane) => {
  const { code, stdout } = await runBinary(["install-crds", "nodepool"], { kubeconfig: controlPlane.kubeconfig });
  assertEquals(code, 0);
  assertMatch(stdout, /nodepools\.nodes\.lailin\.xyz/);
  const again = await runBinary(["install-crds", "nodepool"], { kubeconfig: controlPlane.kubeconfig });
  assertMatch(again.stdout, /unchanged/);
});

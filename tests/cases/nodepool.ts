/** The cases of nodepool: one for each guarantee in its description. The Nodes have no kubelet. */
import { builtin, Node, RuntimeClass } from "../../src/api/mod.ts";
import { NodePool } from "../../src/controllers/nodepool/mod.ts";
import { assert, assertEquals, assertMatch, assertRejects } from "../testing.ts";
import { eventsOf, eventuallyEvent, gone } from "./waits.ts";
import { claimsOf, Pools, taintsOf } from "./pools.ts";
import type { Case, RecordedRequest } from "./environment.ts";

const dedicated = { key: "example.dev/dedicated", value: "e2e", effect: "NoSchedule" } as const;
const foreign = { key: "other.dev/key", value: "x", effect: "PreferNoSchedule" } as const;

const joining: Case = {
  name: "a Node that joins gets labels and taints, and loses only these when it leaves",
  run: async (env) => {
    const pools = new Pools(env);
    const { node, role } = pools;
    await using _program = pools.run();
    await pools.createNode(node, { own: "x" }, [foreign]);
    await pools.apply({ labels: { disk: "ssd" }, taints: [dedicated] });
    await pools.label({ [role]: "" });
    const joined = await pools.seeNode(({ metadata }) => metadata.labels?.disk === "ssd");
    assertEquals(joined.metadata.labels, { own: "x", disk: "ssd", [role]: "" });
    assertEquals(taintsOf(joined), [foreign, dedicated]);
    assertEquals(await pools.event("NodeJoined"), `Node "${node}" joined`);
    await pools.label({ [role]: null, late: "y" });
    const left = await pools.seeNode(({ metadata }) => metadata.labels?.disk === undefined);
    assertEquals(left.metadata.labels, { own: "x", late: "y" });
    assertEquals([taintsOf(left), claimsOf(left)], [[foreign], []]);
    assertEquals(await pools.event("NodeLeft"), `Node "${node}" left`);
  },
};

const changing: Case = {
  name: "labels and taints that the pool drops or changes are updated on its Nodes and its RuntimeClass",
  run: async (env) => {
    const pools = new Pools(env);
    await using _program = pools.run();
    await pools.createNode(pools.node, { [pools.role]: "" }, [foreign]);
    const taints = [dedicated, { key: "spot", effect: "NoExecute" } as const];
    await pools.apply({ labels: { disk: "ssd", zone: "a" }, taints });
    await pools.seeNode(({ metadata }) => metadata.labels?.disk === "ssd");
    await pools.apply({ labels: { disk: "nvme" }, taints: [{ ...dedicated, value: "other" }] });
    const live = await pools.seeNode(({ metadata }) => metadata.labels?.disk === "nvme");
    assertEquals(live.metadata.labels, { [pools.role]: "", disk: "nvme" });
    assertEquals(taintsOf(live), [foreign, { ...dedicated, value: "other" }]);
    const { scheduling } = await pools.seeRuntimeClass(({ scheduling }) =>
      Object.keys(scheduling?.nodeSelector ?? {}).length === 1
    );
    assertEquals(scheduling?.nodeSelector, { disk: "nvme" });
    assertEquals(scheduling?.tolerations?.length, 1);
    await pools.apply({ labels: { disk: "nvme" }, taints: [] });
    await pools.seeNode((node) => taintsOf(node).length === 1);
  },
};

const adding: Case = {
  name: "the pool owns its RuntimeClass, and its status adds up the resources of its Nodes",
  run: async (env) => {
    const pools = new Pools(env);
    await using _program = pools.run();
    await pools.createNode(pools.node, { [pools.role]: "true" });
    await pools.createNode(`${pools.node}-b`, { [pools.role]: "" });
    await pools.apply({ taints: [dedicated] });
    await pools.ready("Settled");
    const runtimeClass = await pools.seeRuntimeClass(() => true);
    const pool = await pools.seePool(({ status }) => status?.nodeCount === 2);
    const owners = runtimeClass.metadata.ownerReferences;
    assertEquals(owners?.map(({ kind, uid, controller }) => ({ kind, uid, controller })), [
      { kind: "NodePool", uid: pool.metadata.uid ?? "", controller: true },
    ]);
    assertEquals(runtimeClass.handler, "runc");
    assertEquals(runtimeClass.scheduling, {
      nodeSelector: { [`node-pool.lailin.xyz/${pools.pool}`]: "" },
      tolerations: [{ ...dedicated, operator: "Equal" }],
    });
    assertEquals(pool.status?.allocatable, { cpu: "7840m", memory: "32Gi", pods: "220" });
    const accept = "application/json;as=Table;g=meta.k8s.io;v=v1";
    const table = JSON.parse(await env.client.raw(`/apis/nodes.lailin.xyz/v1/nodepools/${pools.pool}`, { accept }));
    assertEquals(table.rows[0].cells.slice(1, 6).map(String), ["2", "7840m", "32Gi", "runc", "True"]);
    for (const name of [pools.node, `${pools.node}-b`]) await env.client.delete(Node, name);
    const empty = await pools.seePool(({ status }) => status?.nodeCount === 0);
    assertEquals(empty.status?.allocatable ?? {}, {});
  },
};

const catchingUp: Case = {
  name: "a Node that left and a pool that changed while the controller did not run are reconciled at its start",
  run: async (env) => {
    const pools = new Pools(env);
    await pools.createNode(pools.node, { [pools.role]: "" }, [foreign]);
    await pools.createNode(`${pools.node}-b`, { [pools.role]: "" });
    await pools.apply({ labels: { disk: "ssd" }, taints: [dedicated] });
    await using first = pools.run();
    await pools.ready("Settled");
    first.signal("SIGKILL");
    await first.ended();
    await pools.label({ [pools.role]: null });
    await pools.apply({ labels: { disk: "nvme" }, taints: [] });
    await using _second = pools.run();
    const left = await pools.seeNode((node) => claimsOf(node).length === 0);
    assertEquals([left.metadata.labels?.disk, taintsOf(left)], [undefined, [foreign]]);
    const stayed = await pools.seeNode(({ metadata }) => metadata.labels?.disk === "nvme", `${pools.node}-b`);
    assertEquals(taintsOf(stayed), []);
  },
};

const finalizing: Case = {
  name: "a deleted pool stays until the controller has cleaned up its Nodes",
  run: async (env) => {
    const pools = new Pools(env);
    const { pool, node, role } = pools;
    await pools.createNode(node, { [role]: "", own: "x" }, [foreign]);
    await pools.apply({ labels: { disk: "ssd" }, taints: [dedicated] });
    await using first = pools.run();
    assertEquals((await pools.ready("Settled")).metadata.finalizers, ["nodes.lailin.xyz/nodepool"]);
    first.signal("SIGTERM");
    await first.ended();
    await env.client.delete(NodePool, pool);
    await pools.seePool(({ metadata }) => metadata.deletionTimestamp !== undefined);
    const proxy = await env.startProxy();
    await using _second = pools.run([], { proxy });
    await gone(env, NodePool, pool);
    const live = await pools.getNode();
    assertEquals(live.metadata.labels, { [role]: "", own: "x" });
    assertEquals([taintsOf(live), claimsOf(live)], [[foreign], []]);
    const writes = proxy.writes.filter(({ path }) => path.includes(node) || path.includes(pool));
    assertEquals(writes.map(({ path }) => path.replace(/.*\/|\?.*/g, "")), [node, pool]);
  },
};

const collecting: Case = {
  name: "the garbage collector removes the RuntimeClass of a deleted pool",
  needs: "kube-controller-manager",
  run: async (env) => {
    const pools = new Pools(env);
    await using _program = pools.run();
    await pools.apply({});
    await pools.ready("Settled");
    await pools.delete();
    await gone(env, RuntimeClass, `node-pool-${pools.pool}`); // the garbage collector reads discovery every 30 s
  },
};

const respecting: Case = {
  name: "labels of other clients stay: set before the pool, instead of it, and beside it",
  run: async (env) => {
    const pools = new Pools(env);
    await using _program = pools.run();
    await pools.createNode(pools.node, { [pools.role]: "", disk: "hdd", rack: "1" });
    await pools.apply({ labels: { disk: "ssd", rack: "1", zone: "a", shared: "yes" } });
    await pools.ready("Conflict");
    assertMatch(await pools.event("Conflict"), /label "disk" of Node "node-.*" is "hdd", set by another client/);
    await pools.label({ zone: "b" });
    const applied = { metadata: { name: pools.node, labels: { shared: "yes" } } };
    await env.client.apply(Node, applied, { fieldManager: "gitops" });
    await pools.apply({ labels: { ours: "z" } });
    const live = await pools.seeNode(({ metadata }) => metadata.labels?.ours === "z");
    const labels = { [pools.role]: "", disk: "hdd", rack: "1", zone: "b", shared: "yes" };
    assertEquals(live.metadata.labels, { ...labels, ours: "z" });
    await pools.ready("Settled");
    await pools.delete();
    assertEquals((await pools.getNode()).metadata.labels, labels);
  },
};

const sharing: Case = {
  name: "a Node in two pools gets the settings of both, and keeps those of the remaining pool",
  run: async (env) => {
    const pools = new Pools(env);
    const other = `node-role.kubernetes.io/${pools.pool}-b`;
    const roles = { [pools.role]: "", [other]: "" };
    await using _program = pools.run();
    await pools.createNode(pools.node, roles);
    await pools.apply({ labels: { shared: "yes", a: "1" }, taints: [dedicated] });
    await pools.apply({ labels: { shared: "yes", b: "2" }, taints: [dedicated] }, `${pools.pool}-b`);
    await pools.seeNode((node) => claimsOf(node).length === 2);
    await pools.delete();
    const live = await pools.getNode();
    assertEquals(live.metadata.labels, { ...roles, shared: "yes", b: "2" });
    assertEquals(taintsOf(live), [dedicated]);
    await pools.delete(`${pools.pool}-b`);
    const bare = await pools.getNode();
    assertEquals([bare.metadata.labels, taintsOf(bare)], [roles, []]);
  },
};

const handling: Case = {
  name: "a pool without Nodes changes its handler with a new RuntimeClass, a pool with Nodes keeps it",
  run: async (env) => {
    const pools = new Pools(env);
    await using _program = pools.run();
    await pools.apply({ labels: { disk: "ssd" } });
    const first = await pools.seeRuntimeClass(({ handler }) => handler === "runc");
    await pools.apply({ labels: { disk: "ssd" }, handler: "kata" });
    const second = await pools.seeRuntimeClass(({ handler }) => handler === "kata");
    assert(first.metadata.uid !== second.metadata.uid);
    await pools.createNode(pools.node, { [pools.role]: "" });
    await pools.seePool(({ status }) => status?.nodeCount === 1);
    await pools.apply({ labels: { disk: "ssd" }, handler: "gvisor" });
    await pools.ready("HandlerInUse");
    assertEquals((await pools.seeRuntimeClass(() => true)).metadata.uid, second.metadata.uid);
  },
};

const silent: Case = {
  name: "[65] a settled pool causes no write and no Event, in this process and the next one",
  run: async (env) => {
    const pools = new Pools(env);
    const proxy = await env.startProxy();
    await pools.createNode(pools.node, { [pools.role]: "", disk: "hdd" }, [foreign]);
    await pools.apply({ labels: { disk: "ssd", zone: "a" }, taints: [dedicated] });
    await using first = pools.run(["--resync", "500ms"], { proxy });
    await pools.ready("Conflict");
    await pools.event("Conflict");
    await proxy.quiet(2_000);
    const writes = proxy.writes.length;
    await proxy.quiet(4_000);
    assertEquals(proxy.writes.slice(writes), []);
    first.signal("SIGTERM");
    await first.ended();
    await using second = pools.run(["--resync", "500ms"], { proxy });
    await second.logged(/starting workers/);
    await proxy.quiet(4_000);
    assertEquals(proxy.writes.slice(writes), []);
  },
};

const crashing: Case = {
  name: "after a kill between the write of a Node and its response, the next process does not write it again",
  run: async (env) => {
    const pools = new Pools(env);
    const proxy = await env.startProxy();
    await pools.createNode(pools.node, { [pools.role]: "" }, [foreign]);
    await pools.apply({ labels: { disk: "ssd" }, taints: [dedicated] });
    const isNodeWrite = ({ method, path }: RecordedRequest) =>
      method === "PATCH" && path.includes(`/nodes/${pools.node}`);
    const hold = proxy.hold(isNodeWrite, "response");
    await using first = pools.run([], { proxy });
    await hold.arrived;
    first.signal("SIGKILL");
    await first.ended();
    hold.release();
    assertEquals(taintsOf(await pools.getNode()), [foreign, dedicated]);
    await using _second = pools.run([], { proxy });
    await pools.ready("Settled");
    assertEquals(proxy.writes.filter(isNodeWrite).length, 1);
    assertEquals(taintsOf(await pools.getNode()), [foreign, dedicated]);
  },
};

const refusing: Case = {
  name: "the API server rejects an invalid pool without a webhook",
  run: async (env) => {
    const { pool } = new Pools(env);
    const refusal = async (spec: object, name = pool) => {
      const body = JSON.stringify({ apiVersion: "nodes.lailin.xyz/v1", kind: "NodePool", metadata: { name }, spec });
      const path = "/apis/nodes.lailin.xyz/v1/nodepools";
      return (await assertRejects(() => env.client.raw(path, { method: "POST", body }))).message;
    };
    assertMatch(await refusal({}, "p".repeat(64)), /must have at most 63 characters/);
    const twice = { taints: [dedicated, { ...dedicated, value: "other" }] };
    assertMatch(await refusal(twice), /spec\.taints\[1\]: Duplicate value/);
    const effect = { taints: [{ key: "a", effect: "Nothing" }] };
    assertMatch(await refusal(effect), /spec\.taints\[0\]\.effect: Unsupported value: "Nothing"/);
    assertMatch(await refusal({ handler: "Not a label" }), /spec\.handler.*"Not a label"/);
  },
};

const leading: Case = {
  name: "a LeaderElection Event on the Lease names each new leader, as client-go's does",
  run: async (env) => {
    const { namespace, suffix } = env;
    const times = ["lease-duration=3s", "renew-deadline=2s", "retry-period=500ms"];
    const args = ["nodepool", "--leader-elect", "--leader-election-id", `pools-${suffix}`].concat(
      ...["--leader-election-namespace", namespace],
      times.map((time) => `--leader-election-${time}`),
    );
    const lease = () => env.client.get(builtin.Lease, `${namespace}/pools-${suffix}`);
    await using first = env.run(args);
    await first.logged(/starting workers/);
    const { spec: { holderIdentity: before }, ...object } = await lease();
    const event = await eventuallyEvent(env, object, "LeaderElection");
    assertEquals([event.type, event.note], ["Normal", `${before} became leader`]);
    assertEquals([event.regarding?.kind, event.reportingController], ["Lease", "controller"]);
    await using second = env.run(args);
    await second.logged(/standing by/);
    first.signal("SIGKILL");
    await first.ended();
    await second.logged(/starting workers/);
    const { spec: { holderIdentity: after } } = await lease();
    const notes = await env.until("see the second Event", async () => {
      const found = (await eventsOf(env, object)).map(({ note }) => note).sort();
      return found.length === 2 ? { kind: "found", value: found } : { kind: "pending", state: found.join("; ") };
    });
    assertEquals(notes, [`${before} became leader`, `${after} became leader`].sort());
  },
};

const installing: Case = {
  name: "install-crds installs the kind, and a second run changes nothing",
  run: async (env) => {
    const { code, stdout } = await env.call(["install-crds", "nodepool"]);
    assertEquals(code, 0);
    assertMatch(stdout, /nodepools\.nodes\.lailin\.xyz/);
    assertMatch((await env.call(["install-crds", "nodepool"])).stdout, /unchanged/);
  },
};

export const nodepoolCases: readonly Case[] = [
  joining,
  changing,
  adding,
  catchingUp,
  finalizing,
  collecting,
  respecting,
  sharing,
  handling,
  silent,
  crashing,
  refusing,
  leading,
  installing,
];

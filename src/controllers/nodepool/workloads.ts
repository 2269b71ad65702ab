/** Samples and workloads of nodepool: objects to try it with, and what users do to NodePools during a simulation. */
import type { Workload, WorkloadStep } from "../../mod.ts";

/** The samples of `controller dev --samples`; the NodePool of examples/nodepool.yaml, and a Node in it. */
export const nodepoolSamples = [
  {
    apiVersion: "nodes.lailin.xyz/v1",
    kind: "NodePool",
    metadata: { name: "worker" },
    spec: {
      labels: { "node-pool.lailin.xyz/worker": "", "example.dev/disk": "ssd" },
      taints: [{ key: "example.dev/dedicated", value: "worker", effect: "NoSchedule" }],
      handler: "runc",
    },
  },
  {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "worker-1", labels: { "node-role.kubernetes.io/worker": "" } },
  },
];

const apiVersion = "nodes.lailin.xyz/v1";
const pool = { apiVersion, kind: "NodePool", name: "gpu" };

function createPool(spec: Readonly<Record<string, unknown>>): WorkloadStep {
  return { kind: "create", object: { apiVersion, kind: "NodePool", metadata: { name: "gpu" }, spec } };
}

function createNode(name: string): WorkloadStep {
  const metadata = { name, labels: { "node-role.kubernetes.io/gpu": "" } };
  return { kind: "create", object: { apiVersion: "v1", kind: "Node", metadata } };
}

const taint = { key: "example.dev/dedicated", value: "gpu", effect: "NoSchedule" };

/** The workloads of `controller simulate nodepool`. */
export const nodepoolWorkloads: readonly Workload[] = [
  { name: "create with defaults", steps: [createNode("worker-1"), createPool({}), createNode("worker-2")] },
  {
    name: "change",
    steps: [
      createNode("worker-1"),
      createPool({ labels: { "example.dev/disk": "ssd" }, taints: [taint] }),
      {
        kind: "patch",
        object: pool,
        patch: { spec: { labels: { "example.dev/disk": null, "example.dev/zone": "a" } } },
      },
      { kind: "patch", object: pool, patch: { spec: { taints: [] } } },
      { kind: "patch", object: pool, patch: { spec: { labels: { "kubernetes.io/os": "none" } } } },
    ],
  },
  {
    name: "delete, and a deleted Node",
    steps: [
      createNode("worker-1"),
      createNode("worker-2"),
      createPool({ labels: { "example.dev/disk": "ssd" }, taints: [taint] }),
      { kind: "delete", object: { apiVersion: "v1", kind: "Node", name: "worker-2" } },
      { kind: "delete", object: pool },
    ],
  },
  {
    name: "delete in the middle",
    steps: [
      createNode("worker-1"),
      createNode("worker-2"),
      { ...createPool({ labels: { "example.dev/disk": "ssd" }, taints: [taint] }), untilWrites: 2 },
      { kind: "delete", object: pool },
    ],
  },
];

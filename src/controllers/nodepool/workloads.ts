/** What people do to NodePools: `controller simulate nodepool` plays it with and without faults. */
import type { Workload, WorkloadStep } from "../../mod.ts";

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

/** See behaviours.md 3.1. */
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
    name: "delete, and a Node that vanishes",
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

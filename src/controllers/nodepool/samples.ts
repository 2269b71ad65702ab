/** What shows nodepool at work: the pool of examples/nodepool.yaml, and a Node that is a member of it. */
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

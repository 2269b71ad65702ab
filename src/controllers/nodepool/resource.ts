/**
 * NodePool: the kind of the kubebuilder example operator. All Nodes with the label `node-role.kubernetes.io/<pool>` get the
 * labels and taints of the pool, and a RuntimeClass schedules Pods onto them. withDefaults() adds the defaults.
 *
 * Caveats: the schema does not check the syntax of labels and taints, because the messages of the webhook (`validate.ts`) are
 * better. The controller relies on neither: it never writes an invalid label or taint to a Node.
 */
import { defineResource, type Infer, quantity, z } from "../../mod.ts";

/** The handler of a pool without a handler. */
const defaultHandler = "runc";

/** The limit for the name of a `node-role.kubernetes.io/` label. */
const maxNameLength = 63;

const taint = z.object({
  key: z.string().min(1).max(317).describe("Key of the taint."),
  value: z.string().max(63).optional().describe("Value of the taint."),
  effect: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"]).describe(
    "Effect on Pods that do not tolerate the taint.",
  ),
  timeAdded: z.iso.datetime({ offset: true }).optional().describe("Copied to the taint of the Nodes unchanged."),
});

const condition = z.object({
  type: z.string().min(1).max(316),
  status: z.enum(["True", "False", "Unknown"]),
  observedGeneration: z.int().min(0).optional(),
  lastTransitionTime: z.iso.datetime({ offset: true }),
  reason: z.string().min(1).max(1024),
  message: z.string().max(32_768),
});

export const NodePool = defineResource({
  group: "nodes.lailin.xyz",
  version: "v1",
  kind: "NodePool",
  scope: "Cluster",
  description:
    "A NodePool sets labels and taints of its Nodes, and creates a RuntimeClass that schedules Pods onto them.",
  spec: z.object({
    labels: z.record(z.string(), z.string().max(63)).default({}).meta({
      description: "Labels of every Node in the pool.",
      maxProperties: 64,
    }),
    taints: z.array(taint).max(64).default([]).meta({
      description: "Taints of every Node in the pool.",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["key", "effect"],
    }),
    handler: z.string().max(63).regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/).default(defaultHandler).describe(
      "Handler of the pool's RuntimeClass: a handler of the container runtime on the Nodes.",
    ),
  }),
  status: z.object({
    observedGeneration: z.int().min(0).optional().describe("Generation of the spec that this status describes."),
    nodeCount: z.int32().min(0).default(0).describe("Number of Nodes in the pool."),
    allocatable: z.record(z.string(), quantity()).default({}).describe(
      "Resources that Pods can use on all its Nodes together.",
    ),
    conditions: z.array(condition).default([]).meta({
      description: "Ready: whether the Nodes and the RuntimeClass are in the desired state.",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["type"],
    }),
  }),
  validations: [{
    rule: `self.metadata.name.size() <= ${maxNameLength}`,
    message: `must have at most ${maxNameLength} characters, because it is part of a label of Nodes`,
  }],
  printerColumns: [
    { name: "Nodes", jsonPath: ".status.nodeCount" },
    { name: "CPU", jsonPath: ".status.allocatable.cpu", type: "string" },
    { name: "Memory", jsonPath: ".status.allocatable.memory", type: "string" },
    { name: "Handler", jsonPath: ".spec.handler" },
    { name: "Ready", jsonPath: '.status.conditions[?(@.type=="Ready")].status', type: "string" },
    { name: "Age", jsonPath: ".metadata.creationTimestamp" },
  ],
});
export type NodePool = Infer<typeof NodePool>;

/** The label of a pool without labels. One is needed, because the RuntimeClass selects Nodes by the labels of the pool. */
function defaultLabel(pool: string): string {
  return `node-pool.lailin.xyz/${pool}`;
}

/**
 * Returns the pool with its defaults. Idempotent.
 *
 * The defaulting webhook stores the result; the controller uses it for every pool, because a cluster may have no webhook.
 *
 * @param pool In a webhook, the defaults of the schema may be missing
 */
export function withDefaults(pool: NodePool): NodePool {
  const { name } = pool.metadata;
  const { labels = {}, taints = [], handler = defaultHandler } = pool.spec;
  // With generateName there is no name yet; the controller adds the label later.
  const needsLabel = Object.keys(labels).length === 0 && name !== undefined;
  return {
    ...pool,
    spec: { ...pool.spec, labels: needsLabel ? { [defaultLabel(name)]: "" } : labels, taints, handler },
  };
}

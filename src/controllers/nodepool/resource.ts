/**
 * NodePool: the kind of the kubebuilder example operator. It asks that the Nodes labelled
 * `node-role.kubernetes.io/<pool>` have the same labels and taints, and that there is a RuntimeClass to run on them.
 *
 * Caveats: the syntax of labels and taints is not in the schema, because the webhook (`validate.ts`) says in better
 * words what is wrong; the controller does not rely on either and never gives a Node what is refused there.
 */
import { defineResource, type Infer, quantity, z } from "../../mod.ts";

/** The handler of a pool that names none. */
export const defaultHandler = "runc";

/** A `node-role.kubernetes.io/` label takes so much. */
const longestName = 63;

const taint = z.object({
  key: z.string().min(1).max(317).describe("The taint key to be applied to the Nodes."),
  value: z.string().max(63).optional().describe("The value that goes with the key."),
  effect: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"]).describe(
    "What happens to Pods that do not tolerate the taint.",
  ),
  timeAdded: z.iso.datetime({ offset: true }).optional().describe("Given to the Nodes as it stands here."),
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
  description: "A NodePool gives its Nodes labels and taints, and makes a RuntimeClass that schedules Pods onto them.",
  spec: z.object({
    labels: z.record(z.string(), z.string().max(63)).default({}).meta({
      description: "Labels that every Node of the pool gets.",
      maxProperties: 64,
    }),
    taints: z.array(taint).max(64).default([]).meta({
      description: "Taints that every Node of the pool gets.",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["key", "effect"],
    }),
    handler: z.string().max(63).regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/).default(defaultHandler).describe(
      "Handler of the pool's RuntimeClass: what runs the containers, as the Nodes' container runtime calls it.",
    ),
  }),
  status: z.object({
    observedGeneration: z.int().min(0).optional().describe("Generation of the spec that this status is about."),
    nodeCount: z.int32().min(0).default(0).describe("How many Nodes the pool has."),
    allocatable: z.record(z.string(), quantity()).default({}).describe("What Pods can use of all its Nodes together."),
    conditions: z.array(condition).default([]).meta({
      description: "Whether the pool's Nodes and its RuntimeClass are as they should be: Ready.",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["type"],
    }),
  }),
  validations: [{
    rule: `self.metadata.name.size() <= ${longestName}`,
    message: `the name of a NodePool is part of a label of Nodes, so it has ${longestName} characters at most`,
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

/** nodepool: sets labels and taints of the Nodes in a pool, and creates a RuntimeClass for them. */
export { nodepoolController } from "./controller.ts";
export { desiredRuntimeClass } from "./desired.ts";
export { NodePool, withDefaults } from "./resource.ts";
export { nodepoolWebhooks, problemsOf } from "./validate.ts";
export { nodepoolSamples, nodepoolWorkloads } from "./workloads.ts";

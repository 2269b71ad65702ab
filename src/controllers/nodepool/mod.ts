/** nodepool: labels and taints for the Nodes of a pool, and a RuntimeClass to run on them. */
export { nodepoolController } from "./controller.ts";
export { withDefaults } from "./defaults.ts";
export { desiredRuntimeClass } from "./desired.ts";
export { NodePool } from "./resource.ts";
export { problemsOf } from "./validate.ts";
export { nodepoolWebhooks } from "./webhooks.ts";
export { nodepoolSamples } from "./samples.ts";
export { nodepoolWorkloads } from "./workloads.ts";

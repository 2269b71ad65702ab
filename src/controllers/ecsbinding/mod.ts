/** ecsbinding: which machine of a cloud a Node is, kept in labels. */
export { ecsbindingController } from "./controller.ts";
export { boundLabel, desiredLabels, nodeLabel } from "./desired.ts";
export { EcsBinding } from "./resource.ts";
export { ecsbindingSamples } from "./samples.ts";
export { ecsbindingWorkloads } from "./workloads.ts";

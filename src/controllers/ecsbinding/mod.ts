/** ecsbinding: keeps in labels which Node belongs to a machine of a cloud. */
export { ecsbindingController } from "./controller.ts";
export { boundLabel, desiredLabels, nodeLabel } from "./desired.ts";
export { EcsBinding } from "./resource.ts";
export { ecsbindingSamples, ecsbindingWorkloads } from "./workloads.ts";

/** ingress: an Ingress for each Service that is annotated to have one. */
export { ingressManager } from "./controller.ts";
export { desiredIngress, type Wish, wishOf } from "./desired.ts";
export { ingressController } from "./flags.ts";
export { type ClassRule, type HostRule, parseClassRule, parseHostRule, type Rules } from "./rules.ts";
export { ingressSamples } from "./samples.ts";
export { ingressWorkloads } from "./workloads.ts";

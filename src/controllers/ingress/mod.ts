/** ingress: creates an Ingress for each Service that has the annotation. */
export { ingressController, ingressManager } from "./controller.ts";
export { type DesiredIngress, desiredIngress } from "./desired.ts";
export { type ClassRule, type HostRule, parseClassRule, parseHostRule, type Rules } from "./rules.ts";
export { ingressSamples, ingressWorkloads } from "./workloads.ts";

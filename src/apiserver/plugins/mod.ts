/** The admission that every Kubernetes has built in: what it adds to Pods, claims, nodes and Ingresses, and what it bounds. */
export { builtinAdmission, type BuiltinAdmissionParts } from "./builtin_admission.ts";
export { priorityCollection } from "./priorities.ts";
export { systemPriorityClasses } from "./system_priorities.ts";
export { type SetUsed } from "./resource_quotas.ts";
export { tokenVolumePrefix } from "./service_accounts.ts";

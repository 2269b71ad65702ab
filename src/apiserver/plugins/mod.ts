/** The admission plugins of kube-apiserver that are enabled by default. */
export { builtinAdmission, type BuiltinAdmissionParts } from "./builtin_admission.ts";
export { priorityCollection } from "./priorities.ts";
export type { SetUsed } from "./resource_quotas.ts";
export { tokenVolumePrefix } from "./service_accounts.ts";

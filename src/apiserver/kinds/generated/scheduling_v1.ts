/** io.k8s.api.scheduling.v1: its types, one a line (see ../types/wire_types.ts). Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit. */
// deno-fmt-ignore-file
export const text = `
PriorityClass	{"x-kubernetes-group-version-kind":[{"group":"scheduling.k8s.io","kind":"PriorityClass","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta value:!i globalDefault:b description:s preemptionPolicy:*<v1.PreemptionPolicy>s;eNever,PreemptLowerPriority
PriorityClassList	{"x-kubernetes-group-version-kind":[{"group":"scheduling.k8s.io","kind":"PriorityClassList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@scheduling/v1.PriorityClass
`;

/** io.k8s.api.node.v1: its types, one a line (see ../types/wire_types.ts). Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit. */
// deno-fmt-ignore-file
export const text = `
Overhead		podFixed:<v1.ResourceList>{q
RuntimeClass	{"x-kubernetes-group-version-kind":[{"group":"node.k8s.io","kind":"RuntimeClass","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta handler:!rs overhead:*@node/v1.Overhead scheduling:*@node/v1.Scheduling
RuntimeClassList	{"x-kubernetes-group-version-kind":[{"group":"node.k8s.io","kind":"RuntimeClassList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@node/v1.RuntimeClass
Scheduling		nodeSelector:{s;A tolerations:[@core/v1.Toleration;a
`;

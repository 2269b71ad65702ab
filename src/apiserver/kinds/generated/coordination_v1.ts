/** io.k8s.api.coordination.v1: its types, one a line (see ../types/wire_types.ts). Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit. */
// deno-fmt-ignore-file
export const text = `
Lease	{"x-kubernetes-group-version-kind":[{"group":"coordination.k8s.io","kind":"Lease","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:@coordination/v1.LeaseSpec
LeaseList	{"x-kubernetes-group-version-kind":[{"group":"coordination.k8s.io","kind":"LeaseList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@coordination/v1.Lease
LeaseSpec		holderIdentity:*s leaseDurationSeconds:*i acquireTime:*u renewTime:*u leaseTransitions:*i strategy:*<v1.CoordinatedLeaseStrategy>s preferredHolder:*s
`;

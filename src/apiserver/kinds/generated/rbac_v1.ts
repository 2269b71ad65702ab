/** io.k8s.api.rbac.v1: its types, one a line (see ../types/wire_types.ts). Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit. */
// deno-fmt-ignore-file
export const text = `
AggregationRule		clusterRoleSelectors:[@meta/v1.LabelSelector;a
ClusterRole	{"x-kubernetes-group-version-kind":[{"group":"rbac.authorization.k8s.io","kind":"ClusterRole","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta rules:![@rbac/v1.PolicyRule;a aggregationRule:*@rbac/v1.AggregationRule
ClusterRoleBinding	{"x-kubernetes-group-version-kind":[{"group":"rbac.authorization.k8s.io","kind":"ClusterRoleBinding","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta subjects:[@rbac/v1.Subject;a roleRef:!r@rbac/v1.RoleRef
ClusterRoleBindingList	{"x-kubernetes-group-version-kind":[{"group":"rbac.authorization.k8s.io","kind":"ClusterRoleBindingList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@rbac/v1.ClusterRoleBinding
ClusterRoleList	{"x-kubernetes-group-version-kind":[{"group":"rbac.authorization.k8s.io","kind":"ClusterRoleList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@rbac/v1.ClusterRole
PolicyRule		verbs:!r[s;a apiGroups:[s;a resources:[s;a resourceNames:[s;a nonResourceURLs:[s;a
Role	{"x-kubernetes-group-version-kind":[{"group":"rbac.authorization.k8s.io","kind":"Role","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta rules:![@rbac/v1.PolicyRule;a
RoleBinding	{"x-kubernetes-group-version-kind":[{"group":"rbac.authorization.k8s.io","kind":"RoleBinding","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta subjects:[@rbac/v1.Subject;a roleRef:!r@rbac/v1.RoleRef
RoleBindingList	{"x-kubernetes-group-version-kind":[{"group":"rbac.authorization.k8s.io","kind":"RoleBindingList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@rbac/v1.RoleBinding
RoleList	{"x-kubernetes-group-version-kind":[{"group":"rbac.authorization.k8s.io","kind":"RoleList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@rbac/v1.Role
RoleRef	{"x-kubernetes-map-type":"atomic"}	apiGroup:!s kind:!rs name:!rs
Subject	{"x-kubernetes-map-type":"atomic"}	kind:!rs apiGroup:s name:!rs namespace:s
`;

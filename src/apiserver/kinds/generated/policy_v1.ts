/** io.k8s.api.policy.v1: its types, one a line (see ../types/wire_types.ts). Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit. */
// deno-fmt-ignore-file
export const text = `
Eviction	{"x-kubernetes-group-version-kind":[{"group":"policy","kind":"Eviction","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta deleteOptions:*@meta/v1.DeleteOptions
PodDisruptionBudget	{"x-kubernetes-group-version-kind":[{"group":"policy","kind":"PodDisruptionBudget","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:@policy/v1.PodDisruptionBudgetSpec status:@policy/v1.PodDisruptionBudgetStatus
PodDisruptionBudgetList	{"x-kubernetes-group-version-kind":[{"group":"policy","kind":"PodDisruptionBudgetList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@policy/v1.PodDisruptionBudget
PodDisruptionBudgetSpec		minAvailable:*o selector:*@meta/v1.LabelSelector;preplace maxUnavailable:*o unhealthyPodEvictionPolicy:*<v1.UnhealthyPodEvictionPolicyType>s;eAlwaysAllow,IfHealthyBudget
PodDisruptionBudgetStatus		observedGeneration:l disruptedPods:{t disruptionsAllowed:!i currentHealthy:!i desiredHealthy:!i expectedPods:!i conditions:[@meta/v1.Condition;Mtype;ktype;pmerge
`;

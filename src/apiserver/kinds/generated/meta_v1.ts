/** io.k8s.apimachinery.pkg.apis.meta.v1: its types, one a line (see ../types/wire_types.ts). Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit. */
// deno-fmt-ignore-file
export const text = `
APIResource		name:!rs singularName:!rs namespaced:!rb group:s version:s kind:!rs verbs:!r<v1.Verbs>[s shortNames:[s;a categories:[s;a storageVersionHash:s
APIResourceList	{"x-kubernetes-group-version-kind":[{"group":"","kind":"APIResourceList","version":"v1"}]}	kind:s apiVersion:s groupVersion:!rs resources:!r[@meta/v1.APIResource;a
Condition		type:!rs status:!r<v1.ConditionStatus>s observedGeneration:l lastTransitionTime:!rt reason:!rs message:!rs
DeleteOptions	{"x-kubernetes-group-version-kind":[{"group":"","kind":"DeleteOptions","version":"v1"},{"group":"admissionregistration.k8s.io","kind":"DeleteOptions","version":"v1"}]}	kind:s apiVersion:s gracePeriodSeconds:*l preconditions:*@meta/v1.Preconditions orphanDependents:*b propagationPolicy:*<v1.DeletionPropagation>s dryRun:[s;a ignoreStoreReadErrorWithClusterBreakingPotential:*b
FieldSelectorRequirement		key:!rs operator:!r<v1.FieldSelectorOperator>s values:[s;a
FieldsV1	{"type":"object"}	
LabelSelector	{"x-kubernetes-map-type":"atomic"}	matchLabels:{s matchExpressions:[@meta/v1.LabelSelectorRequirement;a
LabelSelectorRequirement		key:!rs operator:!r<v1.LabelSelectorOperator>s values:[s;a
ListMeta		selfLink:s resourceVersion:s continue:s remainingItemCount:*l shardInfo:*@meta/v1.ShardInfo
ManagedFieldsEntry		manager:s operation:<v1.ManagedFieldsOperationType>s apiVersion:s time:*t fieldsType:s fieldsV1:*f subresource:s
MicroTime	{"type":"string","format":"date-time"}	
ObjectMeta		name:s generateName:s namespace:s selfLink:s uid:<types.UID>s resourceVersion:s generation:l creationTimestamp:0t deletionTimestamp:*t deletionGracePeriodSeconds:*l labels:{s annotations:{s ownerReferences:[@meta/v1.OwnerReference;Muid;kuid;pmerge finalizers:[s;S;pmerge managedFields:[@meta/v1.ManagedFieldsEntry;a
OwnerReference	{"x-kubernetes-map-type":"atomic"}	apiVersion:!rs kind:!rs name:!rs uid:!r<types.UID>s controller:*b blockOwnerDeletion:*b
Patch	{"type":"object"}	
Preconditions		uid:*<types.UID>s resourceVersion:*s
ShardInfo		selector:!rs
Status	{"x-kubernetes-group-version-kind":[{"group":"","kind":"Status","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta status:s message:s reason:<v1.StatusReason>s details:*@meta/v1.StatusDetails code:i
StatusCause		reason:<v1.CauseType>s message:s field:s
StatusDetails		name:s group:s kind:s uid:<types.UID>s causes:[@meta/v1.StatusCause;a retryAfterSeconds:i
Time	{"type":"string","format":"date-time"}	
WatchEvent	{"x-kubernetes-group-version-kind":[{"group":"","kind":"WatchEvent","version":"v1"},{"group":"admissionregistration.k8s.io","kind":"WatchEvent","version":"v1"}]}	type:!rs object:!rx
`;

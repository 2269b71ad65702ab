/** io.k8s.api.flowcontrol.v1: its types, one a line (see ../types/wire_types.ts). Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit. */
// deno-fmt-ignore-file
export const text = `
ExemptPriorityLevelConfiguration		nominalConcurrencyShares:*i lendablePercent:*i
FlowDistinguisherMethod		type:!r<v1.FlowDistinguisherMethodType>s
FlowSchema	{"x-kubernetes-group-version-kind":[{"group":"flowcontrol.apiserver.k8s.io","kind":"FlowSchema","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:@flowcontrol/v1.FlowSchemaSpec status:@flowcontrol/v1.FlowSchemaStatus
FlowSchemaCondition		type:<v1.FlowSchemaConditionType>s status:<v1.ConditionStatus>s lastTransitionTime:t reason:s message:s
FlowSchemaList	{"x-kubernetes-group-version-kind":[{"group":"flowcontrol.apiserver.k8s.io","kind":"FlowSchemaList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@flowcontrol/v1.FlowSchema
FlowSchemaSpec		priorityLevelConfiguration:!r@flowcontrol/v1.PriorityLevelConfigurationReference matchingPrecedence:!i distinguisherMethod:*@flowcontrol/v1.FlowDistinguisherMethod rules:[@flowcontrol/v1.PolicyRulesWithSubjects;a
FlowSchemaStatus		conditions:[@flowcontrol/v1.FlowSchemaCondition;Mtype;ktype;pmerge
GroupSubject		name:!rs
LimitResponse	{"x-kubernetes-unions":[{"discriminator":"type","fields-to-discriminateBy":{"queuing":"Queuing"}}]}	type:!r<v1.LimitResponseType>s queuing:*@flowcontrol/v1.QueuingConfiguration
LimitedPriorityLevelConfiguration		nominalConcurrencyShares:*!i limitResponse:@flowcontrol/v1.LimitResponse lendablePercent:*i borrowingLimitPercent:*i
NonResourcePolicyRule		verbs:!r[s;S nonResourceURLs:!r[s;S
PolicyRulesWithSubjects		subjects:!r[@flowcontrol/v1.Subject;a resourceRules:[@flowcontrol/v1.ResourcePolicyRule;a nonResourceRules:[@flowcontrol/v1.NonResourcePolicyRule;a
PriorityLevelConfiguration	{"x-kubernetes-group-version-kind":[{"group":"flowcontrol.apiserver.k8s.io","kind":"PriorityLevelConfiguration","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:@flowcontrol/v1.PriorityLevelConfigurationSpec status:@flowcontrol/v1.PriorityLevelConfigurationStatus
PriorityLevelConfigurationCondition		type:<v1.PriorityLevelConfigurationConditionType>s status:<v1.ConditionStatus>s lastTransitionTime:t reason:s message:s
PriorityLevelConfigurationList	{"x-kubernetes-group-version-kind":[{"group":"flowcontrol.apiserver.k8s.io","kind":"PriorityLevelConfigurationList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@flowcontrol/v1.PriorityLevelConfiguration
PriorityLevelConfigurationReference		name:!rs
PriorityLevelConfigurationSpec	{"x-kubernetes-unions":[{"discriminator":"type","fields-to-discriminateBy":{"exempt":"Exempt","limited":"Limited"}}]}	type:!r<v1.PriorityLevelEnablement>s limited:*@flowcontrol/v1.LimitedPriorityLevelConfiguration exempt:*@flowcontrol/v1.ExemptPriorityLevelConfiguration
PriorityLevelConfigurationStatus		conditions:[@flowcontrol/v1.PriorityLevelConfigurationCondition;Mtype;ktype;pmerge
QueuingConfiguration		queues:!i handSize:!i queueLengthLimit:!i
ResourcePolicyRule		verbs:!r[s;S apiGroups:!r[s;S resources:!r[s;S clusterScope:b namespaces:![s;S
ServiceAccountSubject		namespace:!rs name:!rs
Subject	{"x-kubernetes-unions":[{"discriminator":"kind","fields-to-discriminateBy":{"group":"Group","serviceAccount":"ServiceAccount","user":"User"}}]}	kind:!r<v1.SubjectKind>s user:*@flowcontrol/v1.UserSubject group:*@flowcontrol/v1.GroupSubject serviceAccount:*@flowcontrol/v1.ServiceAccountSubject
UserSubject		name:!rs
`;

/** io.k8s.api.apps.v1: its types, one a line (see ../types/wire_types.ts). Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit. */
// deno-fmt-ignore-file
export const text = `
ControllerRevision	{"x-kubernetes-group-version-kind":[{"group":"apps","kind":"ControllerRevision","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta data:x revision:!rl
ControllerRevisionList	{"x-kubernetes-group-version-kind":[{"group":"apps","kind":"ControllerRevisionList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@apps/v1.ControllerRevision
DaemonSet	{"x-kubernetes-group-version-kind":[{"group":"apps","kind":"DaemonSet","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:@apps/v1.DaemonSetSpec status:@apps/v1.DaemonSetStatus
DaemonSetCondition		type:!r<v1.DaemonSetConditionType>s status:!r<v1.ConditionStatus>s lastTransitionTime:t reason:s message:s
DaemonSetList	{"x-kubernetes-group-version-kind":[{"group":"apps","kind":"DaemonSetList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@apps/v1.DaemonSet
DaemonSetSpec		selector:*!r@meta/v1.LabelSelector template:!r@core/v1.PodTemplateSpec updateStrategy:@apps/v1.DaemonSetUpdateStrategy minReadySeconds:i revisionHistoryLimit:*i
DaemonSetStatus		currentNumberScheduled:!ri numberMisscheduled:!ri desiredNumberScheduled:!ri numberReady:!ri observedGeneration:l updatedNumberScheduled:i numberAvailable:i numberUnavailable:i collisionCount:*i conditions:[@apps/v1.DaemonSetCondition;Mtype;ktype;pmerge
DaemonSetUpdateStrategy		type:<v1.DaemonSetUpdateStrategyType>s;eOnDelete,RollingUpdate rollingUpdate:*@apps/v1.RollingUpdateDaemonSet
Deployment	{"x-kubernetes-group-version-kind":[{"group":"apps","kind":"Deployment","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:@apps/v1.DeploymentSpec status:@apps/v1.DeploymentStatus
DeploymentCondition		type:!r<v1.DeploymentConditionType>s status:!r<v1.ConditionStatus>s lastUpdateTime:t lastTransitionTime:t reason:s message:s
DeploymentList	{"x-kubernetes-group-version-kind":[{"group":"apps","kind":"DeploymentList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@apps/v1.Deployment
DeploymentSpec		replicas:*i selector:*!r@meta/v1.LabelSelector template:!r@core/v1.PodTemplateSpec strategy:@apps/v1.DeploymentStrategy;pretainKeys minReadySeconds:i revisionHistoryLimit:*i paused:b progressDeadlineSeconds:*i
DeploymentStatus		observedGeneration:l replicas:i updatedReplicas:i readyReplicas:i availableReplicas:i unavailableReplicas:i terminatingReplicas:*i conditions:[@apps/v1.DeploymentCondition;Mtype;ktype;pmerge collisionCount:*i
DeploymentStrategy		type:<v1.DeploymentStrategyType>s;eRecreate,RollingUpdate rollingUpdate:*@apps/v1.RollingUpdateDeployment
ReplicaSet	{"x-kubernetes-group-version-kind":[{"group":"apps","kind":"ReplicaSet","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:@apps/v1.ReplicaSetSpec status:@apps/v1.ReplicaSetStatus
ReplicaSetCondition		type:!r<v1.ReplicaSetConditionType>s status:!r<v1.ConditionStatus>s lastTransitionTime:t reason:s message:s
ReplicaSetList	{"x-kubernetes-group-version-kind":[{"group":"apps","kind":"ReplicaSetList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@apps/v1.ReplicaSet
ReplicaSetSpec		replicas:*i minReadySeconds:i selector:*!r@meta/v1.LabelSelector template:@core/v1.PodTemplateSpec
ReplicaSetStatus		replicas:!ri fullyLabeledReplicas:i readyReplicas:i availableReplicas:i terminatingReplicas:*i observedGeneration:l conditions:[@apps/v1.ReplicaSetCondition;Mtype;ktype;pmerge
RollingUpdateDaemonSet		maxUnavailable:*o maxSurge:*o
RollingUpdateDeployment		maxUnavailable:*o maxSurge:*o
RollingUpdateStatefulSetStrategy		partition:*i maxUnavailable:*o
StatefulSet	{"x-kubernetes-group-version-kind":[{"group":"apps","kind":"StatefulSet","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:@apps/v1.StatefulSetSpec status:@apps/v1.StatefulSetStatus
StatefulSetCondition		type:!r<v1.StatefulSetConditionType>s status:!r<v1.ConditionStatus>s lastTransitionTime:t reason:s message:s
StatefulSetList	{"x-kubernetes-group-version-kind":[{"group":"apps","kind":"StatefulSetList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@apps/v1.StatefulSet
StatefulSetOrdinals		start:!i
StatefulSetPersistentVolumeClaimRetentionPolicy		whenDeleted:<v1.PersistentVolumeClaimRetentionPolicyType>s whenScaled:<v1.PersistentVolumeClaimRetentionPolicyType>s
StatefulSetSpec		replicas:*i selector:*!r@meta/v1.LabelSelector template:!r@core/v1.PodTemplateSpec volumeClaimTemplates:[@core/v1.PersistentVolumeClaim;a serviceName:!s podManagementPolicy:<v1.PodManagementPolicyType>s;eOrderedReady,Parallel updateStrategy:@apps/v1.StatefulSetUpdateStrategy revisionHistoryLimit:*i minReadySeconds:i persistentVolumeClaimRetentionPolicy:*@apps/v1.StatefulSetPersistentVolumeClaimRetentionPolicy ordinals:*@apps/v1.StatefulSetOrdinals
StatefulSetStatus		observedGeneration:l replicas:!ri readyReplicas:i currentReplicas:i updatedReplicas:i currentRevision:s updateRevision:s collisionCount:*i conditions:[@apps/v1.StatefulSetCondition;Mtype;ktype;pmerge availableReplicas:!i
StatefulSetUpdateStrategy		type:<v1.StatefulSetUpdateStrategyType>s;eOnDelete,RollingUpdate rollingUpdate:*@apps/v1.RollingUpdateStatefulSetStrategy
`;

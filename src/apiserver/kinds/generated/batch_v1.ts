/** io.k8s.api.batch.v1: its types, one a line (see ../types/wire_types.ts). Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit. */
// deno-fmt-ignore-file
export const text = `
CronJob	{"x-kubernetes-group-version-kind":[{"group":"batch","kind":"CronJob","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:r@batch/v1.CronJobSpec status:@batch/v1.CronJobStatus
CronJobList	{"x-kubernetes-group-version-kind":[{"group":"batch","kind":"CronJobList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@batch/v1.CronJob
CronJobSpec		schedule:!rs timeZone:*s startingDeadlineSeconds:*l concurrencyPolicy:<v1.ConcurrencyPolicy>s;eAllow,Forbid,Replace suspend:*b jobTemplate:!r@batch/v1.JobTemplateSpec successfulJobsHistoryLimit:*i failedJobsHistoryLimit:*i
CronJobStatus		active:[@core/v1.ObjectReference;a lastScheduleTime:*t lastSuccessfulTime:*t
Job	{"x-kubernetes-group-version-kind":[{"group":"batch","kind":"Job","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:@batch/v1.JobSpec status:@batch/v1.JobStatus
JobCondition		type:!r<v1.JobConditionType>s status:!r<v1.ConditionStatus>s lastProbeTime:t lastTransitionTime:t reason:s message:s
JobList	{"x-kubernetes-group-version-kind":[{"group":"batch","kind":"JobList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@batch/v1.Job
JobSpec		parallelism:*i completions:*i activeDeadlineSeconds:*l podFailurePolicy:*@batch/v1.PodFailurePolicy successPolicy:*@batch/v1.SuccessPolicy backoffLimit:*i backoffLimitPerIndex:*i maxFailedIndexes:*i selector:*@meta/v1.LabelSelector manualSelector:*b template:!r@core/v1.PodTemplateSpec ttlSecondsAfterFinished:*i completionMode:*<v1.CompletionMode>s;eIndexed,NonIndexed suspend:*b podReplacementPolicy:*<v1.PodReplacementPolicy>s;eFailed,TerminatingOrFailed managedBy:*s
JobStatus		conditions:[@batch/v1.JobCondition;a;ktype;pmerge startTime:*t completionTime:*t active:i succeeded:i failed:i terminating:*i completedIndexes:s failedIndexes:*s uncountedTerminatedPods:*@batch/v1.UncountedTerminatedPods ready:*i
JobTemplateSpec		metadata:@meta/v1.ObjectMeta spec:@batch/v1.JobSpec
PodFailurePolicy		rules:!r[@batch/v1.PodFailurePolicyRule;a
PodFailurePolicyOnExitCodesRequirement		containerName:*s operator:!r<v1.PodFailurePolicyOnExitCodesOperator>s;eIn,NotIn values:!r[i;S
PodFailurePolicyOnPodConditionsPattern		type:!r<v1.PodConditionType>s status:!<v1.ConditionStatus>s
PodFailurePolicyRule		action:!r<v1.PodFailurePolicyAction>s;eCount,FailIndex,FailJob,Ignore onExitCodes:*@batch/v1.PodFailurePolicyOnExitCodesRequirement onPodConditions:[@batch/v1.PodFailurePolicyOnPodConditionsPattern;a
SuccessPolicy		rules:!r[@batch/v1.SuccessPolicyRule;a
SuccessPolicyRule		succeededIndexes:*s succeededCount:*i
UncountedTerminatedPods		succeeded:[<types.UID>s;S failed:[<types.UID>s;S
`;

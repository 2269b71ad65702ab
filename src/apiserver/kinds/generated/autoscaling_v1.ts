/** io.k8s.api.autoscaling.v1: its types, one a line (see ../types/wire_types.ts). Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit. */
// deno-fmt-ignore-file
export const text = `
CrossVersionObjectReference	{"x-kubernetes-map-type":"atomic"}	kind:!rs name:!rs apiVersion:s
HorizontalPodAutoscaler	{"x-kubernetes-group-version-kind":[{"group":"autoscaling","kind":"HorizontalPodAutoscaler","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:r@autoscaling/v1.HorizontalPodAutoscalerSpec status:@autoscaling/v1.HorizontalPodAutoscalerStatus
HorizontalPodAutoscalerList	{"x-kubernetes-group-version-kind":[{"group":"autoscaling","kind":"HorizontalPodAutoscalerList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@autoscaling/v1.HorizontalPodAutoscaler
HorizontalPodAutoscalerSpec		scaleTargetRef:!r@autoscaling/v1.CrossVersionObjectReference minReplicas:*i maxReplicas:!ri targetCPUUtilizationPercentage:*i
HorizontalPodAutoscalerStatus		observedGeneration:*l lastScaleTime:*t currentReplicas:!ri desiredReplicas:!ri currentCPUUtilizationPercentage:*i
Scale	{"x-kubernetes-group-version-kind":[{"group":"autoscaling","kind":"Scale","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:@autoscaling/v1.ScaleSpec status:@autoscaling/v1.ScaleStatus
ScaleSpec		replicas:i;d0
ScaleStatus		replicas:!ri selector:s
`;

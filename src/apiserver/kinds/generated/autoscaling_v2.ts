/** io.k8s.api.autoscaling.v2: its types, one a line (see ../types/wire_types.ts). Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit. */
// deno-fmt-ignore-file
export const text = `
ContainerResourceMetricSource		name:!r<v1.ResourceName>s target:!r@autoscaling/v2.MetricTarget container:!rs
ContainerResourceMetricStatus		name:!r<v1.ResourceName>s current:!r@autoscaling/v2.MetricValueStatus container:!rs
CrossVersionObjectReference		kind:!rs name:!rs apiVersion:s
ExternalMetricSource		metric:!r@autoscaling/v2.MetricIdentifier target:!r@autoscaling/v2.MetricTarget
ExternalMetricStatus		metric:!r@autoscaling/v2.MetricIdentifier current:!r@autoscaling/v2.MetricValueStatus
HPAScalingPolicy		type:!r<v2.HPAScalingPolicyType>s value:!ri periodSeconds:!ri
HPAScalingRules		stabilizationWindowSeconds:*i selectPolicy:*<v2.ScalingPolicySelect>s policies:[@autoscaling/v2.HPAScalingPolicy;a tolerance:*q
HorizontalPodAutoscaler	{"x-kubernetes-group-version-kind":[{"group":"autoscaling","kind":"HorizontalPodAutoscaler","version":"v2"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:r@autoscaling/v2.HorizontalPodAutoscalerSpec status:@autoscaling/v2.HorizontalPodAutoscalerStatus
HorizontalPodAutoscalerBehavior		scaleUp:*@autoscaling/v2.HPAScalingRules scaleDown:*@autoscaling/v2.HPAScalingRules
HorizontalPodAutoscalerCondition		type:!r<v2.HorizontalPodAutoscalerConditionType>s status:!r<v1.ConditionStatus>s lastTransitionTime:t reason:s message:s
HorizontalPodAutoscalerList	{"x-kubernetes-group-version-kind":[{"group":"autoscaling","kind":"HorizontalPodAutoscalerList","version":"v2"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@autoscaling/v2.HorizontalPodAutoscaler
HorizontalPodAutoscalerSpec		scaleTargetRef:!r@autoscaling/v2.CrossVersionObjectReference minReplicas:*i maxReplicas:!ri metrics:[@autoscaling/v2.MetricSpec;a behavior:*@autoscaling/v2.HorizontalPodAutoscalerBehavior
HorizontalPodAutoscalerStatus		observedGeneration:*l lastScaleTime:*t currentReplicas:i desiredReplicas:!ri currentMetrics:![@autoscaling/v2.MetricStatus;a conditions:[@autoscaling/v2.HorizontalPodAutoscalerCondition;Mtype;ktype;pmerge
MetricIdentifier		name:!rs selector:*@meta/v1.LabelSelector
MetricSpec		type:!r<v2.MetricSourceType>s object:*@autoscaling/v2.ObjectMetricSource pods:*@autoscaling/v2.PodsMetricSource resource:*@autoscaling/v2.ResourceMetricSource containerResource:*@autoscaling/v2.ContainerResourceMetricSource external:*@autoscaling/v2.ExternalMetricSource
MetricStatus		type:!r<v2.MetricSourceType>s object:*@autoscaling/v2.ObjectMetricStatus pods:*@autoscaling/v2.PodsMetricStatus resource:*@autoscaling/v2.ResourceMetricStatus containerResource:*@autoscaling/v2.ContainerResourceMetricStatus external:*@autoscaling/v2.ExternalMetricStatus
MetricTarget		type:!r<v2.MetricTargetType>s value:*q averageValue:*q averageUtilization:*i
MetricValueStatus		value:*q averageValue:*q averageUtilization:*i
ObjectMetricSource		describedObject:!r@autoscaling/v2.CrossVersionObjectReference target:!r@autoscaling/v2.MetricTarget metric:!r@autoscaling/v2.MetricIdentifier
ObjectMetricStatus		metric:!r@autoscaling/v2.MetricIdentifier current:!r@autoscaling/v2.MetricValueStatus describedObject:!r@autoscaling/v2.CrossVersionObjectReference
PodsMetricSource		metric:!r@autoscaling/v2.MetricIdentifier target:!r@autoscaling/v2.MetricTarget
PodsMetricStatus		metric:!r@autoscaling/v2.MetricIdentifier current:!r@autoscaling/v2.MetricValueStatus
ResourceMetricSource		name:!r<v1.ResourceName>s target:!r@autoscaling/v2.MetricTarget
ResourceMetricStatus		name:!r<v1.ResourceName>s current:!r@autoscaling/v2.MetricValueStatus
`;

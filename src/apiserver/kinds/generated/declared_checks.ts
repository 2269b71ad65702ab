/** Validation that Kubernetes' Go types declare, one struct a line (see ../rules/declared_checks.ts). Written by tasks/declared_checks.ts. Do not edit. */
// deno-fmt-ignore-file
export const declaredChecks = `
admissionregistration/v1.ValidatingAdmissionPolicyBindingSpec policyName:required validationActions:required
autoscaling/v1.HorizontalPodAutoscalerSpec minReplicas:optional,minimum=1 maxReplicas:required,minimum=1
autoscaling/v1.ScaleSpec replicas:optional,minimum=0
autoscaling/v2.HorizontalPodAutoscalerSpec minReplicas:optional,minimum=1 maxReplicas:required,minimum=1
batch/v1.CronJobSpec schedule:required
certificates/v1.CertificateSigningRequestStatus conditions:unique=type,optional,oneItemOf=type:Approved,oneItemOf=type:Denied
core/v1.ReplicationController metadata:subfield=name:optional,subfield=name:format=k8s-long-name
core/v1.ReplicationControllerSpec replicas:optional,minimum=0 minReadySeconds:optional,minimum=0
discovery/v1.Endpoint addresses:required,maxItems=100
discovery/v1.EndpointSlice addressType:required,immutable,enum=FQDN|IPv4|IPv6
flowcontrol/v1.LimitResponse type:required,discriminator queuing:optional,when=Queue:required,when=Reject:forbidden
flowcontrol/v1.PriorityLevelConfigurationSpec type:required,discriminator limited:optional,when=Limited:required,when=Exempt:forbidden exempt:optional,when=Exempt:optional,when=Limited:forbidden
networking/v1.IPAddressSpec parentRef:required,immutable
networking/v1.IPBlock cidr:required
networking/v1.IngressClassParametersReference kind:required name:required
networking/v1.ParentReference resource:required name:required
node/v1.RuntimeClass handler:format=k8s-short-name,immutable,required
rbac/v1.PolicyRule verbs:required
rbac/v1.RoleRef name:required
rbac/v1.Subject name:required
resource/v1.AllocatedDeviceStatus shareID:optional,format=k8s-uuid
resource/v1.CounterSet name:required,format=k8s-short-name counters:required,keyFormat=k8s-short-name
resource/v1.Device consumesCounters:optional,unique=counterSet,maxItems=2 bindingConditions:optional,maxItems=4 bindingFailureConditions:optional,maxItems=4
resource/v1.DeviceAllocationConfiguration source:required,enum=FromClaim|FromClass requests:optional,unique,maxItems=32
resource/v1.DeviceAllocationResult results:optional,maxItems=32 config:optional,maxItems=64
resource/v1.DeviceAttribute int:optional,unionMember bool:optional,unionMember string:optional,unionMember version:optional,unionMember ints:optional,unionMember bools:optional,unionMember strings:optional,unionMember versions:optional,unionMember
resource/v1.DeviceClaim requests:optional,unique=name,maxItems=32 constraints:optional,maxItems=32 config:optional,maxItems=32
resource/v1.DeviceClaimConfiguration requests:optional,unique,maxItems=32
resource/v1.DeviceClass metadata:subfield=name:optional,subfield=name:format=k8s-long-name
resource/v1.DeviceClassSpec selectors:optional,maxItems=32 config:optional,maxItems=32 extendedResourceName:optional,format=k8s-extended-resource-name
resource/v1.DeviceConstraint requests:optional,unique,maxItems=32 matchAttribute:optional,format=k8s-resource-fully-qualified-name
resource/v1.DeviceCounterConsumption counterSet:required,format=k8s-short-name counters:required,keyFormat=k8s-short-name
resource/v1.DeviceRequest firstAvailable:optional,unique=name,maxItems=8
resource/v1.DeviceRequestAllocationResult driver:format=k8s-long-name-caseless,required,maxLength=63 pool:required,format=k8s-resource-pool-name bindingConditions:optional,maxItems=4 bindingFailureConditions:optional,maxItems=4 shareID:optional,format=k8s-uuid
resource/v1.DeviceSubRequest deviceClassName:required,format=k8s-long-name selectors:optional,maxItems=32 allocationMode:optional,enum=All|ExactCount
resource/v1.DeviceTaint effect:required,enum=NoExecute|NoSchedule|None
resource/v1.DeviceToleration key:optional,format=k8s-label-key operator:optional,enum=Equal|Exists effect:optional,enum=NoExecute|NoSchedule|None
resource/v1.ExactDeviceRequest selectors:optional,maxItems=32 allocationMode:optional,enum=All|ExactCount
resource/v1.NetworkDeviceData interfaceName:optional,maxBytes=256 ips:optional,unique,maxItems=16 hardwareAddress:optional,maxBytes=128
resource/v1.OpaqueDeviceConfiguration driver:required,format=k8s-long-name-caseless,maxLength=63
resource/v1.ResourceClaim spec:immutable
resource/v1.ResourceClaimStatus allocation:optional,update=NoModify reservedFor:optional,unique=uid,maxItems=256 devices:optional,unique=driver+device+pool+shareID
resource/v1.ResourceSliceSpec sharedCounters:optional,unique=name,maxItems=8
storage/v1.StorageClass provisioner:required,immutable parameters:immutable,optional reclaimPolicy:immutable,optional volumeBindingMode:immutable,optional
storage/v1.VolumeAttachment spec:immutable
storage/v1.VolumeAttachmentSpec attacher:required,format=k8s-long-name-caseless,maxLength=63
`;

/** io.k8s.api.resource.v1: its types, one a line (see ../types/wire_types.ts). Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit. */
// deno-fmt-ignore-file
export const text = `
AllocatedDeviceStatus		driver:!rs pool:!rs device:!rs shareID:*s conditions:![@meta/v1.Condition;Mtype data:*x networkData:*@resource/v1.NetworkDeviceData
AllocationResult		devices:@resource/v1.DeviceAllocationResult nodeSelector:*@core/v1.NodeSelector allocationTimestamp:*t
CELDeviceSelector		expression:!rs
CapacityRequestPolicy		default:*!q validValues:[q;a validRange:*@resource/v1.CapacityRequestPolicyRange
CapacityRequestPolicyRange		min:*rq max:*q step:*q
CapacityRequirements		requests:<map[v1.QualifiedName]resource.Quantity>{q
Counter		value:!rq
CounterSet		name:!rs counters:r{@resource/v1.Counter
Device		name:!rs attributes:<map[v1.QualifiedName]v1.DeviceAttribute>{@resource/v1.DeviceAttribute capacity:<map[v1.QualifiedName]v1.DeviceCapacity>{@resource/v1.DeviceCapacity consumesCounters:[@resource/v1.DeviceCounterConsumption;a nodeName:*s nodeSelector:*@core/v1.NodeSelector allNodes:*b taints:[@resource/v1.DeviceTaint;a bindsToNode:*b bindingConditions:[s;a bindingFailureConditions:[s;a allowMultipleAllocations:*b nodeAllocatableResourceMappings:<map[v1.ResourceName]v1.NodeAllocatableResourceMapping>{@resource/v1.NodeAllocatableResourceMapping
DeviceAllocationConfiguration		source:!r<v1.AllocationConfigSource>s;eFromClaim,FromClass requests:[s;a opaque:*@resource/v1.OpaqueDeviceConfiguration
DeviceAllocationResult		results:[@resource/v1.DeviceRequestAllocationResult;a config:[@resource/v1.DeviceAllocationConfiguration;a
DeviceAttribute		int:*l bool:*b string:*s version:*s ints:[l;a bools:[b;a strings:[s;a versions:[s;a
DeviceCapacity		value:!rq requestPolicy:*@resource/v1.CapacityRequestPolicy
DeviceClaim		requests:![@resource/v1.DeviceRequest;a constraints:[@resource/v1.DeviceConstraint;a config:[@resource/v1.DeviceClaimConfiguration;a
DeviceClaimConfiguration		requests:[s;a opaque:*@resource/v1.OpaqueDeviceConfiguration
DeviceClass	{"x-kubernetes-group-version-kind":[{"group":"resource.k8s.io","kind":"DeviceClass","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:!r@resource/v1.DeviceClassSpec
DeviceClassConfiguration		opaque:*@resource/v1.OpaqueDeviceConfiguration
DeviceClassList	{"x-kubernetes-group-version-kind":[{"group":"resource.k8s.io","kind":"DeviceClassList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@resource/v1.DeviceClass
DeviceClassSpec		selectors:[@resource/v1.DeviceSelector;a config:[@resource/v1.DeviceClassConfiguration;a extendedResourceName:*s
DeviceConstraint		requests:[s;a matchAttribute:*<v1.FullyQualifiedName>s distinctAttribute:*<v1.FullyQualifiedName>s
DeviceCounterConsumption		counterSet:!rs counters:r{@resource/v1.Counter
DeviceRequest		name:!rs exactly:*@resource/v1.ExactDeviceRequest firstAvailable:[@resource/v1.DeviceSubRequest;a
DeviceRequestAllocationResult		request:!rs driver:!rs pool:!rs device:!rs adminAccess:*b tolerations:[@resource/v1.DeviceToleration;a bindingConditions:[s;a bindingFailureConditions:[s;a shareID:*<types.UID>s consumedCapacity:<map[v1.QualifiedName]resource.Quantity>{q
DeviceSelector		cel:*@resource/v1.CELDeviceSelector
DeviceSubRequest		name:!rs deviceClassName:!rs selectors:[@resource/v1.DeviceSelector;a allocationMode:<v1.DeviceAllocationMode>s;eAll,ExactCount count:l tolerations:[@resource/v1.DeviceToleration;a capacity:*@resource/v1.CapacityRequirements
DeviceTaint		key:!rs value:s effect:!r<v1.DeviceTaintEffect>s;eNoExecute,NoSchedule,None timeAdded:*t
DeviceToleration		key:s operator:<v1.DeviceTolerationOperator>s;eEqual,Exists;d"Equal" value:s effect:<v1.DeviceTaintEffect>s;eNoExecute,NoSchedule,None tolerationSeconds:*l
ExactDeviceRequest		deviceClassName:!rs selectors:[@resource/v1.DeviceSelector;a allocationMode:<v1.DeviceAllocationMode>s;eAll,ExactCount count:l adminAccess:*b tolerations:[@resource/v1.DeviceToleration;a capacity:*@resource/v1.CapacityRequirements
NetworkDeviceData		interfaceName:s ips:[s;a hardwareAddress:s
NodeAllocatableResourceMapping		capacityKey:*<v1.QualifiedName>s allocationMultiplier:*q
OpaqueDeviceConfiguration		driver:!rs parameters:!rx
ResourceClaim	{"x-kubernetes-group-version-kind":[{"group":"resource.k8s.io","kind":"ResourceClaim","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:!r@resource/v1.ResourceClaimSpec status:@resource/v1.ResourceClaimStatus
ResourceClaimConsumerReference		apiGroup:s resource:!rs name:!rs uid:!r<types.UID>s
ResourceClaimList	{"x-kubernetes-group-version-kind":[{"group":"resource.k8s.io","kind":"ResourceClaimList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@resource/v1.ResourceClaim
ResourceClaimSpec		devices:!@resource/v1.DeviceClaim
ResourceClaimStatus		allocation:*@resource/v1.AllocationResult reservedFor:[@resource/v1.ResourceClaimConsumerReference;Muid;kuid;pmerge devices:[@resource/v1.AllocatedDeviceStatus;Mdriver,device,pool,shareID
ResourceClaimTemplate	{"x-kubernetes-group-version-kind":[{"group":"resource.k8s.io","kind":"ResourceClaimTemplate","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:!r@resource/v1.ResourceClaimTemplateSpec
ResourceClaimTemplateList	{"x-kubernetes-group-version-kind":[{"group":"resource.k8s.io","kind":"ResourceClaimTemplateList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@resource/v1.ResourceClaimTemplate
ResourceClaimTemplateSpec		metadata:@meta/v1.ObjectMeta spec:!r@resource/v1.ResourceClaimSpec
ResourcePool		name:!rs generation:!rl resourceSliceCount:!rl
ResourceSlice	{"x-kubernetes-group-version-kind":[{"group":"resource.k8s.io","kind":"ResourceSlice","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:!r@resource/v1.ResourceSliceSpec
ResourceSliceList	{"x-kubernetes-group-version-kind":[{"group":"resource.k8s.io","kind":"ResourceSliceList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@resource/v1.ResourceSlice
ResourceSliceSpec		driver:!rs pool:!r@resource/v1.ResourcePool nodeName:*s nodeSelector:*@core/v1.NodeSelector allNodes:*b devices:[@resource/v1.Device;a perDeviceNodeSelection:*b sharedCounters:[@resource/v1.CounterSet;a
`;

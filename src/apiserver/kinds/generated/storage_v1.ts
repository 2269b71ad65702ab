/** io.k8s.api.storage.v1: its types, one a line (see ../types/wire_types.ts). Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit. */
// deno-fmt-ignore-file
export const text = `
CSIDriver	{"x-kubernetes-group-version-kind":[{"group":"storage.k8s.io","kind":"CSIDriver","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:!r@storage/v1.CSIDriverSpec
CSIDriverList	{"x-kubernetes-group-version-kind":[{"group":"storage.k8s.io","kind":"CSIDriverList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@storage/v1.CSIDriver
CSIDriverSpec		attachRequired:*b podInfoOnMount:*b volumeLifecycleModes:[<v1.VolumeLifecycleMode>s;S storageCapacity:*b fsGroupPolicy:*<v1.FSGroupPolicy>s tokenRequests:[@storage/v1.TokenRequest;a requiresRepublish:*b seLinuxMount:*b nodeAllocatableUpdatePeriodSeconds:*l serviceAccountTokenInSecrets:*b preventPodSchedulingIfMissing:*b
CSINode	{"x-kubernetes-group-version-kind":[{"group":"storage.k8s.io","kind":"CSINode","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:!r@storage/v1.CSINodeSpec
CSINodeDriver		name:!rs nodeID:!rs topologyKeys:![s;a allocatable:*@storage/v1.VolumeNodeResources
CSINodeList	{"x-kubernetes-group-version-kind":[{"group":"storage.k8s.io","kind":"CSINodeList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@storage/v1.CSINode
CSINodeSpec		drivers:!r[@storage/v1.CSINodeDriver;Mname;kname;pmerge
CSIStorageCapacity	{"x-kubernetes-group-version-kind":[{"group":"storage.k8s.io","kind":"CSIStorageCapacity","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta nodeTopology:*@meta/v1.LabelSelector storageClassName:!rs capacity:*q maximumVolumeSize:*q
CSIStorageCapacityList	{"x-kubernetes-group-version-kind":[{"group":"storage.k8s.io","kind":"CSIStorageCapacityList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@storage/v1.CSIStorageCapacity
StorageClass	{"x-kubernetes-group-version-kind":[{"group":"storage.k8s.io","kind":"StorageClass","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta provisioner:!rs parameters:{s reclaimPolicy:*<v1.PersistentVolumeReclaimPolicy>s;eDelete,Recycle,Retain mountOptions:[s;a allowVolumeExpansion:*b volumeBindingMode:*<v1.VolumeBindingMode>s;eImmediate,WaitForFirstConsumer allowedTopologies:[@core/v1.TopologySelectorTerm;a
StorageClassList	{"x-kubernetes-group-version-kind":[{"group":"storage.k8s.io","kind":"StorageClassList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@storage/v1.StorageClass
TokenRequest		audience:!rs expirationSeconds:*l
VolumeAttachment	{"x-kubernetes-group-version-kind":[{"group":"storage.k8s.io","kind":"VolumeAttachment","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:!r@storage/v1.VolumeAttachmentSpec status:@storage/v1.VolumeAttachmentStatus
VolumeAttachmentList	{"x-kubernetes-group-version-kind":[{"group":"storage.k8s.io","kind":"VolumeAttachmentList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@storage/v1.VolumeAttachment
VolumeAttachmentSource		persistentVolumeName:*s inlineVolumeSpec:*@core/v1.PersistentVolumeSpec
VolumeAttachmentSpec		attacher:!rs source:!r@storage/v1.VolumeAttachmentSource nodeName:!rs
VolumeAttachmentStatus		attached:!rb attachmentMetadata:{s attachError:*@storage/v1.VolumeError detachError:*@storage/v1.VolumeError
VolumeAttributesClass	{"x-kubernetes-group-version-kind":[{"group":"storage.k8s.io","kind":"VolumeAttributesClass","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta driverName:!rs parameters:{s
VolumeAttributesClassList	{"x-kubernetes-group-version-kind":[{"group":"storage.k8s.io","kind":"VolumeAttributesClassList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@storage/v1.VolumeAttributesClass
VolumeError		time:t message:s errorCode:*i
VolumeNodeResources		count:*i
`;

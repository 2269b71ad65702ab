/** io.k8s.api.core.v1: its types, one a line (see ../types/wire_types.ts). Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit. */
// deno-fmt-ignore-file
export const text = `
AWSElasticBlockStoreVolumeSource		volumeID:!rs fsType:s partition:i readOnly:b
Affinity		nodeAffinity:*@core/v1.NodeAffinity podAffinity:*@core/v1.PodAffinity podAntiAffinity:*@core/v1.PodAntiAffinity
AppArmorProfile	{"x-kubernetes-unions":[{"discriminator":"type","fields-to-discriminateBy":{"localhostProfile":"LocalhostProfile"}}]}	type:!r<v1.AppArmorProfileType>s;eLocalhost,RuntimeDefault,Unconfined localhostProfile:*s
AttachedVolume		name:!r<v1.UniqueVolumeName>s devicePath:!rs
AzureDiskVolumeSource		diskName:!rs diskURI:!rs cachingMode:*<v1.AzureDataDiskCachingMode>s;eNone,ReadOnly,ReadWrite;d"ReadWrite" fsType:*s;d"ext4" readOnly:*b;dfalse kind:*<v1.AzureDataDiskKind>s;eDedicated,Managed,Shared;d"Shared"
AzureFilePersistentVolumeSource		secretName:!rs shareName:!rs readOnly:b secretNamespace:*!s
AzureFileVolumeSource		secretName:!rs shareName:!rs readOnly:b
Binding	{"x-kubernetes-group-version-kind":[{"group":"","kind":"Binding","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta target:!r@core/v1.ObjectReference
CSIPersistentVolumeSource		driver:!rs volumeHandle:!rs readOnly:b fsType:s volumeAttributes:{s controllerPublishSecretRef:*@core/v1.SecretReference nodeStageSecretRef:*@core/v1.SecretReference nodePublishSecretRef:*@core/v1.SecretReference controllerExpandSecretRef:*@core/v1.SecretReference nodeExpandSecretRef:*@core/v1.SecretReference
CSIVolumeSource		driver:!rs readOnly:*b fsType:*s volumeAttributes:{s nodePublishSecretRef:*@core/v1.LocalObjectReference
Capabilities		add:[<v1.Capability>s;a drop:[<v1.Capability>s;a
CephFSPersistentVolumeSource		monitors:!r[s;a path:s user:s secretFile:s secretRef:*@core/v1.SecretReference readOnly:b
CephFSVolumeSource		monitors:!r[s;a path:s user:s secretFile:s secretRef:*@core/v1.LocalObjectReference readOnly:b
CinderPersistentVolumeSource		volumeID:!rs fsType:s readOnly:b secretRef:*@core/v1.SecretReference
CinderVolumeSource		volumeID:!rs fsType:s readOnly:b secretRef:*@core/v1.LocalObjectReference
ClientIPConfig		timeoutSeconds:*i
ClusterTrustBundleProjection		name:*s signerName:*s labelSelector:*@meta/v1.LabelSelector optional:*b path:!rs
ComponentCondition		type:!r<v1.ComponentConditionType>s status:!r<v1.ConditionStatus>s message:s error:s
ComponentStatus	{"x-kubernetes-group-version-kind":[{"group":"","kind":"ComponentStatus","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta conditions:[@core/v1.ComponentCondition;Mtype;ktype;pmerge
ComponentStatusList	{"x-kubernetes-group-version-kind":[{"group":"","kind":"ComponentStatusList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@core/v1.ComponentStatus
ConfigMap	{"x-kubernetes-group-version-kind":[{"group":"","kind":"ConfigMap","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta immutable:*b data:{s binaryData:{y
ConfigMapEnvSource		name:s;d"" optional:*b
ConfigMapKeySelector	{"x-kubernetes-map-type":"atomic"}	name:s;d"" key:!rs optional:*b
ConfigMapList	{"x-kubernetes-group-version-kind":[{"group":"","kind":"ConfigMapList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@core/v1.ConfigMap
ConfigMapNodeConfigSource		namespace:!rs name:!rs uid:<types.UID>s resourceVersion:s kubeletConfigKey:!rs
ConfigMapProjection		name:s;d"" items:[@core/v1.KeyToPath;a optional:*b
ConfigMapVolumeSource		name:s;d"" items:[@core/v1.KeyToPath;a defaultMode:*i optional:*b
Container		name:!rs image:s command:[s;a args:[s;a workingDir:s ports:[@core/v1.ContainerPort;McontainerPort,protocol;kcontainerPort;pmerge envFrom:[@core/v1.EnvFromSource;a env:[@core/v1.EnvVar;Mname;kname;pmerge resources:@core/v1.ResourceRequirements resizePolicy:[@core/v1.ContainerResizePolicy;a restartPolicy:*<v1.ContainerRestartPolicy>s restartPolicyRules:[@core/v1.ContainerRestartRule;a volumeMounts:[@core/v1.VolumeMount;MmountPath;kmountPath;pmerge volumeDevices:[@core/v1.VolumeDevice;MdevicePath;kdevicePath;pmerge livenessProbe:*@core/v1.Probe readinessProbe:*@core/v1.Probe startupProbe:*@core/v1.Probe lifecycle:*@core/v1.Lifecycle terminationMessagePath:s terminationMessagePolicy:<v1.TerminationMessagePolicy>s;eFallbackToLogsOnError,File imagePullPolicy:<v1.PullPolicy>s;eAlways,IfNotPresent,Never securityContext:*@core/v1.SecurityContext stdin:b stdinOnce:b tty:b
ContainerExtendedResourceRequest		containerName:!rs resourceName:!rs requestName:!rs
ContainerImage		names:![s;a sizeBytes:l
ContainerPort		name:s hostPort:i containerPort:!ri protocol:<v1.Protocol>s;eSCTP,TCP,UDP;d"TCP" hostIP:s
ContainerResizePolicy		resourceName:!r<v1.ResourceName>s restartPolicy:!r<v1.ResourceResizeRestartPolicy>s
ContainerRestartRule		action:r<v1.ContainerRestartRuleAction>s exitCodes:*@core/v1.ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes		operator:r<v1.ContainerRestartRuleOnExitCodesOperator>s values:[i;S
ContainerState		waiting:*@core/v1.ContainerStateWaiting running:*@core/v1.ContainerStateRunning terminated:*@core/v1.ContainerStateTerminated
ContainerStateRunning		startedAt:t
ContainerStateTerminated		exitCode:!ri signal:i reason:s message:s startedAt:t finishedAt:t containerID:s
ContainerStateWaiting		reason:s message:s
ContainerStatus		name:!rs state:@core/v1.ContainerState lastState:@core/v1.ContainerState ready:!rb restartCount:!ri image:!rs imageID:!rs containerID:s started:*b allocatedResources:<v1.ResourceList>{q resources:*@core/v1.ResourceRequirements volumeMounts:[@core/v1.VolumeMountStatus;MmountPath;kmountPath;pmerge user:*@core/v1.ContainerUser allocatedResourcesStatus:[@core/v1.ResourceStatus;Mname;kname;pmerge stopSignal:*<v1.Signal>s;eSIGABRT,SIGALRM,SIGBUS,SIGCHLD,SIGCLD,SIGCONT,SIGFPE,SIGHUP,SIGILL,SIGINT,SIGIO,SIGIOT,SIGKILL,SIGPIPE,SIGPOLL,SIGPROF,SIGPWR,SIGQUIT,SIGRTMAX,SIGRTMAX-1,SIGRTMAX-10,SIGRTMAX-11,SIGRTMAX-12,SIGRTMAX-13,SIGRTMAX-14,SIGRTMAX-2,SIGRTMAX-3,SIGRTMAX-4,SIGRTMAX-5,SIGRTMAX-6,SIGRTMAX-7,SIGRTMAX-8,SIGRTMAX-9,SIGRTMIN,SIGRTMIN+1,SIGRTMIN+10,SIGRTMIN+11,SIGRTMIN+12,SIGRTMIN+13,SIGRTMIN+14,SIGRTMIN+15,SIGRTMIN+2,SIGRTMIN+3,SIGRTMIN+4,SIGRTMIN+5,SIGRTMIN+6,SIGRTMIN+7,SIGRTMIN+8,SIGRTMIN+9,SIGSEGV,SIGSTKFLT,SIGSTOP,SIGSYS,SIGTERM,SIGTRAP,SIGTSTP,SIGTTIN,SIGTTOU,SIGURG,SIGUSR1,SIGUSR2,SIGVTALRM,SIGWINCH,SIGXCPU,SIGXFSZ
ContainerUser		linux:*@core/v1.LinuxContainerUser
DaemonEndpoint		Port:!ri
DownwardAPIProjection		items:[@core/v1.DownwardAPIVolumeFile;a
DownwardAPIVolumeFile		path:!rs fieldRef:*@core/v1.ObjectFieldSelector resourceFieldRef:*@core/v1.ResourceFieldSelector mode:*i
DownwardAPIVolumeSource		items:[@core/v1.DownwardAPIVolumeFile;a defaultMode:*i
EmptyDirVolumeSource		medium:<v1.StorageMedium>s sizeLimit:*q
EndpointAddress	{"x-kubernetes-map-type":"atomic"}	ip:!rs hostname:s nodeName:*s targetRef:*@core/v1.ObjectReference
EndpointPort	{"x-kubernetes-map-type":"atomic"}	name:s port:!ri protocol:<v1.Protocol>s;eSCTP,TCP,UDP appProtocol:*s
EndpointSubset		addresses:[@core/v1.EndpointAddress;a notReadyAddresses:[@core/v1.EndpointAddress;a ports:[@core/v1.EndpointPort;a
Endpoints	{"x-kubernetes-group-version-kind":[{"group":"","kind":"Endpoints","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta subsets:[@core/v1.EndpointSubset;a
EndpointsList	{"x-kubernetes-group-version-kind":[{"group":"","kind":"EndpointsList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@core/v1.Endpoints
EnvFromSource		prefix:s configMapRef:*@core/v1.ConfigMapEnvSource secretRef:*@core/v1.SecretEnvSource
EnvVar		name:!rs value:s valueFrom:*@core/v1.EnvVarSource
EnvVarSource		fieldRef:*@core/v1.ObjectFieldSelector resourceFieldRef:*@core/v1.ResourceFieldSelector configMapKeyRef:*@core/v1.ConfigMapKeySelector secretKeyRef:*@core/v1.SecretKeySelector fileKeyRef:*@core/v1.FileKeySelector
EphemeralContainer		name:!rs image:s command:[s;a args:[s;a workingDir:s ports:[@core/v1.ContainerPort;McontainerPort,protocol;kcontainerPort;pmerge envFrom:[@core/v1.EnvFromSource;a env:[@core/v1.EnvVar;Mname;kname;pmerge resources:@core/v1.ResourceRequirements resizePolicy:[@core/v1.ContainerResizePolicy;a restartPolicy:*<v1.ContainerRestartPolicy>s restartPolicyRules:[@core/v1.ContainerRestartRule;a volumeMounts:[@core/v1.VolumeMount;MmountPath;kmountPath;pmerge volumeDevices:[@core/v1.VolumeDevice;MdevicePath;kdevicePath;pmerge livenessProbe:*@core/v1.Probe readinessProbe:*@core/v1.Probe startupProbe:*@core/v1.Probe lifecycle:*@core/v1.Lifecycle terminationMessagePath:s terminationMessagePolicy:<v1.TerminationMessagePolicy>s;eFallbackToLogsOnError,File imagePullPolicy:<v1.PullPolicy>s;eAlways,IfNotPresent,Never securityContext:*@core/v1.SecurityContext stdin:b stdinOnce:b tty:b targetContainerName:s
EphemeralVolumeSource		volumeClaimTemplate:*@core/v1.PersistentVolumeClaimTemplate
Event	{"x-kubernetes-group-version-kind":[{"group":"","kind":"Event","version":"v1"}]}	kind:s apiVersion:s metadata:!r@meta/v1.ObjectMeta involvedObject:!r@core/v1.ObjectReference reason:s message:s source:@core/v1.EventSource firstTimestamp:t lastTimestamp:t count:i type:s eventTime:u series:*@core/v1.EventSeries action:s related:*@core/v1.ObjectReference reportingComponent:!s reportingInstance:!s
EventList	{"x-kubernetes-group-version-kind":[{"group":"","kind":"EventList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@core/v1.Event
EventSeries		count:i lastObservedTime:u
EventSource		component:s host:s
ExecAction		command:[s;a
FCVolumeSource		targetWWNs:[s;a lun:*i fsType:s readOnly:b wwids:[s;a
FileKeySelector	{"x-kubernetes-map-type":"atomic"}	volumeName:!rs path:!rs key:!rs optional:*b;dfalse
FlexPersistentVolumeSource		driver:!rs fsType:s secretRef:*@core/v1.SecretReference readOnly:b options:{s
FlexVolumeSource		driver:!rs fsType:s secretRef:*@core/v1.LocalObjectReference readOnly:b options:{s
FlockerVolumeSource		datasetName:s datasetUUID:s
GCEPersistentDiskVolumeSource		pdName:!rs fsType:s partition:i readOnly:b
GRPCAction		port:!ri service:*!s;d""
GitRepoVolumeSource		repository:!rs revision:s directory:s
GlusterfsPersistentVolumeSource		endpoints:!rs path:!rs readOnly:b endpointsNamespace:*s
GlusterfsVolumeSource		endpoints:!rs path:!rs readOnly:b
HTTPGetAction		path:s port:!ro host:s scheme:<v1.URIScheme>s;eHTTP,HTTPS httpHeaders:[@core/v1.HTTPHeader;a
HTTPHeader		name:!rs value:!rs
HostAlias		ip:!rs hostnames:[s;a
HostIP		ip:!rs
HostPathVolumeSource		path:!rs type:*<v1.HostPathType>s;e,BlockDevice,CharDevice,Directory,DirectoryOrCreate,File,FileOrCreate,Socket
ISCSIPersistentVolumeSource		targetPortal:!rs iqn:!rs lun:!ri iscsiInterface:s;d"default" fsType:s readOnly:b portals:[s;a chapAuthDiscovery:b chapAuthSession:b secretRef:*@core/v1.SecretReference initiatorName:*s
ISCSIVolumeSource		targetPortal:!rs iqn:!rs lun:!ri iscsiInterface:s;d"default" fsType:s readOnly:b portals:[s;a chapAuthDiscovery:b chapAuthSession:b secretRef:*@core/v1.LocalObjectReference initiatorName:*s
ImageVolumeSource		reference:s pullPolicy:<v1.PullPolicy>s;eAlways,IfNotPresent,Never
ImageVolumeStatus		imageRef:rs
KeyToPath		key:!rs path:!rs mode:*i
Lifecycle		postStart:*@core/v1.LifecycleHandler preStop:*@core/v1.LifecycleHandler stopSignal:*<v1.Signal>s;eSIGABRT,SIGALRM,SIGBUS,SIGCHLD,SIGCLD,SIGCONT,SIGFPE,SIGHUP,SIGILL,SIGINT,SIGIO,SIGIOT,SIGKILL,SIGPIPE,SIGPOLL,SIGPROF,SIGPWR,SIGQUIT,SIGRTMAX,SIGRTMAX-1,SIGRTMAX-10,SIGRTMAX-11,SIGRTMAX-12,SIGRTMAX-13,SIGRTMAX-14,SIGRTMAX-2,SIGRTMAX-3,SIGRTMAX-4,SIGRTMAX-5,SIGRTMAX-6,SIGRTMAX-7,SIGRTMAX-8,SIGRTMAX-9,SIGRTMIN,SIGRTMIN+1,SIGRTMIN+10,SIGRTMIN+11,SIGRTMIN+12,SIGRTMIN+13,SIGRTMIN+14,SIGRTMIN+15,SIGRTMIN+2,SIGRTMIN+3,SIGRTMIN+4,SIGRTMIN+5,SIGRTMIN+6,SIGRTMIN+7,SIGRTMIN+8,SIGRTMIN+9,SIGSEGV,SIGSTKFLT,SIGSTOP,SIGSYS,SIGTERM,SIGTRAP,SIGTSTP,SIGTTIN,SIGTTOU,SIGURG,SIGUSR1,SIGUSR2,SIGVTALRM,SIGWINCH,SIGXCPU,SIGXFSZ
LifecycleHandler		exec:*@core/v1.ExecAction httpGet:*@core/v1.HTTPGetAction tcpSocket:*@core/v1.TCPSocketAction sleep:*@core/v1.SleepAction
LimitRange	{"x-kubernetes-group-version-kind":[{"group":"","kind":"LimitRange","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:@core/v1.LimitRangeSpec
LimitRangeItem		type:!r<v1.LimitType>s max:<v1.ResourceList>{q min:<v1.ResourceList>{q default:<v1.ResourceList>{q defaultRequest:<v1.ResourceList>{q maxLimitRequestRatio:<v1.ResourceList>{q
LimitRangeList	{"x-kubernetes-group-version-kind":[{"group":"","kind":"LimitRangeList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@core/v1.LimitRange
LimitRangeSpec		limits:!r[@core/v1.LimitRangeItem;a
LinuxContainerUser		uid:!rl gid:!rl supplementalGroups:[l;a
LoadBalancerIngress		ip:s hostname:s ipMode:*<v1.LoadBalancerIPMode>s ports:[@core/v1.PortStatus;a
LoadBalancerStatus		ingress:[@core/v1.LoadBalancerIngress;a
LocalObjectReference	{"x-kubernetes-map-type":"atomic"}	name:s;d""
LocalVolumeSource		path:!rs fsType:*s
ModifyVolumeStatus		targetVolumeAttributesClassName:s status:!r<v1.PersistentVolumeClaimModifyVolumeStatus>s;eInProgress,Infeasible,Pending
NFSVolumeSource		server:!rs path:!rs readOnly:b
Namespace	{"x-kubernetes-group-version-kind":[{"group":"","kind":"Namespace","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:@core/v1.NamespaceSpec status:@core/v1.NamespaceStatus
NamespaceCondition		type:!r<v1.NamespaceConditionType>s status:!r<v1.ConditionStatus>s lastTransitionTime:t reason:s message:s
NamespaceList	{"x-kubernetes-group-version-kind":[{"group":"","kind":"NamespaceList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@core/v1.Namespace
NamespaceSpec		finalizers:[<v1.FinalizerName>s;a
NamespaceStatus		phase:<v1.NamespacePhase>s;eActive,Terminating conditions:[@core/v1.NamespaceCondition;Mtype;ktype;pmerge
Node	{"x-kubernetes-group-version-kind":[{"group":"","kind":"Node","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:@core/v1.NodeSpec status:@core/v1.NodeStatus
NodeAddress		type:!r<v1.NodeAddressType>s address:!rs
NodeAffinity		requiredDuringSchedulingIgnoredDuringExecution:*@core/v1.NodeSelector preferredDuringSchedulingIgnoredDuringExecution:[@core/v1.PreferredSchedulingTerm;a
NodeAllocatableResourceClaimStatus		resourceClaimName:!rs containers:[s;S resources:!r<map[v1.ResourceName]resource.Quantity>{q
NodeCondition		type:!r<v1.NodeConditionType>s status:!r<v1.ConditionStatus>s lastHeartbeatTime:t lastTransitionTime:t reason:s message:s
NodeConfigSource		configMap:*@core/v1.ConfigMapNodeConfigSource
NodeConfigStatus		assigned:*@core/v1.NodeConfigSource active:*@core/v1.NodeConfigSource lastKnownGood:*@core/v1.NodeConfigSource error:s
NodeDaemonEndpoints		kubeletEndpoint:@core/v1.DaemonEndpoint
NodeFeatures		supplementalGroupsPolicy:*b
NodeList	{"x-kubernetes-group-version-kind":[{"group":"","kind":"NodeList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@core/v1.Node
NodeRuntimeHandler		name:!s features:*@core/v1.NodeRuntimeHandlerFeatures
NodeRuntimeHandlerFeatures		recursiveReadOnlyMounts:*b userNamespaces:*b
NodeSelector	{"x-kubernetes-map-type":"atomic"}	nodeSelectorTerms:!r[@core/v1.NodeSelectorTerm;a
NodeSelectorRequirement		key:!rs operator:!r<v1.NodeSelectorOperator>s;eDoesNotExist,Exists,Gt,In,Lt,NotIn values:[s;a
NodeSelectorTerm	{"x-kubernetes-map-type":"atomic"}	matchExpressions:[@core/v1.NodeSelectorRequirement;a matchFields:[@core/v1.NodeSelectorRequirement;a
NodeSpec		podCIDR:s podCIDRs:[s;S;pmerge providerID:s unschedulable:b taints:[@core/v1.Taint;a configSource:*@core/v1.NodeConfigSource externalID:s
NodeStatus		capacity:<v1.ResourceList>{q allocatable:<v1.ResourceList>{q phase:<v1.NodePhase>s;ePending,Running,Terminated conditions:[@core/v1.NodeCondition;Mtype;ktype;pmerge addresses:[@core/v1.NodeAddress;Mtype;ktype;pmerge daemonEndpoints:@core/v1.NodeDaemonEndpoints nodeInfo:@core/v1.NodeSystemInfo images:[@core/v1.ContainerImage;a volumesInUse:[<v1.UniqueVolumeName>s;a volumesAttached:[@core/v1.AttachedVolume;a config:*@core/v1.NodeConfigStatus runtimeHandlers:[@core/v1.NodeRuntimeHandler;a features:*@core/v1.NodeFeatures declaredFeatures:[s;a
NodeSwapStatus		capacity:*l
NodeSystemInfo		machineID:!rs systemUUID:!rs bootID:!rs kernelVersion:!rs osImage:!rs containerRuntimeVersion:!rs kubeletVersion:!rs kubeProxyVersion:!rs operatingSystem:!rs architecture:!rs swap:*@core/v1.NodeSwapStatus
ObjectFieldSelector	{"x-kubernetes-map-type":"atomic"}	apiVersion:s fieldPath:!rs
ObjectReference	{"x-kubernetes-map-type":"atomic"}	kind:s namespace:s name:s uid:<types.UID>s apiVersion:s resourceVersion:s fieldPath:s
PersistentVolume	{"x-kubernetes-group-version-kind":[{"group":"","kind":"PersistentVolume","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:@core/v1.PersistentVolumeSpec status:@core/v1.PersistentVolumeStatus
PersistentVolumeClaim	{"x-kubernetes-group-version-kind":[{"group":"","kind":"PersistentVolumeClaim","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:@core/v1.PersistentVolumeClaimSpec status:@core/v1.PersistentVolumeClaimStatus
PersistentVolumeClaimCondition		type:!r<v1.PersistentVolumeClaimConditionType>s status:!r<v1.ConditionStatus>s lastProbeTime:t lastTransitionTime:t reason:s message:s
PersistentVolumeClaimList	{"x-kubernetes-group-version-kind":[{"group":"","kind":"PersistentVolumeClaimList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@core/v1.PersistentVolumeClaim
PersistentVolumeClaimSpec		accessModes:[<v1.PersistentVolumeAccessMode>s;a;EReadOnlyMany,ReadWriteMany,ReadWriteOnce,ReadWriteOncePod selector:*@meta/v1.LabelSelector resources:@core/v1.VolumeResourceRequirements volumeName:s storageClassName:*s volumeMode:*<v1.PersistentVolumeMode>s;eBlock,Filesystem dataSource:*@core/v1.TypedLocalObjectReference dataSourceRef:*@core/v1.TypedObjectReference volumeAttributesClassName:*s
PersistentVolumeClaimStatus		phase:<v1.PersistentVolumeClaimPhase>s;eBound,Lost,Pending accessModes:[<v1.PersistentVolumeAccessMode>s;a;EReadOnlyMany,ReadWriteMany,ReadWriteOnce,ReadWriteOncePod capacity:<v1.ResourceList>{q conditions:[@core/v1.PersistentVolumeClaimCondition;Mtype;ktype;pmerge allocatedResources:<v1.ResourceList>{q allocatedResourceStatuses:<map[v1.ResourceName]v1.ClaimResourceStatus>{<v1.ClaimResourceStatus>s;G;EControllerResizeInProgress,ControllerResizeInfeasible,NodeResizeInProgress,NodeResizeInfeasible,NodeResizePending currentVolumeAttributesClassName:*s modifyVolumeStatus:*@core/v1.ModifyVolumeStatus
PersistentVolumeClaimTemplate		metadata:@meta/v1.ObjectMeta spec:!r@core/v1.PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource		claimName:!rs readOnly:b
PersistentVolumeList	{"x-kubernetes-group-version-kind":[{"group":"","kind":"PersistentVolumeList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@core/v1.PersistentVolume
PersistentVolumeSpec		capacity:<v1.ResourceList>{q gcePersistentDisk:*@core/v1.GCEPersistentDiskVolumeSource awsElasticBlockStore:*@core/v1.AWSElasticBlockStoreVolumeSource hostPath:*@core/v1.HostPathVolumeSource glusterfs:*@core/v1.GlusterfsPersistentVolumeSource nfs:*@core/v1.NFSVolumeSource rbd:*@core/v1.RBDPersistentVolumeSource iscsi:*@core/v1.ISCSIPersistentVolumeSource cinder:*@core/v1.CinderPersistentVolumeSource cephfs:*@core/v1.CephFSPersistentVolumeSource fc:*@core/v1.FCVolumeSource flocker:*@core/v1.FlockerVolumeSource flexVolume:*@core/v1.FlexPersistentVolumeSource azureFile:*@core/v1.AzureFilePersistentVolumeSource vsphereVolume:*@core/v1.VsphereVirtualDiskVolumeSource quobyte:*@core/v1.QuobyteVolumeSource azureDisk:*@core/v1.AzureDiskVolumeSource photonPersistentDisk:*@core/v1.PhotonPersistentDiskVolumeSource portworxVolume:*@core/v1.PortworxVolumeSource scaleIO:*@core/v1.ScaleIOPersistentVolumeSource local:*@core/v1.LocalVolumeSource storageos:*@core/v1.StorageOSPersistentVolumeSource csi:*@core/v1.CSIPersistentVolumeSource accessModes:[<v1.PersistentVolumeAccessMode>s;a;EReadOnlyMany,ReadWriteMany,ReadWriteOnce,ReadWriteOncePod claimRef:*@core/v1.ObjectReference;G persistentVolumeReclaimPolicy:<v1.PersistentVolumeReclaimPolicy>s;eDelete,Recycle,Retain storageClassName:s mountOptions:[s;a volumeMode:*<v1.PersistentVolumeMode>s;eBlock,Filesystem nodeAffinity:*@core/v1.VolumeNodeAffinity volumeAttributesClassName:*s
PersistentVolumeStatus		phase:<v1.PersistentVolumePhase>s;eAvailable,Bound,Failed,Pending,Released message:s reason:s lastPhaseTransitionTime:*t
PhotonPersistentDiskVolumeSource		pdID:!rs fsType:s
Pod	{"x-kubernetes-group-version-kind":[{"group":"","kind":"Pod","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:@core/v1.PodSpec status:@core/v1.PodStatus
PodAffinity		requiredDuringSchedulingIgnoredDuringExecution:[@core/v1.PodAffinityTerm;a preferredDuringSchedulingIgnoredDuringExecution:[@core/v1.WeightedPodAffinityTerm;a
PodAffinityTerm		labelSelector:*@meta/v1.LabelSelector namespaces:[s;a topologyKey:!rs namespaceSelector:*@meta/v1.LabelSelector matchLabelKeys:[s;a mismatchLabelKeys:[s;a
PodAntiAffinity		requiredDuringSchedulingIgnoredDuringExecution:[@core/v1.PodAffinityTerm;a preferredDuringSchedulingIgnoredDuringExecution:[@core/v1.WeightedPodAffinityTerm;a
PodCertificateProjection		signerName:rs keyType:rs maxExpirationSeconds:*i credentialBundlePath:s keyPath:s certificateChainPath:s userAnnotations:{s
PodCondition		type:!r<v1.PodConditionType>s observedGeneration:l status:!r<v1.ConditionStatus>s lastProbeTime:t lastTransitionTime:t reason:s message:s
PodDNSConfig		nameservers:[s;a searches:[s;a options:[@core/v1.PodDNSConfigOption;a
PodDNSConfigOption		name:s value:*s
PodExtendedResourceClaimStatus		requestMappings:!r[@core/v1.ContainerExtendedResourceRequest;a resourceClaimName:!rs
PodIP		ip:!rs
PodList	{"x-kubernetes-group-version-kind":[{"group":"","kind":"PodList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@core/v1.Pod
PodOS		name:!r<v1.OSName>s
PodReadinessGate		conditionType:!r<v1.PodConditionType>s
PodResourceClaim		name:!rs resourceClaimName:*s resourceClaimTemplateName:*s
PodResourceClaimStatus		name:!rs resourceClaimName:*s
PodSchedulingGate		name:!rs
PodSchedulingGroup	{"x-kubernetes-unions":[{"fields-to-discriminateBy":{"podGroupName":"PodGroupName"}}]}	podGroupName:*s
PodSecurityContext		seLinuxOptions:*@core/v1.SELinuxOptions windowsOptions:*@core/v1.WindowsSecurityContextOptions runAsUser:*l runAsGroup:*l runAsNonRoot:*b supplementalGroups:[l;a supplementalGroupsPolicy:*<v1.SupplementalGroupsPolicy>s;eMerge,Strict fsGroup:*l sysctls:[@core/v1.Sysctl;a fsGroupChangePolicy:*<v1.PodFSGroupChangePolicy>s;eAlways,OnRootMismatch seccompProfile:*@core/v1.SeccompProfile appArmorProfile:*@core/v1.AppArmorProfile seLinuxChangePolicy:*<v1.PodSELinuxChangePolicy>s
PodSpec		volumes:[@core/v1.Volume;Mname;kname;pmerge,retainKeys initContainers:[@core/v1.Container;Mname;kname;pmerge containers:!r[@core/v1.Container;Mname;kname;pmerge ephemeralContainers:[@core/v1.EphemeralContainer;Mname;kname;pmerge restartPolicy:<v1.RestartPolicy>s;eAlways,Never,OnFailure terminationGracePeriodSeconds:*l activeDeadlineSeconds:*l dnsPolicy:<v1.DNSPolicy>s;eClusterFirst,ClusterFirstWithHostNet,Default,None nodeSelector:{s;A serviceAccountName:s serviceAccount:s automountServiceAccountToken:*b nodeName:s hostNetwork:b hostPID:b hostIPC:b shareProcessNamespace:*b securityContext:*@core/v1.PodSecurityContext imagePullSecrets:[@core/v1.LocalObjectReference;Mname;kname;pmerge hostname:s subdomain:s affinity:*@core/v1.Affinity schedulerName:s tolerations:[@core/v1.Toleration;a hostAliases:[@core/v1.HostAlias;Mip;kip;pmerge priorityClassName:s priority:*i dnsConfig:*@core/v1.PodDNSConfig readinessGates:[@core/v1.PodReadinessGate;a runtimeClassName:*s enableServiceLinks:*b preemptionPolicy:*<v1.PreemptionPolicy>s;eNever,PreemptLowerPriority overhead:<v1.ResourceList>{q topologySpreadConstraints:[@core/v1.TopologySpreadConstraint;MtopologyKey,whenUnsatisfiable;ktopologyKey;pmerge setHostnameAsFQDN:*b os:*@core/v1.PodOS hostUsers:*b schedulingGates:[@core/v1.PodSchedulingGate;Mname;kname;pmerge resourceClaims:[@core/v1.PodResourceClaim;Mname;kname;pmerge,retainKeys resources:*@core/v1.ResourceRequirements hostnameOverride:*s schedulingGroup:*@core/v1.PodSchedulingGroup
PodStatus		observedGeneration:l phase:<v1.PodPhase>s;eFailed,Pending,Running,Succeeded,Unknown conditions:[@core/v1.PodCondition;Mtype;ktype;pmerge message:s reason:s nominatedNodeName:s hostIP:s hostIPs:[@core/v1.HostIP;a;kip;pmerge podIP:s podIPs:[@core/v1.PodIP;Mip;kip;pmerge startTime:*t initContainerStatuses:[@core/v1.ContainerStatus;a containerStatuses:[@core/v1.ContainerStatus;a qosClass:<v1.PodQOSClass>s;eBestEffort,Burstable,Guaranteed ephemeralContainerStatuses:[@core/v1.ContainerStatus;a resize:<v1.PodResizeStatus>s resourceClaimStatuses:[@core/v1.PodResourceClaimStatus;Mname;kname;pmerge,retainKeys extendedResourceClaimStatus:*@core/v1.PodExtendedResourceClaimStatus allocatedResources:<v1.ResourceList>{q resources:*@core/v1.ResourceRequirements nodeAllocatableResourceClaimStatuses:[@core/v1.NodeAllocatableResourceClaimStatus;a
PodTemplate	{"x-kubernetes-group-version-kind":[{"group":"","kind":"PodTemplate","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta template:@core/v1.PodTemplateSpec
PodTemplateList	{"x-kubernetes-group-version-kind":[{"group":"","kind":"PodTemplateList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@core/v1.PodTemplate
PodTemplateSpec		metadata:@meta/v1.ObjectMeta spec:@core/v1.PodSpec
PortStatus		port:!ri protocol:!r<v1.Protocol>s;eSCTP,TCP,UDP error:*s
PortworxVolumeSource		volumeID:!rs fsType:s readOnly:b
PreferredSchedulingTerm		weight:!ri preference:!r@core/v1.NodeSelectorTerm
Probe		exec:*@core/v1.ExecAction httpGet:*@core/v1.HTTPGetAction tcpSocket:*@core/v1.TCPSocketAction grpc:*@core/v1.GRPCAction initialDelaySeconds:i timeoutSeconds:i periodSeconds:i successThreshold:i failureThreshold:i terminationGracePeriodSeconds:*l
ProjectedVolumeSource		sources:![@core/v1.VolumeProjection;a defaultMode:*i
QuobyteVolumeSource		registry:!rs volume:!rs readOnly:b user:s group:s tenant:s
RBDPersistentVolumeSource		monitors:!r[s;a image:!rs fsType:s pool:s;d"rbd" user:s;d"admin" keyring:s;d"/etc/ceph/keyring" secretRef:*@core/v1.SecretReference readOnly:b
RBDVolumeSource		monitors:!r[s;a image:!rs fsType:s pool:s;d"rbd" user:s;d"admin" keyring:s;d"/etc/ceph/keyring" secretRef:*@core/v1.LocalObjectReference readOnly:b
ReplicationController	{"x-kubernetes-group-version-kind":[{"group":"","kind":"ReplicationController","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:@core/v1.ReplicationControllerSpec status:@core/v1.ReplicationControllerStatus
ReplicationControllerCondition		type:!r<v1.ReplicationControllerConditionType>s status:!r<v1.ConditionStatus>s lastTransitionTime:t reason:s message:s
ReplicationControllerList	{"x-kubernetes-group-version-kind":[{"group":"","kind":"ReplicationControllerList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@core/v1.ReplicationController
ReplicationControllerSpec		replicas:*i;d1 minReadySeconds:i;d0 selector:{s;A template:*@core/v1.PodTemplateSpec
ReplicationControllerStatus		replicas:!ri fullyLabeledReplicas:i readyReplicas:i availableReplicas:i observedGeneration:l conditions:[@core/v1.ReplicationControllerCondition;Mtype;ktype;pmerge
ResourceClaim		name:!rs request:s
ResourceFieldSelector	{"x-kubernetes-map-type":"atomic"}	containerName:s resource:!rs divisor:q
ResourceHealth		resourceID:!r<v1.ResourceID>s health:<v1.ResourceHealthStatus>s message:*s
ResourceQuota	{"x-kubernetes-group-version-kind":[{"group":"","kind":"ResourceQuota","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:@core/v1.ResourceQuotaSpec status:@core/v1.ResourceQuotaStatus
ResourceQuotaList	{"x-kubernetes-group-version-kind":[{"group":"","kind":"ResourceQuotaList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@core/v1.ResourceQuota
ResourceQuotaSpec		hard:<v1.ResourceList>{q scopes:[<v1.ResourceQuotaScope>s;a;EBestEffort,CrossNamespacePodAffinity,NotBestEffort,NotTerminating,PriorityClass,Terminating,VolumeAttributesClass scopeSelector:*@core/v1.ScopeSelector
ResourceQuotaStatus		hard:<v1.ResourceList>{q used:<v1.ResourceList>{q
ResourceRequirements		limits:<v1.ResourceList>{q requests:<v1.ResourceList>{q claims:[@core/v1.ResourceClaim;Mname
ResourceStatus		name:!r<v1.ResourceName>s resources:[@core/v1.ResourceHealth;MresourceID
SELinuxOptions		user:s role:s type:s level:s
ScaleIOPersistentVolumeSource		gateway:!rs system:!rs secretRef:*!r@core/v1.SecretReference sslEnabled:b protectionDomain:s storagePool:s storageMode:s;d"ThinProvisioned" volumeName:s fsType:s;d"xfs" readOnly:b
ScaleIOVolumeSource		gateway:!rs system:!rs secretRef:*!r@core/v1.LocalObjectReference sslEnabled:b protectionDomain:s storagePool:s storageMode:s;d"ThinProvisioned" volumeName:s fsType:s;d"xfs" readOnly:b
ScopeSelector	{"x-kubernetes-map-type":"atomic"}	matchExpressions:[@core/v1.ScopedResourceSelectorRequirement;a
ScopedResourceSelectorRequirement		scopeName:!r<v1.ResourceQuotaScope>s;eBestEffort,CrossNamespacePodAffinity,NotBestEffort,NotTerminating,PriorityClass,Terminating,VolumeAttributesClass operator:!r<v1.ScopeSelectorOperator>s;eDoesNotExist,Exists,In,NotIn values:[s;a
SeccompProfile	{"x-kubernetes-unions":[{"discriminator":"type","fields-to-discriminateBy":{"localhostProfile":"LocalhostProfile"}}]}	type:!r<v1.SeccompProfileType>s;eLocalhost,RuntimeDefault,Unconfined localhostProfile:*s
Secret	{"x-kubernetes-group-version-kind":[{"group":"","kind":"Secret","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta immutable:*b data:{y stringData:{s type:<v1.SecretType>s
SecretEnvSource		name:s;d"" optional:*b
SecretKeySelector	{"x-kubernetes-map-type":"atomic"}	name:s;d"" key:!rs optional:*b
SecretList	{"x-kubernetes-group-version-kind":[{"group":"","kind":"SecretList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@core/v1.Secret
SecretProjection		name:s;d"" items:[@core/v1.KeyToPath;a optional:*b
SecretReference	{"x-kubernetes-map-type":"atomic"}	name:s namespace:s
SecretVolumeSource		secretName:s items:[@core/v1.KeyToPath;a defaultMode:*i optional:*b
SecurityContext		capabilities:*@core/v1.Capabilities privileged:*b seLinuxOptions:*@core/v1.SELinuxOptions windowsOptions:*@core/v1.WindowsSecurityContextOptions runAsUser:*l runAsGroup:*l runAsNonRoot:*b readOnlyRootFilesystem:*b allowPrivilegeEscalation:*b procMount:*<v1.ProcMountType>s;eDefault,Unmasked seccompProfile:*@core/v1.SeccompProfile appArmorProfile:*@core/v1.AppArmorProfile
Service	{"x-kubernetes-group-version-kind":[{"group":"","kind":"Service","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:@core/v1.ServiceSpec status:@core/v1.ServiceStatus
ServiceAccount	{"x-kubernetes-group-version-kind":[{"group":"","kind":"ServiceAccount","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta secrets:[@core/v1.ObjectReference;Mname;kname;pmerge imagePullSecrets:[@core/v1.LocalObjectReference;a automountServiceAccountToken:*b
ServiceAccountList	{"x-kubernetes-group-version-kind":[{"group":"","kind":"ServiceAccountList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@core/v1.ServiceAccount
ServiceAccountTokenProjection		audience:s expirationSeconds:*l path:!rs
ServiceList	{"x-kubernetes-group-version-kind":[{"group":"","kind":"ServiceList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@core/v1.Service
ServicePort		name:s protocol:<v1.Protocol>s;eSCTP,TCP,UDP;d"TCP" appProtocol:*s port:!ri targetPort:o nodePort:i
ServiceSpec		ports:[@core/v1.ServicePort;Mport,protocol;kport;pmerge selector:{s;A clusterIP:s clusterIPs:[s;a type:<v1.ServiceType>s;eClusterIP,ExternalName,LoadBalancer,NodePort externalIPs:[s;a sessionAffinity:<v1.ServiceAffinity>s;eClientIP,None loadBalancerIP:s loadBalancerSourceRanges:[s;a externalName:s externalTrafficPolicy:<v1.ServiceExternalTrafficPolicy>s;eCluster,Local healthCheckNodePort:i publishNotReadyAddresses:b sessionAffinityConfig:*@core/v1.SessionAffinityConfig ipFamilies:[<v1.IPFamily>s;a;E,IPv4,IPv6 ipFamilyPolicy:*<v1.IPFamilyPolicy>s;ePreferDualStack,RequireDualStack,SingleStack allocateLoadBalancerNodePorts:*b loadBalancerClass:*s internalTrafficPolicy:*<v1.ServiceInternalTrafficPolicy>s;eCluster,Local trafficDistribution:*s
ServiceStatus		loadBalancer:@core/v1.LoadBalancerStatus conditions:[@meta/v1.Condition;Mtype;ktype;pmerge
SessionAffinityConfig		clientIP:*@core/v1.ClientIPConfig
SleepAction		seconds:!rl
StorageOSPersistentVolumeSource		volumeName:s volumeNamespace:s fsType:s readOnly:b secretRef:*@core/v1.ObjectReference
StorageOSVolumeSource		volumeName:s volumeNamespace:s fsType:s readOnly:b secretRef:*@core/v1.LocalObjectReference
Sysctl		name:!rs value:!rs
TCPSocketAction		port:!ro host:s
Taint		key:!rs value:s effect:!r<v1.TaintEffect>s;eNoExecute,NoSchedule,PreferNoSchedule timeAdded:*t
Toleration		key:s operator:<v1.TolerationOperator>s;eEqual,Exists,Gt,Lt value:s effect:<v1.TaintEffect>s;eNoExecute,NoSchedule,PreferNoSchedule tolerationSeconds:*l
TopologySelectorLabelRequirement		key:!rs values:!r[s;a
TopologySelectorTerm	{"x-kubernetes-map-type":"atomic"}	matchLabelExpressions:[@core/v1.TopologySelectorLabelRequirement;a
TopologySpreadConstraint		maxSkew:!ri topologyKey:!rs whenUnsatisfiable:!r<v1.UnsatisfiableConstraintAction>s;eDoNotSchedule,ScheduleAnyway labelSelector:*@meta/v1.LabelSelector minDomains:*i nodeAffinityPolicy:*<v1.NodeInclusionPolicy>s;eHonor,Ignore nodeTaintsPolicy:*<v1.NodeInclusionPolicy>s;eHonor,Ignore matchLabelKeys:[s;a
TypedLocalObjectReference	{"x-kubernetes-map-type":"atomic"}	apiGroup:*!s kind:!rs name:!rs
TypedObjectReference		apiGroup:*!s kind:!rs name:!rs namespace:*s
Volume		name:!rs hostPath:*@core/v1.HostPathVolumeSource emptyDir:*@core/v1.EmptyDirVolumeSource gcePersistentDisk:*@core/v1.GCEPersistentDiskVolumeSource awsElasticBlockStore:*@core/v1.AWSElasticBlockStoreVolumeSource gitRepo:*@core/v1.GitRepoVolumeSource secret:*@core/v1.SecretVolumeSource nfs:*@core/v1.NFSVolumeSource iscsi:*@core/v1.ISCSIVolumeSource glusterfs:*@core/v1.GlusterfsVolumeSource persistentVolumeClaim:*@core/v1.PersistentVolumeClaimVolumeSource rbd:*@core/v1.RBDVolumeSource flexVolume:*@core/v1.FlexVolumeSource cinder:*@core/v1.CinderVolumeSource cephfs:*@core/v1.CephFSVolumeSource flocker:*@core/v1.FlockerVolumeSource downwardAPI:*@core/v1.DownwardAPIVolumeSource fc:*@core/v1.FCVolumeSource azureFile:*@core/v1.AzureFileVolumeSource configMap:*@core/v1.ConfigMapVolumeSource vsphereVolume:*@core/v1.VsphereVirtualDiskVolumeSource quobyte:*@core/v1.QuobyteVolumeSource azureDisk:*@core/v1.AzureDiskVolumeSource photonPersistentDisk:*@core/v1.PhotonPersistentDiskVolumeSource projected:*@core/v1.ProjectedVolumeSource portworxVolume:*@core/v1.PortworxVolumeSource scaleIO:*@core/v1.ScaleIOVolumeSource storageos:*@core/v1.StorageOSVolumeSource csi:*@core/v1.CSIVolumeSource ephemeral:*@core/v1.EphemeralVolumeSource image:*@core/v1.ImageVolumeSource
VolumeDevice		name:!rs devicePath:!rs
VolumeMount		name:!rs readOnly:b recursiveReadOnly:*<v1.RecursiveReadOnlyMode>s mountPath:!rs subPath:s mountPropagation:*<v1.MountPropagationMode>s;eBidirectional,HostToContainer,None subPathExpr:s
VolumeMountStatus		name:!rs mountPath:!rs readOnly:b recursiveReadOnly:*<v1.RecursiveReadOnlyMode>s volumeStatus:*@core/v1.VolumeStatus
VolumeNodeAffinity		required:*@core/v1.NodeSelector
VolumeProjection		secret:*@core/v1.SecretProjection downwardAPI:*@core/v1.DownwardAPIProjection configMap:*@core/v1.ConfigMapProjection serviceAccountToken:*@core/v1.ServiceAccountTokenProjection clusterTrustBundle:*@core/v1.ClusterTrustBundleProjection podCertificate:*@core/v1.PodCertificateProjection
VolumeResourceRequirements		limits:<v1.ResourceList>{q requests:<v1.ResourceList>{q
VolumeStatus		image:*@core/v1.ImageVolumeStatus
VsphereVirtualDiskVolumeSource		volumePath:!rs fsType:s storagePolicyName:s storagePolicyID:s
WeightedPodAffinityTerm		weight:!ri podAffinityTerm:!r@core/v1.PodAffinityTerm
WindowsSecurityContextOptions		gmsaCredentialSpecName:*s gmsaCredentialSpec:*s runAsUserName:*s hostProcess:*b
`;

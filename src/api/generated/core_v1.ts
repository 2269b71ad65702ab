/** The types of core/v1. Written by tasks/types.ts from the schemas that kube-apiserver 1.36 publishes. Do not edit. */
// deno-fmt-ignore-file
import type { Base64, IntOrString, MicroTime, Quantity, Time } from "../builtin_resource.ts";
import type { Condition, ObjectMeta } from "../object.ts";
import type { LabelSelector } from "../selector.ts";

export interface AWSElasticBlockStoreVolumeSource {
  readonly volumeID: string;
  readonly fsType?: string;
  readonly partition?: number;
  readonly readOnly?: boolean;
}
export interface Affinity {
  readonly nodeAffinity?: NodeAffinity;
  readonly podAffinity?: PodAffinity;
  readonly podAntiAffinity?: PodAntiAffinity;
}
export interface AppArmorProfile {
  readonly type: "Localhost" | "RuntimeDefault" | "Unconfined";
  readonly localhostProfile?: string;
}
export interface AttachedVolume {
  readonly name: string;
  readonly devicePath: string;
}
export interface AzureDiskVolumeSource {
  readonly diskName: string;
  readonly diskURI: string;
  readonly cachingMode?: "None" | "ReadOnly" | "ReadWrite";
  readonly fsType?: string;
  readonly readOnly?: boolean;
  readonly kind?: "Dedicated" | "Managed" | "Shared";
}
export interface AzureFilePersistentVolumeSource {
  readonly secretName: string;
  readonly shareName: string;
  readonly readOnly?: boolean;
  readonly secretNamespace?: string;
}
export interface AzureFileVolumeSource {
  readonly secretName: string;
  readonly shareName: string;
  readonly readOnly?: boolean;
}
export interface Binding {
  readonly kind: "Binding";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly target: ObjectReference;
}
export interface CSIPersistentVolumeSource {
  readonly driver: string;
  readonly volumeHandle: string;
  readonly readOnly?: boolean;
  readonly fsType?: string;
  readonly volumeAttributes?: Readonly<Record<string, string>>;
  readonly controllerPublishSecretRef?: SecretReference;
  readonly nodeStageSecretRef?: SecretReference;
  readonly nodePublishSecretRef?: SecretReference;
  readonly controllerExpandSecretRef?: SecretReference;
  readonly nodeExpandSecretRef?: SecretReference;
}
export interface CSIVolumeSource {
  readonly driver: string;
  readonly readOnly?: boolean;
  readonly fsType?: string;
  readonly volumeAttributes?: Readonly<Record<string, string>>;
  readonly nodePublishSecretRef?: LocalObjectReference;
}
export interface Capabilities {
  readonly add?: readonly string[];
  readonly drop?: readonly string[];
}
export interface CephFSPersistentVolumeSource {
  readonly monitors: readonly string[];
  readonly path?: string;
  readonly user?: string;
  readonly secretFile?: string;
  readonly secretRef?: SecretReference;
  readonly readOnly?: boolean;
}
export interface CephFSVolumeSource {
  readonly monitors: readonly string[];
  readonly path?: string;
  readonly user?: string;
  readonly secretFile?: string;
  readonly secretRef?: LocalObjectReference;
  readonly readOnly?: boolean;
}
export interface CinderPersistentVolumeSource {
  readonly volumeID: string;
  readonly fsType?: string;
  readonly readOnly?: boolean;
  readonly secretRef?: SecretReference;
}
export interface CinderVolumeSource {
  readonly volumeID: string;
  readonly fsType?: string;
  readonly readOnly?: boolean;
  readonly secretRef?: LocalObjectReference;
}
export interface ClientIPConfig {
  readonly timeoutSeconds?: number;
}
export interface ClusterTrustBundleProjection {
  readonly name?: string;
  readonly signerName?: string;
  readonly labelSelector?: LabelSelector;
  readonly optional?: boolean;
  readonly path: string;
}
export interface ComponentCondition {
  readonly type: string;
  readonly status: string;
  readonly message?: string;
  readonly error?: string;
}
export interface ComponentStatus {
  readonly kind: "ComponentStatus";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly conditions?: readonly ComponentCondition[];
}
export interface ConfigMap {
  readonly kind: "ConfigMap";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, Base64>>;
}
export interface ConfigMapEnvSource {
  readonly name?: string;
  readonly optional?: boolean;
}
export interface ConfigMapKeySelector {
  readonly name?: string;
  readonly key: string;
  readonly optional?: boolean;
}
export interface ConfigMapNodeConfigSource {
  readonly namespace: string;
  readonly name: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly kubeletConfigKey: string;
}
export interface ConfigMapProjection {
  readonly name?: string;
  readonly items?: readonly KeyToPath[];
  readonly optional?: boolean;
}
export interface ConfigMapVolumeSource {
  readonly name?: string;
  readonly items?: readonly KeyToPath[];
  readonly defaultMode?: number;
  readonly optional?: boolean;
}
export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly workingDir?: string;
  readonly ports?: readonly ContainerPort[];
  readonly envFrom?: readonly EnvFromSource[];
  readonly env?: readonly EnvVar[];
  readonly resources?: ResourceRequirements;
  readonly resizePolicy?: readonly ContainerResizePolicy[];
  readonly restartPolicy?: string;
  readonly restartPolicyRules?: readonly ContainerRestartRule[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly volumeDevices?: readonly VolumeDevice[];
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly lifecycle?: Lifecycle;
  readonly terminationMessagePath?: string;
  readonly terminationMessagePolicy?: "FallbackToLogsOnError" | "File";
  readonly imagePullPolicy?: "Always" | "IfNotPresent" | "Never";
  readonly securityContext?: SecurityContext;
  readonly stdin?: boolean;
  readonly stdinOnce?: boolean;
  readonly tty?: boolean;
}
export interface ContainerExtendedResourceRequest {
  readonly containerName: string;
  readonly resourceName: string;
  readonly requestName: string;
}
export interface ContainerImage {
  readonly names?: readonly string[];
  readonly sizeBytes?: number;
}
export interface ContainerPort {
  readonly name?: string;
  readonly hostPort?: number;
  readonly containerPort: number;
  readonly protocol?: "SCTP" | "TCP" | "UDP";
  readonly hostIP?: string;
}
export interface ContainerResizePolicy {
  readonly resourceName: string;
  readonly restartPolicy: string;
}
export interface ContainerRestartRule {
  readonly action: string;
  readonly exitCodes?: ContainerRestartRuleOnExitCodes;
}
export interface ContainerRestartRuleOnExitCodes {
  readonly operator: string;
  readonly values?: readonly number[];
}
export interface ContainerState {
  readonly waiting?: ContainerStateWaiting;
  readonly running?: ContainerStateRunning;
  readonly terminated?: ContainerStateTerminated;
}
export interface ContainerStateRunning {
  readonly startedAt?: Time;
}
export interface ContainerStateTerminated {
  readonly exitCode: number;
  readonly signal?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly startedAt?: Time;
  readonly finishedAt?: Time;
  readonly containerID?: string;
}
export interface ContainerStateWaiting {
  readonly reason?: string;
  readonly message?: string;
}
export interface ContainerStatus {
  readonly name: string;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly image: string;
  readonly imageID: string;
  readonly containerID?: string;
  readonly started?: boolean;
  readonly allocatedResources?: Readonly<Record<string, Quantity>>;
  readonly resources?: ResourceRequirements;
  readonly volumeMounts?: readonly VolumeMountStatus[];
  readonly user?: ContainerUser;
  readonly allocatedResourcesStatus?: readonly ResourceStatus[];
  readonly stopSignal?: "SIGABRT" | "SIGALRM" | "SIGBUS" | "SIGCHLD" | "SIGCLD" | "SIGCONT" | "SIGFPE" | "SIGHUP" | "SIGILL" | "SIGINT" | "SIGIO" | "SIGIOT" | "SIGKILL" | "SIGPIPE" | "SIGPOLL" | "SIGPROF" | "SIGPWR" | "SIGQUIT" | "SIGRTMAX" | "SIGRTMAX-1" | "SIGRTMAX-10" | "SIGRTMAX-11" | "SIGRTMAX-12" | "SIGRTMAX-13" | "SIGRTMAX-14" | "SIGRTMAX-2" | "SIGRTMAX-3" | "SIGRTMAX-4" | "SIGRTMAX-5" | "SIGRTMAX-6" | "SIGRTMAX-7" | "SIGRTMAX-8" | "SIGRTMAX-9" | "SIGRTMIN" | "SIGRTMIN+1" | "SIGRTMIN+10" | "SIGRTMIN+11" | "SIGRTMIN+12" | "SIGRTMIN+13" | "SIGRTMIN+14" | "SIGRTMIN+15" | "SIGRTMIN+2" | "SIGRTMIN+3" | "SIGRTMIN+4" | "SIGRTMIN+5" | "SIGRTMIN+6" | "SIGRTMIN+7" | "SIGRTMIN+8" | "SIGRTMIN+9" | "SIGSEGV" | "SIGSTKFLT" | "SIGSTOP" | "SIGSYS" | "SIGTERM" | "SIGTRAP" | "SIGTSTP" | "SIGTTIN" | "SIGTTOU" | "SIGURG" | "SIGUSR1" | "SIGUSR2" | "SIGVTALRM" | "SIGWINCH" | "SIGXCPU" | "SIGXFSZ";
}
export interface ContainerUser {
  readonly linux?: LinuxContainerUser;
}
export interface DaemonEndpoint {
  readonly Port: number;
}
export interface DownwardAPIProjection {
  readonly items?: readonly DownwardAPIVolumeFile[];
}
export interface DownwardAPIVolumeFile {
  readonly path: string;
  readonly fieldRef?: ObjectFieldSelector;
  readonly resourceFieldRef?: ResourceFieldSelector;
  readonly mode?: number;
}
export interface DownwardAPIVolumeSource {
  readonly items?: readonly DownwardAPIVolumeFile[];
  readonly defaultMode?: number;
}
export interface EmptyDirVolumeSource {
  readonly medium?: string;
  readonly sizeLimit?: Quantity;
}
export interface EndpointAddress {
  readonly ip: string;
  readonly hostname?: string;
  readonly nodeName?: string;
  readonly targetRef?: ObjectReference;
}
export interface EndpointPort {
  readonly name?: string;
  readonly port: number;
  readonly protocol?: "SCTP" | "TCP" | "UDP";
  readonly appProtocol?: string;
}
export interface EndpointSubset {
  readonly addresses?: readonly EndpointAddress[];
  readonly notReadyAddresses?: readonly EndpointAddress[];
  readonly ports?: readonly EndpointPort[];
}
export interface Endpoints {
  readonly kind: "Endpoints";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly subsets?: readonly EndpointSubset[];
}
export interface EnvFromSource {
  readonly prefix?: string;
  readonly configMapRef?: ConfigMapEnvSource;
  readonly secretRef?: SecretEnvSource;
}
export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: EnvVarSource;
}
export interface EnvVarSource {
  readonly fieldRef?: ObjectFieldSelector;
  readonly resourceFieldRef?: ResourceFieldSelector;
  readonly configMapKeyRef?: ConfigMapKeySelector;
  readonly secretKeyRef?: SecretKeySelector;
  readonly fileKeyRef?: FileKeySelector;
}
export interface EphemeralContainer {
  readonly name: string;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly workingDir?: string;
  readonly ports?: readonly ContainerPort[];
  readonly envFrom?: readonly EnvFromSource[];
  readonly env?: readonly EnvVar[];
  readonly resources?: ResourceRequirements;
  readonly resizePolicy?: readonly ContainerResizePolicy[];
  readonly restartPolicy?: string;
  readonly restartPolicyRules?: readonly ContainerRestartRule[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly volumeDevices?: readonly VolumeDevice[];
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly lifecycle?: Lifecycle;
  readonly terminationMessagePath?: string;
  readonly terminationMessagePolicy?: "FallbackToLogsOnError" | "File";
  readonly imagePullPolicy?: "Always" | "IfNotPresent" | "Never";
  readonly securityContext?: SecurityContext;
  readonly stdin?: boolean;
  readonly stdinOnce?: boolean;
  readonly tty?: boolean;
  readonly targetContainerName?: string;
}
export interface EphemeralVolumeSource {
  readonly volumeClaimTemplate?: PersistentVolumeClaimTemplate;
}
export interface Event {
  readonly kind: "Event";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly involvedObject: ObjectReference;
  readonly reason?: string;
  readonly message?: string;
  readonly source?: EventSource;
  readonly firstTimestamp?: Time;
  readonly lastTimestamp?: Time;
  readonly count?: number;
  readonly type?: string;
  readonly eventTime?: MicroTime;
  readonly series?: EventSeries;
  readonly action?: string;
  readonly related?: ObjectReference;
  readonly reportingComponent?: string;
  readonly reportingInstance?: string;
}
export interface EventSeries {
  readonly count?: number;
  readonly lastObservedTime?: MicroTime;
}
export interface EventSource {
  readonly component?: string;
  readonly host?: string;
}
export interface ExecAction {
  readonly command?: readonly string[];
}
export interface FCVolumeSource {
  readonly targetWWNs?: readonly string[];
  readonly lun?: number;
  readonly fsType?: string;
  readonly readOnly?: boolean;
  readonly wwids?: readonly string[];
}
export interface FileKeySelector {
  readonly volumeName: string;
  readonly path: string;
  readonly key: string;
  readonly optional?: boolean;
}
export interface FlexPersistentVolumeSource {
  readonly driver: string;
  readonly fsType?: string;
  readonly secretRef?: SecretReference;
  readonly readOnly?: boolean;
  readonly options?: Readonly<Record<string, string>>;
}
export interface FlexVolumeSource {
  readonly driver: string;
  readonly fsType?: string;
  readonly secretRef?: LocalObjectReference;
  readonly readOnly?: boolean;
  readonly options?: Readonly<Record<string, string>>;
}
export interface FlockerVolumeSource {
  readonly datasetName?: string;
  readonly datasetUUID?: string;
}
export interface GCEPersistentDiskVolumeSource {
  readonly pdName: string;
  readonly fsType?: string;
  readonly partition?: number;
  readonly readOnly?: boolean;
}
export interface GRPCAction {
  readonly port: number;
  readonly service?: string;
}
export interface GitRepoVolumeSource {
  readonly repository: string;
  readonly revision?: string;
  readonly directory?: string;
}
export interface GlusterfsPersistentVolumeSource {
  readonly endpoints: string;
  readonly path: string;
  readonly readOnly?: boolean;
  readonly endpointsNamespace?: string;
}
export interface GlusterfsVolumeSource {
  readonly endpoints: string;
  readonly path: string;
  readonly readOnly?: boolean;
}
export interface HTTPGetAction {
  readonly path?: string;
  readonly port: IntOrString;
  readonly host?: string;
  readonly scheme?: "HTTP" | "HTTPS";
  readonly httpHeaders?: readonly HTTPHeader[];
}
export interface HTTPHeader {
  readonly name: string;
  readonly value: string;
}
export interface HostAlias {
  readonly ip: string;
  readonly hostnames?: readonly string[];
}
export interface HostIP {
  readonly ip: string;
}
export interface HostPathVolumeSource {
  readonly path: string;
  readonly type?: "" | "BlockDevice" | "CharDevice" | "Directory" | "DirectoryOrCreate" | "File" | "FileOrCreate" | "Socket";
}
export interface ISCSIPersistentVolumeSource {
  readonly targetPortal: string;
  readonly iqn: string;
  readonly lun: number;
  readonly iscsiInterface?: string;
  readonly fsType?: string;
  readonly readOnly?: boolean;
  readonly portals?: readonly string[];
  readonly chapAuthDiscovery?: boolean;
  readonly chapAuthSession?: boolean;
  readonly secretRef?: SecretReference;
  readonly initiatorName?: string;
}
export interface ISCSIVolumeSource {
  readonly targetPortal: string;
  readonly iqn: string;
  readonly lun: number;
  readonly iscsiInterface?: string;
  readonly fsType?: string;
  readonly readOnly?: boolean;
  readonly portals?: readonly string[];
  readonly chapAuthDiscovery?: boolean;
  readonly chapAuthSession?: boolean;
  readonly secretRef?: LocalObjectReference;
  readonly initiatorName?: string;
}
export interface ImageVolumeSource {
  readonly reference?: string;
  readonly pullPolicy?: "Always" | "IfNotPresent" | "Never";
}
export interface ImageVolumeStatus {
  readonly imageRef: string;
}
export interface KeyToPath {
  readonly key: string;
  readonly path: string;
  readonly mode?: number;
}
export interface Lifecycle {
  readonly postStart?: LifecycleHandler;
  readonly preStop?: LifecycleHandler;
  readonly stopSignal?: "SIGABRT" | "SIGALRM" | "SIGBUS" | "SIGCHLD" | "SIGCLD" | "SIGCONT" | "SIGFPE" | "SIGHUP" | "SIGILL" | "SIGINT" | "SIGIO" | "SIGIOT" | "SIGKILL" | "SIGPIPE" | "SIGPOLL" | "SIGPROF" | "SIGPWR" | "SIGQUIT" | "SIGRTMAX" | "SIGRTMAX-1" | "SIGRTMAX-10" | "SIGRTMAX-11" | "SIGRTMAX-12" | "SIGRTMAX-13" | "SIGRTMAX-14" | "SIGRTMAX-2" | "SIGRTMAX-3" | "SIGRTMAX-4" | "SIGRTMAX-5" | "SIGRTMAX-6" | "SIGRTMAX-7" | "SIGRTMAX-8" | "SIGRTMAX-9" | "SIGRTMIN" | "SIGRTMIN+1" | "SIGRTMIN+10" | "SIGRTMIN+11" | "SIGRTMIN+12" | "SIGRTMIN+13" | "SIGRTMIN+14" | "SIGRTMIN+15" | "SIGRTMIN+2" | "SIGRTMIN+3" | "SIGRTMIN+4" | "SIGRTMIN+5" | "SIGRTMIN+6" | "SIGRTMIN+7" | "SIGRTMIN+8" | "SIGRTMIN+9" | "SIGSEGV" | "SIGSTKFLT" | "SIGSTOP" | "SIGSYS" | "SIGTERM" | "SIGTRAP" | "SIGTSTP" | "SIGTTIN" | "SIGTTOU" | "SIGURG" | "SIGUSR1" | "SIGUSR2" | "SIGVTALRM" | "SIGWINCH" | "SIGXCPU" | "SIGXFSZ";
}
export interface LifecycleHandler {
  readonly exec?: ExecAction;
  readonly httpGet?: HTTPGetAction;
  readonly tcpSocket?: TCPSocketAction;
  readonly sleep?: SleepAction;
}
export interface LimitRange {
  readonly kind: "LimitRange";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: LimitRangeSpec;
}
export interface LimitRangeItem {
  readonly type: string;
  readonly max?: Readonly<Record<string, Quantity>>;
  readonly min?: Readonly<Record<string, Quantity>>;
  readonly default?: Readonly<Record<string, Quantity>>;
  readonly defaultRequest?: Readonly<Record<string, Quantity>>;
  readonly maxLimitRequestRatio?: Readonly<Record<string, Quantity>>;
}
export interface LimitRangeSpec {
  readonly limits: readonly LimitRangeItem[];
}
export interface LinuxContainerUser {
  readonly uid: number;
  readonly gid: number;
  readonly supplementalGroups?: readonly number[];
}
export interface LoadBalancerIngress {
  readonly ip?: string;
  readonly hostname?: string;
  readonly ipMode?: string;
  readonly ports?: readonly PortStatus[];
}
export interface LoadBalancerStatus {
  readonly ingress?: readonly LoadBalancerIngress[];
}
export interface LocalObjectReference {
  readonly name?: string;
}
export interface LocalVolumeSource {
  readonly path: string;
  readonly fsType?: string;
}
export interface ModifyVolumeStatus {
  readonly targetVolumeAttributesClassName?: string;
  readonly status: "InProgress" | "Infeasible" | "Pending";
}
export interface NFSVolumeSource {
  readonly server: string;
  readonly path: string;
  readonly readOnly?: boolean;
}
export interface Namespace {
  readonly kind: "Namespace";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: NamespaceSpec;
  readonly status?: NamespaceStatus;
}
export interface NamespaceCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: Time;
  readonly reason?: string;
  readonly message?: string;
}
export interface NamespaceSpec {
  readonly finalizers?: readonly string[];
}
export interface NamespaceStatus {
  readonly phase?: "Active" | "Terminating";
  readonly conditions?: readonly NamespaceCondition[];
}
export interface Node {
  readonly kind: "Node";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: NodeSpec;
  readonly status?: NodeStatus;
}
export interface NodeAddress {
  readonly type: string;
  readonly address: string;
}
export interface NodeAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector;
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly PreferredSchedulingTerm[];
}
export interface NodeAllocatableResourceClaimStatus {
  readonly resourceClaimName: string;
  readonly containers?: readonly string[];
  readonly resources: Readonly<Record<string, Quantity>>;
}
export interface NodeCondition {
  readonly type: string;
  readonly status: string;
  readonly lastHeartbeatTime?: Time;
  readonly lastTransitionTime?: Time;
  readonly reason?: string;
  readonly message?: string;
}
export interface NodeConfigSource {
  readonly configMap?: ConfigMapNodeConfigSource;
}
export interface NodeConfigStatus {
  readonly assigned?: NodeConfigSource;
  readonly active?: NodeConfigSource;
  readonly lastKnownGood?: NodeConfigSource;
  readonly error?: string;
}
export interface NodeDaemonEndpoints {
  readonly kubeletEndpoint?: DaemonEndpoint;
}
export interface NodeFeatures {
  readonly supplementalGroupsPolicy?: boolean;
}
export interface NodeRuntimeHandler {
  readonly name?: string;
  readonly features?: NodeRuntimeHandlerFeatures;
}
export interface NodeRuntimeHandlerFeatures {
  readonly recursiveReadOnlyMounts?: boolean;
  readonly userNamespaces?: boolean;
}
export interface NodeSelector {
  readonly nodeSelectorTerms: readonly NodeSelectorTerm[];
}
export interface NodeSelectorRequirement {
  readonly key: string;
  readonly operator: "DoesNotExist" | "Exists" | "Gt" | "In" | "Lt" | "NotIn";
  readonly values?: readonly string[];
}
export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
  readonly matchFields?: readonly NodeSelectorRequirement[];
}
export interface NodeSpec {
  readonly podCIDR?: string;
  readonly podCIDRs?: readonly string[];
  readonly providerID?: string;
  readonly unschedulable?: boolean;
  readonly taints?: readonly Taint[];
  readonly configSource?: NodeConfigSource;
  readonly externalID?: string;
}
export interface NodeStatus {
  readonly capacity?: Readonly<Record<string, Quantity>>;
  readonly allocatable?: Readonly<Record<string, Quantity>>;
  readonly phase?: "Pending" | "Running" | "Terminated";
  readonly conditions?: readonly NodeCondition[];
  readonly addresses?: readonly NodeAddress[];
  readonly daemonEndpoints?: NodeDaemonEndpoints;
  readonly nodeInfo?: NodeSystemInfo;
  readonly images?: readonly ContainerImage[];
  readonly volumesInUse?: readonly string[];
  readonly volumesAttached?: readonly AttachedVolume[];
  readonly config?: NodeConfigStatus;
  readonly runtimeHandlers?: readonly NodeRuntimeHandler[];
  readonly features?: NodeFeatures;
  readonly declaredFeatures?: readonly string[];
}
export interface NodeSwapStatus {
  readonly capacity?: number;
}
export interface NodeSystemInfo {
  readonly machineID: string;
  readonly systemUUID: string;
  readonly bootID: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  readonly containerRuntimeVersion: string;
  readonly kubeletVersion: string;
  readonly kubeProxyVersion: string;
  readonly operatingSystem: string;
  readonly architecture: string;
  readonly swap?: NodeSwapStatus;
}
export interface ObjectFieldSelector {
  readonly apiVersion?: string;
  readonly fieldPath: string;
}
export interface ObjectReference {
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly apiVersion?: string;
  readonly resourceVersion?: string;
  readonly fieldPath?: string;
}
export interface PersistentVolume {
  readonly kind: "PersistentVolume";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: PersistentVolumeSpec;
  readonly status?: PersistentVolumeStatus;
}
export interface PersistentVolumeClaim {
  readonly kind: "PersistentVolumeClaim";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: PersistentVolumeClaimSpec;
  readonly status?: PersistentVolumeClaimStatus;
}
export interface PersistentVolumeClaimCondition {
  readonly type: string;
  readonly status: string;
  readonly lastProbeTime?: Time;
  readonly lastTransitionTime?: Time;
  readonly reason?: string;
  readonly message?: string;
}
export interface PersistentVolumeClaimSpec {
  readonly accessModes?: readonly ("ReadOnlyMany" | "ReadWriteMany" | "ReadWriteOnce" | "ReadWriteOncePod")[];
  readonly selector?: LabelSelector;
  readonly resources?: VolumeResourceRequirements;
  readonly volumeName?: string;
  readonly storageClassName?: string;
  readonly volumeMode?: "Block" | "Filesystem";
  readonly dataSource?: TypedLocalObjectReference;
  readonly dataSourceRef?: TypedObjectReference;
  readonly volumeAttributesClassName?: string;
}
export interface PersistentVolumeClaimStatus {
  readonly phase?: "Bound" | "Lost" | "Pending";
  readonly accessModes?: readonly ("ReadOnlyMany" | "ReadWriteMany" | "ReadWriteOnce" | "ReadWriteOncePod")[];
  readonly capacity?: Readonly<Record<string, Quantity>>;
  readonly conditions?: readonly PersistentVolumeClaimCondition[];
  readonly allocatedResources?: Readonly<Record<string, Quantity>>;
  readonly allocatedResourceStatuses?: Readonly<Record<string, "ControllerResizeInProgress" | "ControllerResizeInfeasible" | "NodeResizeInProgress" | "NodeResizeInfeasible" | "NodeResizePending">>;
  readonly currentVolumeAttributesClassName?: string;
  readonly modifyVolumeStatus?: ModifyVolumeStatus;
}
export interface PersistentVolumeClaimTemplate {
  readonly metadata?: ObjectMeta;
  readonly spec: PersistentVolumeClaimSpec;
}
export interface PersistentVolumeClaimVolumeSource {
  readonly claimName: string;
  readonly readOnly?: boolean;
}
export interface PersistentVolumeSpec {
  readonly capacity?: Readonly<Record<string, Quantity>>;
  readonly gcePersistentDisk?: GCEPersistentDiskVolumeSource;
  readonly awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource;
  readonly hostPath?: HostPathVolumeSource;
  readonly glusterfs?: GlusterfsPersistentVolumeSource;
  readonly nfs?: NFSVolumeSource;
  readonly rbd?: RBDPersistentVolumeSource;
  readonly iscsi?: ISCSIPersistentVolumeSource;
  readonly cinder?: CinderPersistentVolumeSource;
  readonly cephfs?: CephFSPersistentVolumeSource;
  readonly fc?: FCVolumeSource;
  readonly flocker?: FlockerVolumeSource;
  readonly flexVolume?: FlexPersistentVolumeSource;
  readonly azureFile?: AzureFilePersistentVolumeSource;
  readonly vsphereVolume?: VsphereVirtualDiskVolumeSource;
  readonly quobyte?: QuobyteVolumeSource;
  readonly azureDisk?: AzureDiskVolumeSource;
  readonly photonPersistentDisk?: PhotonPersistentDiskVolumeSource;
  readonly portworxVolume?: PortworxVolumeSource;
  readonly scaleIO?: ScaleIOPersistentVolumeSource;
  readonly local?: LocalVolumeSource;
  readonly storageos?: StorageOSPersistentVolumeSource;
  readonly csi?: CSIPersistentVolumeSource;
  readonly accessModes?: readonly ("ReadOnlyMany" | "ReadWriteMany" | "ReadWriteOnce" | "ReadWriteOncePod")[];
  readonly claimRef?: ObjectReference;
  readonly persistentVolumeReclaimPolicy?: "Delete" | "Recycle" | "Retain";
  readonly storageClassName?: string;
  readonly mountOptions?: readonly string[];
  readonly volumeMode?: "Block" | "Filesystem";
  readonly nodeAffinity?: VolumeNodeAffinity;
  readonly volumeAttributesClassName?: string;
}
export interface PersistentVolumeStatus {
  readonly phase?: "Available" | "Bound" | "Failed" | "Pending" | "Released";
  readonly message?: string;
  readonly reason?: string;
  readonly lastPhaseTransitionTime?: Time;
}
export interface PhotonPersistentDiskVolumeSource {
  readonly pdID: string;
  readonly fsType?: string;
}
export interface Pod {
  readonly kind: "Pod";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}
export interface PodAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodAffinityTerm[];
}
export interface PodAffinityTerm {
  readonly labelSelector?: LabelSelector;
  readonly namespaces?: readonly string[];
  readonly topologyKey: string;
  readonly namespaceSelector?: LabelSelector;
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
}
export interface PodAntiAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodAffinityTerm[];
}
export interface PodCertificateProjection {
  readonly signerName: string;
  readonly keyType: string;
  readonly maxExpirationSeconds?: number;
  readonly credentialBundlePath?: string;
  readonly keyPath?: string;
  readonly certificateChainPath?: string;
  readonly userAnnotations?: Readonly<Record<string, string>>;
}
export interface PodCondition {
  readonly type: string;
  readonly observedGeneration?: number;
  readonly status: string;
  readonly lastProbeTime?: Time;
  readonly lastTransitionTime?: Time;
  readonly reason?: string;
  readonly message?: string;
}
export interface PodDNSConfig {
  readonly nameservers?: readonly string[];
  readonly searches?: readonly string[];
  readonly options?: readonly PodDNSConfigOption[];
}
export interface PodDNSConfigOption {
  readonly name?: string;
  readonly value?: string;
}
export interface PodExtendedResourceClaimStatus {
  readonly requestMappings: readonly ContainerExtendedResourceRequest[];
  readonly resourceClaimName: string;
}
export interface PodIP {
  readonly ip: string;
}
export interface PodOS {
  readonly name: string;
}
export interface PodReadinessGate {
  readonly conditionType: string;
}
export interface PodResourceClaim {
  readonly name: string;
  readonly resourceClaimName?: string;
  readonly resourceClaimTemplateName?: string;
}
export interface PodResourceClaimStatus {
  readonly name: string;
  readonly resourceClaimName?: string;
}
export interface PodSchedulingGate {
  readonly name: string;
}
export interface PodSchedulingGroup {
  readonly podGroupName?: string;
}
export interface PodSecurityContext {
  readonly seLinuxOptions?: SELinuxOptions;
  readonly windowsOptions?: WindowsSecurityContextOptions;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly runAsNonRoot?: boolean;
  readonly supplementalGroups?: readonly number[];
  readonly supplementalGroupsPolicy?: "Merge" | "Strict";
  readonly fsGroup?: number;
  readonly sysctls?: readonly Sysctl[];
  readonly fsGroupChangePolicy?: "Always" | "OnRootMismatch";
  readonly seccompProfile?: SeccompProfile;
  readonly appArmorProfile?: AppArmorProfile;
  readonly seLinuxChangePolicy?: string;
}
export interface PodSpec {
  readonly volumes?: readonly Volume[];
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly ephemeralContainers?: readonly EphemeralContainer[];
  readonly restartPolicy?: "Always" | "Never" | "OnFailure";
  readonly terminationGracePeriodSeconds?: number;
  readonly activeDeadlineSeconds?: number;
  readonly dnsPolicy?: "ClusterFirst" | "ClusterFirstWithHostNet" | "Default" | "None";
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly serviceAccountName?: string;
  readonly serviceAccount?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly nodeName?: string;
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly shareProcessNamespace?: boolean;
  readonly securityContext?: PodSecurityContext;
  readonly imagePullSecrets?: readonly LocalObjectReference[];
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly affinity?: Affinity;
  readonly schedulerName?: string;
  readonly tolerations?: readonly Toleration[];
  readonly hostAliases?: readonly HostAlias[];
  readonly priorityClassName?: string;
  readonly priority?: number;
  readonly dnsConfig?: PodDNSConfig;
  readonly readinessGates?: readonly PodReadinessGate[];
  readonly runtimeClassName?: string;
  readonly enableServiceLinks?: boolean;
  readonly preemptionPolicy?: "Never" | "PreemptLowerPriority";
  readonly overhead?: Readonly<Record<string, Quantity>>;
  readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[];
  readonly setHostnameAsFQDN?: boolean;
  readonly os?: PodOS;
  readonly hostUsers?: boolean;
  readonly schedulingGates?: readonly PodSchedulingGate[];
  readonly resourceClaims?: readonly PodResourceClaim[];
  readonly resources?: ResourceRequirements;
  readonly hostnameOverride?: string;
  readonly schedulingGroup?: PodSchedulingGroup;
}
export interface PodStatus {
  readonly observedGeneration?: number;
  readonly phase?: "Failed" | "Pending" | "Running" | "Succeeded" | "Unknown";
  readonly conditions?: readonly PodCondition[];
  readonly message?: string;
  readonly reason?: string;
  readonly nominatedNodeName?: string;
  readonly hostIP?: string;
  readonly hostIPs?: readonly HostIP[];
  readonly podIP?: string;
  readonly podIPs?: readonly PodIP[];
  readonly startTime?: Time;
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly qosClass?: "BestEffort" | "Burstable" | "Guaranteed";
  readonly ephemeralContainerStatuses?: readonly ContainerStatus[];
  readonly resize?: string;
  readonly resourceClaimStatuses?: readonly PodResourceClaimStatus[];
  readonly extendedResourceClaimStatus?: PodExtendedResourceClaimStatus;
  readonly allocatedResources?: Readonly<Record<string, Quantity>>;
  readonly resources?: ResourceRequirements;
  readonly nodeAllocatableResourceClaimStatuses?: readonly NodeAllocatableResourceClaimStatus[];
}
export interface PodTemplate {
  readonly kind: "PodTemplate";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly template?: PodTemplateSpec;
}
export interface PodTemplateSpec {
  readonly metadata?: ObjectMeta;
  readonly spec?: PodSpec;
}
export interface PortStatus {
  readonly port: number;
  readonly protocol: "SCTP" | "TCP" | "UDP";
  readonly error?: string;
}
export interface PortworxVolumeSource {
  readonly volumeID: string;
  readonly fsType?: string;
  readonly readOnly?: boolean;
}
export interface PreferredSchedulingTerm {
  readonly weight: number;
  readonly preference: NodeSelectorTerm;
}
export interface Probe {
  readonly exec?: ExecAction;
  readonly httpGet?: HTTPGetAction;
  readonly tcpSocket?: TCPSocketAction;
  readonly grpc?: GRPCAction;
  readonly initialDelaySeconds?: number;
  readonly timeoutSeconds?: number;
  readonly periodSeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
  readonly terminationGracePeriodSeconds?: number;
}
export interface ProjectedVolumeSource {
  readonly sources?: readonly VolumeProjection[];
  readonly defaultMode?: number;
}
export interface QuobyteVolumeSource {
  readonly registry: string;
  readonly volume: string;
  readonly readOnly?: boolean;
  readonly user?: string;
  readonly group?: string;
  readonly tenant?: string;
}
export interface RBDPersistentVolumeSource {
  readonly monitors: readonly string[];
  readonly image: string;
  readonly fsType?: string;
  readonly pool?: string;
  readonly user?: string;
  readonly keyring?: string;
  readonly secretRef?: SecretReference;
  readonly readOnly?: boolean;
}
export interface RBDVolumeSource {
  readonly monitors: readonly string[];
  readonly image: string;
  readonly fsType?: string;
  readonly pool?: string;
  readonly user?: string;
  readonly keyring?: string;
  readonly secretRef?: LocalObjectReference;
  readonly readOnly?: boolean;
}
export interface ReplicationController {
  readonly kind: "ReplicationController";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: ReplicationControllerSpec;
  readonly status?: ReplicationControllerStatus;
}
export interface ReplicationControllerCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: Time;
  readonly reason?: string;
  readonly message?: string;
}
export interface ReplicationControllerSpec {
  readonly replicas?: number;
  readonly minReadySeconds?: number;
  readonly selector?: Readonly<Record<string, string>>;
  readonly template?: PodTemplateSpec;
}
export interface ReplicationControllerStatus {
  readonly replicas: number;
  readonly fullyLabeledReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly observedGeneration?: number;
  readonly conditions?: readonly ReplicationControllerCondition[];
}
export interface ResourceClaim {
  readonly name: string;
  readonly request?: string;
}
export interface ResourceFieldSelector {
  readonly containerName?: string;
  readonly resource: string;
  readonly divisor?: Quantity;
}
export interface ResourceHealth {
  readonly resourceID: string;
  readonly health?: string;
  readonly message?: string;
}
export interface ResourceQuota {
  readonly kind: "ResourceQuota";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: ResourceQuotaSpec;
  readonly status?: ResourceQuotaStatus;
}
export interface ResourceQuotaSpec {
  readonly hard?: Readonly<Record<string, Quantity>>;
  readonly scopes?: readonly ("BestEffort" | "CrossNamespacePodAffinity" | "NotBestEffort" | "NotTerminating" | "PriorityClass" | "Terminating" | "VolumeAttributesClass")[];
  readonly scopeSelector?: ScopeSelector;
}
export interface ResourceQuotaStatus {
  readonly hard?: Readonly<Record<string, Quantity>>;
  readonly used?: Readonly<Record<string, Quantity>>;
}
export interface ResourceRequirements {
  readonly limits?: Readonly<Record<string, Quantity>>;
  readonly requests?: Readonly<Record<string, Quantity>>;
  readonly claims?: readonly ResourceClaim[];
}
export interface ResourceStatus {
  readonly name: string;
  readonly resources?: readonly ResourceHealth[];
}
export interface SELinuxOptions {
  readonly user?: string;
  readonly role?: string;
  readonly type?: string;
  readonly level?: string;
}
export interface ScaleIOPersistentVolumeSource {
  readonly gateway: string;
  readonly system: string;
  readonly secretRef: SecretReference;
  readonly sslEnabled?: boolean;
  readonly protectionDomain?: string;
  readonly storagePool?: string;
  readonly storageMode?: string;
  readonly volumeName?: string;
  readonly fsType?: string;
  readonly readOnly?: boolean;
}
export interface ScaleIOVolumeSource {
  readonly gateway: string;
  readonly system: string;
  readonly secretRef: LocalObjectReference;
  readonly sslEnabled?: boolean;
  readonly protectionDomain?: string;
  readonly storagePool?: string;
  readonly storageMode?: string;
  readonly volumeName?: string;
  readonly fsType?: string;
  readonly readOnly?: boolean;
}
export interface ScopeSelector {
  readonly matchExpressions?: readonly ScopedResourceSelectorRequirement[];
}
export interface ScopedResourceSelectorRequirement {
  readonly scopeName: "BestEffort" | "CrossNamespacePodAffinity" | "NotBestEffort" | "NotTerminating" | "PriorityClass" | "Terminating" | "VolumeAttributesClass";
  readonly operator: "DoesNotExist" | "Exists" | "In" | "NotIn";
  readonly values?: readonly string[];
}
export interface SeccompProfile {
  readonly type: "Localhost" | "RuntimeDefault" | "Unconfined";
  readonly localhostProfile?: string;
}
export interface Secret {
  readonly kind: "Secret";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, Base64>>;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly type?: string;
}
export interface SecretEnvSource {
  readonly name?: string;
  readonly optional?: boolean;
}
export interface SecretKeySelector {
  readonly name?: string;
  readonly key: string;
  readonly optional?: boolean;
}
export interface SecretProjection {
  readonly name?: string;
  readonly items?: readonly KeyToPath[];
  readonly optional?: boolean;
}
export interface SecretReference {
  readonly name?: string;
  readonly namespace?: string;
}
export interface SecretVolumeSource {
  readonly secretName?: string;
  readonly items?: readonly KeyToPath[];
  readonly defaultMode?: number;
  readonly optional?: boolean;
}
export interface SecurityContext {
  readonly capabilities?: Capabilities;
  readonly privileged?: boolean;
  readonly seLinuxOptions?: SELinuxOptions;
  readonly windowsOptions?: WindowsSecurityContextOptions;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly runAsNonRoot?: boolean;
  readonly readOnlyRootFilesystem?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly procMount?: "Default" | "Unmasked";
  readonly seccompProfile?: SeccompProfile;
  readonly appArmorProfile?: AppArmorProfile;
}
export interface Service {
  readonly kind: "Service";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: ServiceSpec;
  readonly status?: ServiceStatus;
}
export interface ServiceAccount {
  readonly kind: "ServiceAccount";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly secrets?: readonly ObjectReference[];
  readonly imagePullSecrets?: readonly LocalObjectReference[];
  readonly automountServiceAccountToken?: boolean;
}
export interface ServiceAccountTokenProjection {
  readonly audience?: string;
  readonly expirationSeconds?: number;
  readonly path: string;
}
export interface ServicePort {
  readonly name?: string;
  readonly protocol?: "SCTP" | "TCP" | "UDP";
  readonly appProtocol?: string;
  readonly port: number;
  readonly targetPort?: IntOrString;
  readonly nodePort?: number;
}
export interface ServiceSpec {
  readonly ports?: readonly ServicePort[];
  readonly selector?: Readonly<Record<string, string>>;
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[];
  readonly type?: "ClusterIP" | "ExternalName" | "LoadBalancer" | "NodePort";
  readonly externalIPs?: readonly string[];
  readonly sessionAffinity?: "ClientIP" | "None";
  readonly loadBalancerIP?: string;
  readonly loadBalancerSourceRanges?: readonly string[];
  readonly externalName?: string;
  readonly externalTrafficPolicy?: "Cluster" | "Local";
  readonly healthCheckNodePort?: number;
  readonly publishNotReadyAddresses?: boolean;
  readonly sessionAffinityConfig?: SessionAffinityConfig;
  readonly ipFamilies?: readonly ("" | "IPv4" | "IPv6")[];
  readonly ipFamilyPolicy?: "PreferDualStack" | "RequireDualStack" | "SingleStack";
  readonly allocateLoadBalancerNodePorts?: boolean;
  readonly loadBalancerClass?: string;
  readonly internalTrafficPolicy?: "Cluster" | "Local";
  readonly trafficDistribution?: string;
}
export interface ServiceStatus {
  readonly loadBalancer?: LoadBalancerStatus;
  readonly conditions?: readonly Condition[];
}
export interface SessionAffinityConfig {
  readonly clientIP?: ClientIPConfig;
}
export interface SleepAction {
  readonly seconds: number;
}
export interface StorageOSPersistentVolumeSource {
  readonly volumeName?: string;
  readonly volumeNamespace?: string;
  readonly fsType?: string;
  readonly readOnly?: boolean;
  readonly secretRef?: ObjectReference;
}
export interface StorageOSVolumeSource {
  readonly volumeName?: string;
  readonly volumeNamespace?: string;
  readonly fsType?: string;
  readonly readOnly?: boolean;
  readonly secretRef?: LocalObjectReference;
}
export interface Sysctl {
  readonly name: string;
  readonly value: string;
}
export interface TCPSocketAction {
  readonly port: IntOrString;
  readonly host?: string;
}
export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: "NoExecute" | "NoSchedule" | "PreferNoSchedule";
  readonly timeAdded?: Time;
}
export interface Toleration {
  readonly key?: string;
  readonly operator?: "Equal" | "Exists" | "Gt" | "Lt";
  readonly value?: string;
  readonly effect?: "NoExecute" | "NoSchedule" | "PreferNoSchedule";
  readonly tolerationSeconds?: number;
}
export interface TopologySelectorLabelRequirement {
  readonly key: string;
  readonly values: readonly string[];
}
export interface TopologySelectorTerm {
  readonly matchLabelExpressions?: readonly TopologySelectorLabelRequirement[];
}
export interface TopologySpreadConstraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: "DoNotSchedule" | "ScheduleAnyway";
  readonly labelSelector?: LabelSelector;
  readonly minDomains?: number;
  readonly nodeAffinityPolicy?: "Honor" | "Ignore";
  readonly nodeTaintsPolicy?: "Honor" | "Ignore";
  readonly matchLabelKeys?: readonly string[];
}
export interface TypedLocalObjectReference {
  readonly apiGroup?: string;
  readonly kind: string;
  readonly name: string;
}
export interface TypedObjectReference {
  readonly apiGroup?: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}
export interface Volume {
  readonly name: string;
  readonly hostPath?: HostPathVolumeSource;
  readonly emptyDir?: EmptyDirVolumeSource;
  readonly gcePersistentDisk?: GCEPersistentDiskVolumeSource;
  readonly awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource;
  readonly gitRepo?: GitRepoVolumeSource;
  readonly secret?: SecretVolumeSource;
  readonly nfs?: NFSVolumeSource;
  readonly iscsi?: ISCSIVolumeSource;
  readonly glusterfs?: GlusterfsVolumeSource;
  readonly persistentVolumeClaim?: PersistentVolumeClaimVolumeSource;
  readonly rbd?: RBDVolumeSource;
  readonly flexVolume?: FlexVolumeSource;
  readonly cinder?: CinderVolumeSource;
  readonly cephfs?: CephFSVolumeSource;
  readonly flocker?: FlockerVolumeSource;
  readonly downwardAPI?: DownwardAPIVolumeSource;
  readonly fc?: FCVolumeSource;
  readonly azureFile?: AzureFileVolumeSource;
  readonly configMap?: ConfigMapVolumeSource;
  readonly vsphereVolume?: VsphereVirtualDiskVolumeSource;
  readonly quobyte?: QuobyteVolumeSource;
  readonly azureDisk?: AzureDiskVolumeSource;
  readonly photonPersistentDisk?: PhotonPersistentDiskVolumeSource;
  readonly projected?: ProjectedVolumeSource;
  readonly portworxVolume?: PortworxVolumeSource;
  readonly scaleIO?: ScaleIOVolumeSource;
  readonly storageos?: StorageOSVolumeSource;
  readonly csi?: CSIVolumeSource;
  readonly ephemeral?: EphemeralVolumeSource;
  readonly image?: ImageVolumeSource;
}
export interface VolumeDevice {
  readonly name: string;
  readonly devicePath: string;
}
export interface VolumeMount {
  readonly name: string;
  readonly readOnly?: boolean;
  readonly recursiveReadOnly?: string;
  readonly mountPath: string;
  readonly subPath?: string;
  readonly mountPropagation?: "Bidirectional" | "HostToContainer" | "None";
  readonly subPathExpr?: string;
}
export interface VolumeMountStatus {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
  readonly recursiveReadOnly?: string;
  readonly volumeStatus?: VolumeStatus;
}
export interface VolumeNodeAffinity {
  readonly required?: NodeSelector;
}
export interface VolumeProjection {
  readonly secret?: SecretProjection;
  readonly downwardAPI?: DownwardAPIProjection;
  readonly configMap?: ConfigMapProjection;
  readonly serviceAccountToken?: ServiceAccountTokenProjection;
  readonly clusterTrustBundle?: ClusterTrustBundleProjection;
  readonly podCertificate?: PodCertificateProjection;
}
export interface VolumeResourceRequirements {
  readonly limits?: Readonly<Record<string, Quantity>>;
  readonly requests?: Readonly<Record<string, Quantity>>;
}
export interface VolumeStatus {
  readonly image?: ImageVolumeStatus;
}
export interface VsphereVirtualDiskVolumeSource {
  readonly volumePath: string;
  readonly fsType?: string;
  readonly storagePolicyName?: string;
  readonly storagePolicyID?: string;
}
export interface WeightedPodAffinityTerm {
  readonly weight: number;
  readonly podAffinityTerm: PodAffinityTerm;
}
export interface WindowsSecurityContextOptions {
  readonly gmsaCredentialSpecName?: string;
  readonly gmsaCredentialSpec?: string;
  readonly runAsUserName?: string;
  readonly hostProcess?: boolean;
}

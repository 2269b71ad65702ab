/** The fields of kube-apiserver's own types, one type a line (see ../internal_form.ts). Written by tasks/internal_types.ts. Do not edit. */
// deno-fmt-ignore-file
export const internalTypes = `
AWSElasticBlockStoreVolumeSource VolumeID:s FSType:s Partition:n ReadOnly:b
Affinity NodeAffinity:*@NodeAffinity PodAffinity:*@PodAffinity PodAntiAffinity:*@PodAntiAffinity
AppArmorProfile Type:s LocalhostProfile:*s
AzureDiskVolumeSource DiskName:s DataDiskURI:s CachingMode:*s FSType:*s ReadOnly:*b Kind:*s
AzureFilePersistentVolumeSource SecretName:s ShareName:s ReadOnly:b SecretNamespace:*s
AzureFileVolumeSource SecretName:s ShareName:s ReadOnly:b
CSIPersistentVolumeSource Driver:s VolumeHandle:s ReadOnly:b FSType:s VolumeAttributes:{s ControllerPublishSecretRef:*@SecretReference NodeStageSecretRef:*@SecretReference NodePublishSecretRef:*@SecretReference ControllerExpandSecretRef:*@SecretReference NodeExpandSecretRef:*@SecretReference
CSIVolumeSource Driver:s ReadOnly:*b FSType:*s VolumeAttributes:{s NodePublishSecretRef:*@LocalObjectReference
Capabilities Add:[s Drop:[s
CephFSPersistentVolumeSource Monitors:[s Path:s User:s SecretFile:s SecretRef:*@SecretReference ReadOnly:b
CephFSVolumeSource Monitors:[s Path:s User:s SecretFile:s SecretRef:*@LocalObjectReference ReadOnly:b
CertificateSigningRequestCondition Type:s Status:r Reason:s Message:s LastUpdateTime:r LastTransitionTime:r
CinderPersistentVolumeSource VolumeID:s FSType:s ReadOnly:b SecretRef:*@SecretReference
CinderVolumeSource VolumeID:s FSType:s ReadOnly:b SecretRef:*@LocalObjectReference
ClusterTrustBundleProjection Name:*s SignerName:*s LabelSelector:*r Optional:*b Path:s
ConfigMapEnvSource :@LocalObjectReference Optional:*b
ConfigMapKeySelector :@LocalObjectReference Key:s Optional:*b
ConfigMapProjection :@LocalObjectReference Items:[@KeyToPath Optional:*b
ConfigMapVolumeSource :@LocalObjectReference Items:[@KeyToPath DefaultMode:*n Optional:*b
Container Name:s Image:s Command:[s Args:[s WorkingDir:s Ports:[@ContainerPort EnvFrom:[@EnvFromSource Env:[@EnvVar Resources:@ResourceRequirements ResizePolicy:[@ContainerResizePolicy RestartPolicy:*s RestartPolicyRules:[@ContainerRestartRule VolumeMounts:[@VolumeMount VolumeDevices:[@VolumeDevice LivenessProbe:*@Probe ReadinessProbe:*@Probe StartupProbe:*@Probe Lifecycle:*@Lifecycle TerminationMessagePath:s TerminationMessagePolicy:s ImagePullPolicy:s SecurityContext:*@SecurityContext Stdin:b StdinOnce:b TTY:b
ContainerPort Name:s HostPort:n ContainerPort:n Protocol:s HostIP:s
ContainerResizePolicy ResourceName:s RestartPolicy:s
ContainerRestartRule Action:s ExitCodes:*@ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes Operator:s Values:[n
DownwardAPIProjection Items:[@DownwardAPIVolumeFile
DownwardAPIVolumeFile Path:s FieldRef:*@ObjectFieldSelector ResourceFieldRef:*@ResourceFieldSelector Mode:*n
DownwardAPIVolumeSource Items:[@DownwardAPIVolumeFile DefaultMode:*n
EmptyDirVolumeSource Medium:s SizeLimit:*q
EnvFromSource Prefix:s ConfigMapRef:*@ConfigMapEnvSource SecretRef:*@SecretEnvSource
EnvVar Name:s Value:s ValueFrom:*@EnvVarSource
EnvVarSource FieldRef:*@ObjectFieldSelector ResourceFieldRef:*@ResourceFieldSelector ConfigMapKeyRef:*@ConfigMapKeySelector SecretKeyRef:*@SecretKeySelector FileKeyRef:*@FileKeySelector
EphemeralContainer :@EphemeralContainerCommon TargetContainerName:s
EphemeralContainerCommon Name:s Image:s Command:[s Args:[s WorkingDir:s Ports:[@ContainerPort EnvFrom:[@EnvFromSource Env:[@EnvVar Resources:@ResourceRequirements ResizePolicy:[@ContainerResizePolicy RestartPolicy:*s RestartPolicyRules:[@ContainerRestartRule VolumeMounts:[@VolumeMount VolumeDevices:[@VolumeDevice LivenessProbe:*@Probe ReadinessProbe:*@Probe StartupProbe:*@Probe Lifecycle:*@Lifecycle TerminationMessagePath:s TerminationMessagePolicy:s ImagePullPolicy:s SecurityContext:*@SecurityContext Stdin:b StdinOnce:b TTY:b
EphemeralVolumeSource VolumeClaimTemplate:*@PersistentVolumeClaimTemplate
ExecAction Command:[s
FCVolumeSource TargetWWNs:[s Lun:*n FSType:s ReadOnly:b WWIDs:[s
FileKeySelector VolumeName:s Path:s Key:s Optional:*b
FlexPersistentVolumeSource Driver:s FSType:s SecretRef:*@SecretReference ReadOnly:b Options:{s
FlexVolumeSource Driver:s FSType:s SecretRef:*@LocalObjectReference ReadOnly:b Options:{s
FlockerVolumeSource DatasetName:s DatasetUUID:s
GCEPersistentDiskVolumeSource PDName:s FSType:s Partition:n ReadOnly:b
GRPCAction Port:n Service:*s
GitRepoVolumeSource Repository:s Revision:s Directory:s
GlusterfsPersistentVolumeSource EndpointsName:s Path:s ReadOnly:b EndpointsNamespace:*s
GlusterfsVolumeSource EndpointsName:s Path:s ReadOnly:b
HTTPGetAction Path:s Port:n Host:s Scheme:s HTTPHeaders:[@HTTPHeader
HTTPHeader Name:s Value:s
HostAlias IP:s Hostnames:[s
HostPathVolumeSource Path:s Type:*s
ISCSIPersistentVolumeSource TargetPortal:s IQN:s Lun:n ISCSIInterface:s FSType:s ReadOnly:b Portals:[s DiscoveryCHAPAuth:b SessionCHAPAuth:b SecretRef:*@SecretReference InitiatorName:*s
ISCSIVolumeSource TargetPortal:s IQN:s Lun:n ISCSIInterface:s FSType:s ReadOnly:b Portals:[s DiscoveryCHAPAuth:b SessionCHAPAuth:b SecretRef:*@LocalObjectReference InitiatorName:*s
ImageVolumeSource Reference:s PullPolicy:s
KeyToPath Key:s Path:s Mode:*n
Lifecycle PostStart:*@LifecycleHandler PreStop:*@LifecycleHandler StopSignal:*s
LifecycleHandler Exec:*@ExecAction HTTPGet:*@HTTPGetAction TCPSocket:*@TCPSocketAction Sleep:*@SleepAction
LocalObjectReference Name:s
LocalVolumeSource Path:s FSType:*s
NFSVolumeSource Server:s Path:s ReadOnly:b
NodeAffinity RequiredDuringSchedulingIgnoredDuringExecution:*@NodeSelector PreferredDuringSchedulingIgnoredDuringExecution:[@PreferredSchedulingTerm
NodeSelector NodeSelectorTerms:[@NodeSelectorTerm
NodeSelectorRequirement Key:s Operator:s Values:[s
NodeSelectorTerm MatchExpressions:[@NodeSelectorRequirement MatchFields:[@NodeSelectorRequirement
ObjectFieldSelector APIVersion:s FieldPath:s
ObjectReference Kind:s Namespace:s Name:s UID:s APIVersion:s ResourceVersion:s FieldPath:s
PersistentVolumeClaimSpec AccessModes:[s Selector:*r Resources:@VolumeResourceRequirements VolumeName:s StorageClassName:*s VolumeMode:*s DataSource:*@TypedLocalObjectReference DataSourceRef:*@TypedObjectReference VolumeAttributesClassName:*s
PersistentVolumeClaimTemplate :r Spec:@PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource ClaimName:s ReadOnly:b
PersistentVolumeSource GCEPersistentDisk:*@GCEPersistentDiskVolumeSource AWSElasticBlockStore:*@AWSElasticBlockStoreVolumeSource HostPath:*@HostPathVolumeSource Glusterfs:*@GlusterfsPersistentVolumeSource NFS:*@NFSVolumeSource RBD:*@RBDPersistentVolumeSource Quobyte:*@QuobyteVolumeSource ISCSI:*@ISCSIPersistentVolumeSource FlexVolume:*@FlexPersistentVolumeSource Cinder:*@CinderPersistentVolumeSource CephFS:*@CephFSPersistentVolumeSource FC:*@FCVolumeSource Flocker:*@FlockerVolumeSource AzureFile:*@AzureFilePersistentVolumeSource VsphereVolume:*@VsphereVirtualDiskVolumeSource AzureDisk:*@AzureDiskVolumeSource PhotonPersistentDisk:*@PhotonPersistentDiskVolumeSource PortworxVolume:*@PortworxVolumeSource ScaleIO:*@ScaleIOPersistentVolumeSource Local:*@LocalVolumeSource StorageOS:*@StorageOSPersistentVolumeSource CSI:*@CSIPersistentVolumeSource
PhotonPersistentDiskVolumeSource PdID:s FSType:s
PodAffinity RequiredDuringSchedulingIgnoredDuringExecution:[@PodAffinityTerm PreferredDuringSchedulingIgnoredDuringExecution:[@WeightedPodAffinityTerm
PodAffinityTerm LabelSelector:*r Namespaces:[s TopologyKey:s NamespaceSelector:*r MatchLabelKeys:[s MismatchLabelKeys:[s
PodAntiAffinity RequiredDuringSchedulingIgnoredDuringExecution:[@PodAffinityTerm PreferredDuringSchedulingIgnoredDuringExecution:[@WeightedPodAffinityTerm
PodCertificateProjection SignerName:s KeyType:s MaxExpirationSeconds:*n CredentialBundlePath:s KeyPath:s CertificateChainPath:s UserAnnotations:{s
PodDNSConfig Nameservers:[s Searches:[s Options:[@PodDNSConfigOption
PodDNSConfigOption Name:s Value:*s
PodOS Name:s
PodReadinessGate ConditionType:s
PodResourceClaim Name:s ResourceClaimName:*s ResourceClaimTemplateName:*s
PodSchedulingGate Name:s
PodSchedulingGroup PodGroupName:*s
PodSecurityContext HostNetwork:b HostPID:b HostIPC:b ShareProcessNamespace:*b HostUsers:*b SELinuxOptions:*@SELinuxOptions WindowsOptions:*@WindowsSecurityContextOptions RunAsUser:*n RunAsGroup:*n RunAsNonRoot:*b SupplementalGroups:[n SupplementalGroupsPolicy:*s FSGroup:*n FSGroupChangePolicy:*s Sysctls:[@Sysctl SeccompProfile:*@SeccompProfile AppArmorProfile:*@AppArmorProfile SELinuxChangePolicy:*s
PodSpec Volumes:[@Volume InitContainers:[@Container Containers:[@Container EphemeralContainers:[@EphemeralContainer RestartPolicy:s TerminationGracePeriodSeconds:*n ActiveDeadlineSeconds:*n DNSPolicy:s NodeSelector:{s ServiceAccountName:s AutomountServiceAccountToken:*b NodeName:s SecurityContext:*@PodSecurityContext ImagePullSecrets:[@LocalObjectReference Hostname:s Subdomain:s SetHostnameAsFQDN:*b Affinity:*@Affinity SchedulerName:s Tolerations:[@Toleration HostAliases:[@HostAlias PriorityClassName:s Priority:*n PreemptionPolicy:*s DNSConfig:*@PodDNSConfig ReadinessGates:[@PodReadinessGate RuntimeClassName:*s Overhead:{q EnableServiceLinks:*b TopologySpreadConstraints:[@TopologySpreadConstraint OS:*@PodOS SchedulingGates:[@PodSchedulingGate ResourceClaims:[@PodResourceClaim Resources:*@ResourceRequirements HostnameOverride:*s SchedulingGroup:*@PodSchedulingGroup
PortworxVolumeSource VolumeID:s FSType:s ReadOnly:b
PreferredSchedulingTerm Weight:n Preference:@NodeSelectorTerm
Probe :@ProbeHandler InitialDelaySeconds:n TimeoutSeconds:n PeriodSeconds:n SuccessThreshold:n FailureThreshold:n TerminationGracePeriodSeconds:*n
ProbeHandler Exec:*@ExecAction HTTPGet:*@HTTPGetAction TCPSocket:*@TCPSocketAction GRPC:*@GRPCAction
ProjectedVolumeSource Sources:[@VolumeProjection DefaultMode:*n
QuobyteVolumeSource Registry:s Volume:s ReadOnly:b User:s Group:s Tenant:s
RBDPersistentVolumeSource CephMonitors:[s RBDImage:s FSType:s RBDPool:s RadosUser:s Keyring:s SecretRef:*@SecretReference ReadOnly:b
RBDVolumeSource CephMonitors:[s RBDImage:s FSType:s RBDPool:s RadosUser:s Keyring:s SecretRef:*@LocalObjectReference ReadOnly:b
ResourceClaim Name:s Request:s
ResourceFieldSelector ContainerName:s Resource:s Divisor:q
ResourceRequirements Limits:{q Requests:{q Claims:[@ResourceClaim
SELinuxOptions User:s Role:s Type:s Level:s
ScaleIOPersistentVolumeSource Gateway:s System:s SecretRef:*@SecretReference SSLEnabled:b ProtectionDomain:s StoragePool:s StorageMode:s VolumeName:s FSType:s ReadOnly:b
ScaleIOVolumeSource Gateway:s System:s SecretRef:*@LocalObjectReference SSLEnabled:b ProtectionDomain:s StoragePool:s StorageMode:s VolumeName:s FSType:s ReadOnly:b
SeccompProfile Type:s LocalhostProfile:*s
SecretEnvSource :@LocalObjectReference Optional:*b
SecretKeySelector :@LocalObjectReference Key:s Optional:*b
SecretProjection :@LocalObjectReference Items:[@KeyToPath Optional:*b
SecretReference Name:s Namespace:s
SecretVolumeSource SecretName:s Items:[@KeyToPath DefaultMode:*n Optional:*b
SecurityContext Capabilities:*@Capabilities Privileged:*b SELinuxOptions:*@SELinuxOptions WindowsOptions:*@WindowsSecurityContextOptions RunAsUser:*n RunAsGroup:*n RunAsNonRoot:*b ReadOnlyRootFilesystem:*b AllowPrivilegeEscalation:*b ProcMount:*s SeccompProfile:*@SeccompProfile AppArmorProfile:*@AppArmorProfile
ServiceAccountTokenProjection Audience:s ExpirationSeconds:n Path:s
SleepAction Seconds:n
StorageOSPersistentVolumeSource VolumeName:s VolumeNamespace:s FSType:s ReadOnly:b SecretRef:*@ObjectReference
StorageOSVolumeSource VolumeName:s VolumeNamespace:s FSType:s ReadOnly:b SecretRef:*@LocalObjectReference
Sysctl Name:s Value:s
TCPSocketAction Port:n Host:s
Toleration Key:s Operator:s Value:s Effect:s TolerationSeconds:*n
TopologySpreadConstraint MaxSkew:n TopologyKey:s WhenUnsatisfiable:s LabelSelector:*r MinDomains:*n NodeAffinityPolicy:*s NodeTaintsPolicy:*s MatchLabelKeys:[s
TypedLocalObjectReference APIGroup:*s Kind:s Name:s
TypedObjectReference APIGroup:*s Kind:s Name:s Namespace:*s
Volume Name:s :@VolumeSource
VolumeDevice Name:s DevicePath:s
VolumeMount Name:s ReadOnly:b RecursiveReadOnly:*s MountPath:s SubPath:s MountPropagation:*s SubPathExpr:s
VolumeProjection Secret:*@SecretProjection DownwardAPI:*@DownwardAPIProjection ConfigMap:*@ConfigMapProjection ServiceAccountToken:*@ServiceAccountTokenProjection ClusterTrustBundle:*@ClusterTrustBundleProjection PodCertificate:*@PodCertificateProjection
VolumeResourceRequirements Limits:{q Requests:{q
VolumeSource HostPath:*@HostPathVolumeSource EmptyDir:*@EmptyDirVolumeSource GCEPersistentDisk:*@GCEPersistentDiskVolumeSource AWSElasticBlockStore:*@AWSElasticBlockStoreVolumeSource GitRepo:*@GitRepoVolumeSource Secret:*@SecretVolumeSource NFS:*@NFSVolumeSource ISCSI:*@ISCSIVolumeSource Glusterfs:*@GlusterfsVolumeSource PersistentVolumeClaim:*@PersistentVolumeClaimVolumeSource RBD:*@RBDVolumeSource Quobyte:*@QuobyteVolumeSource FlexVolume:*@FlexVolumeSource Cinder:*@CinderVolumeSource CephFS:*@CephFSVolumeSource Flocker:*@FlockerVolumeSource DownwardAPI:*@DownwardAPIVolumeSource FC:*@FCVolumeSource AzureFile:*@AzureFileVolumeSource ConfigMap:*@ConfigMapVolumeSource VsphereVolume:*@VsphereVirtualDiskVolumeSource AzureDisk:*@AzureDiskVolumeSource PhotonPersistentDisk:*@PhotonPersistentDiskVolumeSource Projected:*@ProjectedVolumeSource PortworxVolume:*@PortworxVolumeSource ScaleIO:*@ScaleIOVolumeSource StorageOS:*@StorageOSVolumeSource CSI:*@CSIVolumeSource Ephemeral:*@EphemeralVolumeSource Image:*@ImageVolumeSource
VsphereVirtualDiskVolumeSource VolumePath:s FSType:s StoragePolicyName:s StoragePolicyID:s
WeightedPodAffinityTerm Weight:n PodAffinityTerm:@PodAffinityTerm
WindowsSecurityContextOptions GMSACredentialSpecName:*s GMSACredentialSpec:*s RunAsUserName:*s HostProcess:*b
`;

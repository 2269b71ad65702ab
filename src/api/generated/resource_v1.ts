/** The types of resource/v1. Written by tasks/types.ts from the schemas that kube-apiserver 1.36 publishes. Do not edit. */
// deno-fmt-ignore-file
import type { Quantity, Time } from "../builtin_resource.ts";
import type { Condition, ObjectMeta } from "../object.ts";
import type { NodeSelector } from "./core_v1.ts";

export interface AllocatedDeviceStatus {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  readonly shareID?: string;
  readonly conditions?: readonly Condition[];
  readonly data?: Readonly<Record<string, unknown>>;
  readonly networkData?: NetworkDeviceData;
}
export interface AllocationResult {
  readonly devices?: DeviceAllocationResult;
  readonly nodeSelector?: NodeSelector;
  readonly allocationTimestamp?: Time;
}
export interface CELDeviceSelector {
  readonly expression: string;
}
export interface CapacityRequestPolicy {
  readonly default?: Quantity;
  readonly validValues?: readonly Quantity[];
  readonly validRange?: CapacityRequestPolicyRange;
}
export interface CapacityRequestPolicyRange {
  readonly min: Quantity;
  readonly max?: Quantity;
  readonly step?: Quantity;
}
export interface CapacityRequirements {
  readonly requests?: Readonly<Record<string, Quantity>>;
}
export interface Counter {
  readonly value: Quantity;
}
export interface CounterSet {
  readonly name: string;
  readonly counters: Readonly<Record<string, Counter>>;
}
export interface Device {
  readonly name: string;
  readonly attributes?: Readonly<Record<string, DeviceAttribute>>;
  readonly capacity?: Readonly<Record<string, DeviceCapacity>>;
  readonly consumesCounters?: readonly DeviceCounterConsumption[];
  readonly nodeName?: string;
  readonly nodeSelector?: NodeSelector;
  readonly allNodes?: boolean;
  readonly taints?: readonly DeviceTaint[];
  readonly bindsToNode?: boolean;
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
  readonly allowMultipleAllocations?: boolean;
  readonly nodeAllocatableResourceMappings?: Readonly<Record<string, NodeAllocatableResourceMapping>>;
}
export interface DeviceAllocationConfiguration {
  readonly source: "FromClaim" | "FromClass";
  readonly requests?: readonly string[];
  readonly opaque?: OpaqueDeviceConfiguration;
}
export interface DeviceAllocationResult {
  readonly results?: readonly DeviceRequestAllocationResult[];
  readonly config?: readonly DeviceAllocationConfiguration[];
}
export interface DeviceAttribute {
  readonly int?: number;
  readonly bool?: boolean;
  readonly string?: string;
  readonly version?: string;
  readonly ints?: readonly number[];
  readonly bools?: readonly boolean[];
  readonly strings?: readonly string[];
  readonly versions?: readonly string[];
}
export interface DeviceCapacity {
  readonly value: Quantity;
  readonly requestPolicy?: CapacityRequestPolicy;
}
export interface DeviceClaim {
  readonly requests?: readonly DeviceRequest[];
  readonly constraints?: readonly DeviceConstraint[];
  readonly config?: readonly DeviceClaimConfiguration[];
}
export interface DeviceClaimConfiguration {
  readonly requests?: readonly string[];
  readonly opaque?: OpaqueDeviceConfiguration;
}
export interface DeviceClass {
  readonly kind: "DeviceClass";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: DeviceClassSpec;
}
export interface DeviceClassConfiguration {
  readonly opaque?: OpaqueDeviceConfiguration;
}
export interface DeviceClassSpec {
  readonly selectors?: readonly DeviceSelector[];
  readonly config?: readonly DeviceClassConfiguration[];
  readonly extendedResourceName?: string;
}
export interface DeviceConstraint {
  readonly requests?: readonly string[];
  readonly matchAttribute?: string;
  readonly distinctAttribute?: string;
}
export interface DeviceCounterConsumption {
  readonly counterSet: string;
  readonly counters: Readonly<Record<string, Counter>>;
}
export interface DeviceRequest {
  readonly name: string;
  readonly exactly?: ExactDeviceRequest;
  readonly firstAvailable?: readonly DeviceSubRequest[];
}
export interface DeviceRequestAllocationResult {
  readonly request: string;
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  readonly adminAccess?: boolean;
  readonly tolerations?: readonly DeviceToleration[];
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
  readonly shareID?: string;
  readonly consumedCapacity?: Readonly<Record<string, Quantity>>;
}
export interface DeviceSelector {
  readonly cel?: CELDeviceSelector;
}
export interface DeviceSubRequest {
  readonly name: string;
  readonly deviceClassName: string;
  readonly selectors?: readonly DeviceSelector[];
  readonly allocationMode?: "All" | "ExactCount";
  readonly count?: number;
  readonly tolerations?: readonly DeviceToleration[];
  readonly capacity?: CapacityRequirements;
}
export interface DeviceTaint {
  readonly key: string;
  readonly value?: string;
  readonly effect: "NoExecute" | "NoSchedule" | "None";
  readonly timeAdded?: Time;
}
export interface DeviceToleration {
  readonly key?: string;
  readonly operator?: "Equal" | "Exists";
  readonly value?: string;
  readonly effect?: "NoExecute" | "NoSchedule" | "None";
  readonly tolerationSeconds?: number;
}
export interface ExactDeviceRequest {
  readonly deviceClassName: string;
  readonly selectors?: readonly DeviceSelector[];
  readonly allocationMode?: "All" | "ExactCount";
  readonly count?: number;
  readonly adminAccess?: boolean;
  readonly tolerations?: readonly DeviceToleration[];
  readonly capacity?: CapacityRequirements;
}
export interface NetworkDeviceData {
  readonly interfaceName?: string;
  readonly ips?: readonly string[];
  readonly hardwareAddress?: string;
}
export interface NodeAllocatableResourceMapping {
  readonly capacityKey?: string;
  readonly allocationMultiplier?: Quantity;
}
export interface OpaqueDeviceConfiguration {
  readonly driver: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}
export interface ResourceClaim {
  readonly kind: "ResourceClaim";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: ResourceClaimSpec;
  readonly status?: ResourceClaimStatus;
}
export interface ResourceClaimConsumerReference {
  readonly apiGroup?: string;
  readonly resource: string;
  readonly name: string;
  readonly uid: string;
}
export interface ResourceClaimSpec {
  readonly devices?: DeviceClaim;
}
export interface ResourceClaimStatus {
  readonly allocation?: AllocationResult;
  readonly reservedFor?: readonly ResourceClaimConsumerReference[];
  readonly devices?: readonly AllocatedDeviceStatus[];
}
export interface ResourceClaimTemplate {
  readonly kind: "ResourceClaimTemplate";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: ResourceClaimTemplateSpec;
}
export interface ResourceClaimTemplateSpec {
  readonly metadata?: ObjectMeta;
  readonly spec: ResourceClaimSpec;
}
export interface ResourcePool {
  readonly name: string;
  readonly generation: number;
  readonly resourceSliceCount: number;
}
export interface ResourceSlice {
  readonly kind: "ResourceSlice";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: ResourceSliceSpec;
}
export interface ResourceSliceSpec {
  readonly driver: string;
  readonly pool: ResourcePool;
  readonly nodeName?: string;
  readonly nodeSelector?: NodeSelector;
  readonly allNodes?: boolean;
  readonly devices?: readonly Device[];
  readonly perDeviceNodeSelection?: boolean;
  readonly sharedCounters?: readonly CounterSet[];
}

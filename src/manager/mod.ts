/** Running controllers: the Manager, shared caches, Events, leader election and the fence, health, and access rules. */
export type { CachedRule, CacheRule, NotCachedRule } from "./cache_rules.ts";
export {
  type AccessGrant,
  type AccessPlace,
  type AccessRule,
  controllerAccess,
  controllerGrants,
  declaredTransport,
  policyRules,
  processGrants,
  type ProcessNeeds,
  readAccess,
  type RequestInfo,
  requestInfo,
  UndeclaredAccessError,
  undeclaredReason,
} from "./access/mod.ts";
export {
  type CandidateVersions,
  type ElectorState,
  type LeaderElectionMetrics,
  leaderElectionMetrics,
  LeaderElector,
  type LeaderElectorOptions,
  type Leadership,
  LeaseForbiddenError,
  type LeaseLoss,
  LeaseLostError,
  type LeaseVerb,
} from "./election/mod.ts";
export { EventRecorder, type EventRecorderOptions } from "./event_recorder.ts";
export { FencedError, fencedTransport, isFenced, type LeadershipSource, type WriteAuthority } from "./fence/mod.ts";
export {
  accessReview,
  type AccessReviewOptions,
  endpoints,
  type EndpointsOptions,
  EventLoopWatchdog,
  type EventLoopWatchdogOptions,
  type HealthCheck,
  HealthChecks,
  type HealthChecksOptions,
  type ImmediateCheck,
  isLoopback,
  type Probe,
  runEndpoints,
  serveEndpoints,
  type ServeEndpointsOptions,
} from "./health/mod.ts";
export {
  debugEndpoints,
  type DebugEndpointsOptions,
  type DebugMembers,
  DebugState,
  type KeyState,
  knownController,
  type PlanAnswer,
  type PlanRow,
  type PlanSource,
  recordingEndpoints,
  type RecordingEndpointsOptions,
} from "./debug/mod.ts";
export { customDefinitions, type DefinitionOptions, isCustomResource, withConversions } from "./custom_definitions.ts";
export type { ParkedKey, RequeuedKey, RetryingKey } from "./controller_group.ts";
export { controllerCacheOf, debugStateOf, hubPartsOf, Manager, shardsOf } from "./manager.ts";
export type { ManagerElection, ManagerOptions } from "./manager_options.ts";
export { asMember, type FleetMembership, type HubParts, type LeaderPart, type Terms } from "./membership.ts";
export {
  claimAnnotation,
  groupLabel,
  groupLabels,
  parseSlots,
  type ShardingOptions,
  type ShardMember,
  slotCount,
  slotOf,
} from "./sharding/mod.ts";
export { StopTimeoutError } from "./within_grace.ts";
export {
  type FlaggedSetup,
  type FlagReader,
  type ObjectName,
  type OnReload,
  type OperatorController,
  type OwnFlags,
  type RunSetup,
  withChecks,
  withFactory,
  withFlags,
  withSamples,
  withWebhooks,
  withWorkloads,
  type Workload,
  type WorkloadStep,
} from "./operator_controller.ts";
export type { Life, Runnable } from "./runnable_group.ts";
export { informersOf, type InformersOptions } from "./informers_of.ts";
export { type ManagerCaches, SharedCaches, type SharedCachesOptions } from "./shared_caches.ts";
export {
  type ClusterState,
  eventually,
  type ExternalSystem,
  never,
  type SimulationChecks,
  type StateInvariant,
} from "./simulation_checks.ts";

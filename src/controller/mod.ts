/** From a change in a cache to a reconcile: the builder, the Controller, its workers, and what a reconciler can do. */
export { type Builder, controller, type ReconcileFunction } from "./builder.ts";
export { type ActivationCondition, inactivityOf, isServedCondition, whenObject, whenServed } from "./activation.ts";
export type {
  ActivationOptions,
  MappedWatchOptions,
  OwnOptionsOf,
  PrimaryOptionsOf,
  WatchOptionsOf,
} from "./watch_options.ts";
export type { ImpersonationRules } from "./impersonation.ts";
export { boundedIndices } from "./bounded_kinds.ts";
export {
  type Bounded,
  bounded,
  type CacheReader,
  type Caches,
  isBounded,
  isMetadataOnly,
  isNotCached,
  type MetadataObject,
  type MetadataOnly,
  metadataOnly,
  type NotCached,
  notCached,
  type Read,
  type Watchable,
} from "./caches.ts";
export { type ClusterIdentity, type Hub, type InHub, inHub, isInHub } from "./clusters.ts";
export type {
  DeclaredDesired,
  DeclaredKind,
  DeleteAllOptions,
  DeleteDependentOptions,
  PruneOptions,
  ReconcileContext,
  StatusOf,
} from "./context.ts";
export { Controller } from "./controller.ts";
export type { ControllerDependencies } from "./controller_dependencies.ts";
export {
  type ControllerDefinition,
  type ControllerOptions,
  type Debounce,
  type DeletedObject,
  type DeletedReconciler,
  type Permission,
  type Reconciler,
  type Verb,
  verbs,
  type WatchDefinition,
} from "./controller_definition.ts";
export { dependent, type DependentContext, dependentList, type DependentOptions, dependents } from "./dependents.ts";
export type { DeletedContext } from "./deleted_objects.ts";
export {
  type Dependent,
  type DependentFunctions,
  type Dependents,
  DependentsState,
  type DependentStatus,
  type Earlier,
  type LiveOf,
} from "./dependents_state.ts";
export { type Desired, type DesiredBody, manifest } from "./desired.ts";
export { type EventSource, type SourceContext, ticker } from "./event_source.ts";
export {
  external,
  type ExternalCall,
  type ExternalItem,
  type ExternalOptions,
  type ExternalSource,
} from "./external.ts";
export { parkMs } from "./_loop_detector.ts";
export type { ReconcileTurn } from "./_worker.ts";
export type { StoppedKey } from "./_stopped_keys.ts";
export {
  type ReconcileMetrics,
  reconcileMetrics,
  type ReconcileMetricsOptions,
  type ReconcileOutcome,
} from "./metrics.ts";
export { allowsCondition } from "./_own_condition.ts";
export { isPaused, pausedAnnotation, pausedWithDeletion } from "./pause.ts";
export { notRetryingReason, stalledCondition } from "./stalled.ts";
export type { DaemonCounts } from "./_object_daemons.ts";
export type { DaemonContext, DaemonDefinition, DaemonObject, DaemonOptions } from "./daemon.ts";
export { type KeyHold, type KeyShards, type KeyShardsListener, type ShardKey, slotLabel } from "./shards.ts";
export { ownerAnnotation, ownerUidLabel } from "./label_tracking.ts";
export { allOf, anyOf, type Change, changed, labelled, not, type Predicate } from "./predicate.ts";
export {
  type Cause,
  done,
  type EventNote,
  type EventSink,
  type EventType,
  type Request,
  requeueAfter,
  type Result,
  TerminalError,
} from "./request.ts";
export {
  ReplayedController,
  type ReplayedControllerOptions,
  type ReplayedDecision,
  type ReplayedOutcome,
  type ReplayedRequest,
} from "./replayed_controller.ts";
export type { DependentFilter } from "./prune.ts";
export type { Owner } from "./ownership.ts";
export { NotControlledError } from "./owner_errors.ts";
export { schedule, type ScheduledRun, type ScheduleOptions } from "./schedule.ts";
export { Toolbox } from "./toolbox.ts";
export type { ToolboxOptions } from "./toolbox_options.ts";

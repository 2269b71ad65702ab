/** From a change in a cache to a reconcile: the builder, what a reconciler may do, and the loop that calls it. */
export {
  type Builder,
  controller,
  type MappedWatchOptions,
  type OwnOptionsOf,
  type PrimaryOptionsOf,
  type WatchOptionsOf,
} from "./builder.ts";
export type { CacheReader, ListFilter } from "./cache_reader.ts";
export type { Caches } from "./caches.ts";
export type { DeleteChildOptions, ReconcileContext, StatusOf } from "./context.ts";
export { Controller, type ControllerParts } from "./controller.ts";
export type { ControllerDefinition, ControllerOptions, Permission } from "./controller_definition.ts";
export { type Desired, type DesiredBody, manifest } from "./desired.ts";
export { type EventSource, ticker } from "./event_source.ts";
export {
  type ReconcileEnding,
  type ReconcileMetrics,
  reconcileMetrics,
  type ReconcileMetricsOptions,
} from "./metrics.ts";
export { NotControlledError } from "./not_controlled_error.ts";
export { allOf, anyOf, type Change, changed, labelled, not, type Predicate } from "./predicate.ts";
export {
  isMetadataOnly,
  isNotCached,
  type MetadataObject,
  type MetadataOnly,
  metadataOnly,
  type NotCached,
  notCached,
  type Read,
  type Watchable,
} from "./reading.ts";
export type { Cause, EventNote, EventSink, EventType, Reconciler, Request } from "./reconciler.ts";
export { done, requeueAfter, type Result, TerminalError } from "./result.ts";
export { type Owner, Toolbox, type ToolboxParts } from "./toolbox.ts";
export { type Verb, verbs } from "./verb.ts";
export type { WatchDefinition, WatchRole } from "./watch_definition.ts";

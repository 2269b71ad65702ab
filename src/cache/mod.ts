/** The cache: a copy of a part of the cluster, with notifications. Reflector, Store, Indexer, Informer, Lister. */
export type { CachePart } from "./cache_part.ts";
export { defaultTiming, type ReflectorTiming, type ServerRecovery } from "./reflector_state.ts";
export { Reflector, type ReflectorOptions } from "./reflector.ts";
export type { CacheLimit } from "./bounded_bodies.ts";
export type { LoadedBodies } from "./body_loader.ts";
export type { ChangeSink, ReflectorTarget, Replacement } from "./cache_writer.ts";
export { EvictedBodyError, isEvicted, keptIndexValues, keptPart } from "./evicted_body.ts";
export type { ExpectedKind } from "./object_filter.ts";
export { deepFreeze, dropManagedFields, keepManagers, type Transform } from "./transform.ts";
export {
  Indexer,
  type IndexErrorHandler,
  type Indexers,
  type IndexFunction,
  Store,
  type StoreOptions,
  type StoreReader,
} from "./store.ts";
export { Lister, type ListerFilter, type ListFilter, NotInCacheError } from "./lister.ts";
export type { InterveningChange, OwnWrite, Writer, WriteThroughResult } from "./written_objects.ts";
export type {
  Activation,
  ActivationState,
  AddedInfo,
  CachedNamespaces,
  ChangeInfo,
  HandlerOptions,
  HandlerRegistration,
  InformerHandler,
  SharedInformer,
  Tombstone,
  WaitForOptions,
} from "./shared_informer.ts";
export { Informer } from "./informer.ts";
export type { CacheBounds, CacheErrorOrigin, InformerDefaults, InformerOptions } from "./informer_options.ts";
export {
  type CacheCondition,
  ConditionalInformer,
  type ConditionalInformerOptions,
  type InformerHold,
} from "./conditional_informer.ts";
export { MultiNamespaceInformer, type MultiNamespaceOptions } from "./multi_namespace.ts";
export {
  cacheId,
  cacheName,
  type CacheScope,
  type ConditionalOptions,
  type CreateListWatch,
  InformerFactory,
  type InformerFactoryOptions,
  type ObjectOf,
  type Projection,
} from "./informer_factory.ts";
export {
  type CacheProgress,
  type InformerStatus,
  problemOf,
  type QuarantinedLine,
  type ReflectorStatus,
  type WaitReason,
} from "./status.ts";
export {
  type CacheCounter,
  type CacheGauge,
  type CacheMetricLabels,
  type CacheMetrics,
  type CacheObservation,
  noCacheMetrics,
} from "./metrics.ts";

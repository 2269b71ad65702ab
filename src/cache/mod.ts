/** The cache: a ListWatch in, cached objects and notifications out. Reflector, Store, Indexer, Informer, Lister. */
export {
  cacheId,
  cacheName,
  type CacheScope,
  type MakeListWatch,
  type ObjectOf,
  type Projection,
} from "./cache_scope.ts";
export type { ExpectedKind } from "./_admission.ts";
export { InformerFactory, type InformerFactoryOptions } from "./factory.ts";
export type { AddedInfo, HandlerOptions, HandlerRegistration, InformerHandler, Tombstone } from "./handler.ts";
export { Indexer, type IndexErrorHandler, type Indexers, type IndexFunction } from "./indexer.ts";
export { type CacheErrorOrigin, Informer, type InformerDefaults, type InformerOptions } from "./informer.ts";
export { Lister, type ListFilter, NotInCacheError } from "./lister.ts";
export {
  type CacheCounter,
  type CacheGauge,
  type CacheMetricLabels,
  type CacheMetrics,
  type CacheObservation,
  noCacheMetrics,
} from "./metrics.ts";
export { MultiNamespaceInformer, type MultiNamespaceOptions } from "./multi_namespace.ts";
export { Reflector, type ReflectorOptions } from "./reflector.ts";
export type { SharedInformer, WaitForOptions } from "./shared_informer.ts";
export {
  type InformerStatus,
  problemOf,
  type QuarantinedLine,
  type ReflectorStatus,
  type WaitReason,
} from "./status.ts";
export { approximateBytes, Store, type StoreOptions, type StoreReader } from "./store.ts";
export type { ChangeSink, ReflectorTarget, Replacement } from "./target.ts";
export { defaultTiming, type ReflectorTiming } from "./timing.ts";
export { deepFreeze, dropManagedFields, keepEverything, keepManagers, type Transform } from "./transform.ts";

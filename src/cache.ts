/**
 * Informers, listers and work queues for programs that build their own loop, as with client-go.
 *
 * @module
 */
export {
  type CacheScope,
  Informer,
  InformerFactory,
  type InformerFactoryOptions,
  type InformerHandler,
  type InformerOptions,
  Lister,
  NotInCacheError,
  type SharedInformer,
  type Tombstone,
} from "./cache/mod.ts";
export {
  type CachedRule,
  type CacheRule,
  informersOf,
  type InformersOptions,
  type NotCachedRule,
} from "./manager/mod.ts";
export {
  BucketRateLimiter,
  defaultRateLimiter,
  ExponentialRateLimiter,
  FastSlowRateLimiter,
  MaxOfRateLimiter,
  type QueueItem,
  type RateLimiter,
  WorkQueue,
  type WorkQueueOptions,
} from "./queue/mod.ts";
export { type CacheReader } from "./controller/mod.ts";
export { systemClock } from "./async/mod.ts";

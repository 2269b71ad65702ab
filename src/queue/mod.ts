/** The work queue: the keys that have to be reconciled, once each, in a fair order. It does not depend on Kubernetes. */
export type { QueueObserver } from "./observer.ts";
export { type AddOptions, lowPriority, resyncPriority, WorkQueue, type WorkQueueOptions } from "./work_queue.ts";
export type { QueueItem } from "./queue_item.ts";
export {
  BucketRateLimiter,
  type BucketRateLimiterOptions,
  defaultRateLimiter,
  ExponentialRateLimiter,
  type ExponentialRateLimiterOptions,
  FastSlowRateLimiter,
  type FastSlowRateLimiterOptions,
  MaxOfRateLimiter,
  type RateLimiter,
} from "./rate_limiter.ts";
export type { QueueBacklog, QueueCounts, QueueEntry, QueueEntryState } from "./snapshot.ts";
export { type QueueMetrics, queueMetrics, type QueueMetricsOptions, type RunningWork } from "./metrics.ts";

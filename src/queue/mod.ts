/** The work queue: what has to be reconciled, once per key, in a fair order, and why. Knows no Kubernetes. */
export { WorkQueue } from "./work_queue.ts";
export { type AddOptions, lowPriority, type WorkQueueOptions } from "./work_queue_options.ts";
export type { QueueItem } from "./queue_item.ts";
export type { QueueCounts, QueueEntry, QueueEntryState } from "./snapshot.ts";
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
export { type QueueMetrics, queueMetrics, type QueueMetricsOptions, type RunningWork } from "./metrics.ts";

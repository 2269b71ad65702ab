/** Time, randomness, cancellation and waiting: with these as parameters, every run can be repeated from a seed. */
export { type Clock, maxTimerMs, pendingSystemTimers, sleepOn, systemClock } from "./clock.ts";
export { drain, runTurns, VirtualClock, type VirtualClockOptions } from "./virtual_clock.ts";
export { TurnClock } from "./turn_clock.ts";
export { CronSchedule, ScheduleError, timeZoneError, zonedTimeText } from "./cron_schedule.ts";
export { jittered, type Random, seededRandom, systemRandom } from "./random.ts";
export { Backoff, type BackoffOptions } from "./backoff.ts";
export { Recovery } from "./recovery.ts";
export { TokenBucket, type TokenBucketOptions } from "./token_bucket.ts";
export { aborted, isAbortOf, onAbort, untilAborted } from "./abort.ts";
export { type Scope, scope, type ScopeOptions } from "./scope.ts";
export { Cleanups } from "./cleanups.ts";
export { Latch } from "./latch.ts";
export { BinaryHeap, type HeapItem } from "./binary_heap.ts";

/** Time, chance and cancellation: the ground on which everything else can be replayed. */
export { type Clock, longestTimerMs, sleepOn, systemClock } from "./clock.ts";
export { drain, hop, VirtualClock, type VirtualClockOptions } from "./virtual_clock.ts";
export { jittered, type Random, seededRandom, systemRandom } from "./random.ts";
export { Backoff, type BackoffOptions } from "./backoff.ts";
export { isAbortOf, type Scope, scope, type ScopeOptions } from "./scope.ts";

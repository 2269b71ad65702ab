/** Running controllers: the Manager, the shared caches, Events, and which of several replicas leads. */
export type { Check } from "./_sync_check.ts";
export { EventRecorder, type EventRecorderOptions } from "./event_recorder.ts";
export { fencedTransport, type WriteGate } from "./fence.ts";
export { FencedError, isFenced } from "./fenced_error.ts";
export { type ElectorState, LeaderElector, type LeaderElectorOptions } from "./leader_elector.ts";
export type { Leadership } from "./leadership.ts";
export { LeaseForbiddenError } from "./lease_forbidden_error.ts";
export { LeaseLostError } from "./lease_lost_error.ts";
export { Manager, type ManagerElection, type ManagerOptions, type Phase } from "./manager.ts";
export { leaderElectionMetrics } from "./metrics.ts";
export type { Life, Runnable } from "./runnable.ts";
export { type CacheRule, SharedCaches, type SharedCachesOptions } from "./shared_caches.ts";

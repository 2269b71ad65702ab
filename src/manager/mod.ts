/** Running controllers: the Manager, the shared caches, Events, and which of several replicas leads. */
export type { Check } from "./_sync_check.ts";
export {
  type AccessRule,
  controllerAccess,
  electionAccess,
  mergedAccess,
  reviewAccess,
  webhookAccess,
  type WebhookObjects,
} from "./access_rules.ts";
export { accessReview, type AccessReviewOptions } from "./access_review.ts";
export { declaredTransport, isUndeclared, UndeclaredAccessError } from "./declared_transport.ts";
export { endpoints, type EndpointsOptions } from "./endpoints.ts";
export { EventLoopWatchdog, type EventLoopWatchdogOptions } from "./event_loop_watchdog.ts";
export { EventRecorder, type EventRecorderOptions } from "./event_recorder.ts";
export { fencedTransport, type WriteGate } from "./fence.ts";
export { FencedError, isFenced } from "./fenced_error.ts";
export { type HealthCheck, HealthChecks, type HealthChecksOptions, type HealthKind } from "./health.ts";
export { informerSync, leaderElection } from "./health_checks.ts";
export { type ElectorState, LeaderElector, type LeaderElectorOptions } from "./leader_elector.ts";
export type { Leadership } from "./leadership.ts";
export { LeaseForbiddenError, leaseRules, type LeaseVerb } from "./lease_forbidden_error.ts";
export { type LeaseLoss, LeaseLostError } from "./lease_lost_error.ts";
export { Manager, type ManagerElection, type ManagerOptions, type Phase } from "./manager.ts";
export { type LeaderElectionMetrics, leaderElectionMetrics } from "./metrics.ts";
export { runEndpoints, serveEndpoints, type ServeEndpointsOptions } from "./metrics_server.ts";
export { informersOf, type InformersOptions } from "./informers_of.ts";
export {
  type FlagReader,
  type OperatorController,
  type OwnFlags,
  type RunSetup,
  withFlags,
  withSamples,
  withWebhooks,
  withWorkloads,
} from "./operator_controller.ts";
export type { Life, Runnable } from "./runnable.ts";
export { type RequestInfo, requestInfo } from "./request_info.ts";
export {
  type CachedRule,
  type CacheRule,
  type NotCachedRule,
  SharedCaches,
  type SharedCachesOptions,
} from "./shared_caches.ts";
export type { ObjectName, Workload, WorkloadStep } from "./workload.ts";

/** Health and metrics of a process: checks, the endpoints that serve them, and the review of access to them. */
export { accessReview, type AccessReviewOptions } from "./access_review.ts";
export {
  endpoints,
  type EndpointsOptions,
  runEndpoints,
  serveEndpoints,
  type ServeEndpointsOptions,
} from "./endpoints.ts";
export { EventLoopWatchdog, type EventLoopWatchdogOptions } from "./event_loop_watchdog.ts";
export {
  type HealthCheck,
  HealthChecks,
  type HealthChecksOptions,
  type ImmediateCheck,
  type Probe,
} from "./health_checks.ts";
export { ProblemLog, type ProblemLogOptions } from "./problem_log.ts";
export { isLoopback } from "./text_response.ts";

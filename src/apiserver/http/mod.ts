/** HTTP: from a Request to a Response, through the registry. The folders before this one do not use HTTP. */
export type { FeatureGate } from "./exchange.ts";
export {
  HttpHandler,
  type HttpHandlerOptions,
  type PathHandler,
  type RequestForwarder,
  type RequestSender,
} from "./handler.ts";
export { type HealthCheck, HealthChecks } from "./health.ts";
export {
  type BodyDecoder,
  contentTypes,
  findNegotiated,
  findPageMedia,
  type Format,
  negotiate,
  type Negotiated,
  notProduced,
  type PageMedia,
  pageNotAcceptable,
} from "./media_types.ts";
export { type RequestMetrics, requestMetrics } from "./request_metrics.ts";
export { type RequestInfo, requestInfo } from "./request_info.ts";
export { isPrettyRequested, plainText, statusErrorResponse } from "./response.ts";
export { Watches, type WatchesOptions } from "./watches.ts";
export { yamlText } from "./yaml.ts";

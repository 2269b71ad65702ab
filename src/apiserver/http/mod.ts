/** HTTP: from a Request to a Response. */
export type { BodyDecoder } from "./body_decoder.ts";
export { type Connection, HttpHandler, type HttpHandlerOptions, type PathHandler } from "./handler.ts";
export { type HealthCheck } from "./health.ts";
export { type Format, negotiate, type Negotiated } from "./media_types.ts";
export { type RequestMetrics, requestMetrics } from "./request_metrics.ts";
export { type RequestInfo, requestInfo } from "./request_info.ts";
export { Watches, type WatchesOptions } from "./watches.ts";

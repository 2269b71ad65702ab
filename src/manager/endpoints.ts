/**
 * endpoints(): health, metrics and whatever else a process shows over HTTP, as one fetch handler. It is a table of paths;
 * what listens is `serveEndpoints`.
 */
import type { MetricsRegistry } from "../observe/mod.ts";
import type { ConnectionInfo, ServeHandler } from "../runtime/mod.ts";
import { methodNotAllowed, textResponse } from "./_text_response.ts";
import type { HealthChecks } from "./health.ts";

/** Options of {@link endpoints}. */
export interface EndpointsOptions {
  /** Shown at /healthz, /livez and /readyz, or as it says itself. @default none of these paths */
  readonly health?: HealthChecks;
  /** Shown at /metrics. @default no such path */
  readonly metrics?: MetricsRegistry;
  /** Where the metrics are. @default "/metrics" */
  readonly metricsPath?: string;
  /** Further handlers by their whole path, e.g. `/debug/queues`. @default none */
  readonly extra?: ReadonlyMap<string, ServeHandler>;
}

/**
 * The handler of the endpoints.
 *
 * @throws TypeError when an extra handler's path does not start with "/" or is taken.
 */
export function endpoints(options: EndpointsOptions): ServeHandler {
  const { health, metrics, metricsPath = "/metrics", extra = new Map() } = options;
  const handlers = new Map<string, ServeHandler>();
  if (metrics !== undefined) handlers.set(metricsPath, metricsHandler(metrics));
  for (const [path, handler] of extra) {
    const isTaken = handlers.has(path) || health?.isHealthPath(path) === true;
    if (!path.startsWith("/") || isTaken) throw new TypeError(`Cannot serve "${path}": it is taken, or no path`);
    handlers.set(path, handler);
  }
  return async (request: Request, connection: ConnectionInfo) => {
    const { pathname } = new URL(request.url);
    const handler = handlers.get(pathname);
    if (handler !== undefined) return await handler(request, connection);
    if (health?.isHealthPath(pathname) === true) return await health.respond(request, connection);
    return textResponse(404, "404 page not found\n");
  };
}

function metricsHandler(metrics: MetricsRegistry): ServeHandler {
  return async (request) => {
    if (request.method !== "GET" && request.method !== "HEAD") return methodNotAllowed("GET, HEAD");
    const text = await metrics.render();
    return textResponse(200, request.method === "HEAD" ? "" : text, { "content-type": metrics.contentType });
  };
}

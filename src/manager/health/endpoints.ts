/**
 * The HTTP endpoints of a process: health, metrics and further handlers. `endpoints()` is the fetch handler, a table of
 * paths; `serveEndpoints()` serves it on an address.
 *
 * Guarantees: the address is loopback by default. `serveEndpoints` refuses to serve metrics on another address without TLS
 * and an access review (security 11). Health may be served to all clients, because it shows no data.
 */
import { aborted, type Clock, systemClock } from "../../async/mod.ts";
import type { Client } from "../../client/mod.ts";
import { contentTypes, type Logger, logger, type MetricsFormat, type MetricsRegistry } from "../../observe/mod.ts";
import { type ConnectionInfo, serve, type ServeHandler, type Server, type ServeTls } from "../../runtime/mod.ts";
import { accessReview } from "./access_review.ts";
import type { HealthChecks } from "./health_checks.ts";
import { isLoopback, methodNotAllowed, textResponse } from "./text_response.ts";

/** Options of {@link endpoints}. */
export interface EndpointsOptions {
  /** Served at /healthz, /livez and /readyz, or under its own names. @default none of these paths */
  readonly health?: HealthChecks;
  /** Served at `metricsPath`. @default not served */
  readonly metrics?: MetricsRegistry;
  /** @default "/metrics" */
  readonly metricsPath?: string;
  /** Further handlers by their full path, e.g. `/debug/queues`. @default none */
  readonly extra?: ReadonlyMap<string, ServeHandler>;
}

/**
 * Creates the fetch handler of the endpoints.
 *
 * @throws TypeError when the path of an extra handler does not start with "/" or is already used.
 */
export function endpoints(options: EndpointsOptions): ServeHandler {
  const { health, metrics, metricsPath = "/metrics", extra = new Map() } = options;
  const handlers = new Map<string, ServeHandler>();
  if (metrics !== undefined) handlers.set(metricsPath, metricsHandler(metrics));
  for (const [path, handler] of extra) {
    const isUsed = handlers.has(path) || health?.isHealthPath(path) === true;
    if (!path.startsWith("/")) throw new TypeError(`Cannot serve "${path}": it does not start with "/"`);
    if (isUsed) throw new TypeError(`Cannot serve "${path}": the path is already used`);
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
    const format = acceptedFormat(request.headers.get("accept") ?? "");
    const text = await metrics.render(format);
    return textResponse(200, request.method === "HEAD" ? "" : text, { "content-type": contentTypes[format] });
  };
}

/** OpenMetrics for a scraper that accepts it and does not prefer another text, as Prometheus does not. */
function acceptedFormat(accept: string): MetricsFormat {
  const quality = (type: string) => {
    const ranges = accept.toLowerCase().split(",").map((range) => range.split(";").map((part) => part.trim()));
    const qualities = ranges.filter(([name]) => name === type)
      .map((parts) => Number(parts.find((part) => part.startsWith("q="))?.slice(2) ?? 1));
    return Math.max(0, ...qualities.filter((value) => value <= 1));
  };
  const open = quality("application/openmetrics-text");
  return open > 0 && open >= quality("text/plain") ? "openmetrics" : "prometheus";
}

/** Options of {@link serveEndpoints}. */
export interface ServeEndpointsOptions extends EndpointsOptions {
  /** @default "127.0.0.1" */
  readonly hostname?: string;
  /** 0 means any free port. @default 0 */
  readonly port?: number;
  /** @default plain HTTP */
  readonly tls?: ServeTls;
  /**
   * Reviews the access of clients to the metrics and the extra handlers, by TokenReview and SubjectAccessReview. It must
   * not be fenced. @default no review
   */
  readonly reviewer?: Client;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default logger("endpoints") */
  readonly log?: Logger;
}

/**
 * Starts serving. Dispose or drain the result to stop.
 *
 * @throws TypeError when metrics or extra handlers would be reachable from other machines without TLS and a review;
 *   PortInUseError.
 */
export async function serveEndpoints(options: ServeEndpointsOptions): Promise<Server> {
  const { hostname = "127.0.0.1", port = 0, tls, clock = systemClock, log = logger("endpoints") } = options;
  const handler = createHandler(options, hostname);
  const onError = (error: unknown) => log.error("endpoint failed", { error });
  const server = await serve({ handler, hostname, port, tls, onError, clock });
  log.info("serving endpoints", { hostname, port: server.port, isTls: tls !== undefined });
  return server;
}

/** Serves until `stop`; then running requests have one second to finish. For the `run` of a Runnable. */
export async function runEndpoints(server: Server, stop: AbortSignal): Promise<void> {
  await using open = server;
  await aborted(stop);
  await open.drain({ graceMs: 1_000 }, new AbortController().signal);
}

/** Only metrics and extra handlers are reviewed, health is not. */
function createHandler(options: ServeEndpointsOptions, hostname: string): ServeHandler {
  const { health, metrics, metricsPath, extra, tls, reviewer, clock, log } = options;
  const hasData = metrics !== undefined || (extra !== undefined && extra.size > 0);
  if (hasData && !isLoopback(hostname) && (tls === undefined || reviewer === undefined)) {
    throw new TypeError(
      `Cannot serve metrics on ${hostname}: other machines can reach it. Use a certificate and an access review`,
    );
  }
  const data = endpoints({ metrics, metricsPath, extra });
  const reviewedData = reviewer === undefined ? data : accessReview(data, { client: reviewer, clock, log });
  if (health === undefined) return reviewedData;
  const healthOnly = endpoints({ health });
  return (request, connection) => {
    const isHealth = health.isHealthPath(new URL(request.url).pathname);
    return (isHealth ? healthOnly : reviewedData)(request, connection);
  };
}

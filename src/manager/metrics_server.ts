/**
 * serveEndpoints(): the endpoints on an address. Loopback by default; metrics that others can reach need TLS and an
 * access review, or this refuses to serve them (behaviours.md, security 11). Health may be served to everybody: it has no
 * data.
 */
import { aborted, type Clock, systemClock } from "../async/mod.ts";
import type { Client } from "../client/mod.ts";
import { type Logger, logger } from "../observe/mod.ts";
import { serve, type ServeHandler, type Server, type ServeTls } from "../runtime/mod.ts";
import { isLoopback } from "./_loopback.ts";
import { accessReview } from "./access_review.ts";
import { endpoints, type EndpointsOptions } from "./endpoints.ts";

/** Options of {@link serveEndpoints}. */
export interface ServeEndpointsOptions extends EndpointsOptions {
  /** @default "127.0.0.1" */
  readonly hostname?: string;
  /** 0: any that is free. @default 0 */
  readonly port?: number;
  /** @default plain HTTP */
  readonly tls?: ServeTls;
  /** Reviews who asks for metrics or an extra handler, by TokenReview and SubjectAccessReview. Must not be fenced. @default nobody is reviewed */
  readonly reviewer?: Client;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default logger("endpoints") */
  readonly log?: Logger;
}

/**
 * Starts serving. Dispose the result, or drain it, to end that.
 *
 * @throws TypeError when it would show metrics or extra handlers to others without TLS and a review; PortInUseError.
 */
export async function serveEndpoints(options: ServeEndpointsOptions): Promise<Server> {
  const { hostname = "127.0.0.1", port = 0, tls, clock = systemClock, log = logger("endpoints") } = options;
  const handler = guarded(options, hostname);
  const onError = (error: unknown) => log.error("an endpoint failed", { error });
  const server = await serve({ handler, hostname, port, tls, onError, clock });
  log.info("endpoints are served", { hostname, port: server.port, isTls: tls !== undefined });
  return server;
}

/** Serves until `stop`, then lets requests in flight finish for up to a second. For what runs under a Manager. */
export async function runEndpoints(server: Server, stop: AbortSignal): Promise<void> {
  await using open = server;
  await aborted(stop);
  await open.drain({ graceMs: 1_000 }, new AbortController().signal);
}

function guarded(options: ServeEndpointsOptions, hostname: string): ServeHandler {
  const { health, metrics, metricsPath, extra, tls, reviewer, clock, log } = options;
  const hasSecrets = metrics !== undefined || (extra !== undefined && extra.size > 0);
  if (hasSecrets && !isLoopback(hostname) && (tls === undefined || reviewer === undefined)) {
    throw new TypeError(
      `Cannot serve metrics on ${hostname}: others can reach it, so it takes a certificate and a review of who asks`,
    );
  }
  const shown = endpoints({ metrics, metricsPath, extra });
  const shownToSome = reviewer === undefined ? shown : accessReview(shown, { client: reviewer, clock, log });
  if (health === undefined) return shownToSome;
  const healthOnly = endpoints({ health });
  return (request, connection) => {
    const isHealth = health.isHealthPath(new URL(request.url).pathname);
    return (isHealth ? healthOnly : shownToSome)(request, connection);
  };
}

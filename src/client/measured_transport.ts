/** measuredTransport(): metrics of the requests to an API server, with the names of client-go. */
import { type Clock, systemClock } from "../async/mod.ts";
import type { Counter, Histogram, MetricsRegistry } from "../observe/mod.ts";
import { noResponse } from "./retry.ts";
import type { Transport } from "./transport.ts";

/** Options of {@link measuredTransport}. */
export interface MeasuredTransportOptions {
  readonly metrics: MetricsRegistry;
  /** The value of the label `host`: name and port of the API server. */
  readonly host: string;
  /** @default systemClock */
  readonly clock?: Clock;
}

/** Seconds; the same bounds as in the components of Kubernetes. */
const buckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/**
 * Measures the requests of `transport`: rest_client_requests_total{code,method,host} and
 * rest_client_request_duration_seconds{verb,host}. A duration ends when the response begins, also for a watch.
 *
 * @example
 * ```ts
 * import { MetricsRegistry } from "../observe/mod.ts";
 * import { measuredTransport } from "./mod.ts";
 *
 * const metrics = new MetricsRegistry();
 * const inner = () => Promise.resolve(new Response("ok"));
 * const transport = measuredTransport(inner, { metrics, host: "kube:6443" });
 * await transport(new Request("https://kubernetes.invalid/readyz"));
 * const text = await metrics.render();
 * console.assert(text.includes('rest_client_requests_total{code="200",method="GET",host="kube:6443"} 1'));
 * ```
 */
export function measuredTransport(transport: Transport, options: MeasuredTransportOptions): Transport {
  const { clock = systemClock } = options;
  const requests = requestCounters(options);
  const durations = durationHistograms(options);
  return async (request) => {
    const { method } = request;
    const startedAt = clock.monotonic();
    let code = noResponse;
    try {
      const response = await transport(request);
      code = String(response.status);
      return response;
    } finally {
      requests(method, code).inc();
      durations(method).observe((clock.monotonic() - startedAt) / 1000);
    }
  };
}

/** Caches the cells: making their labels for each request would cost more than counting. */
function requestCounters({ metrics, host }: MeasuredTransportOptions): (method: string, code: string) => Counter {
  const family = metrics.counter({
    name: "rest_client_requests_total",
    help: "HTTP requests by status code, method and host",
    labelNames: ["code", "method", "host"],
  });
  const known = new Map<string, Counter>();
  return (method, code) => {
    const key = method + code;
    const cell = known.get(key) ?? family.labels({ code, method, host });
    known.set(key, cell);
    return cell;
  };
}

function durationHistograms({ metrics, host }: MeasuredTransportOptions): (verb: string) => Histogram {
  const family = metrics.histogram({
    name: "rest_client_request_duration_seconds",
    help: "Seconds until a response begins, by verb and host",
    labelNames: ["verb", "host"],
    buckets,
  });
  const known = new Map<string, Histogram>();
  return (verb) => {
    const cell = known.get(verb) ?? family.labels({ verb, host });
    known.set(verb, cell);
    return cell;
  };
}

/**
 * Counts repeated requests in rest_client_request_retries_total{code,verb,host}. `measuredTransport()` does not see them: a
 * server that asks for fewer requests (429) shows here first.
 */
export function countRetries(metrics: MetricsRegistry, host: string): (verb: string, code: string) => void {
  const family = metrics.counter({
    name: "rest_client_request_retries_total",
    help: "Repeated HTTP requests by the status code of the response before, verb and host",
    labelNames: ["code", "verb", "host"],
  });
  family.labels({ code: "429", verb: "GET", host });
  return (verb, code) => family.labels({ code, verb, host }).inc();
}

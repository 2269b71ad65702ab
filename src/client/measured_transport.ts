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

/** A transport whose requests are measured. Dispose it when nothing is sent any more. */
export interface MeasuredTransport extends Transport, Disposable {}

const names = {
  requests: "rest_client_requests_total",
  durations: "rest_client_request_duration_seconds",
  retries: "rest_client_request_retries_total",
} as const;

/** How many transports measure the requests to a host. */
const users = new WeakMap<MetricsRegistry, Map<string, number>>();

/** Seconds; the same bounds as in the components of Kubernetes. */
const buckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/**
 * Measures the requests of `transport`: rest_client_requests_total{code,method,host} and
 * rest_client_request_duration_seconds{verb,host}. A duration ends when the response begins, also for a watch. When the last
 * transport to a host is disposed, the metrics of the host end: clusters of a fleet come and go for as long as a process runs.
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
export function measuredTransport(transport: Transport, options: MeasuredTransportOptions): MeasuredTransport {
  const { clock = systemClock } = options;
  const requests = requestCounters(options);
  const durations = durationHistograms(options);
  const release = useHost(options);
  const measured = async (request: Request) => {
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
  return Object.assign(measured, { [Symbol.dispose]: release });
}

/** @returns After that of the last transport to a host is called, the metrics of the host are removed */
function useHost({ metrics, host }: MeasuredTransportOptions): () => void {
  const hosts = users.get(metrics) ?? new Map<string, number>();
  users.set(metrics, hosts);
  hosts.set(host, (hosts.get(host) ?? 0) + 1);
  let isReleased = false;
  return () => {
    if (isReleased) return;
    isReleased = true;
    const left = (hosts.get(host) ?? 1) - 1;
    if (left > 0) return void hosts.set(host, left);
    hosts.delete(host);
    metrics.removeCells({ host }, Object.values(names));
  };
}

/** Caches the cells: making their labels for each request would cost more than counting. */
function requestCounters({ metrics, host }: MeasuredTransportOptions): (method: string, code: string) => Counter {
  const family = metrics.counter({
    name: names.requests,
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
    name: names.durations,
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
    name: names.retries,
    help: "Repeated HTTP requests by the status code of the response before, verb and host",
    labelNames: ["code", "verb", "host"],
  });
  family.labels({ code: "429", verb: "GET", host });
  return (verb, code) => family.labels({ code, verb, host }).inc();
}

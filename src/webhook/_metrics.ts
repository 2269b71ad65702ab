/** Counting of webhook requests, under the names and labels of controller-runtime. */
import { type Counter, type Gauge, type Histogram, MetricsRegistry } from "../observe/mod.ts";

/** What is counted of one path. */
export interface PathMetrics {
  readonly latency: Histogram;
  readonly inFlight: Gauge;
  /** @param code of the HTTP answer */
  requests(code: number): Counter;
}

/** What is counted of all webhooks. */
export interface WebhookMetrics {
  readonly panics: Counter;
  of(path: string): PathMetrics;
}

/** 10 ns to 1000 s in steps of ten, as controller-runtime's ExponentialBuckets(10e-9, 10, 12). */
const buckets = Array.from({ length: 12 }, (_, power) => Number(`1e${power - 8}`));

/** The metrics in `registry`, or in one that nobody reads. */
export function webhookMetrics(registry: MetricsRegistry = new MetricsRegistry()): WebhookMetrics {
  const latency = registry.histogram({
    name: "controller_runtime_webhook_latency_seconds",
    help: "Histogram of the latency of processing admission requests",
    labelNames: ["webhook"],
    buckets,
  });
  const requests = registry.counter({
    name: "controller_runtime_webhook_requests_total",
    help: "Total number of admission requests by HTTP status code.",
    labelNames: ["webhook", "code"],
  });
  const inFlight = registry.gauge({
    name: "controller_runtime_webhook_requests_in_flight",
    help: "Current number of admission requests being served.",
    labelNames: ["webhook"],
  });
  const panics = registry.counter({
    name: "controller_runtime_webhook_panics_total",
    help: "Total number of webhook panics",
  });
  const paths = new Map<string, PathMetrics>();
  return {
    panics: panics.labels({}),
    of(path) {
      const known = paths.get(path);
      if (known !== undefined) return known;
      const labels = { webhook: path };
      const made: PathMetrics = {
        latency: latency.labels(labels),
        inFlight: inFlight.labels(labels),
        requests: (code) => requests.labels({ ...labels, code: String(code) }),
      };
      paths.set(path, made);
      return made;
    },
  };
}

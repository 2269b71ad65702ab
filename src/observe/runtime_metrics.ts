/**
 * runtimeMetrics(): CPU, memory, open files, start time and event loop lag of the process, from prom-client.
 *
 * The library is loaded at the first call, so that programs without a metrics server do not pay for it. Of its many
 * metrics only those are shown that mean the same on Deno and on Bun, and their names are Prometheus' own.
 */
import type { MetricsRegistry } from "./metrics.ts";

/** In the order in which prom-client computes them: CPU totals and lags are by-products of the first of their kind. */
const shown = [
  "process_cpu_user_seconds_total",
  "process_cpu_system_seconds_total",
  "process_cpu_seconds_total",
  "process_start_time_seconds",
  "process_resident_memory_bytes",
  "process_open_fds",
  "process_max_fds",
  "nodejs_eventloop_lag_seconds",
  "nodejs_eventloop_lag_mean_seconds",
  "nodejs_eventloop_lag_p99_seconds",
  "nodejs_eventloop_lag_max_seconds",
] as const;

/** Adds the process metrics to `registry`. Dispose the result to remove them. CPU seconds count from this call on. */
export async function runtimeMetrics(registry: MetricsRegistry): Promise<Disposable> {
  const { collectDefaultMetrics, Registry } = await import("prom-client");
  const own = new Registry();
  collectDefaultMetrics({ register: own });
  const known = shown.filter((name) => own.getSingleMetric(name) !== undefined);
  return registry.collect(async () => {
    let text = "";
    for (const name of known) text += `${await own.getSingleMetricAsString(name)}\n`;
    // prom-client spells it "Nan", which not every reader of the format takes.
    return text.replaceAll(/ Nan$/gm, " NaN");
  });
}

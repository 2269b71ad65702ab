/**
 * runtimeMetrics(): CPU, memory, open files, start time and event loop lag of the process, from prom-client, and the
 * timers of its clock.
 *
 * The first call loads the library, so a program without a metrics server does not load it. Only those of its metrics
 * are shown that mean the same on Deno and on Bun. Their names are those of Prometheus.
 */
import type { MetricsRegistry } from "./metrics.ts";

/** In the order in which prom-client computes them: the first CPU total and the first lag compute the others. */
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

/**
 * Adds the process metrics to `registry`. CPU seconds count from this call on.
 *
 * @param pendingTimers counts the timers of the process's clock
 * @returns Dispose it to remove them.
 */
export async function runtimeMetrics(registry: MetricsRegistry, pendingTimers: () => number): Promise<Disposable> {
  const { collectDefaultMetrics, Registry } = await import("prom-client");
  const own = new Registry();
  collectDefaultMetrics({ register: own });
  const known = shown.filter((name) => own.getSingleMetric(name) !== undefined);
  return registry.collect(async () => {
    let text = "";
    for (const name of known) text += `${await own.getSingleMetricAsString(name)}\n`;
    text += `# HELP process_pending_timers Timers that have neither fired nor been disposed.\n`;
    text += `# TYPE process_pending_timers gauge\nprocess_pending_timers ${pendingTimers()}\n`;
    // prom-client writes "Nan", which not every parser of the format accepts.
    return text.replaceAll(/ Nan$/gm, " NaN");
  });
}

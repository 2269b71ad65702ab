import { assert, assertEquals, assertStringIncludes, test } from "../../tests/testing.ts";
import { MetricsRegistry, runtimeMetrics } from "./mod.ts";

test("runtimeMetrics() adds the process metrics under the names of Prometheus, with plausible values", async () => {
  const registry = new MetricsRegistry();
  using _metrics = await runtimeMetrics(registry, () => 12);
  const text = await registry.render();
  const value = (name: string) => Number(new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1] ?? NaN);
  assertStringIncludes(text, "# TYPE process_cpu_seconds_total counter\n");
  assert(value("process_cpu_seconds_total") >= 0);
  assert(value("process_resident_memory_bytes") > 1e7);
  assert(value("process_open_fds") >= 3);
  assert(value("process_start_time_seconds") > 1.7e9);
  assert(value("nodejs_eventloop_lag_seconds") >= 0);
  assertEquals(value("process_pending_timers"), 12);
  assert(!text.includes(" Nan\n"), "Prometheus does not parse Nan");
});

test("disposing the process metrics removes them from the text", async () => {
  const registry = new MetricsRegistry();
  const metrics = await runtimeMetrics(registry, () => 12);
  metrics[Symbol.dispose]();
  assertEquals(await registry.render(), "");
});

import { assert, assertEquals, assertStringIncludes, test } from "../../tests/testing.ts";
import { MetricsRegistry, runtimeMetrics } from "./mod.ts";

test("the process metrics are there under Prometheus' own names, with values that can be", async () => {
  const registry = new MetricsRegistry();
  using _metrics = await runtimeMetrics(registry);
  const text = await registry.render();
  const value = (name: string) => Number(new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1] ?? NaN);
  assertStringIncludes(text, "# TYPE process_cpu_seconds_total counter\n");
  assert(value("process_cpu_seconds_total") >= 0);
  assert(value("process_resident_memory_bytes") > 1e7);
  assert(value("process_open_fds") >= 3);
  assert(value("process_start_time_seconds") > 1.7e9);
  assert(value("nodejs_eventloop_lag_seconds") >= 0);
  assert(!text.includes(" Nan\n"), "Nan is no number that Prometheus knows");
});

test("disposing the process metrics takes them out of the text", async () => {
  const registry = new MetricsRegistry();
  const metrics = await runtimeMetrics(registry);
  metrics[Symbol.dispose]();
  assertEquals(await registry.render(), "");
});

import { assertStringIncludes, test } from "../../tests/testing.ts";
import { MetricsRegistry } from "../observe/mod.ts";
import { cacheMetrics } from "./cache_metrics.ts";

test("cacheMetrics() uses client-go's names, with one series per cache and handler", async () => {
  const registry = new MetricsRegistry();
  const metrics = cacheMetrics(registry);
  metrics.count("reflector_lists_total", { name: "foos" });
  metrics.count("reflector_lists_total", { name: "foos" });
  metrics.set("informer_store_objects", { name: "foos" }, 7);
  metrics.set("informer_queued_items", { name: "foos", handler: "slow" }, 3);
  metrics.observe("reflector_items_per_list", { name: "foos" }, 50);
  const text = await registry.render();
  assertStringIncludes(text, 'reflector_lists_total{name="foos",handler=""} 2');
  assertStringIncludes(text, 'informer_store_objects{name="foos",handler=""} 7');
  assertStringIncludes(text, 'informer_queued_items{name="foos",handler="slow"} 3');
  assertStringIncludes(text, 'reflector_items_per_list_sum{name="foos",handler=""} 50');
});

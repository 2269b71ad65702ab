/** cacheMetrics(): keeps what caches tell in a registry, under client-go's names. */
import type { CacheCounter, CacheGauge, CacheMetricLabels, CacheMetrics, CacheObservation } from "../cache/mod.ts";
import type { MetricsRegistry } from "../observe/mod.ts";

const labelNames = ["name", "handler"] as const;

const counters: Readonly<Record<CacheCounter, string>> = {
  reflector_lists_total: "Lists that reflectors asked for",
  reflector_watches_total: "Watches that reflectors asked for",
  reflector_short_watches_total: "Watches that ended at once and brought nothing",
  reflector_skipped_events_total: "Watch events that were passed over",
  reflector_malformed_lines_total: "Lines of watches that are no events",
  reflector_quarantined_lines_total: "Lines of watches that were put aside so that the stream goes on",
  reflector_stalled_watches_total: "Watches that fell silent and were given up",
  informer_handler_errors_total: "Calls of event handlers that failed",
};

const observations: Readonly<Record<CacheObservation, string>> = {
  reflector_list_duration_seconds: "Seconds a list takes",
  reflector_items_per_list: "Objects a list brings",
  reflector_watch_duration_seconds: "Seconds a watch lasts",
  reflector_items_per_watch: "Events a watch brings",
};

const gauges: Readonly<Record<CacheGauge, string>> = {
  informer_store_resource_version: "The version a cache has reached, its 15 least significant digits",
  informer_store_objects: "Objects in a cache",
  informer_queued_items: "Calls that wait for an event handler",
};

/** From 1 ms or one item up, by tens: lists and watches differ by orders of magnitude. */
const buckets = Array.from({ length: 9 }, (_, power) => Number(`1e${power - 3}`));

/** Adapts a registry. Series are made when they are first needed and kept, so that an event costs one lookup. */
export function cacheMetrics(registry: MetricsRegistry): CacheMetrics {
  const names = { labelNames };
  const counterSeries = series((name: CacheCounter) => registry.counter({ name, help: counters[name], ...names }));
  const gaugeSeries = series((name: CacheGauge) => registry.gauge({ name, help: gauges[name], ...names }));
  const histogramSeries = series((name: CacheObservation) =>
    registry.histogram({ name, help: observations[name], buckets, ...names })
  );
  return {
    count: (counter, labels) => counterSeries(counter, labels).inc(),
    set: (gauge, labels, value) => gaugeSeries(gauge, labels).set(value),
    observe: (observation, labels, value) => histogramSeries(observation, labels).observe(value),
  };
}

interface Family<Series> {
  labels(values: { readonly name: string; readonly handler: string }): Series;
}

/** Finds the series of a metric for certain labels, made once. */
function series<Name extends string, Series>(
  familyOf: (name: Name) => Family<Series>,
): (name: Name, labels: CacheMetricLabels) => Series {
  const made = new Map<string, Series>();
  return (metric, { name, handler = "" }) => {
    const id = `${metric}|${name}|${handler}`;
    const known = made.get(id);
    if (known !== undefined) return known;
    const fresh = familyOf(metric).labels({ name, handler });
    made.set(id, fresh);
    return fresh;
  };
}

/** cacheMetrics(): implements the CacheMetrics of `cache/` on a MetricsRegistry, under client-go's names. */
import type { CacheCounter, CacheGauge, CacheMetricLabels, CacheMetrics, CacheObservation } from "../cache/mod.ts";
import type { MetricsRegistry } from "../observe/mod.ts";

const labelNames = ["name", "handler"] as const;

const counters: Readonly<Record<CacheCounter, string>> = {
  reflector_lists_total: "Lists that reflectors requested",
  reflector_watches_total: "Watches that reflectors requested",
  reflector_short_watches_total: "Watches that ended immediately and without events",
  reflector_skipped_events_total: "Watch events that were skipped",
  reflector_malformed_lines_total: "Lines of watches that are not events",
  reflector_quarantined_lines_total: "Lines of watches that were quarantined so that the stream continues",
  reflector_stalled_watches_total: "Watches that stalled and were closed",
  informer_handler_errors_total: "Calls of event handlers that failed",
  informer_evictions_total: "Bodies of objects that a bounded cache has dropped",
  informer_live_reads_total: "Requests for bodies that a bounded cache has dropped",
};

const observations: Readonly<Record<CacheObservation, string>> = {
  reflector_list_duration_seconds: "Seconds a list takes",
  reflector_items_per_list: "Objects per list",
  reflector_watch_duration_seconds: "Seconds a watch lasts",
  reflector_items_per_watch: "Events per watch",
};

const gauges: Readonly<Record<CacheGauge, string>> = {
  informer_store_resource_version: "The resourceVersion of a cache, its 15 least significant digits",
  informer_store_objects: "Objects in a cache",
  informer_store_bodies: "Objects of a bounded cache that have a body",
  informer_store_body_bytes: "Bytes of the bodies in a bounded cache, as JSON and estimated",
  informer_queued_items: "Calls that wait for an event handler",
  informer_following: "Whether a cache follows the API server: 1 while its watch is open, else 0",
};

/** Powers of ten from 1 ms or one item: lists and watches differ by orders of magnitude. */
const buckets = Array.from({ length: 9 }, (_, power) => Number(`1e${power - 3}`));

/** Creates the metrics. A series is created when it is first used and then cached, so that an event costs one lookup. */
export function cacheMetrics(registry: MetricsRegistry): CacheMetrics {
  const names = { labelNames };
  const counterSeries = seriesCache((name: CacheCounter) => registry.counter({ name, help: counters[name], ...names }));
  const gaugeSeries = seriesCache((name: CacheGauge) => registry.gauge({ name, help: gauges[name], ...names }));
  const histogramSeries = seriesCache((name: CacheObservation) =>
    registry.histogram({ name, help: observations[name], buckets, ...names })
  );
  return {
    count: (counter, labels) => counterSeries(counter, labels).inc(),
    set: (gauge, labels, value) => gaugeSeries(gauge, labels).set(value),
    observe: (observation, labels, value) => histogramSeries(observation, labels).observe(value),
    forget: (name) => {
      for (const forget of [counterSeries.forget, gaugeSeries.forget, histogramSeries.forget]) forget(name);
      registry.removeCells({ name });
    },
  };
}

interface Family<Series> {
  labels(values: { readonly name: string; readonly handler: string }): Series;
}

/** Finds the series of a metric and labels; `forget` drops those of an informer. */
interface SeriesCache<Name extends string, Series> {
  (metric: Name, labels: CacheMetricLabels): Series;
  forget(name: string): void;
}

/** Returns a function that finds the series of a metric and labels, and creates each of them once. */
function seriesCache<Name extends string, Series>(
  familyOf: (name: Name) => Family<Series>,
): SeriesCache<Name, Series> {
  const bySeries = new Map<string, Series>();
  const find = (metric: Name, { name, handler = "" }: CacheMetricLabels): Series => {
    const id = `${name}|${metric}|${handler}`;
    const known = bySeries.get(id);
    if (known !== undefined) return known;
    const created = familyOf(metric).labels({ name, handler });
    bySeries.set(id, created);
    return created;
  };
  const forget = (name: string) => {
    for (const id of bySeries.keys()) if (id.startsWith(`${name}|`)) bySeries.delete(id);
  };
  return Object.assign(find, { forget });
}

/** Creates the metric of the namespaces that a selector matches. @returns sets it */
export function namespaceCount(registry: MetricsRegistry): (count: number) => void {
  const help = "Namespaces that the namespace selector matches";
  const gauge = registry.gauge({ name: "selected_namespaces", help, labelNames: [] }).labels({});
  return (count) => gauge.set(count);
}

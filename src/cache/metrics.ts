/**
 * CacheMetrics: the numbers a cache gives away, under Kubernetes' own names (client-go's reflector and informer
 * metrics), and those of ours that it lacks. A seam: whoever has a metrics library implements three methods.
 */

/** Counts of things that happened. */
export type CacheCounter =
  | "reflector_lists_total"
  | "reflector_watches_total"
  | "reflector_short_watches_total"
  /** Events passed over: unknown type, wrong kind, no name, older than the cache. */
  | "reflector_skipped_events_total"
  | "reflector_malformed_lines_total"
  | "reflector_quarantined_lines_total"
  | "reflector_stalled_watches_total"
  | "informer_handler_errors_total";

/** Single observations, for a histogram or summary. */
export type CacheObservation =
  | "reflector_list_duration_seconds"
  | "reflector_items_per_list"
  | "reflector_watch_duration_seconds"
  | "reflector_items_per_watch";

/** Values that go up and down. */
export type CacheGauge =
  /** The 15 least significant digits, as client-go does, so that a float holds it exactly. */
  | "informer_store_resource_version"
  | "informer_store_objects"
  /** Calls that wait for a handler. */
  | "informer_queued_items";

/** What the numbers are about: `name` of the informer, and `handler` where one is concerned. */
export interface CacheMetricLabels {
  readonly name: string;
  readonly handler?: string;
}

/** Takes the numbers. Called often: be quick. */
export interface CacheMetrics {
  count(counter: CacheCounter, labels: CacheMetricLabels): void;
  observe(observation: CacheObservation, labels: CacheMetricLabels, value: number): void;
  set(gauge: CacheGauge, labels: CacheMetricLabels, value: number): void;
}

/** Takes nothing. */
export const noCacheMetrics: CacheMetrics = { count() {}, observe() {}, set() {} };

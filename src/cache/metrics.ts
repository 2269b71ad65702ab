/**
 * CacheMetrics: the measurements of a cache, under the metric names of client-go's reflector and informer where it has
 * them. An interface of three methods, so that the cache does not depend on a metrics library.
 */

/** Counters. */
export type CacheCounter =
  | "reflector_lists_total"
  | "reflector_watches_total"
  | "reflector_short_watches_total"
  /** Skipped events: unknown type, wrong kind, no name, older than the cache. */
  | "reflector_skipped_events_total"
  | "reflector_malformed_lines_total"
  | "reflector_quarantined_lines_total"
  | "reflector_stalled_watches_total"
  | "informer_handler_errors_total"
  /** Bodies that a bounded cache has dropped. */
  | "informer_evictions_total"
  /** Requests for evicted bodies. */
  | "informer_live_reads_total";

/** Single observations, for a histogram or summary. */
export type CacheObservation =
  | "reflector_list_duration_seconds"
  | "reflector_items_per_list"
  | "reflector_watch_duration_seconds"
  | "reflector_items_per_watch";

/** Gauges. */
export type CacheGauge =
  /** The 15 least significant digits, as in client-go, so that a float represents it exactly. */
  | "informer_store_resource_version"
  | "informer_store_objects"
  /** Objects of a bounded cache that have a body. */
  | "informer_store_bodies"
  /** Bytes of these bodies as JSON, estimated. */
  | "informer_store_body_bytes"
  /** Calls that wait for a handler. */
  | "informer_queued_items"
  /** 1 while a watch is open, so that the cache follows the server; else 0. */
  | "informer_following";

/** `name` of the informer, and `handler` where the measurement is about one. */
export interface CacheMetricLabels {
  /** The name of the informer. */
  readonly name: string;
  /** The name of the handler. */
  readonly handler?: string;
}

/** Takes the measurements of a cache. Called often, so it must be fast. */
export interface CacheMetrics {
  /** Adds one to a counter. */
  count(counter: CacheCounter, labels: CacheMetricLabels): void;
  /** Records one value of a histogram or summary. */
  observe(observation: CacheObservation, labels: CacheMetricLabels, value: number): void;
  /** Sets a gauge. */
  set(gauge: CacheGauge, labels: CacheMetricLabels, value: number): void;
  /** Removes the measurements of an informer that has ended while the others go on. */
  forget(name: string): void;
}

/** Ignores all measurements. */
export const noCacheMetrics: CacheMetrics = { count() {}, observe() {}, set() {}, forget() {} };

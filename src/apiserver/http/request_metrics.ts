/**
 * The metrics of requests and stored objects, under the names of kube-apiserver.
 */
import type { Counter, Histogram, MetricsRegistry } from "../../observe/mod.ts";
import type { RequestInfo } from "./request_info.ts";

/** Counts requests about known kinds, and measures their durations. */
export interface RequestMetrics {
  /** @param ms the duration in milliseconds */
  observe(info: RequestInfo, method: string, code: number, ms: number): void;
  /** All metrics in the Prometheus text format. */
  render(): Promise<string>;
}

/** Seconds; the bounds are those of apiserver_request_duration_seconds. */
const bounds = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];

/** Creates the metrics in a registry. @param sizes the number of stored objects per collection, called on each scrape */
export function requestMetrics(
  registry: MetricsRegistry,
  sizes: () => Iterable<{ readonly collection: string; readonly size: number }>,
): RequestMetrics {
  const total = registry.counter({
    name: "apiserver_request_total",
    help: "Requests, by verb, group, version, resource, subresource, scope and code.",
    labelNames: ["verb", "group", "version", "resource", "subresource", "scope", "code"],
  });
  const durations = registry.histogram({
    name: "apiserver_request_duration_seconds",
    help: "How long requests took, except watches.",
    labelNames: ["verb", "group", "version", "resource", "subresource", "scope"],
    buckets: bounds,
  });
  registry.collect(() => sizesText(sizes()));
  // A lookup by labels costs more than the counting itself, so the cells are cached.
  const cells = new Map<string, { readonly total: Counter; readonly duration: Histogram }>();
  const cellsOf = (info: RequestInfo, method: string, code: number) => {
    const { group, version, resource, subresource } = info;
    const verb = verbText(info, method);
    const scope = scopeOf(info);
    const key = `${verb} ${group} ${version} ${resource} ${subresource} ${scope} ${code}`;
    let found = cells.get(key);
    if (found === undefined) {
      const labels = { verb, group, version, resource, subresource, scope };
      found = { total: total.labels({ ...labels, code: String(code) }), duration: durations.labels(labels) };
      cells.set(key, found);
    }
    return found;
  };
  return {
    observe(info, method, code, ms) {
      const cell = cellsOf(info, method, code);
      cell.total.inc();
      if (info.verb !== "watch") cell.duration.observe(ms / 1000);
    },
    render: () => registry.render(),
  };
}

/** The methods of the API. A client may send any other, so they have one label. */
const methods: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "CONNECT"]);

function verbText(info: RequestInfo, method: string): string {
  switch (info.verb) {
    case "list":
    case "watch":
    case "deletecollection":
      return info.verb.toUpperCase();
    default:
      if (info.verb === "get") return "GET";
      return methods.has(method) ? method : "other";
  }
}

function scopeOf(info: RequestInfo): string {
  if (info.name !== "") return "resource";
  return info.namespace === "" ? "cluster" : "namespace";
}

function sizesText(sizes: Iterable<{ readonly collection: string; readonly size: number }>): string {
  let text = "# HELP apiserver_storage_objects Number of stored objects.\n# TYPE apiserver_storage_objects gauge\n";
  for (const { collection, size } of sizes) text += `apiserver_storage_objects{resource="${collection}"} ${size}\n`;
  return text;
}

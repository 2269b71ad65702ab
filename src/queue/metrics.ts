/**
 * QueueMetrics: what a queue tells about itself, and the adapter that keeps it under client-go's names.
 *
 * A queue without metrics pays one comparison per event. The depth carries its priority as controller-runtime's does,
 * for at most 25 priorities: computed priorities would otherwise make a time series each (controller-runtime#3396).
 * What runs is read when somebody scrapes, not by a ticker.
 */
import type { Gauge, MetricsRegistry } from "../observe/mod.ts";

/** Told by a queue of everything that happens to its keys. Durations are milliseconds. */
export interface QueueMetrics {
  /** A key became due for a run that was not due before. */
  added(priority: number): void;
  /** A key that was due for a run got a higher priority. */
  raised(from: number, to: number): void;
  /** A run that was due was taken back: the key is parked. */
  withdrawn(priority: number): void;
  /** A worker took a key that was ready for `waitedMs`. */
  taken(priority: number, waitedMs: number): void;
  /** A run ended after `workedMs`. */
  finished(workedMs: number): void;
  /** A key was added with a delay. */
  retried(): void;
  /** Called once, by the queue: `read` answers what is running at the moment. */
  running(read: () => RunningWork): void;
}

/** The work that is in progress. */
export interface RunningWork {
  /** How long all running keys have been running, added up, in milliseconds. */
  readonly totalMs: number;
  /** How long the longest of them has been running, in milliseconds. */
  readonly longestMs: number;
}

/** Options of {@link queueMetrics}. */
export interface QueueMetricsOptions {
  /** Value of the label `name`: the queue. */
  readonly name: string;
  /** Value of the label `controller`. @default name, as controller-runtime */
  readonly controller?: string;
}

/** From 10 ns up to 1000 s, as client-go and controller-runtime have it. */
const buckets = Array.from({ length: 12 }, (_, power) => Number(`1e${power - 8}`));

/** Most priorities that get a time series of their own, as controller-runtime. */
const priorityLimit = 25;
const otherPriorities = "exceeded_cardinality_limit";

/** Keeps the metrics of one queue in `registry`: workqueue_depth, workqueue_adds_total and their five siblings. */
export function queueMetrics(registry: MetricsRegistry, options: QueueMetricsOptions): QueueMetrics {
  const { name, controller = name } = options;
  const labels = { name, controller };
  const labelNames = ["name", "controller"] as const;
  const depth = depthByPriority(registry, labels);
  const adds = registry.counter({
    name: "workqueue_adds_total",
    help: "Total number of adds handled by workqueue",
    labelNames,
  }).labels(labels);
  const waited = registry.histogram({
    name: "workqueue_queue_duration_seconds",
    help: "How long in seconds an item stays in workqueue before being requested",
    labelNames,
    buckets,
  }).labels(labels);
  const worked = registry.histogram({
    name: "workqueue_work_duration_seconds",
    help: "How long in seconds processing an item from workqueue takes",
    labelNames,
    buckets,
  }).labels(labels);
  const retries = registry.counter({
    name: "workqueue_retries_total",
    help: "Total number of retries handled by workqueue",
    labelNames,
  }).labels(labels);
  return {
    added(priority) {
      adds.inc();
      depth(priority).inc();
    },
    raised(from, to) {
      depth(from).dec();
      depth(to).inc();
    },
    withdrawn: (priority) => depth(priority).dec(),
    taken(priority, waitedMs) {
      depth(priority).dec();
      waited.observe(waitedMs / 1000);
    },
    finished: (workedMs) => worked.observe(workedMs / 1000),
    retried: () => retries.inc(),
    running: (read) => runningGauges(registry, labels, read),
  };
}

type Labels = Readonly<Record<"name" | "controller", string>>;

function runningGauges(registry: MetricsRegistry, labels: Labels, read: () => RunningWork): void {
  registry.gauge({
    name: "workqueue_unfinished_work_seconds",
    help: "Seconds of work that is in progress and not yet observed by work_duration; large values mean stuck workers",
    labelNames: ["name", "controller"],
  }).labels(labels).read(() => read().totalMs / 1000);
  registry.gauge({
    name: "workqueue_longest_running_processor_seconds",
    help: "How many seconds the longest running processor of the workqueue has been running",
    labelNames: ["name", "controller"],
  }).labels(labels).read(() => read().longestMs / 1000);
}

/** The depth gauge of a priority, found at the cost of one look-up. */
function depthByPriority(registry: MetricsRegistry, labels: Labels): (priority: number) => Gauge {
  const family = registry.gauge({
    name: "workqueue_depth",
    help: "Current depth of workqueue by workqueue and priority",
    labelNames: ["name", "controller", "priority"],
  });
  const known = new Map<number, Gauge>();
  return (priority) => {
    const gauge = known.get(priority);
    if (gauge !== undefined) return gauge;
    if (known.size >= priorityLimit) return family.labels({ ...labels, priority: otherPriorities });
    const added = family.labels({ ...labels, priority: String(priority) });
    known.set(priority, added);
    return added;
  };
}

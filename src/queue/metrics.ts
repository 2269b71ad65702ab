/**
 * QueueMetrics: the events that a queue reports, and the adapter that counts them under the metric names of client-go.
 *
 * A queue without metrics pays one comparison per event. As in controller-runtime, the depth has a label for the
 * priority, for at most 25 priorities: computed priorities would otherwise make one time series each
 * (controller-runtime#3396). Running work is read at each scrape, not by a ticker.
 */
import type { Gauge, MetricsRegistry } from "../observe/mod.ts";

/** Notified by a queue of everything that happens to its keys. Durations are milliseconds. */
export interface QueueMetrics {
  /** A run of a key became due that was not due before. */
  added(priority: number): void;
  /** A queued key got a higher priority. */
  raised(from: number, to: number): void;
  /** A queued run was cancelled: the key is parked. */
  withdrawn(priority: number): void;
  /** A worker took a key that was ready for `waitedMs`. */
  taken(priority: number, waitedMs: number): void;
  /** A run ended after `workedMs`. */
  finished(workedMs: number): void;
  /** A key was added with a delay. */
  retried(): void;
  /** Called once, by the queue: `read` returns the work that is running at that moment. */
  running(read: () => RunningWork): void;
}

/** The work in progress. */
export interface RunningWork {
  /** The sum of the running times of all running keys, in milliseconds. */
  readonly totalMs: number;
  /** The longest of these running times, in milliseconds. */
  readonly longestMs: number;
}

/** Options of {@link queueMetrics}. */
export interface QueueMetricsOptions {
  /** Value of the label `name`: the name of the queue. */
  readonly name: string;
  /** Value of the label `controller`. @default name, as in controller-runtime */
  readonly controller?: string;
}

/** From 10 ns to 1000 s, as in client-go and controller-runtime. */
const buckets = Array.from({ length: 12 }, (_, power) => Number(`1e${power - 8}`));

/** How many priorities get their own time series; the value is controller-runtime's. */
const maxPriorities = 25;
const otherPriorities = "exceeded_cardinality_limit";

/** Registers the metrics of one queue in `registry`: workqueue_depth, workqueue_adds_total and five others. */
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

/** Finds the depth gauge of a priority with one map look-up. */
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
    if (known.size >= maxPriorities) return family.labels({ ...labels, priority: otherPriorities });
    const added = family.labels({ ...labels, priority: String(priority) });
    known.set(priority, added);
    return added;
  };
}

/**
 * ReconcileMetrics: the callbacks for the metrics of a controller's reconciles, and their implementation on a
 * MetricsRegistry under controller-runtime's names. All series of a controller exist from the start with 0, so that a
 * rate over them includes the first reconcile.
 */
import type { ObjectKey } from "../api/mod.ts";
import type { Counter, MetricsRegistry } from "../observe/mod.ts";
import type { DaemonCounts } from "./_object_daemons.ts";
import type { PollOutcome } from "./_external_poller.ts";

/** How a reconcile ended, see `Outcome` in `_worker.ts`. */
export type ReconcileOutcome = "done" | "requeue" | "failed" | "terminal" | "aborted";

/** Called by a controller for each of its reconciles. */
export interface ReconcileMetrics {
  setMaxWorkers(count: number): void;
  onStart(): void;
  /** @param durationMs Milliseconds. */
  onFinish(key: ObjectKey, outcome: ReconcileOutcome, durationMs: number): void;
  /** These keys are not reconciled in this process any more: they no longer count as failing. */
  removeWhere(isGone: (key: ObjectKey) => boolean): void;
  /** Called once for each Controller: `read` returns how many of its keys are parked. */
  readParked(read: () => number): void;
  /** Called once for each external source of a Controller: the result counts its polls, `failing` its failing resources. */
  external(source: string, failing: () => number): (outcome: PollOutcome) => void;
  /** Called once for a Controller with a daemon: the result counts, and `read` returns how many daemons are in which state. */
  daemons(read: () => DaemonCounts): (event: "restarted" | "abandoned") => void;
}

/** Options of {@link reconcileMetrics}. */
export interface ReconcileMetricsOptions {
  /** Value of the label `controller`. */
  readonly controller: string;
}

/** Seconds; the bounds are those of controller-runtime. */
const buckets = [
  ...[0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1],
  ...[1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60],
];

/** Creates the reconcile metrics of one controller in `registry`: `controller_runtime_reconcile_total` and others. */
export function reconcileMetrics(registry: MetricsRegistry, options: ReconcileMetricsOptions): ReconcileMetrics {
  const { controller } = options;
  const count = outcomeCounter(registry, controller);
  const seconds = registry.histogram({
    name: "controller_runtime_reconcile_time_seconds",
    help: "Seconds a reconcile takes, per controller",
    labelNames: ["controller"],
    buckets,
  }).labels({ controller });
  const maxWorkers = registry.gauge({
    name: "controller_runtime_max_concurrent_reconciles",
    help: "Reconciles per controller that may run at the same time",
    labelNames: ["controller"],
  }).labels({ controller });
  const active = registry.gauge({
    name: "controller_runtime_active_workers",
    help: "Reconciles per controller that run now",
    labelNames: ["controller"],
  }).labels({ controller });
  const failing = failingKeys(registry, controller);
  const parked = registry.gauge({
    name: "pintle_controller_parked_keys",
    help: "Keys per controller that are not reconciled for a while, because their writes were reverted again and again",
    labelNames: ["controller"],
  }).labels({ controller });
  return {
    setMaxWorkers: (count) => maxWorkers.set(count),
    onStart: () => active.inc(),
    onFinish(key, outcome, durationMs) {
      active.dec();
      seconds.observe(durationMs / 1000);
      count(outcome);
      failing.record(key, outcome);
    },
    removeWhere: (isGone) => failing.removeWhere(isGone),
    readParked: (read) => parked.read(read),
    daemons: (read) => daemonMetrics(registry, controller, read),
    external: (source, failing) => externalMetrics(registry, { controller, source }, failing),
  };
}

function daemonMetrics(
  registry: MetricsRegistry,
  controller: string,
  read: () => DaemonCounts,
): (event: "restarted" | "abandoned") => void {
  const daemons = registry.gauge({
    name: "pintle_daemons",
    help: "Daemons of objects per controller that run, wait for their restart, or are to stop",
    labelNames: ["controller", "state"],
  });
  for (const state of ["running", "waiting", "stopping"] as const) {
    daemons.labels({ controller, state }).read(() => read()[state]);
  }
  const restarted = registry.counter({
    name: "pintle_daemon_restarts_total",
    help: "Restarts of daemons of objects per controller",
    labelNames: ["controller"],
  }).labels({ controller });
  const abandoned = registry.counter({
    name: "pintle_daemons_abandoned_total",
    help: "Daemons of objects per controller that did not return within their grace period",
    labelNames: ["controller"],
  }).labels({ controller });
  return (event) => (event === "restarted" ? restarted : abandoned).inc();
}

/** Counts the polls of an external source by result. */
function externalMetrics(
  registry: MetricsRegistry,
  labels: { readonly controller: string; readonly source: string },
  failing: () => number,
): (outcome: PollOutcome) => void {
  const polls = registry.counter({
    name: "pintle_external_polls_total",
    help: "Polls of external resources per controller, source and result",
    labelNames: ["controller", "source", "result"],
  });
  registry.gauge({
    name: "pintle_external_failing_resources",
    help: "External resources per controller and source whose last read failed",
    labelNames: ["controller", "source"],
  }).labels(labels).read(failing);
  const counted = {
    unchanged: polls.labels({ ...labels, result: "unchanged" }),
    changed: polls.labels({ ...labels, result: "changed" }),
    error: polls.labels({ ...labels, result: "error" }),
  };
  return (outcome) => counted[outcome].inc();
}

/**
 * Counts the keys whose last reconcile failed. A rate of errors does not show them: a key that fails is retried less and less
 * often. The labels are the results of reconciles, so that keys which wait for their user can be told apart.
 */
function failingKeys(registry: MetricsRegistry, controller: string) {
  const family = registry.gauge({
    name: "pintle_controller_failing_keys",
    help: "Keys per controller whose last reconcile failed: with an error that is retried, or with a terminal error",
    labelNames: ["controller", "result"],
  });
  const failed = new Set<ObjectKey>();
  const terminal = new Set<ObjectKey>();
  family.labels({ controller, result: "error" }).read(() => failed.size);
  family.labels({ controller, result: "terminal_error" }).read(() => terminal.size);
  return {
    record(key: ObjectKey, outcome: ReconcileOutcome): void {
      if (outcome === "aborted") return;
      // Most keys never fail, and then this is two comparisons.
      if (failed.size > 0) failed.delete(key);
      if (terminal.size > 0) terminal.delete(key);
      if (outcome === "failed") failed.add(key);
      if (outcome === "terminal") terminal.add(key);
    },
    removeWhere(isGone: (key: ObjectKey) => boolean): void {
      for (const keys of [failed, terminal]) for (const key of [...keys].filter(isGone)) keys.delete(key);
    },
  };
}

/** Adds an outcome to the totals. A terminal error also counts as an error. */
function outcomeCounter(registry: MetricsRegistry, controller: string): (outcome: ReconcileOutcome) => void {
  const total = registry.counter({
    name: "controller_runtime_reconcile_total",
    help: "Reconciles per controller and result",
    labelNames: ["controller", "result"],
  });
  const success = total.labels({ controller, result: "success" });
  const requeueAfter = total.labels({ controller, result: "requeue_after" });
  const failure = total.labels({ controller, result: "error" });
  const errors = registry.counter({
    name: "controller_runtime_reconcile_errors_total",
    help: "Reconciles per controller that failed",
    labelNames: ["controller"],
  }).labels({ controller });
  const terminal = registry.counter({
    name: "controller_runtime_terminal_reconcile_errors_total",
    help: "Reconciles per controller that failed and are not retried",
    labelNames: ["controller"],
  }).labels({ controller });
  const counted: Readonly<Record<ReconcileOutcome, readonly Counter[]>> = {
    done: [success],
    requeue: [requeueAfter],
    failed: [failure, errors],
    terminal: [failure, errors, terminal],
    aborted: [], // the process is stopping, which is not a result of the reconcile
  };
  return (outcome) => counted[outcome].forEach((counter) => counter.inc());
}

import { assertEquals, test } from "../../tests/testing.ts";
import { objectKey } from "../api/mod.ts";
import { MetricsRegistry } from "../observe/mod.ts";
import { reconcileMetrics } from "./metrics.ts";

async function values(registry: MetricsRegistry): Promise<Readonly<Record<string, string>>> {
  const lines = (await registry.render()).split("\n").filter((line) => line.startsWith("controller_runtime_"));
  return Object.fromEntries(lines.filter((line) => !line.includes("_bucket")).map((line) => line.split(" ", 2)));
}

test("reconciles are counted under controller-runtime's names, and all series exist from the start", async () => {
  const registry = new MetricsRegistry();
  const metrics = reconcileMetrics(registry, { controller: "foo" });
  const label = '{controller="foo"}';
  const zero = {
    'controller_runtime_reconcile_total{controller="foo",result="success"}': "0",
    'controller_runtime_reconcile_total{controller="foo",result="requeue_after"}': "0",
    'controller_runtime_reconcile_total{controller="foo",result="error"}': "0",
    [`controller_runtime_reconcile_errors_total${label}`]: "0",
    [`controller_runtime_terminal_reconcile_errors_total${label}`]: "0",
    [`controller_runtime_reconcile_time_seconds_sum${label}`]: "0",
    [`controller_runtime_reconcile_time_seconds_count${label}`]: "0",
    [`controller_runtime_max_concurrent_reconciles${label}`]: "0",
    [`controller_runtime_active_workers${label}`]: "0",
  };
  assertEquals(await values(registry), zero);

  metrics.setMaxWorkers(4);
  for (const outcome of ["done", "done", "requeue", "failed", "terminal", "aborted"] as const) {
    metrics.onStart();
    metrics.onFinish(objectKey({ namespace: "a", name: "b" }), outcome, 250);
  }
  metrics.onStart();
  assertEquals(await values(registry), {
    ...zero,
    'controller_runtime_reconcile_total{controller="foo",result="success"}': "2",
    'controller_runtime_reconcile_total{controller="foo",result="requeue_after"}': "1",
    'controller_runtime_reconcile_total{controller="foo",result="error"}': "2",
    [`controller_runtime_reconcile_errors_total${label}`]: "2",
    [`controller_runtime_terminal_reconcile_errors_total${label}`]: "1",
    [`controller_runtime_reconcile_time_seconds_sum${label}`]: "1.5",
    [`controller_runtime_reconcile_time_seconds_count${label}`]: "6",
    [`controller_runtime_max_concurrent_reconciles${label}`]: "4",
    [`controller_runtime_active_workers${label}`]: "1",
  });
});

test("[124] a key counts as failing from its first failure until it succeeds, and parked keys are read at each rendering", async () => {
  const registry = new MetricsRegistry();
  const metrics = reconcileMetrics(registry, { controller: "foo" });
  const states = async () =>
    (await registry.render()).split("\n").filter((line) => /^pintle_controller_(failing|parked)/.test(line))
      .map((line) => line.split(" ")[1]).join(" ");
  assertEquals(await states(), "0 0 0");
  let parked = 2;
  metrics.readParked(() => parked);
  const finish = (key: string, outcome: Parameters<typeof metrics.onFinish>[1]) => {
    metrics.onStart();
    metrics.onFinish(objectKey({ namespace: "default", name: key }), outcome, 1);
  };
  for (const key of ["a", "b", "c"]) finish(key, "failed");
  finish("a", "failed");
  finish("c", "terminal");
  assertEquals(await states(), "2 1 2");
  finish("a", "aborted");
  metrics.removeWhere((key) => key === "default/a");
  assertEquals(await states(), "1 1 2");
  finish("a", "failed");
  finish("b", "requeue");
  finish("c", "done");
  parked = 0;
  assertEquals(await states(), "1 0 0");
});

test("polls of external resources are counted by result, and failing resources are read at each rendering", async () => {
  const registry = new MetricsRegistry();
  let failing = 0;
  const onPoll = reconcileMetrics(registry, { controller: "foo" }).external("disks", () => failing);
  for (const outcome of ["unchanged", "unchanged", "changed", "error"] as const) onPoll(outcome);
  failing = 3;
  const lines = (await registry.render()).split("\n").filter((line) => line.startsWith("pintle_external_"));
  const labels = 'controller="foo",source="disks"';
  assertEquals(lines.toSorted(), [
    `pintle_external_failing_resources{${labels}} 3`,
    `pintle_external_polls_total{${labels},result="changed"} 1`,
    `pintle_external_polls_total{${labels},result="error"} 1`,
    `pintle_external_polls_total{${labels},result="unchanged"} 2`,
  ]);
});

test("daemons are read by state at each rendering, and restarts and abandoned ones are counted", async () => {
  const registry = new MetricsRegistry();
  const counts = { running: 0, waiting: 0, stopping: 0 };
  const onEvent = reconcileMetrics(registry, { controller: "foo" }).daemons(() => counts);
  Object.assign(counts, { running: 5, waiting: 1 });
  for (const event of ["restarted", "restarted", "abandoned"] as const) onEvent(event);
  const lines = (await registry.render()).split("\n").filter((line) => line.startsWith("pintle_daemon"));
  assertEquals(lines.toSorted(), [
    'pintle_daemon_restarts_total{controller="foo"} 2',
    'pintle_daemons_abandoned_total{controller="foo"} 1',
    'pintle_daemons{controller="foo",state="running"} 5',
    'pintle_daemons{controller="foo",state="stopping"} 0',
    'pintle_daemons{controller="foo",state="waiting"} 1',
  ]);
});

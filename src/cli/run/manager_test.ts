import { z } from "zod";
import { freePort } from "../../../tests/free_port.ts";
import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { FakeCluster } from "../../../tests/fakes/cluster.ts";
import { systemClock } from "../../async/mod.ts";
import { Client } from "../../client/mod.ts";
import { EventLoopWatchdog, Manager, withFlags } from "../../manager/mod.ts";
import { MetricsRegistry } from "../../observe/mod.ts";
import { createEndpoints } from "./manager.ts";
import { emptyList, podController, websiteController } from "../testing/test_kinds.ts";
import { createProcess, startCommandLine } from "../testing/run_command.ts";
import { TestProcess } from "../testing/test_process.ts";
import { FakeServer } from "../testing/fake_server.ts";
import type { OperatorEndpoints } from "../command/operator.ts";
import { operatorCli } from "../operator_cli.ts";

/** Returns the responses to these paths: of the probes where a path starts with `probe`, else of the metrics. */
async function responses(endpoints: OperatorEndpoints | undefined, paths: readonly string[]) {
  const client = new Client(new FakeServer({}).transport);
  const checks = [...new Manager({ client }).checks(), new EventLoopWatchdog().check];
  const [probes, shown] = [await freePort(), await freePort()];
  const local = (port: number) => ({ hostname: "127.0.0.1", port });
  const flags = { healthProbeBindAddress: local(probes), metricsBindAddress: local(shown), webhookPort: 0 };
  const metrics = new MetricsRegistry();
  const rest = { webhookHost: undefined, certDir: undefined, debugBindAddress: undefined };
  const runnables = createEndpoints({ ...flags, ...rest }, {
    checks,
    metrics,
    endpoints,
    reviewer: client,
    clock: systemClock,
  });
  const stop = new AbortController();
  for (const runnable of runnables) await runnable.prepare?.(new AbortController().signal);
  const running = runnables.map((runnable) => runnable.run({ stop: stop.signal, kill: stop.signal }));
  try {
    return await Promise.all(paths.map(async (path) => {
      const port = path.startsWith("probe") ? probes : shown;
      const url = `http://127.0.0.1:${port}${path.replace("probe", "")}`;
      const response = await fetch(url, { headers: { connection: "close" } });
      return `${response.status} ${(await response.text()).split("\n")[0]}`;
    }));
  } finally {
    stop.abort();
    await Promise.all(running);
  }
}

test("probes and metrics have the names that Kubernetes uses, and there are no other endpoints", async () => {
  const paths = [
    "probe/healthz",
    "probe/livez/event-loop",
    "probe/readyz",
    "probe/metrics",
    "/metrics",
    "/debug/queues",
  ];
  const statuses = (await responses(undefined, paths)).map((response) => response.slice(0, 3));
  assertEquals(statuses, ["200", "200", "200", "404", "200", "404"]);
});

test("an operator can rename its endpoints, and add handlers beside the metrics", async () => {
  const extra = new Map([["/debug/queues", () => new Response("three keys wait")]]);
  const endpoints = { metricsPath: "/numbers", livenessName: "alive", readinessName: "ready", extra };
  const paths = ["probe/alive", "probe/ready", "probe/healthz", "/numbers", "/metrics", "/debug/queues"];
  const [alive, ready, healthz, numbers, metrics, queues] = await responses(endpoints, paths);
  assertEquals([alive, ready, queues], ["200 ok", "200 ok", "200 three keys wait"]);
  assertEquals([healthz, numbers, metrics].map((response) => response?.slice(0, 3)), ["404", "200", "404"]);
});

test("run serves the metrics and the health checks of its controllers with its own", async () => {
  const cluster = new FakeCluster();
  cluster.intercept = ({ url }, path) => {
    if (path === "/version") return Response.json({ gitVersion: "v1.36.3" });
    return url.includes("limit=1") ? Response.json(emptyList) : undefined;
  };
  const problems = { store: "the disk is full" as string | undefined };
  const counting = withFlags(podController, z.object({}), ({ metrics }) => {
    metrics.counter({ name: "shop_orders_total", help: "Orders received" }).labels({}).inc();
    const healthChecks = [{ name: "store", probe: "ready", problem: () => problems.store }] as const;
    return { ...podController, healthChecks };
  });
  const metrics = new MetricsRegistry();
  metrics.gauge({ name: "shop_open", help: "The shop is open" }).labels({}).set(1);
  const [probes, shown] = [await freePort(), await freePort()];
  const args = `run --all --health-probe-bind-address 127.0.0.1:${probes} --metrics-bind-address 127.0.0.1:${shown}`;
  const process = createProcess(args.split(" "), { transport: cluster.transport });
  const ending = startCommandLine({ name: "op", metrics, controllers: [counting] }, process, cluster.transport);
  let ended = false;
  ending.finally(() => ended = true);
  const advanceUntil = async (isReached: () => boolean) => {
    while (!isReached() && !ended) await process.clock.advance(10);
  };
  const get = async (port: number, path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: "close" } });
    return await response.text();
  };
  await advanceUntil(() => process.err.includes("starting workers"));
  const text = await get(shown, "/metrics");
  for (const line of ["shop_orders_total 1", "shop_open 1", 'workqueue_adds_total{name="pods"']) {
    assert(text.includes(`\n${line}`), `${line} is missing in ${text}`);
  }
  assertEquals(await get(probes, "/readyz/store"), "internal server error: the disk is full\n");
  problems.store = undefined;
  assertEquals(await get(probes, "/readyz/store"), "ok");
  process.signal("SIGTERM");
  await advanceUntil(() => ended);
  assertEquals(await ending, 0, process.err);
});

test("a dry run with leader election is a usage error, because it would block the replicas that write", async () => {
  const server = new FakeServer({
    "GET /version": { gitVersion: "v1.36.3" },
    "GET /apis/example.dev/v1/websites": emptyList,
    "GET /api/v1/configmaps": emptyList,
  });
  for (
    const [flags, advice] of [[["--leader-elect"], /Leave --leader-elect or/], [
      ["--shards", "2"],
      /Leave --shards or/,
    ]] as const
  ) {
    const args = ["run", "website", "--dry-run", ...flags, "--server", "https://10.0.0.1:6443"];
    const process = new TestProcess(args, { HOME: "/nonexistent" });
    const { environment, clock, random, stdout, stderr, onSignal, onUnhandledRejection } = process;
    const processEnvironment = { args, environment, clock, random, stdout, stderr, onSignal, onUnhandledRejection };
    const operator = { name: "op", controllers: [websiteController] };
    assertEquals(await operatorCli(operator, { ...processEnvironment, transport: server.transport }), 2);
    assertMatch(process.err, /Cannot elect a leader: a dry run that holds the lease/);
    assertMatch(process.err, advice);
  }
  assertEquals(server.requests.filter((line) => !line.startsWith("GET ")), []);
});

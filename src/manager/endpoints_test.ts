import { assertEquals, assertRejects, assertStringIncludes, assertThrows, test } from "../../tests/testing.ts";
import { Client } from "../client/mod.ts";
import { MetricsRegistry } from "../observe/mod.ts";
import { endpoints } from "./endpoints.ts";
import { HealthChecks } from "./health.ts";
import { runEndpoints, serveEndpoints } from "./metrics_server.ts";
import { leaderElectionMetrics } from "./metrics.ts";

const here = { remoteAddress: "::1", isTls: false };

function registry(): MetricsRegistry {
  const metrics = new MetricsRegistry();
  leaderElectionMetrics(metrics, { name: "operator" }).leading(true);
  return metrics;
}

test("metrics, health and further handlers stand side by side", async () => {
  const extra = new Map([["/debug/queues", () => new Response("queues")]]);
  const handler = endpoints({ health: new HealthChecks(), metrics: registry(), extra });
  const get = async (path: string, method = "GET") =>
    await handler(new Request(`http://localhost${path}`, { method }), here);
  const metrics = await get("/metrics");
  assertEquals(metrics.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  assertStringIncludes(await metrics.text(), '\nleader_election_master_status{name="operator"} 1\n');
  assertEquals(await (await get("/readyz")).text(), "ok");
  assertEquals(await (await get("/debug/queues")).text(), "queues");
  assertEquals([(await get("/metrics", "POST")).status, (await get("/metrics/x")).status, (await get("/")).status], [
    405,
    404,
    404,
  ]);
  assertThrows(() => endpoints({ metrics: registry(), extra: new Map([["/metrics", () => new Response()]]) }), /taken/);
  assertThrows(() => endpoints({ extra: new Map([["debug", () => new Response()]]) }), /no path/);
});

test("[security 11] metrics are not served to others without a certificate and a review, health is", async () => {
  const hostname = "0.0.0.0";
  const reviewer = new Client(() => Promise.resolve(new Response()));
  await assertRejects(() => serveEndpoints({ hostname, metrics: registry() }), /^Cannot serve metrics on 0\.0\.0\.0: /);
  await assertRejects(() => serveEndpoints({ hostname, metrics: registry(), reviewer }), /takes a certificate/);
  await assertRejects(() => serveEndpoints({ hostname, extra: new Map([["/x", () => new Response()]]) }), /review/);
  await using _health = await serveEndpoints({ hostname, health: new HealthChecks() });
});

test("the server listens on loopback, reviews who asks for metrics but not who asks for health, and ends when told", async () => {
  const reviewer = new Client(() => Promise.resolve(Response.json({ status: {} })));
  const server = await serveEndpoints({ health: new HealthChecks(), metrics: registry(), reviewer });
  const stop = new AbortController();
  const running = runEndpoints(server, stop.signal);
  const get = async (path: string) => {
    const headers = { authorization: "Bearer a", connection: "close" };
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers });
    await response.body?.cancel();
    return response.status;
  };
  assertEquals([server.hostname, await get("/healthz"), await get("/metrics")], ["127.0.0.1", 200, 401]);
  stop.abort();
  await running;
  await assertRejects(() => get("/healthz"));
});

import { assertEquals, assertRejects, assertStringIncludes, assertThrows, test } from "../../../tests/testing.ts";
import { Client } from "../../client/mod.ts";
import { MetricsRegistry } from "../../observe/mod.ts";
import { endpoints } from "./endpoints.ts";
import { HealthChecks } from "./health_checks.ts";
import { leaderElectionMetrics } from "../election/leader_elector.ts";
import { runEndpoints, serveEndpoints } from "./endpoints.ts";

const here = { remoteAddress: "::1", isTls: false };

function registry(): MetricsRegistry {
  const metrics = new MetricsRegistry();
  leaderElectionMetrics(metrics, { name: "operator" }).setLeading(true);
  return metrics;
}

test("endpoints() serves metrics, health and further handlers", async () => {
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
  assertThrows(
    () => endpoints({ metrics: registry(), extra: new Map([["/metrics", () => new Response()]]) }),
    /the path is already used/,
  );
  assertThrows(() => endpoints({ extra: new Map([["debug", () => new Response()]]) }), /does not start with/);
});

test("[125] /metrics is OpenMetrics for a scraper that accepts it and does not prefer another text", async () => {
  const handler = endpoints({ metrics: registry() });
  const typeFor = async (accept: string) => {
    const response = await handler(new Request("http://localhost/metrics", { headers: { accept } }), here);
    const isOpen = (await response.text()).endsWith("# EOF\n");
    assertEquals(response.headers.get("content-type")?.startsWith("application/openmetrics-text"), isOpen, accept);
    return isOpen;
  };
  const prometheus =
    "application/openmetrics-text;version=1.0.0;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5," +
    "text/plain;version=0.0.4;q=0.3,*/*;q=0.1";
  assertEquals([await typeFor(prometheus), await typeFor("application/openmetrics-text")], [true, true]);
  for (
    const accept of [
      "",
      "*/*",
      "text/plain",
      "application/openmetrics-text;q=0",
      "application/openmetrics-text;q=0.1,text/plain",
    ]
  ) {
    assertEquals(await typeFor(accept), false, accept);
  }
});

test("[security 11] other machines can reach metrics only with a certificate and a review, but health without them", async () => {
  const hostname = "0.0.0.0";
  const reviewer = new Client(() => Promise.resolve(new Response()));
  await assertRejects(() => serveEndpoints({ hostname, metrics: registry() }), /^Cannot serve metrics on 0\.0\.0\.0: /);
  await assertRejects(() => serveEndpoints({ hostname, metrics: registry(), reviewer }), /Use a certificate/);
  await assertRejects(() => serveEndpoints({ hostname, extra: new Map([["/x", () => new Response()]]) }), /review/);
  await using _health = await serveEndpoints({ hostname, health: new HealthChecks() });
});

test("the server listens on loopback, reviews access to metrics but not to health, and ends at the stop", async () => {
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

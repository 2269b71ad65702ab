import { assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { KubernetesTestServer } from "../testing/kubernetes_test_server.ts";

const pods = "/api/v1/namespaces/default/pods";

async function withPod(): Promise<KubernetesTestServer> {
  const server = new KubernetesTestServer();
  await server.create("/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } });
  const containers = [{ name: "main", image: "example.invalid/main" }];
  await server.create(pods, { metadata: { name: "web" }, spec: { containers, nodeName: "node-a" } });
  await phase(server, "Running");
  return server;
}

async function phase(server: KubernetesTestServer, name: string): Promise<void> {
  const type = { "content-type": "application/merge-patch+json" };
  await server.send("PATCH", `${pods}/web/status`, { status: { phase: name } }, type);
}

test("the options of kubectl logs select the line of a simulated Pod", async () => {
  using server = await withPod();
  await server.clock.advance(60_000);
  const line = /^Pod default\/web is simulated.*\n$/;
  const shown: Readonly<Record<string, RegExp>> = {
    "": line,
    "tailLines=0": /^$/,
    "tailLines=5": line,
    "sinceSeconds=30": /^$/,
    "sinceSeconds=90": line,
    "sinceTime=1969-01-01T00:00:00Z": line,
    "timestamps=true": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ Pod default/,
    "limitBytes=3": /^Pod$/,
  };
  for (const [query, pattern] of Object.entries(shown)) {
    const { code, body } = await server.send("GET", `${pods}/web/log?${query}`);
    assertEquals(code, 200, query);
    assertMatch(body, pattern);
  }
  for (const query of ["tailLines=-1", "sinceTime=now", "previous=true"]) {
    assertEquals((await server.send("GET", `${pods}/web/log?${query}`)).code, 400, query);
  }
});

test("a log that is followed ends with its Pod", async () => {
  using server = await withPod();
  let hasEnded = false;
  const response = server.send("GET", `${pods}/web/log?follow=true`).finally(() => hasEnded = true);
  await server.clock.advance(5_000);
  assertEquals(hasEnded, false);
  await phase(server, "Succeeded");
  await server.clock.advance(1_000);
  assertMatch((await response).body, /is simulated/);
});

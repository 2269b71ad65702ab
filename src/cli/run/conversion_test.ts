/** Tests that `run` converts: with `--webhook-host` it serves the conversion itself, else the server must have the webhook. */
import { assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { kubernetesApi } from "../../apiserver/mod.ts";
import { seededRandom, systemClock, systemRandom } from "../../async/mod.ts";
import { Client } from "../../client/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";
import {
  clockController,
  CronTabV1,
  CronTabV2,
  unwiredController,
  UnwiredCronTab,
} from "../../manager/testing/cron_tabs.ts";
import { MetricsRegistry } from "../../observe/mod.ts";
import { CrdResource } from "../../schema/mod.ts";
import { localRunAnnotation } from "../../webhook/mod.ts";
import { connectionTo } from "../testing/test_kinds.ts";
import { preflight } from "./preflight.ts";
import { createWebhookRunnable } from "./webhooks.ts";

const key = "default/nightly";
const name = "crontabs.clock.example.dev";
const never = new AbortController().signal;

/** A cluster in which a user has installed both versions without a conversion, and created an object of v1. */
async function createCluster() {
  const { server } = kubernetesApi({ random: seededRandom(1) });
  const client = new Client(server.fetch);
  const versions = UnwiredCronTab.crd.spec.versions.map((one) => ({ ...one, storage: one.name === "v1" }));
  const conversion = { strategy: "None" } as const;
  const crd = { ...UnwiredCronTab.crd, spec: { ...UnwiredCronTab.crd.spec, versions, conversion } };
  await client.create(CrdResource, crd);
  await client.create(CronTabV1, {
    metadata: { namespace: "default", name: "nightly" },
    spec: { schedule: "30 2", suspend: false },
  });
  return { server, client, [Symbol.dispose]: () => server[Symbol.dispose]() };
}

function localRun(client: Client, controllers: readonly OperatorController[]) {
  const flags = { webhookPort: 0, webhookHost: "127.0.0.1", certDir: undefined };
  const runnable = createWebhookRunnable(
    { ...flags, healthProbeBindAddress: undefined, metricsBindAddress: undefined, debugBindAddress: undefined },
    {
      controllers,
      allControllers: controllers,
      name: "op",
      namespace: "ops",
      configurations: "op",
      isInCluster: false,
      dryRun: false,
      client,
      isLeader: () => true,
      metrics: new MetricsRegistry(),
      clock: systemClock,
      random: systemRandom,
    },
  );
  if (runnable === undefined) throw new Error("there is nothing to serve");
  return runnable;
}

test("[110] run --webhook-host converts before the caches start, and restores the definition at the end", async () => {
  using cluster = await createCluster();
  const { client } = cluster;
  const before = (await client.get(CrdResource, name)).spec.conversion;
  const runnable = localRun(client, [clockController]);
  await runnable.prepare?.(never);
  const stop = new AbortController();
  const running = runnable.run({ stop: stop.signal, kill: never });
  assertEquals((await client.get(CrdResource, name)).spec.conversion?.strategy, "Webhook");
  assertEquals((await client.get(CronTabV2, key)).spec, { minute: "30", hour: "2", suspend: false });
  const { items: [listed] } = await client.list(CronTabV2);
  assertEquals(listed?.spec.hour, "2");
  stop.abort();
  await running;
  const after = await client.get(CrdResource, name);
  assertEquals([after.spec.conversion, after.metadata.annotations], [before, undefined]);
});

test("the start after a killed local run removes the conversion that it left", async () => {
  using cluster = await createCluster();
  const { client } = cluster;
  const killed = localRun(client, [clockController]);
  await killed.prepare?.(never);
  const mark = (await client.get(CrdResource, name)).metadata.annotations?.[localRunAnnotation] ?? "";
  const dead = JSON.stringify({ ...JSON.parse(mark), id: "killed", process: 2 ** 30 });
  await client.patch(CrdResource, name, {
    kind: "merge",
    value: { metadata: { annotations: { [localRunAnnotation]: dead } } },
  });
  const next = localRun(client, [clockController]);
  await next.prepare?.(never);
  assertEquals((await client.get(CronTabV2, key)).spec.minute, "30");
  const stop = new AbortController();
  stop.abort();
  await next.run({ stop: stop.signal, kill: never });
  assertEquals((await client.get(CrdResource, name)).spec.conversion, { strategy: "None" });
  await killed.run({ stop: stop.signal, kill: never });
});

test("[84, 111] run refuses a definition that the server does not convert, unless it serves the conversion itself", async () => {
  using cluster = await createCluster();
  const connection = connectionTo(cluster.server.fetch);
  const options = { controllers: [clockController], namespaces: [], operatorName: "op", signal: never };
  await assertRejects(
    () => preflight(connection, options),
    /^Cannot run controller "clock": the CustomResourceDefinition crontabs\.clock\.example\.dev has no conversion webhook$/,
  );
  assertEquals(await preflight(connection, { ...options, installsConversions: true }), []);
  assertEquals(await preflight(connection, { ...options, controllers: [unwiredController] }), []);
});

test("run starts although objects cannot be converted yet: it is the one that will serve the webhook", async () => {
  using cluster = await createCluster();
  const clientConfig = { url: "https://127.0.0.1:1/convert" };
  const conversion = { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"], clientConfig } };
  const operations = [{ op: "replace", path: "/spec/conversion", value: conversion }] as const;
  await cluster.client.patch(CrdResource, name, { kind: "json", operations });
  const options = { controllers: [clockController], namespaces: [], operatorName: "op", signal: never };
  assertEquals(await preflight(connectionTo(cluster.server.fetch), options), []);
});

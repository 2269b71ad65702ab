/** Tests that `install-crds` installs conversions: strategy, address and authorities, on an API server that calls webhooks. */
import { assertEquals, assertMatch, assertStringIncludes, test } from "../../../tests/testing.ts";
import { builtin } from "../../api/mod.ts";
import { type CallWebhook, kubernetesApi, WebhookCallError } from "../../apiserver/mod.ts";
import { seededRandom, VirtualClock } from "../../async/mod.ts";
import { Client } from "../../client/mod.ts";
import { controller, done } from "../../controller/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";
import { clockController, cronTabConversion, CronTabV1, CronTabV2 } from "../../manager/testing/cron_tabs.ts";
import { CrdResource } from "../../schema/mod.ts";
import { issueCertificates, savedConfigAnnotation, webhookHandler } from "../../webhook/mod.ts";
import { type CommandResult, runCommandLine } from "../testing/run_command.ts";
import { toBase64 } from "../../runtime/mod.ts";

const name = "crontabs.clock.example.dev";
const path = "/convert";
/** The release before v2. */
const oldRelease = controller("clock").for(CronTabV1).reconcile(() => Promise.resolve(done));

/** A cluster whose API server reaches the conversion webhook at one Service while `isServed`. */
function createCluster(service = "op-system/op-webhook") {
  const handler = webhookHandler([cronTabConversion]);
  const state = { isServed: true };
  const callWebhook: CallWebhook = async ({ service: target }, body) => {
    if (!state.isServed || `${target?.namespace}/${target?.name}${target?.path}` !== `${service}${path}`) {
      throw new WebhookCallError(`no endpoints for ${target?.namespace}/${target?.name}`);
    }
    const headers = { "content-type": "application/json" };
    const response = await handler(new Request(`https://webhook.test${path}`, { method: "POST", headers, body }));
    return await response.text();
  };
  const { server } = kubernetesApi({ clock: new VirtualClock(), random: seededRandom(1), callWebhook });
  const client = new Client(server.fetch);
  return {
    client,
    state,
    conversion: async () => (await client.get(CrdResource, name)).spec.conversion,
    async install(release: OperatorController, args = ""): Promise<CommandResult> {
      const operator = { name: "op", version: "1.0.0", controllers: [release] };
      const words = `install-crds ${args}`.trimEnd().split(" ");
      return await runCommandLine(operator, words, { transport: server.fetch });
    },
    async doctor(): Promise<CommandResult> {
      const operator = { name: "op", version: "1.0.0", controllers: [clockController] };
      return await runCommandLine(operator, ["doctor"], { transport: server.fetch });
    },
    [Symbol.dispose]: () => server[Symbol.dispose](),
  };
}

function webhookOf(service: object, more: object = {}) {
  const clientConfig = { service: { path, port: 443, name: "op-webhook", ...service }, ...more };
  return { strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions: ["v1"] } };
}

async function createOldObject(client: Client): Promise<void> {
  await client.create(CronTabV1, {
    metadata: { namespace: "default", name: "nightly" },
    spec: { schedule: "30 2", suspend: false },
  });
}

test("[85, 110] install-crds installs both versions with the conversion webhook, and stores old objects as the hub", async () => {
  using cluster = createCluster();
  const { client } = cluster;
  assertEquals((await cluster.install(oldRelease)).code, 0);
  await createOldObject(client);
  const { code, out, err } = await cluster.install(clockController);
  assertEquals([code, out], [0, `customresourcedefinition.apiextensions.k8s.io/${name} configured\n`], err);
  assertStringIncludes(err, "1 object rewritten, all objects are stored in v2 now");
  assertEquals<unknown>(await cluster.conversion(), webhookOf({ namespace: "op-system" }));
  assertEquals((await client.get(CrdResource, name)).status?.storedVersions, ["v2"]);
  assertEquals((await client.get(CronTabV2, "default/nightly")).spec, { minute: "30", hour: "2", suspend: false });
});

test("install-crds publishes the authorities that the controllers have created, and keeps them", async () => {
  using cluster = createCluster("ops/op-webhook");
  const { client } = cluster;
  const first = await cluster.install(clockController, "--webhook-namespace ops");
  assertStringIncludes(first.err, "the conversion webhook ops/op-webhook has no certificate authority yet");
  const { ca } = await issueCertificates({ hosts: ["op-webhook.ops.svc"], now: 0, lifetimeMs: 3_600_000 });
  await client.create(builtin.Namespace, { metadata: { name: "ops" }, spec: {} });
  const data = { "ca.crt": toBase64(ca) };
  await client.create(builtin.Secret, { metadata: { namespace: "ops", name: "op-webhook" }, data });
  const caBundle = data["ca.crt"];
  for (let run = 0; run < 2; run++) {
    const { code, err } = await cluster.install(clockController);
    assertEquals([code, err], [0, ""]);
    assertEquals<unknown>(await cluster.conversion(), webhookOf({ namespace: "ops" }, { caBundle }));
  }
});

test("install-crds refuses to take the conversion from another installation, and doctor names both", async () => {
  using cluster = createCluster("one/op-webhook");
  const { client } = cluster;
  await cluster.install(clockController, "--webhook-namespace one");
  for (const namespace of ["one", "two"]) {
    await client.create(builtin.Namespace, { metadata: { name: namespace }, spec: {} });
    const metadata = { namespace, name: "op-webhook", labels: { "app.kubernetes.io/name": "op" } };
    await client.create(builtin.Service, { metadata, spec: { ports: [{ port: 443 }] } });
  }
  const refused = await cluster.install(clockController, "--webhook-namespace two");
  assertEquals(refused.code, 1);
  assertMatch(
    refused.err,
    /Cannot install .*crontabs.*: Service one\/op-webhook of another installation converts its objects\. Leave --webhook-namespace out/,
  );
  assertEquals<unknown>(await cluster.conversion(), webhookOf({ namespace: "one" }));
  assertMatch(
    (await cluster.doctor()).out,
    /warning .*converted by the installation in one only, not by that in two\./,
  );
  await client.delete(builtin.Service, "one/op-webhook");
  assertEquals((await cluster.install(clockController, "--webhook-namespace two")).code, 0);
  assertEquals<unknown>(await cluster.conversion(), webhookOf({ namespace: "two" }));
});

test("install-crds says what to do when nobody serves the conversion webhook, and continues when it is served", async () => {
  using cluster = createCluster();
  await cluster.install(oldRelease);
  await createOldObject(cluster.client);
  cluster.state.isServed = false;
  const { code, err } = await cluster.install(clockController);
  assertEquals(code, 1);
  assertMatch(
    err,
    /Cannot migrate crontabs.*conversion webhook for .* failed.* Run the controllers.*run the command again/s,
  );
  cluster.state.isServed = true;
  assertEquals((await cluster.install(clockController)).code, 0);
  assertEquals((await cluster.client.get(CrdResource, name)).status?.storedVersions, ["v2"]);
});

test("install-crds leaves the address of a local run alone", async () => {
  using cluster = createCluster();
  await cluster.install(clockController);
  const url = "https://127.0.0.1:9443/convert";
  const conversion = { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"], clientConfig: { url } } };
  const operations = [
    { op: "add", path: "/metadata/annotations/" + savedConfigAnnotation.replaceAll("/", "~1"), value: "{}" },
    { op: "replace", path: "/spec/conversion", value: conversion },
  ] as const;
  await cluster.client.patch(CrdResource, name, { kind: "json", operations });
  const { code, err } = await cluster.install(clockController);
  assertEquals(code, 0, err);
  assertEquals<unknown>(await cluster.conversion(), conversion);
});

test("install-crds --dry-run=client -o json prints the conversion, without a cluster", async () => {
  const operator = { name: "op", version: "1.0.0", controllers: [clockController] };
  const { code, out } = await runCommandLine(operator, ["install-crds", "--dry-run=client", "-o", "json"]);
  assertEquals([code, JSON.parse(out).spec.conversion], [0, webhookOf({ namespace: "op-system" })]);
});

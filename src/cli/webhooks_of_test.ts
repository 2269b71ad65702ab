import { assert, assertEquals, test } from "../../tests/testing.ts";
import { systemClock } from "../async/mod.ts";
import { Client } from "../client/mod.ts";
import { withWebhooks } from "../manager/mod.ts";
import { MetricsRegistry } from "../observe/mod.ts";
import { allow, defaulting, validating } from "../webhook/mod.ts";
import { Website, websiteController } from "./_fake_kinds.ts";
import { type Answer, failed, FakeServer } from "./_fake_server.ts";
import { webhooksOf } from "./webhooks_of.ts";

const path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/op";
const controllers = [withWebhooks(websiteController, [
  defaulting(Website, (site) => site),
  validating(Website, { create: () => allow() }),
])];
const deadUrl = { url: "https://127.0.0.1:1/mutate", caBundle: "QQ==" };
const service = { service: { namespace: "ops", name: "op-webhook", path: "/mutate", port: 443 } };

function configuration(metadata: object): object {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name: "op", uid: "u1", resourceVersion: "5", ...metadata },
    webhooks: [{ name: "default.websites.example.dev", clientConfig: deadUrl }],
  };
}

/** What is written by a start whose webhooks are served nowhere, or from files. */
async function writesOfStart(
  held: Answer,
  flags: { readonly certDir?: string; readonly webhookHost?: string; readonly dryRun?: boolean } = {},
): Promise<readonly string[]> {
  const writes: string[] = [];
  const taken = async (request: Request) => {
    writes.push(`${request.method} ${await request.text()}`);
    return Response.json({ kind: "Status", status: "Success" });
  };
  const server = new FakeServer({
    [`GET ${path}`]: held,
    [`DELETE ${path}`]: taken,
    [`PATCH ${path}`]: taken,
  });
  const { dryRun = false, certDir, webhookHost } = flags;
  const serving = { webhookPort: 0, certDir, webhookHost, healthProbeBindAddress: undefined };
  const runnable = webhooksOf({ ...serving, metricsBindAddress: undefined }, {
    controllers,
    name: "op",
    namespace: "ops",
    isInCluster: false,
    dryRun,
    client: new Client(server.transport),
    isLeader: () => true,
    metrics: new MetricsRegistry(),
    clock: systemClock,
  });
  await runnable?.prepare?.();
  assert(server.requests.length > 0, "nobody asked");
  return writes;
}

const labelled = { labels: { "pintle.dev/local-run": "true" } };
const borrowed = {
  annotations: {
    "pintle.dev/webhooks-before-local": JSON.stringify({ "default.websites.example.dev": service }),
  },
};
const removal = (dryRun?: readonly string[]) =>
  `DELETE ${JSON.stringify({ apiVersion: "v1", kind: "DeleteOptions", preconditions: { uid: "u1" }, dryRun })}`;

test("a start that serves no webhooks, or from files, removes what a killed local run made", async () => {
  for (const flags of [{}, { certDir: "/certs" }]) {
    let reads = 0;
    const held = () => ++reads === 1 ? Response.json(configuration(labelled)) : failed(404, "NotFound", "gone");
    assertEquals(await writesOfStart(held, flags), [removal()]);
  }
});

test("a start that serves no webhooks puts back what a killed local run borrowed", async () => {
  const [write = "", ...more] = await writesOfStart(configuration(borrowed));
  assertEquals(more, []);
  assertEquals(JSON.parse(write.slice("PATCH ".length)), [
    { op: "replace", path: "/metadata/resourceVersion", value: "5" },
    { op: "replace", path: "/webhooks/0/clientConfig", value: service },
    { op: "remove", path: "/metadata/annotations/pintle.dev~1webhooks-before-local" },
  ]);
});

test("a start leaves configurations alone that no local run has touched", async () => {
  assertEquals(await writesOfStart(configuration({})), []);
  assertEquals(await writesOfStart(configuration({ labels: { "pintle.dev/local-run": "no" } })), []);
});

test("a start that may not look for what a killed local run left goes on", async () => {
  assertEquals(await writesOfStart(() => failed(403, "Forbidden", "no")), []);
});

test("a dry run stores nothing: it points the cluster nowhere and removes nothing", async () => {
  const writes = await writesOfStart(configuration(labelled), { webhookHost: "127.0.0.1", dryRun: true });
  assertEquals(writes, [removal(["All"])]);
});

import { assertEquals, test } from "../../../tests/testing.ts";
import { drain, systemClock } from "../../async/mod.ts";
import { Client } from "../../client/mod.ts";
import { type OperatorController, withWebhooks } from "../../manager/mod.ts";
import { MetricsRegistry } from "../../observe/mod.ts";
import { allow, defaulting, validating } from "../../webhook/mod.ts";
import { Website, websiteController } from "../testing/test_kinds.ts";
import { type Answer, failed, FakeServer } from "../testing/fake_server.ts";
import { createWebhookRunnable } from "./webhooks.ts";

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

interface StartFlags {
  readonly certDir?: string;
  readonly webhookHost?: string;
  readonly dryRun?: boolean;
  /** @default all that the operator has */
  readonly run?: readonly OperatorController[];
  readonly isInCluster?: boolean;
  /** Whether the user may read the configurations. @default true */
  readonly isAllowed?: boolean;
  /** Whether the configurations should be read. @default true */
  readonly isAsked?: boolean;
}

const reviewPath = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/** What is written by a start whose webhooks are served nowhere, or from files. */
async function writesOfStart(
  held: Answer,
  flags: StartFlags = {},
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
    [`POST ${reviewPath}`]: { status: { allowed: flags.isAllowed ?? true } },
  });
  const { dryRun = false, certDir, webhookHost, run = controllers, isInCluster = false } = flags;
  const serving = { webhookPort: 0, certDir, webhookHost, healthProbeBindAddress: undefined };
  const runnable = createWebhookRunnable({ ...serving, metricsBindAddress: undefined }, {
    controllers: run,
    known: controllers,
    name: "op",
    namespace: "ops",
    isInCluster,
    dryRun,
    client: new Client(server.transport),
    isLeader: () => true,
    metrics: new MetricsRegistry(),
    clock: systemClock,
  });
  await runnable?.prepare?.();
  const stop = new AbortController();
  const running = runnable?.run({ stop: stop.signal, kill: stop.signal });
  await drain(); // long enough to ask for a Secret, too short to make what would be in it
  stop.abort();
  await running;
  assertEquals(server.requests.some((line) => line.endsWith(path)), flags.isAsked ?? true, "somebody asked");
  assertEquals(server.requests.filter((line) => line.includes("/secrets")), []);
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

test("a start of controllers without webhooks puts right what a killed run of the others left", async () => {
  const [write = ""] = await writesOfStart(configuration(borrowed), { run: [websiteController] });
  assertEquals(JSON.parse(write.slice("PATCH ".length))[1].value, service);
});

test("who may not read webhook configurations asks whether he may, and leaves it at that", async () => {
  const start = { run: [websiteController], isAllowed: false, isAsked: false };
  assertEquals(await writesOfStart(configuration(borrowed), start), []);
});

test("in a cluster a controller without webhooks does not look for leftovers, and needs no permission to", async () => {
  const start = { run: [websiteController], isInCluster: true, isAsked: false };
  assertEquals(await writesOfStart(configuration(borrowed), start), []);
});

test("a dry run in a cluster keeps no certificate in it and tells the API server of none", async () => {
  assertEquals(await writesOfStart(configuration({}), { isInCluster: true, dryRun: true }), []);
});

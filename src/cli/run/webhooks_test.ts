import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { drain, systemClock, systemRandom, VirtualClock } from "../../async/mod.ts";
import { CommandError } from "../command/mod.ts";
import { Client } from "../../client/mod.ts";
import { type OperatorController, withWebhooks } from "../../manager/mod.ts";
import { MetricsRegistry } from "../../observe/mod.ts";
import { allow, defaulting, validating } from "../../webhook/mod.ts";
import { Website, websiteController } from "../testing/test_kinds.ts";
import { type FakeResponse, FakeServer, statusResponse } from "../testing/fake_server.ts";
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
  /** @default all controllers of the operator */
  readonly run?: readonly OperatorController[];
  readonly isInCluster?: boolean;
  /** Whether the user may read the configurations. @default true */
  readonly isAllowed?: boolean;
  /** Whether the start is expected to read the configurations. @default true */
  readonly readsConfigurations?: boolean;
}

const reviewPath = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/** Returns the writes of a start that serves no webhooks, or serves them with certificates from files. */
async function writesOfStart(
  live: FakeResponse,
  flags: StartFlags = {},
): Promise<readonly string[]> {
  const writes: string[] = [];
  const recordWrite = async (request: Request) => {
    writes.push(`${request.method} ${await request.text()}`);
    return Response.json({ kind: "Status", status: "Success" });
  };
  const server = new FakeServer({
    [`GET ${path}`]: live,
    [`DELETE ${path}`]: recordWrite,
    [`PATCH ${path}`]: async (request) => {
      await recordWrite(request);
      return Response.json(configuration(labelled));
    },
    [`POST ${reviewPath}`]: { status: { allowed: flags.isAllowed ?? true } },
  });
  const { dryRun = false, certDir, webhookHost, run = controllers, isInCluster = false } = flags;
  const serving = { webhookPort: 0, certDir, webhookHost, healthProbeBindAddress: undefined };
  const runnable = createWebhookRunnable({ ...serving, metricsBindAddress: undefined, debugBindAddress: undefined }, {
    controllers: run,
    allControllers: controllers,
    name: "op",
    namespace: "ops",
    configurations: "op",
    isInCluster,
    dryRun,
    client: new Client(server.transport),
    isLeader: () => true,
    metrics: new MetricsRegistry(),
    clock: systemClock,
    random: systemRandom,
  });
  await runnable?.prepare?.(new AbortController().signal);
  const stop = new AbortController();
  const running = runnable?.run({ stop: stop.signal, kill: stop.signal });
  await drain(); // long enough to request a Secret, too short to create certificates
  stop.abort();
  await running;
  assertEquals(
    server.requests.some((line) => line.endsWith(path)),
    flags.readsConfigurations ?? true,
    "whether the configurations were read",
  );
  assertEquals(server.requests.filter((line) => line.includes("/secrets")), []);
  return writes;
}

const labelled = { labels: { "pintle.dev/local-run": "true" } };
const changed = {
  annotations: {
    "pintle.dev/webhooks-before-local": JSON.stringify({ "default.websites.example.dev": service }),
  },
};
const removal = (dryRun?: readonly string[]) =>
  `DELETE ${
    JSON.stringify({
      apiVersion: "v1",
      kind: "DeleteOptions",
      preconditions: { uid: "u1", resourceVersion: "5" },
      dryRun,
    })
  }`;

test("a start removes the configurations that a killed local run created, also with certificates from files", async () => {
  for (const flags of [{}, { certDir: "/certs" }]) {
    let reads = 0;
    const live = () => ++reads <= 2 ? Response.json(configuration(labelled)) : statusResponse(404, "NotFound", "gone");
    assertEquals(await writesOfStart(live, flags), [removal()]);
  }
});

test("a start that serves no webhooks restores the configurations that a killed local run changed", async () => {
  const [write = "", ...more] = await writesOfStart(configuration(changed));
  assertEquals(more, []);
  assertEquals(JSON.parse(write.slice("PATCH ".length)), [
    { op: "replace", path: "/metadata/resourceVersion", value: "5" },
    { op: "replace", path: "/webhooks/0/clientConfig", value: service },
    { op: "remove", path: "/metadata/annotations/pintle.dev~1webhooks-before-local" },
  ]);
});

test("a start does not change configurations that no local run has changed", async () => {
  assertEquals(await writesOfStart(configuration({})), []);
  assertEquals(await writesOfStart(configuration({ labels: { "pintle.dev/local-run": "no" } })), []);
});

test("a start continues when the cleanup after local runs is forbidden", async () => {
  assertEquals(await writesOfStart(() => statusResponse(403, "Forbidden", "no")), []);
});

test("a dry run stores no configurations and removes none", async () => {
  const writes = await writesOfStart(configuration(labelled), { webhookHost: "127.0.0.1", dryRun: true });
  assertEquals(writes, [removal(["All"])]);
});

test("a start of controllers without webhooks repairs what a killed run of other controllers left", async () => {
  const [write = ""] = await writesOfStart(configuration(changed), { run: [websiteController] });
  assertEquals(JSON.parse(write.slice("PATCH ".length))[1].value, service);
});

test("a start without the permission to read configurations only reviews that permission", async () => {
  const start = { run: [websiteController], isAllowed: false, readsConfigurations: false };
  assertEquals(await writesOfStart(configuration(changed), start), []);
});

test("a start in a cluster without webhooks reads no configurations and needs no permission for it", async () => {
  const start = { run: [websiteController], isInCluster: true, readsConfigurations: false };
  assertEquals(await writesOfStart(configuration(changed), start), []);
});

test("a dry run in a cluster stores no certificate and changes no configuration", async () => {
  assertEquals(await writesOfStart(configuration({}), { isInCluster: true, dryRun: true }), []);
});

/** The mark of a run on another machine. */
const mark = (renewals: number) => ({
  "pintle.dev/local-run-owner": JSON.stringify({
    ...{ id: "x", host: "laptop", process: 7, renewedAt: "2026-01-01T00:00:00Z", renewals },
  }),
});

/** Starts with --webhook-host, while another run has published the configuration. @returns How the start ended */
async function startLocally(
  live: FakeResponse,
): Promise<{ readonly error: unknown; readonly writes: readonly string[] }> {
  const writes: string[] = [];
  const recordWrite = (request: Request) => {
    writes.push(`${request.method} ${new URL(request.url).pathname}`);
    return Response.json({ kind: "Status", status: "Success" });
  };
  const created = "/apis/admissionregistration.k8s.io/v1/";
  const server = new FakeServer({
    [`GET ${path}`]: live,
    [`DELETE ${path}`]: recordWrite,
    [`PATCH ${path}`]: async (request) => {
      await recordWrite(request);
      return Response.json(configuration(labelled));
    },
    [`POST ${created}`]: async (request) => {
      writes.push(`POST ${new URL(request.url).pathname}`);
      return Response.json(await request.json());
    },
  });
  const clock = new VirtualClock();
  const serving = { webhookPort: 0, certDir: undefined, webhookHost: "127.0.0.1", healthProbeBindAddress: undefined };
  const runnable = createWebhookRunnable({ ...serving, metricsBindAddress: undefined, debugBindAddress: undefined }, {
    ...{ controllers, allControllers: controllers, name: "op", configurations: "op", namespace: "ops" },
    ...{ isInCluster: false, dryRun: false },
    ...{
      client: new Client(server.transport),
      isLeader: () => true,
      metrics: new MetricsRegistry(),
      clock,
      random: systemRandom,
    },
  });
  const stop = new AbortController();
  const life = { stop: stop.signal, kill: new AbortController().signal };
  const running = Promise.resolve(runnable?.prepare?.(new AbortController().signal)).then(() => runnable?.run(life));
  let isOver = false;
  const ended = running.then(() => undefined, (error: unknown) => error).finally(() => isOver = true);
  while (!isOver && !writes.some((line) => line.startsWith("POST"))) await clock.advance(100);
  stop.abort();
  return { error: await ended, writes };
}

test("[100] a second local run does not take the webhooks of a live one", async () => {
  let renewals = 0;
  const live = () => Response.json(configuration({ ...labelled, annotations: mark(renewals++) }));
  const { error, writes } = await startLocally(live);
  assert(error instanceof CommandError);
  assertEquals(
    error.message,
    "Cannot serve the webhooks of op on this machine: process 7 on laptop serves them",
  );
  assertEquals(writes, []);
});

test("[100] a local run takes the webhooks of one that does not renew its mark", async () => {
  const live = configuration({ ...labelled, annotations: mark(1) });
  const { error, writes } = await startLocally(live);
  assertEquals(error, undefined);
  assertEquals(writes.slice(0, 1), [`DELETE ${path}`]);
});

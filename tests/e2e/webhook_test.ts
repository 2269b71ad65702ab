/** Webhooks called by a real kube-apiserver: certificates, patches, denials, and the effect of broken responses. */
import { builtin } from "../../src/api/mod.ts";
import { scope } from "../../src/async/mod.ts";
import { Client, clusterTransport, loadClusterAccess } from "../../src/client/mod.ts";
import { environment, homeDirectory, serve } from "../../src/runtime/mod.ts";
import {
  allow,
  configurationTargets,
  defaulting,
  deny,
  findLocalRuns,
  localWebhooks,
  managedCertificates,
  newLocalRun,
  undoLocalRuns,
  validating,
  webhookConfigurations,
  WebhookServer,
} from "../../src/webhook/mod.ts";
import { assert, assertEquals, assertStringIncludes } from "../testing.ts";
import type { ControlPlane } from "../controlplane/mod.ts";
import { until } from "../controlplane/mod.ts";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";

const { ConfigMap, MutatingWebhookConfiguration, ValidatingWebhookConfiguration } = builtin;
const never = new AbortController().signal;

async function connect(controlPlane: ControlPlane) {
  const overrides = { kubeconfig: controlPlane.kubeconfig };
  const access = await loadClusterAccess({ overrides, environment: environment(), home: homeDirectory(environment()) });
  const transport = clusterTransport(access);
  return { client: new Client(transport), [Symbol.dispose]: () => transport[Symbol.dispose]() };
}

function configMap(namespace: string, name: string, data: Record<string, string>, labels: Record<string, string> = {}) {
  return JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name, labels }, data });
}

function webhooksFor(namespace: string) {
  const options = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } };
  return [
    defaulting(ConfigMap, (map) => ({ ...map, data: { colour: "red", ...map.data } }), options),
    validating(ConfigMap, {
      create: (map) =>
        map.data?.bad === undefined ? allow([`seen ${map.data?.colour}`]) : deny("bad is not allowed", {
          causes: [{ field: "data.bad", message: "must not be there" }],
        }),
      update: (map, old) => map.data?.colour === old.data?.colour ? allow() : deny("the colour cannot change"),
    }, options),
  ];
}

controlPlaneTest(
  "[67, 72] the API server trusts and calls webhooks whose certificate this program created, and follows their responses",
  async (controlPlane) => {
    const namespace = await createNamespace(controlPlane);
    using connection = await connect(controlPlane);
    const { client } = connection;
    const webhooks = webhooksFor(namespace), name = `webhooks-${namespace}`;
    const server = new WebhookServer({
      webhooks,
      hostname: "127.0.0.1",
      port: 0,
      drainDelayMs: 0,
      certificates: managedCertificates({
        client,
        secret: `${namespace}/webhook-tls`,
        hosts: ["127.0.0.1"],
        targets: configurationTargets(webhooks, name),
        pollMs: 500,
      }),
    });
    using stop = scope(never);
    const done = server.run(stop.signal);
    try {
      const port = await until("serve", () => server.port === undefined ? pending("not yet") : found(server.port));
      const address = { kind: "url", url: `https://127.0.0.1:${port}` } as const;
      const { mutating, validating: judging } = webhookConfigurations(webhooks, { name, address });
      assert(mutating !== undefined && judging !== undefined);
      await client.create(MutatingWebhookConfiguration, mutating);
      await client.create(ValidatingWebhookConfiguration, judging);
      const create = (text: string, ...flags: string[]) =>
        controlPlane.kubectl(["create", "-f", "-", ...flags], { stdin: text });
      const probe = configMap(namespace, "probe", {});
      await until("see the webhooks work", async () => {
        const { stdout, stderr } = await create(probe, "--dry-run=server", "-o", "jsonpath={.data.colour}");
        return stdout === "red" && stderr.includes("Warning: seen red") ? found(true) : pending(`${stdout} ${stderr}`);
      });
      assertEquals((await create(configMap(namespace, "good", {}))).code, 0);
      const refused = await create(configMap(namespace, "worse", { bad: "x" }));
      assertEquals(refused.code, 1);
      assertStringIncludes(refused.stderr, "data.bad: must not be there");
      const changed = ["patch", "configmap", "good", "--namespace", namespace, "--patch", '{"data":{"colour":"blue"}}'];
      const update = await controlPlane.kubectl(changed);
      assertStringIncludes(update.stderr, "denied the request: the colour cannot change");
      await localRunTakesOver(client, controlPlane, { namespace, name });
    } finally {
      stop.abort();
      await done;
      await client.delete(MutatingWebhookConfiguration, name).catch(() => {});
      await client.delete(ValidatingWebhookConfiguration, name).catch(() => {});
    }
  },
);

/** Points the same configurations at another server for a while. */
async function localRunTakesOver(
  client: Client,
  controlPlane: ControlPlane,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<void> {
  const webhooks = [
    defaulting(ConfigMap, (map) => ({ ...map, data: { colour: "local", ...map.data } })),
    validating(ConfigMap, { create: () => allow() }),
  ];
  const targets = configurationTargets(webhooks, name);
  const run = await newLocalRun();
  const local = await localWebhooks({ client, targets, host: "127.0.0.1", run });
  const { certificates } = local;
  const server = new WebhookServer({ webhooks, hostname: "127.0.0.1", port: 0, drainDelayMs: 0, certificates });
  using stop = scope(never);
  const done = server.run(stop.signal);
  const colour = async () => {
    const stdin = configMap(namespace, "probe", {});
    const args = ["create", "-f", "-", "--dry-run=server", "-o", "jsonpath={.data.colour}"];
    return (await controlPlane.kubectl(args, { stdin })).stdout;
  };
  const port = await until("serve", () => server.port === undefined ? pending("not yet") : found(server.port));
  assertEquals(await local.attach(port, never), 2);
  await until("see the local webhooks", async () => await colour() === "local" ? found(true) : pending("not yet"));
  assertEquals(await undoLocalRuns(client, await findLocalRuns(client, targets, never), never), 2);
  await until("see the webhooks of before", async () => await colour() === "red" ? found(true) : pending("not yet"));
  stop.abort();
  await done;
}

controlPlaneTest(
  "[70] a webhook that times out, resets, patches wrongly or answers with another UID: Fail and Ignore",
  async (controlPlane) => {
    const namespace = await createNamespace(controlPlane);
    using connection = await connect(controlPlane);
    const { client } = connection;
    const local = await localWebhooks({ client, targets: [], host: "127.0.0.1", run: await newLocalRun() });
    const [pair] = await Array.fromAsync(local.certificates.pairs(never));
    assert(pair !== undefined);
    await using server = await serve({ tls: pair, onError: () => {}, handler: misbehave });
    const caBundle = btoa(pair.cert);
    const name = `broken-${namespace}`;
    const faults = ["silent", "reset", "patch", "uid", "status", "garbage"];
    const hooks = faults.flatMap((fault) =>
      (["Fail", "Ignore"] as const).map((failurePolicy) => ({
        name: `${fault}.${failurePolicy.toLowerCase()}.test`,
        admissionReviewVersions: ["v1"],
        clientConfig: { url: `https://127.0.0.1:${server.port}/${fault}`, caBundle },
        rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE" as const], resources: ["configmaps"] }],
        failurePolicy,
        sideEffects: "None" as const,
        timeoutSeconds: 1,
        objectSelector: { matchLabels: { case: `${fault}-${failurePolicy}` } },
      }))
    );
    await client.create(MutatingWebhookConfiguration, { metadata: { name }, webhooks: hooks });
    try {
      const create = (fault: string, policy: string) => {
        const stdin = configMap(namespace, fault, {}, { case: `${fault}-${policy}` });
        return controlPlane.kubectl(["create", "-f", "-", "--dry-run=server"], { stdin });
      };
      await until(
        "see the webhooks",
        async () => (await create("garbage", "Fail")).code === 1 ? found(true) : pending("the object was allowed"),
      );
      for (const fault of faults) {
        const failed = await create(fault, "Fail");
        assertEquals(failed.code, 1, fault);
        assertStringIncludes(
          failed.stderr,
          fault === "patch" ? "remove operation does not apply" : `${fault}.fail.test`,
        );
        const ignored = await create(fault, "Ignore");
        // A patch that cannot be applied is an internal error with either policy, because the webhook did respond.
        assertEquals(ignored.code, fault === "patch" ? 1 : 0, `${fault} ${ignored.stderr}`);
      }
    } finally {
      await client.delete(MutatingWebhookConfiguration, name);
    }
  },
);

async function misbehave(request: Request): Promise<Response> {
  const { request: question } = await request.json();
  const answer = (response: object) =>
    Response.json({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response });
  switch (new URL(request.url).pathname) {
    case "/silent":
      return await new Promise((_, reject) =>
        request.signal.addEventListener("abort", () => reject(new Error("gone")))
      );
    case "/reset":
      return new Response(new ReadableStream({ start: (controller) => controller.error(new Error("reset")) }));
    case "/patch":
      return answer({
        uid: question.uid,
        allowed: true,
        patchType: "JSONPatch",
        patch: btoa('[{"op":"remove","path":"/x/y"}]'),
      });
    case "/uid":
      return answer({ uid: "another", allowed: true });
    case "/status":
      return new Response("no", { status: 503 });
    default:
      return new Response("garbage");
  }
}

function found<T>(value: T): { kind: "found"; value: T } {
  return { kind: "found", value };
}

function pending(state: string): { kind: "pending"; state: string } {
  return { kind: "pending", state };
}

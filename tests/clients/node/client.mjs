/** client-node on the server of $KUBECONFIG. Prints a line for each step; tests/clients/steps.ts has them. */
import { setTimeout } from "node:timers/promises";
import * as k8s from "@kubernetes/client-node";

const namespace = "node-client";
const group = "clients.pintle.dev";
const config = new k8s.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(k8s.CoreV1Api);
const apps = config.makeApiClient(k8s.AppsV1Api);
const custom = config.makeApiClient(k8s.CustomObjectsApi);
const definitions = config.makeApiClient(k8s.ApiextensionsV1Api);
const merging = k8s.setHeaderOptions("Content-Type", k8s.PatchStrategy.MergePatch);
const applying = k8s.setHeaderOptions("Content-Type", k8s.PatchStrategy.ServerSideApply);

const step = (name, value) => console.log(`${name}: ${value}`);

/** The code and the reason of an error that the server must answer. */
async function refused(call) {
  try {
    await call();
    return "accepted";
  } catch (error) {
    if (!(error instanceof k8s.ApiException)) throw error;
    const status = typeof error.body === "string" ? JSON.parse(error.body) : error.body;
    return `${error.code} ${status.reason}`;
  }
}

/** Repeats a check until it gives a value. */
async function until(check) {
  const deadline = performance.now() + 60_000;
  while (performance.now() < deadline) {
    const value = await check();
    if (value) return value;
    await setTimeout(50);
  }
  throw new Error("the state did not come within 60 s");
}

async function define() {
  const schema = {
    type: "object",
    properties: {
      spec: { type: "object", properties: { size: { type: "integer", _default: 1, maximum: 9 } } },
      status: { type: "object", properties: { ready: { type: "boolean" } } },
    },
  };
  const version = { name: "v1", served: true, storage: true, subresources: { status: {} } };
  const spec = {
    group,
    scope: "Namespaced",
    names: { plural: "nodules", kind: "Nodule" },
    versions: [{ ...version, schema: { openAPIV3Schema: schema } }],
  };
  const name = `nodules.${group}`;
  await definitions.createCustomResourceDefinition({ body: { metadata: { name }, spec } });
  await until(async () => {
    const { status } = await definitions.readCustomResourceDefinition({ name });
    return status?.conditions?.some(({ type, status }) => type === "Established" && status === "True");
  });
  step("definition", "Established");
}

async function customObjects() {
  const place = { group, version: "v1", namespace, plural: "nodules" };
  const nodule = (spec) => ({ apiVersion: `${group}/v1`, kind: "Nodule", metadata: { name: "one" }, spec });
  const created = await custom.createNamespacedCustomObject({ ...place, body: nodule({}) });
  step("default", created.spec.size);
  step("invalid", await refused(() => custom.createNamespacedCustomObject({ ...place, body: nodule({ size: 10 }) })));
  const body = { status: { ready: true } };
  const patched = await custom.patchNamespacedCustomObjectStatus({ ...place, name: "one", body }, merging);
  step("status", `${patched.status.ready} generation ${patched.metadata.generation}`);
}

async function objects() {
  const configMap = (name, data) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, labels: { of: "pages" } },
    data,
  });
  const apply = (fieldManager, key) =>
    core.patchNamespacedConfigMap(
      { name: "applied", namespace, fieldManager, body: configMap("applied", { key }) },
      applying,
    );
  step("apply", (await apply("left", "1")).data.key);
  step("apply of another manager", await refused(() => apply("right", "2")));
  for (let index = 0; index < 4; index++) {
    await core.createNamespacedConfigMap({ namespace, body: configMap(`page-${index}`, { key: "1" }) });
  }
  const first = { name: "page-0", namespace };
  const stale = await core.readNamespacedConfigMap(first);
  const merged = await core.patchNamespacedConfigMap({ ...first, body: { data: { more: "ü" } } }, merging);
  step("patch", `${merged.data.key} ${merged.data.more}`);
  step("stale replace", await refused(() => core.replaceNamespacedConfigMap({ ...first, body: stale })));
  const sizes = [];
  let _continue;
  do {
    const page = await core.listNamespacedConfigMap({ namespace, limit: 2, labelSelector: "of=pages", _continue });
    sizes.push(page.items.length);
    _continue = page.metadata?._continue;
  } while (_continue);
  step("pages", sizes.join(" "));
  await inform(configMap);
  step("deleted", await refused(() => core.readNamespacedConfigMap({ name: "watched", namespace })));
}

async function inform(configMap) {
  const list = () => core.listNamespacedConfigMap({ namespace });
  const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, list);
  const events = [];
  const seen = Promise.withResolvers();
  const names = { add: "ADDED", update: "MODIFIED", delete: "DELETED" };
  for (const [event, name] of Object.entries(names)) {
    informer.on(event, ({ metadata, data }) => {
      if (metadata.name !== "watched") return;
      events.push(`${name} ${data.key}`);
      if (events.length === 3) seen.resolve();
    });
  }
  informer.on("error", (error) => seen.reject(error));
  const connected = new Promise((resolve) => informer.on("connect", resolve));
  await informer.start();
  await connected;
  const name = "watched";
  await core.createNamespacedConfigMap({ namespace, body: configMap(name, { key: "1" }) });
  await core.patchNamespacedConfigMap({ name, namespace, body: { data: { key: "2" } } }, merging);
  await core.deleteNamespacedConfigMap({ name, namespace });
  await seen.promise;
  await informer.stop();
  step("watch", events.join(" "));
}

async function workloads() {
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "example.invalid/web:1" }] } };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template };
  await apps.createNamespacedDeployment({ namespace, body: { metadata: { name: "web" }, spec } });
  const web = { name: "web", namespace };
  const scaled = await apps.patchNamespacedDeploymentScale({ ...web, body: { spec: { replicas: 2 } } }, merging);
  step("scale", scaled.spec.replicas);
  await until(async () => (await apps.readNamespacedDeployment(web)).status?.readyReplicas === 2);
  const [pod] = (await core.listNamespacedPod({ namespace, labelSelector: "app=web" })).items;
  const { name } = pod.metadata;
  step("logs", typeof await core.readNamespacedPodLog({ name, namespace }) === "string" ? "text" : "no text");
  await core.createNamespacedPodEviction({ name, namespace, body: { metadata: { name, namespace } } });
  const state = () =>
    core.readNamespacedPod({ name, namespace })
      .then(({ metadata }) => metadata.deletionTimestamp && "evicted", ({ code }) => code === 404 && "evicted");
  step("eviction", await until(state));
}

async function token() {
  const metadata = { name: "robot" };
  await core.createNamespacedServiceAccount({ namespace, body: { metadata } });
  const request = { spec: { audiences: [], expirationSeconds: 3600 } };
  const issued = await core.createNamespacedServiceAccountToken({ name: "robot", namespace, body: request });
  const robot = new k8s.KubeConfig();
  robot.loadFromClusterAndUser(config.getCurrentCluster(), { name: "robot", token: issued.status.token });
  const reviews = robot.makeApiClient(k8s.AuthenticationV1Api);
  const review = await reviews.createSelfSubjectReview({ body: {} });
  step("token", review.status.userInfo.username.replace(namespace, "NAMESPACE"));
  const secrets = robot.makeApiClient(k8s.CoreV1Api);
  step("forbidden", await refused(() => secrets.listNamespacedSecret({ namespace })));
}

await core.createNamespace({ body: { metadata: { name: namespace } } });
await define();
await customObjects();
await objects();
await workloads();
await token();

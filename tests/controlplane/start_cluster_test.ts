/**
 * Tests of startCluster(): the same file runs on the embedded server and on a real one, as a user's tests do.
 */
import { ConfigMap, controller, defineResource, Deployment, done, Manager, withWebhooks, z } from "../../src/mod.ts";
import { startCluster, type TestClusterOptions } from "../../src/testing.ts";
import { allow, defaulting, deny, validating } from "../../src/webhook.ts";
import { assertEquals, assertStringIncludes, test } from "../testing.ts";
import type { ControlPlane } from "./mod.ts";
import { controlPlaneTest } from "./test.ts";

type Environment = Readonly<Record<string, string>>;

const Website = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Website",
  scope: "Namespaced",
  spec: z.object({ host: z.string(), title: z.string().optional() }),
  status: z.object({ refusal: z.string().optional() }),
});

const titles = defaulting(Website, (site) => ({ ...site, spec: { title: site.spec.host, ...site.spec } }));
const hosts = validating(Website, {
  create: ({ spec }) => spec.host.endsWith(".example.dev") ? allow() : deny("spec.host must end with .example.dev"),
});

/** Writes the page of each site, and tries what it did not declare. */
const websites = controller("website").for(Website).uses(ConfigMap, ["create"]).reconcile(async (ctx) => {
  const { name, namespace } = ctx.object.metadata;
  const title = ctx.object.spec.title ?? "";
  if (ctx.object.status?.refusal !== undefined) return done;
  await ctx.client.create(ConfigMap, { metadata: { name, namespace }, data: { title } });
  const refusal = await ctx.client.delete(ConfigMap, `${namespace}/${name}`).catch(String);
  await ctx.patchStatus({ refusal: `${refusal}` });
  return done;
});

const options: TestClusterOptions = {
  onError: (error) => {
    throw error;
  },
};

/** The denial of a webhook, the objects that a Manager makes, and what happens to a request that was not declared. */
async function runController(environment: Environment): Promise<void> {
  const controllers = [withWebhooks(websites, [titles, hosts])];
  await using cluster = await startCluster({ ...options, workloads: false, controllers, environment });
  const { client, managerOptions } = cluster;
  const metadata = { namespace: "default", name: "a" };
  const denied = await client.create(Website, {
    metadata: { ...metadata, name: "b" },
    spec: { host: "b.example.org" },
  }).catch(String);
  assertStringIncludes(
    `${denied}`,
    `admission webhook "validate.websites.example.dev" denied the request: spec.host must`,
  );
  await client.create(Website, { metadata, spec: { host: "a.example.dev" } });
  const manager = new Manager({ ...managerOptions, name: "test" });
  manager.add(websites);
  using stop = abortOnDispose();
  const running = manager.run(stop.signal);
  const site = await client.waitFor(Website, "default/a", ({ status }) => status?.refusal !== undefined);
  assertStringIncludes(site?.status?.refusal ?? "", `controller "website" did not declare delete on configmaps`);
  assertEquals((await client.get(ConfigMap, "default/a")).data, { title: "a.example.dev" });
  stop.abort();
  await running;
}

/** A Deployment whose Pods get ready. */
async function runDeployment(environment: Environment): Promise<void> {
  await using cluster = await startCluster({ ...options, nodes: 2, environment });
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "nginx" }] } };
  const metadata = { namespace: "default", name: "web" };
  const spec = { replicas: 2, selector: { matchLabels: labels }, template };
  await cluster.client.create(Deployment, { metadata, spec });
  const ready = await cluster.client.waitFor(Deployment, "default/web", (web) => web.status?.availableReplicas === 2);
  assertEquals(ready?.status?.readyReplicas, 2);
}

function abortOnDispose(): AbortController & Disposable {
  const controller = new AbortController();
  return Object.assign(controller, { [Symbol.dispose]: () => controller.abort() });
}

/** The environment in which startCluster() starts the programs of the tests. */
function realServer({ description }: ControlPlane): Environment {
  return { PINTLE_TEST_CLUSTER: "real", KUBEBUILDER_ASSETS: description.binaries.dir };
}

test("a controller with webhooks works in the cluster of startCluster(), embedded", () => runController({}));

controlPlaneTest(
  "a controller with webhooks works in the cluster of startCluster(), on a real server",
  (controlPlane) => runController(realServer(controlPlane)),
);

test("a Deployment in the cluster of startCluster() gets ready, embedded", () => runDeployment({}));

controlPlaneTest(
  "a Deployment in the cluster of startCluster() gets ready, on a real server",
  (controlPlane) => runDeployment(realServer(controlPlane)),
);

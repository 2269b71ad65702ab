/**
 * Tests of `ctx.apply` on a real control plane: dependents are created once, fields are removed when a newer version of a
 * controller no longer names them, and a converged controller is silent.
 */
import { builtin, type Infer, type KubeObject, type Resource, resourceVersion } from "../../src/api/mod.ts";
import { type ApiError, Client, clusterTransport, isConflict, loadClusterAccess } from "../../src/client/mod.ts";
import { controller, type ControllerDefinition, type Desired, done, manifest } from "../../src/controller/mod.ts";
import { Foo } from "../../src/controllers/foo/mod.ts";
import { Manager } from "../../src/manager/mod.ts";
import { environment, homeDirectory } from "../../src/runtime/mod.ts";
import { type ControlPlane, until } from "../controlplane/mod.ts";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { assert, assertEquals, assertRejects } from "../testing.ts";
import { installFoo } from "./_cluster.ts";

const { ConfigMap, Deployment } = builtin;
type PodSpec = NonNullable<Desired<typeof Deployment>["spec"]>["template"];

/** A client, and the writes that it sent. */
async function connect(controlPlane: ControlPlane) {
  const overrides = { kubeconfig: controlPlane.kubeconfig };
  const access = await loadClusterAccess({ overrides, environment: environment(), home: homeDirectory(environment()) });
  const transport = clusterTransport(access);
  const writes: string[] = [];
  const client = new Client((request) => {
    const { pathname } = new URL(request.url);
    if (request.method !== "GET" && !pathname.includes("/events")) writes.push(`${request.method} ${pathname}`);
    return transport(request);
  });
  return { client, writes, [Symbol.dispose]: () => transport[Symbol.dispose]() };
}

type Connection = Awaited<ReturnType<typeof connect>>;

interface Site extends Connection {
  readonly namespace: string;
}

/** A namespace with a ConfigMap `a` that owns the Deployment `a`. */
async function siteOn(controlPlane: ControlPlane): Promise<Site> {
  const connection = await connect(controlPlane);
  const namespace = await createNamespace(controlPlane);
  await connection.client.create(ConfigMap, { metadata: { namespace, name: "a", labels: { reconcile: "yes" } } });
  connection.writes.length = 0;
  return { ...connection, namespace };
}

/** One version of a controller: it gives the ConfigMap a Deployment with this template and these labels. */
function version(podSpec: object, more: object = {}, labels: Readonly<Record<string, string>> = {}) {
  const attempts: string[] = [];
  const definition = controller("keeper").for(ConfigMap, {
    when: ({ object }) => object.metadata.labels?.reconcile === "yes",
  }).owns(Deployment).reconcile(async (ctx) => {
    const { name = "", namespace } = ctx.object.metadata;
    const app = { app: name };
    const template = {
      metadata: { labels: app },
      spec: { containers: [{ name: "main", image: "nginx:1.27" }], ...podSpec },
    } as PodSpec;
    const spec = { replicas: 0, selector: { matchLabels: app }, template, ...more };
    await ctx.apply(manifest(Deployment, { metadata: { name, namespace, labels }, spec }));
    attempts.push(ctx.object.metadata.resourceVersion ?? "");
    return done;
  });
  return { definition, attempts };
}

/** Runs a version of the controller until it has reconciled the present ConfigMap and sends no more writes. */
async function settle(site: Site, { definition, attempts }: { definition: ControllerDefinition; attempts: string[] }) {
  const manager = new Manager({ client: site.client, namespaces: [site.namespace], strictAccess: true });
  manager.add(definition);
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  try {
    await attempted(site, attempts, 1);
    // The key runs again when the cache has the controller's own write; the second run has nothing to do.
    for (let times = 0; times < 2; times++) {
      const before = attempts.length;
      await touch(site);
      await attempted(site, attempts, before + 1);
    }
  } finally {
    stop.abort();
    await running;
  }
}

async function attempted({ writes }: Site, attempts: readonly string[], count: number): Promise<void> {
  await until(
    `see ${count} attempts`,
    () =>
      attempts.length >= count
        ? { kind: "found", value: undefined }
        : { kind: "pending", state: `${attempts.length} attempts, ${writes.join(", ")}` },
  );
}

/** Causes another reconcile. */
async function touch({ client, namespace, writes }: Site): Promise<void> {
  const annotations = { at: String(performance.now()) };
  await client.patch(ConfigMap, `${namespace}/a`, { kind: "merge", value: { metadata: { annotations } } });
  writes.pop();
}

async function child({ client, namespace }: Site): Promise<builtin.Deployment> {
  return await client.get(Deployment, `${namespace}/a`);
}

controlPlaneTest(
  "[65] fields that a newer version of a controller no longer names are removed, in maps and lists too; then it is silent",
  async (controlPlane) => {
    using site = await siteOn(controlPlane);
    const env = [{ name: "A", value: "1" }, { name: "B", value: "2" }];
    await settle(
      site,
      version(
        { nodeSelector: { disk: "ssd", zone: "a" }, containers: [{ name: "main", image: "nginx:1.27", env }] },
        { revisionHistoryLimit: 3, paused: true },
        { tier: "web", old: "x" },
      ),
    );
    assertEquals(site.writes.length, 1, `one child, one write: ${site.writes}`);
    const first = await child(site);
    assertEquals([first.spec.revisionHistoryLimit, first.spec.paused], [3, true]);
    site.writes.length = 0;
    // All desired values are equal; only the surplus field differs.
    const second = { nodeSelector: { disk: "ssd" }, containers: [{ name: "main", image: "nginx:1.27", env }] };
    await settle(site, version(second, {}, { tier: "web" }));
    assertEquals(site.writes.length, 1, `one change, one write: ${site.writes}`);
    const live = await child(site);
    assertEquals(live.metadata.uid, first.metadata.uid);
    assertEquals([live.spec.revisionHistoryLimit, live.spec.paused], [10, undefined], "the server's defaults");
    assertEquals(live.metadata.labels, { tier: "web" });
    assertEquals(live.spec.template.spec?.nodeSelector, { disk: "ssd" });
    site.writes.length = 0;
    await settle(site, version(second, {}, { tier: "web" }));
    assertEquals(site.writes, [], "[65] nothing is written by a start that finds everything in order");
    const third = { ...second, containers: [{ name: "main", image: "nginx:1.27", env: env.slice(0, 1) }] };
    await settle(site, version(third, {}, { tier: "web" }));
    assertEquals((await child(site)).spec.template.spec?.containers[0]?.env, [{ name: "A", value: "1" }]);
  },
);

controlPlaneTest(
  "[65] a value that the server normalizes costs one apply per process, and none afterwards",
  async (controlPlane) => {
    using site = await siteOn(controlPlane);
    const fieldRef = { fieldPath: "metadata.name" }; // atomic, and the server adds an apiVersion
    const container = {
      name: "main",
      image: "nginx:1.27",
      env: [{ name: "NAME", valueFrom: { fieldRef } }],
      resources: { requests: { cpu: "1000m", memory: "1048576Ki" } },
    };
    await settle(site, version({ containers: [container] }));
    assertEquals(site.writes.length, 1, `the response to its create was learned from: ${site.writes}`);
    // The resourceVersion is not compared: the control plane writes the status.
    const ours = ({ metadata: { generation, managedFields = [] } }: builtin.Deployment) => [
      generation,
      managedFields.filter(({ manager }) => manager === "keeper"),
    ];
    const before = ours(await child(site));
    await settle(site, version({ containers: [container] }));
    assert(site.writes.length <= 2, `the next process asks once: ${site.writes}`);
    assertEquals(ours(await child(site)), before, "and changes nothing");
  },
);

controlPlaneTest(
  "[75] of many clients that create the same dependent at once one succeeds, for any kind, and the others get a conflict",
  async (controlPlane) => {
    using connection = await connect(controlPlane);
    await installFoo(controlPlane);
    const namespace = await createNamespace(controlPlane);
    const labels = { app: "a" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "a", image: "a" }] } };
    const bodies: readonly (readonly [Resource, object])[] = [
      [ConfigMap, {}],
      [Deployment, { spec: { selector: { matchLabels: labels }, template, replicas: 0 } }],
      [Foo, { spec: { deploymentName: "a", replicas: 1 } }],
    ];
    for (const [resource, body] of bodies) await race(connection.client, resource, { namespace, body });
  },
);

async function race(
  client: Client,
  resource: Resource,
  { namespace, body }: { readonly namespace: string; readonly body: object },
): Promise<void> {
  const create = (owner: number) => {
    const annotations = { owner: String(owner) };
    const metadata = { namespace, name: "raced", annotations, resourceVersion: resourceVersion("1") };
    return client.apply(resource, { ...body, metadata } as Infer<typeof resource>, {
      fieldManager: "keeper",
      force: true,
    });
  };
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, (_, owner) => create(owner)));
  const made = outcomes.filter((outcome) => outcome.status === "fulfilled");
  const refused = outcomes.flatMap((outcome) => outcome.status === "rejected" ? [outcome.reason as ApiError] : []);
  assertEquals([made.length, refused.filter(isConflict).length], [1, 19], resource.kind);
  const { metadata } = made[0]?.value as KubeObject;
  const live = await client.get(resource, `${namespace}/raced`) as KubeObject;
  assertEquals(live.metadata.annotations?.owner, metadata.annotations?.owner, "the client that succeeded is its owner");
  const ours = live.metadata.managedFields?.filter(({ manager }) => manager === "keeper");
  assertEquals(ours?.map(({ operation }) => operation), ["Apply"]);
}

controlPlaneTest(
  "a field that the kind does not have is rejected with any field validation",
  async (controlPlane) => {
    using connection = await connect(controlPlane);
    const namespace = await createNamespace(controlPlane);
    const wrong = { metadata: { namespace, name: "wrong" }, daat: { a: "b" } };
    const options = { fieldManager: "keeper", fieldValidation: "Ignore" } as const;
    await assertRejects(() => connection.client.apply(ConfigMap, wrong, options), /field not declared in schema/);
  },
);

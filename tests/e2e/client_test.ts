/**
 * The client against a real kube-apiserver: every verb, every kind of credential, and responses that a fake server might
 * get wrong.
 */
import { builtin, initialEventsEnd, type KubeObject, type WatchEvent } from "../../src/api/mod.ts";
import {
  Client,
  type ClusterTransport,
  clusterTransport,
  Discovery,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
  isTooLargeResourceVersion,
  isUnauthorized,
  isUnreachable,
  loadClusterAccess,
  retryOnConflict,
  serverVersion,
} from "../../src/client/mod.ts";
import { type ControlPlane } from "../controlplane/mod.ts";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { assert, assertEquals, assertMatch, assertRejects } from "../testing.ts";

const { ConfigMap, Deployment, Namespace, Pod, ServiceAccount } = builtin;

/** A client, and the connections that it closes when disposed. */
class Session implements Disposable {
  readonly client: Client;
  readonly #transport: ClusterTransport;

  constructor(transport: ClusterTransport) {
    this.#transport = transport;
    this.client = new Client(transport);
  }

  static async open(kubeconfig: string): Promise<Session> {
    const access = await loadClusterAccess({ environment: {}, overrides: { kubeconfig }, workingDirectory: "/" });
    return new Session(clusterTransport(access, { userAgent: "client-test/1" }));
  }

  [Symbol.dispose](): void {
    this.#transport[Symbol.dispose]();
  }
}

/** Registers a test with an administrator's client and a new namespace. */
function clientTest(
  name: string,
  fn: (client: Client, namespace: string, controlPlane: ControlPlane) => Promise<void>,
) {
  controlPlaneTest(name, async (controlPlane) => {
    using session = await Session.open(controlPlane.kubeconfig);
    await fn(session.client, await createNamespace(controlPlane), controlPlane);
  });
}

const deployment = (namespace: string, replicas: number, image = "example.invalid/web:1") => ({
  metadata: { name: "web", namespace },
  spec: {
    replicas,
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image }] } },
  },
});

clientTest("objects are created, read, updated, patched and deleted", async (client, namespace) => {
  const key = `${namespace}/a`;
  const created = await client.create(ConfigMap, { metadata: { name: "a", namespace }, data: { one: "1" } });
  assertEquals([created.apiVersion, created.kind, created.data], ["v1", "ConfigMap", { one: "1" }]);
  assert(isAlreadyExists(await assertRejects(() => client.create(ConfigMap, { metadata: { name: "a", namespace } }))));
  const updated = await client.update(ConfigMap, { ...created, data: { two: "2" } });
  assert(isConflict(await assertRejects(() => client.update(ConfigMap, created))));
  assertEquals((await client.get(ConfigMap, key)).metadata.resourceVersion, updated.metadata.resourceVersion);
  await client.patch(ConfigMap, key, { kind: "merge", value: { data: { two: null, three: "3" } } });
  await client.patch(ConfigMap, key, { kind: "strategic", value: { data: { four: "4" } } });
  const operations = [{ op: "test", path: "/data/four", value: "4" }, { op: "remove", path: "/data/four" }] as const;
  assertEquals((await client.patch(ConfigMap, key, { kind: "json", operations })).data, { three: "3" });
  assert(isInvalid(await assertRejects(() => client.patch(ConfigMap, key, { kind: "json", operations }))));
  const stale = { preconditions: { resourceVersion: created.metadata.resourceVersion } };
  assert(isConflict(await assertRejects(() => client.delete(ConfigMap, key, stale))));
  assert(isConflict(await assertRejects(() => client.delete(ConfigMap, key, { preconditions: { uid: "other" } }))));
  assertEquals(await client.delete(ConfigMap, key), { kind: "deleted" });
  const error = await assertRejects(() => client.get(ConfigMap, key));
  assert(isNotFound(error));
  assertEquals(error.message, `Cannot get ConfigMap "${key}": configmaps "a" not found (404 NotFound)`);
  assertEquals(await client.find(ConfigMap, key), undefined);
});

clientTest(
  "[94] keys and names that mean something in JavaScript are stored and returned",
  async (client, namespace) => {
    const data: Record<string, string> = JSON.parse('{"__proto__":"p","constructor":"c"}');
    await client.create(ConfigMap, { metadata: { name: "constructor", namespace }, data });
    const found = await client.get(ConfigMap, `${namespace}/constructor`);
    assertEquals(JSON.stringify(found.data), '{"__proto__":"p","constructor":"c"}');
  },
);

clientTest("server-side apply creates, changes, removes fields and reports conflicts", async (client, namespace) => {
  const first = { fieldManager: "first" };
  const applied = await client.apply(Deployment, deployment(namespace, 1), first);
  assertEquals([applied.spec.replicas, applied.metadata.managedFields?.[0]?.manager], [1, "first"]);
  const second = { fieldManager: "second" };
  const replicas = { metadata: { name: "web", namespace }, spec: { replicas: 3 } };
  const error = await assertRejects(() => client.apply(Deployment, replicas, second));
  assert(isConflict(error));
  assertEquals(error.status.details?.causes?.[0]?.field, ".spec.replicas");
  assertEquals((await client.apply(Deployment, replicas, { ...second, force: true })).spec.replicas, 3);
  const given = await client.apply(Deployment, { metadata: { name: "web", namespace } }, second);
  assertEquals(given.spec.replicas, 1, "a field without an owner gets its default");
});

clientTest("subresources are read and written: scale and status", async (client, namespace) => {
  const key = `${namespace}/web`;
  await client.create(Deployment, deployment(namespace, 0));
  await client.patch(Deployment, key, { kind: "merge", value: { spec: { replicas: 2 } } }, { subresource: "scale" });
  const scaled = await client.get(Deployment, key);
  assertEquals(scaled.spec.replicas, 2);
  const written = await retryOnConflict(async () => {
    const live = await client.get(Deployment, key);
    return await client.update(Deployment, {
      ...live,
      spec: { ...live.spec, replicas: 9 },
      status: { ...live.status, observedGeneration: 7 },
    }, {
      subresource: "status",
    });
  });
  assertEquals(written.spec.replicas, 2, "an update of the status leaves the spec alone");
});

clientTest(
  "a dry run validates and stores nothing; strict validation rejects unknown fields",
  async (client, namespace) => {
    const dry = client.dryRunClient();
    await dry.create(ConfigMap, { metadata: { name: "a", namespace } });
    assertEquals(await client.find(ConfigMap, `${namespace}/a`), undefined);
    const unknown = { metadata: { name: "a", namespace }, dat: { a: "b" } };
    const error = await assertRejects(() => client.create(ConfigMap, unknown, { fieldValidation: "Strict" }));
    assertMatch(error.message, /unknown field "dat"/);
  },
);

clientTest("lists are paged from one snapshot, selected, and returned as metadata only", async (client, namespace) => {
  for (let index = 0; index < 7; index++) {
    const labels = { parity: index % 2 === 0 ? "even" : "odd" };
    await client.create(ConfigMap, {
      metadata: { name: `n${index}`, namespace, labels },
      data: { index: String(index) },
    });
  }
  const labelSelector = { matchExpressions: [{ key: "parity", operator: "Exists" }] } as const;
  const sizes: number[] = [];
  for await (const page of client.pages(ConfigMap, { namespace, labelSelector, limit: 3 })) {
    sizes.push(page.items.length);
    if (sizes.length === 1) {
      await client.create(ConfigMap, { metadata: { name: "n9", namespace, labels: { parity: "late" } } });
    }
  }
  assertEquals(sizes, [3, 3, 1]);
  const odd = await client.listAll(ConfigMap, {
    namespace,
    labelSelector: "parity=odd",
    fieldSelector: { "metadata.namespace": namespace },
  });
  assertEquals(odd.items.map(({ metadata }) => metadata.name), ["n1", "n3", "n5"]);
  assertEquals([odd.items[0]?.kind, odd.items[0]?.apiVersion, odd.items[0]?.metadata.managedFields], [
    "ConfigMap",
    "v1",
    undefined,
  ]);
  const slim = await client.list(ConfigMap, { namespace, labelSelector, metadataOnly: true });
  assertEquals([slim.items.length, slim.items[0]?.data, slim.items[0]?.kind], [8, undefined, "PartialObjectMetadata"]);
  await client.deleteCollection(ConfigMap, { namespace, labelSelector });
  assertEquals((await client.listAll(ConfigMap, { namespace, labelSelector })).items, []);
});

/** Reads events until `enough` returns true. */
async function collect<T>(
  batches: AsyncIterable<readonly WatchEvent<T>[]>,
  enough: (events: readonly WatchEvent<T>[]) => boolean,
) {
  const events: WatchEvent<T>[] = [];
  for await (const batch of batches) {
    events.push(...batch);
    if (enough(events)) break;
  }
  return events;
}

clientTest("a watch delivers every change after its version, in order", async (client, namespace) => {
  const { resourceVersion } = await client.list(ConfigMap, { namespace });
  const controller = new AbortController();
  const options = { namespace, resourceVersion, fieldSelector: "metadata.name=a", signal: controller.signal };
  const watching = collect<KubeObject>(client.watch(ConfigMap, options), (events) => events.length === 3);
  await client.create(ConfigMap, { metadata: { name: "a", namespace } });
  await client.patch(ConfigMap, `${namespace}/a`, { kind: "merge", value: { data: { a: "größe" } } });
  await client.delete(ConfigMap, `${namespace}/a`);
  assertEquals((await watching).map(({ type }) => type), ["ADDED", "MODIFIED", "DELETED"]);
});

clientTest("[15] a watch with initial events marks where they end", async (client, namespace) => {
  for (const name of ["a", "b"]) await client.create(ConfigMap, { metadata: { name, namespace } });
  const listWatch = client.listWatch(ConfigMap, { namespace, fieldSelector: "metadata.name!=kube-root-ca.crt" });
  const controller = new AbortController();
  const options = { sendInitialEvents: true, allowWatchBookmarks: true } as const;
  const events = await collect(
    listWatch.watch(options, controller.signal),
    (all) => all.some(({ type }) => type === "BOOKMARK"),
  );
  assertEquals(events.map(({ type }) => type), ["ADDED", "ADDED", "BOOKMARK"]);
  const [first, , last] = events;
  assertEquals(last?.type === "BOOKMARK" && last.object.metadata.annotations?.[initialEventsEnd], "true");
  assertEquals(first?.type === "ADDED" && [first.object.kind, first.object.metadata.managedFields], [
    "ConfigMap",
    undefined,
  ]);
});

clientTest(
  "[1] a version that the server does not have yet is distinguished from an invalid page token",
  async (client, namespace) => {
    const future = { namespace, resourceVersion: "999999999999", resourceVersionMatch: "NotOlderThan" } as const;
    const early = await assertRejects(() => client.list(ConfigMap, future));
    assert(isTooLargeResourceVersion(early), early.message);
    const bad = await assertRejects(
      () => client.list(ConfigMap, { namespace, continue: "nonsense" }),
      /400 BadRequest/,
    );
    assert(!isTooLargeResourceVersion(bad));
  },
);

clientTest(
  "[82] a large integer in a field of another manager survives update, apply and patch; a rounded one is refused",
  async (client, namespace, controlPlane) => {
    const group = `g${namespace}.example.dev`;
    const schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    await client.create(builtin.CustomResourceDefinition, {
      metadata: { name: `things.${group}` },
      spec: {
        group,
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    });
    await controlPlane.kubectlOutput(["wait", "--for=condition=Established", `crd/things.${group}`]);
    const yaml =
      `{"apiVersion":"${group}/v1","kind":"Thing","metadata":{"name":"t","namespace":"${namespace}"},"spec":{"id":9007199254740993}}`;
    await controlPlane.kubectlOutput(["create", "-f", "-"], { stdin: yaml });
    const thing = await new Discovery(client).findKind({ group, kind: "Thing" });
    assert(thing !== undefined);
    const { resource } = thing;
    const live = await client.get(resource, `${namespace}/t`);
    await client.update(resource, live);
    const rounded = { ...await client.get(resource, `${namespace}/t`), spec: { id: Number(9007199254740993n) } };
    await assertRejects(() => client.update(resource, rounded), /2\^53/);
    await client.patch(resource, `${namespace}/t`, { kind: "merge", value: { metadata: { labels: { a: "b" } } } });
    await client.apply(resource, { metadata: { name: "t", namespace, annotations: { c: "d" } } }, {
      fieldManager: "me",
    });
    const text = await client.raw(`/apis/${group}/v1/namespaces/${namespace}/things/t`);
    assertMatch(text, /"id":9007199254740993[,}]/);
    await client.delete(builtin.CustomResourceDefinition, `things.${group}`);
  },
);

clientTest(
  "Pods are evicted, tokens are created, and a foreground deletion returns the object",
  async (client, namespace, controlPlane) => {
    const spec = { containers: [{ name: "a", image: "example.invalid/a:1" }] };
    await client.create(Pod, { metadata: { name: "p", namespace }, spec });
    await client.evict(`${namespace}/p`, { gracePeriodSeconds: 0 });
    await client.create(ServiceAccount, { metadata: { name: "robot", namespace } });
    const { token } = await client.createToken(`${namespace}/robot`, { expirationSeconds: 600 });
    const access = await loadClusterAccess({
      environment: {},
      overrides: { kubeconfig: controlPlane.kubeconfig },
      workingDirectory: "/",
    });
    const { Masked } = await import("../../src/client/mod.ts");
    using transport = clusterTransport({
      ...access,
      clientCertificate: undefined,
      credentials: { kind: "token", token: new Masked(token) },
    });
    const robot = new Client(transport);
    const error = await assertRejects(() => robot.list(ConfigMap, { namespace }));
    assert(isForbidden(error));
    assertMatch(error.message, new RegExp(`system:serviceaccount:${namespace}:robot`));
    await client.create(Deployment, deployment(namespace, 0));
    const result = await client.delete(Deployment, `${namespace}/web`, { propagationPolicy: "Foreground" });
    assertEquals(result.kind === "object" && result.object.metadata.finalizers, ["foregroundDeletion"]);
  },
);

clientTest("impersonation uses the user and every group", async (_client, namespace, controlPlane) => {
  const overrides = { kubeconfig: controlPlane.kubeconfig, as: "jane", asGroups: ["team-a", "team-b"] };
  const access = await loadClusterAccess({ environment: {}, overrides, workingDirectory: "/" });
  using transport = clusterTransport(access);
  const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const client = new Client(transport);
  const text = await client.raw("/apis/authentication.k8s.io/v1/selfsubjectreviews", {
    method: "POST",
    body: JSON.stringify(review),
  });
  const { username, groups } = JSON.parse(text).status.userInfo;
  assertEquals([username, groups], ["jane", ["team-a", "team-b", "system:authenticated"]]);
  assert(isForbidden(await assertRejects(() => client.list(ConfigMap, { namespace }))));
});

controlPlaneTest("every kind of kubeconfig authenticates or gives a clear error", async (controlPlane) => {
  const listNamespaces = async (kubeconfig: string) => {
    using session = await Session.open(kubeconfig);
    return (await session.client.list(Namespace)).items.length;
  };
  for (const options of [{ user: "admin" }, { user: "token" }, { user: "token", tokenFile: true }] as const) {
    assert(await listNamespaces(await controlPlane.kubeconfigFor(options)) > 0);
  }
  const nobody = await assertRejects(async () =>
    await listNamespaces(await controlPlane.kubeconfigFor({ user: "nobody" }))
  );
  assert(isForbidden(nobody));
  const expired = await assertRejects(async () =>
    await listNamespaces(await controlPlane.kubeconfigFor({ user: "expired" }))
  );
  assert(isUnauthorized(expired), expired.message);
  for (const ca of ["wrong", "system"] as const) {
    const untrusted = await assertRejects(async () => await listNamespaces(await controlPlane.kubeconfigFor({ ca })));
    assert(isUnreachable(untrusted));
    assertEquals(untrusted.reason, { kind: "tls", detail: "unknownAuthority" });
  }
});

clientTest("discovery returns the served kinds, and the version of the server", async (client) => {
  const discovery = new Discovery(client);
  const deploy = await discovery.find("deploy");
  assertEquals(deploy?.resource, {
    group: "apps",
    version: "v1",
    kind: "Deployment",
    plural: "deployments",
    scope: "Namespaced",
  });
  assert(deploy?.subresources.includes("scale") && deploy.verbs.includes("watch") && deploy.categories.includes("all"));
  assertEquals((await discovery.find("ns"))?.resource.scope, "Cluster");
  assertEquals((await discovery.find("lease"))?.resource.group, "coordination.k8s.io");
  const version = await serverVersion(client);
  assertMatch(version.gitVersion, /^v1\.\d+\./);
  assertEquals(await client.raw("/readyz"), "ok");
});

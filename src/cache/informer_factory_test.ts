/** Tests of InformerFactory: sharing and starting of informers, and what it reports for readiness. */
import { assert, assertEquals, assertRejects, assertThrows, assertType, type Same, test } from "../../tests/testing.ts";
import { FakeApi, FakeApiError, type Thing } from "../../tests/fakes/list_watch.ts";
import type { Infer, ListWatch, Resource } from "../api/mod.ts";
import { builtin } from "../api/mod.ts";
import { drain, seededRandom, VirtualClock } from "../async/mod.ts";
import { cacheId, cacheName, type CacheScope, InformerFactory, type ObjectOf, type SharedInformer } from "./mod.ts";

const things: Resource<Thing, "Thing"> = {
  group: "example.dev",
  version: "v1",
  kind: "Thing",
  plural: "things",
  scope: "Namespaced",
};
const nodes: Resource<Thing, "Thing"> = { ...things, plural: "nodes", scope: "Cluster" };

/** A factory with one fake API per cache. */
function fakeFactory(
  options: { readonly namespaces?: readonly string[]; readonly prepare?: (api: FakeApi, name: string) => void } = {},
) {
  const clock = new VirtualClock();
  const apis = new Map<string, FakeApi>();
  const factory = new InformerFactory({
    clock,
    random: seededRandom(2),
    ...(options.namespaces === undefined ? {} : { namespaces: options.namespaces }),
    listWatch: <R extends Resource>(resource: R, scope: CacheScope): ListWatch<ObjectOf<R>> => {
      const name = cacheName(resource, scope);
      const api = new FakeApi();
      options.prepare?.(api, name);
      apis.set(name, api);
      return untyped(api);
    },
  });
  return { clock, factory, apis };
}

/** The fake serves Things for every resource; the tests read nothing else. */
function untyped<T>(api: FakeApi): ListWatch<T> {
  const any: unknown = api;
  assert(serves<T>(any));
  return any;
}

function serves<T>(api: unknown): api is ListWatch<T> {
  return api instanceof FakeApi;
}

test("the same resource and scope give the same informer, and another scope another one", () => {
  const { factory, apis } = fakeFactory();
  const one = factory.informer(things);
  assert(one === factory.informer(things, {}));
  assert(one === factory.informer({ ...things }));
  const scopes: CacheScope[] = [
    { namespace: "a" },
    { labelSelector: { matchLabels: { a: "b" } } },
    { fieldSelector: { "metadata.name": "x" } },
    { projection: "metadata" },
  ];
  for (const scope of scopes) {
    assert(factory.informer(things, scope) !== one, JSON.stringify(scope));
    assert(factory.informer(things, scope) === factory.informer(things, { ...scope }));
  }
  assertEquals([...apis.keys()], [
    "things.example.dev",
    "things.example.dev in namespace a",
    "things.example.dev with labels a=b",
    "things.example.dev with fields metadata.name=x",
    "things.example.dev (metadata only)",
  ]);
  assertEquals(new Set(scopes.map((scope) => cacheId(things, scope))).size, scopes.length);
});

test("the type of an informer follows from its resource", () => {
  const { factory } = fakeFactory();
  assertType<Same<SharedInformer<Infer<typeof builtin.Pod>>, ReturnType<typeof factory.informer<typeof builtin.Pod>>>>(
    true,
  );
  const replicas: number | undefined = factory.lister(builtin.Deployment).list()[0]?.spec.replicas;
  assertEquals(replicas, undefined);
});

test("run() starts all informers, also those requested later, and ends all of them", async () => {
  const { factory, apis, clock } = fakeFactory({ prepare: (api) => void api.put("a") });
  const stop = new AbortController();
  const lister = factory.lister(things);
  const running = factory.run(stop.signal);
  await factory.synced(stop.signal);
  assertEquals(lister.size, 1);
  const later = factory.lister(nodes);
  await factory.synced(stop.signal);
  assertEquals(later.size, 1);
  await assertRejects(() => factory.run(stop.signal), /was started before/);
  stop.abort();
  await running;
  assertEquals([[...apis.values()].map((api) => api.openWatches), clock.pendingTimers], [[0, 0], 0]);
  assertThrows(() => factory.informer(things, { namespace: "new" }), /the factory has stopped/);
});

test("a factory with namespaces caches exactly those, and cluster-scoped resources as a whole", async () => {
  const { factory, apis } = fakeFactory({
    namespaces: ["one", "two"],
    prepare: (api, name) => void api.put("a", { namespace: name.split(" ").at(-1) ?? "" }),
  });
  const stop = new AbortController();
  const lister = factory.lister(things);
  factory.informer(nodes);
  const running = factory.run(stop.signal);
  await factory.synced(stop.signal);
  assertEquals([...apis.keys()], [
    "things.example.dev in namespace one",
    "things.example.dev in namespace two",
    "nodes.example.dev",
  ]);
  factory.addNamespace("three");
  await factory.synced(stop.signal);
  assertEquals(lister.list().map((thing) => thing.metadata.namespace), ["one", "two", "three"]);
  await factory.removeNamespace("one");
  assertEquals(lister.list().map((thing) => thing.metadata.namespace), ["two", "three"]);
  assertEquals(factory.namespaces, ["two", "three"]);
  stop.abort();
  await running;
  assertThrows(() => fakeFactory().factory.addNamespace("x"), /watches the whole cluster/);
});

test("[16] problems() names each resource that cannot be read, with its namespace", async () => {
  const { factory } = fakeFactory({
    namespaces: ["x"],
    prepare: (api, name) => {
      if (name.startsWith("things")) api.failNext("watch", new FakeApiError(403, "Forbidden"));
      else api.failNext("watch", new FakeApiError(404, "NotFound"));
    },
  });
  const stop = new AbortController();
  factory.informer(things);
  factory.informer(nodes);
  assertEquals(factory.problems(), [
    "things.example.dev in namespace x: not synced yet (starting)",
    "nodes.example.dev: not synced yet (starting)",
  ]);
  const running = factory.run(stop.signal);
  await drain();
  assertEquals(factory.problems(), [
    "things.example.dev in namespace x: forbidden to list or watch (403 Forbidden)",
    "nodes.example.dev: CRD missing: run install-crds (404 NotFound)",
  ]);
  stop.abort();
  await running;
});

test("a metadata-only cache contains PartialObjectMetadata and nothing else", async () => {
  const { factory, apis } = fakeFactory();
  const stop = new AbortController();
  const lister = factory.lister(things, { projection: "metadata" });
  const running = factory.run(stop.signal);
  await factory.synced(stop.signal);
  const api = apis.get("things.example.dev (metadata only)");
  const partial =
    '{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":{"name":"a","resourceVersion":"101"}}';
  api?.send([{ type: "ADDED", object: JSON.parse(partial) }]);
  api?.put("b");
  await drain();
  assertEquals(lister.list().map((thing) => thing.metadata.name), ["a"]);
  stop.abort();
  await running;
});

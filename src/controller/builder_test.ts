import { assertEquals, assertThrows, assertType, type Same, test } from "../../tests/testing.ts";
import { builtin, type Infer, untypedResource } from "../api/mod.ts";
import { controller } from "./builder.ts";
import { type CacheReader, metadataOnly, notCached } from "./caches.ts";
import { inHub } from "./clusters.ts";
import { manifest } from "./desired.ts";
import { done } from "./request.ts";

type ConfigMap = builtin.ConfigMap;
const { ConfigMap, Deployment, Namespace, Node, Secret } = builtin;

const noCaches = { find: () => undefined, list: () => [] };

test("a definition lists the watched kinds, the primary kind first", () => {
  const definition = controller("greeter", { maxConcurrentReconciles: 3 })
    .for(Namespace)
    .owns(ConfigMap)
    .watches(Node, { to: (node) => [node.metadata.name ?? ""] })
    .uses(Secret, ["get"])
    .reconcile(() => Promise.resolve(done));
  assertEquals(definition.watches.map((watch) => [watch.role, watch.resource.kind]), [
    ["for", "Namespace"],
    ["owns", "ConfigMap"],
    ["watches", "Node"],
  ]);
  assertEquals(definition.permissions, [{ resource: Secret, verbs: ["get"], subresource: undefined }]);
  assertEquals(definition.options.maxConcurrentReconciles, 3);
});

test("a builder is a value: two controllers can start from the same one", () => {
  const start = controller("a").for(Namespace);
  const left = start.owns(ConfigMap).reconcile(() => Promise.resolve(done));
  const right = start.owns(Secret).reconcile(() => Promise.resolve(done));
  assertEquals(left.watches.map((watch) => watch.resource.kind), ["Namespace", "ConfigMap"]);
  assertEquals(right.watches.map((watch) => watch.resource.kind), ["Namespace", "Secret"]);
});

test("controller() rejects a name that is not a DNS label", () => {
  assertThrows(() => controller("Foo Controller"), /Cannot create controller "Foo Controller"/);
});

test("a kind cannot be watched twice", () => {
  assertThrows(() => controller("a").for(Namespace).owns(ConfigMap).owns(ConfigMap), /already watched/);
});

test("a key of the wrong form from a mapping is an error that describes the right form", () => {
  const definition = controller("a").for(ConfigMap).watches(Node, { to: () => ["no-namespace"] })
    .reconcile(() => Promise.resolve(done));
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: "n" } };
  assertThrows(() => definition.watches[1]?.keysOf(node, noCaches), /its keys have the form namespace\/name/);
});

test("a mapping can find objects through an index of the caches", () => {
  const indices = { node: ({ data }: ConfigMap) => data?.node === undefined ? [] : [data.node] };
  const definition = controller("a").for(ConfigMap, { indices }).watches(Node, {
    to: (node, caches) => {
      const index = { name: "node", value: node.metadata.name ?? "" };
      return caches.list(ConfigMap, { index }).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    },
  }).reconcile(() => Promise.resolve(done));
  assertEquals(Object.keys(definition.watches[0]?.indices ?? {}), ["node"]);
  const queries: unknown[] = [];
  const caches: CacheReader = {
    find: () => undefined,
    list: (resource, filter) => {
      queries.push([resource.kind, filter.index]);
      return [{ metadata: { namespace: "x", name: "y" } }] as never;
    },
  };
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: "n" } };
  assertEquals(definition.watches[1]?.keysOf(node, caches).map(String), ["x/y"]);
  assertEquals(queries, [["ConfigMap", { name: "node", value: "n" }]]);
});

test("a change of a dependent maps to its controller and to the keys that `to` returns", () => {
  const definition = controller("a").for(Namespace)
    .owns(ConfigMap, { to: ({ metadata }) => [metadata.namespace ?? ""] })
    .reconcile(() => Promise.resolve(done));
  const owner = { apiVersion: "v1", kind: "Namespace", name: "owner", uid: "u", controller: true };
  const metadata = { namespace: "x", name: "y", ownerReferences: [owner] };
  const dependent = { apiVersion: "v1", kind: "ConfigMap", metadata };
  assertEquals(definition.watches[1]?.keysOf(dependent, noCaches).map(String), ["owner", "x"]);
});

test("a kind that is not cached cannot be watched, and an unknown verb cannot be declared", () => {
  const Secrets = notCached(Secret);
  // @ts-expect-error a kind that is not cached cannot be watched
  assertThrows(() => controller("a").for(Secrets), /Cannot watch secrets in controller "a": it is not cached/);
  // @ts-expect-error a kind that is not cached cannot be watched
  assertThrows(() => controller("a").for(Namespace).owns(Secrets), /Declare it with uses\(\)/);
  // @ts-expect-error not a verb
  assertThrows(() => controller("a").for(Namespace).uses(Secret, ["*"]), /Cannot declare verb "\*"/);
});

test("a read returns a promise if the kind is not cached", () => {
  const Secrets = notCached(Secret);
  controller("a").for(Namespace).owns(ConfigMap).uses(Secrets, ["get"]).uses(Node, ["get"]).reconcile(async (ctx) => {
    const cached = ctx.get(ConfigMap, "a/b");
    assertType<Same<typeof cached, Infer<typeof ConfigMap>>>(true);
    const promised = ctx.get(Secrets, "a/b");
    assertType<Same<typeof promised, Promise<Infer<typeof Secret>>>>(true);
    const all = await ctx.list(Secrets);
    assertType<Same<typeof all, readonly Infer<typeof Secret>[]>>(true);
    // @ts-expect-error the Secret itself is not declared
    ctx.find(Secret, "a/b");
    // @ts-expect-error uses() of a cached kind does not allow reads from the cache
    ctx.find(Node, "a");
    // @ts-expect-error a kind that is not cached cannot be applied
    await ctx.apply(manifest(Secret, { metadata: { name: "a" } }));
    return done;
  });
});

test("a metadataOnly kind has only metadata; the fields of an untyped kind are unknown", () => {
  const Widget = untypedResource({ group: "x", version: "v1", kind: "Widget", plural: "widgets", scope: "Cluster" });
  controller("a").for(metadataOnly(Secret)).watches(Widget, { to: () => [] }).reconcile((ctx) => {
    assertType<Same<typeof ctx.object.metadata, Infer<typeof Secret>["metadata"]>>(true);
    // @ts-expect-error only the metadata is there
    ctx.object.data;
    const widget = ctx.find(Widget, "w");
    assertType<Same<NonNullable<typeof widget>["spec"], unknown>>(true);
    assertType<Same<NonNullable<typeof widget>["kind"], "Widget">>(true);
    return Promise.resolve(done);
  });
});

test("the context is typed by the declared kinds", () => {
  controller("a").for(Deployment).owns(ConfigMap).reconcile(async (ctx) => {
    assertType<Same<typeof ctx.object, Infer<typeof Deployment>>>(true);
    const found = ctx.find(ConfigMap, "a/b");
    assertType<Same<typeof found, Infer<typeof ConfigMap> | undefined>>(true);
    // @ts-expect-error Secret was not declared
    ctx.find(Secret, "a/b");
    // @ts-expect-error cached objects are readonly
    ctx.object.spec.replicas = 3;
    // @ts-expect-error no such field in the status
    await ctx.patchStatus({ nope: 1 });
    const live = await ctx.apply(manifest(ConfigMap, { metadata: { name: "a" }, data: { a: "b" } }));
    assertType<Same<typeof live, Infer<typeof ConfigMap>>>(true);
    // @ts-expect-error Secret was not declared
    await ctx.apply(manifest(Secret, { metadata: { name: "a" } }));
    return done;
  });
});

test("a kind of the hub can be watched beside the same kind of the cluster, and neither owned, reconciled nor applied", () => {
  const Settings = inHub(ConfigMap);
  const start = controller("copier").for(Namespace).owns(ConfigMap);
  const definition = start.watches(Settings, { to: () => [] }).reconcile((ctx) => {
    const settings = ctx.find(Settings, "fleet/settings");
    assertType<Same<typeof settings, ConfigMap | undefined>>(true);
    return Promise.resolve(done);
  });
  assertEquals(definition.watches.map(({ role }) => role), ["for", "owns", "watches"]);
  assertThrows(
    () => start.watches(Settings, { to: () => [], writes: true }),
    /Cannot apply fields of ConfigMap of the hub/,
  );
  assertThrows(() => controller("copier").for(Settings), /Cannot reconcile ConfigMap of the hub/);
  assertThrows(() => controller("copier").for(Namespace).owns(Settings), /Cannot own ConfigMap of the hub/);
  controller("reader").for(Namespace).watches(Settings, { to: () => [] }).reconcile(async (ctx) => {
    // @ts-expect-error ConfigMap is declared only in the hub
    await ctx.apply(manifest(ConfigMap, { metadata: { name: "a" } }));
    // @ts-expect-error likewise
    ctx.find(ConfigMap, "a/b");
    return done;
  });
});

import { assertEquals, assertThrows, assertType, type Same, test } from "../../tests/testing.ts";
import { builtin, type Infer } from "../api/mod.ts";
import { controller } from "./builder.ts";
import { manifest } from "./desired.ts";
import { done } from "./result.ts";

const { ConfigMap, Deployment, Namespace, Node, Secret } = builtin;

test("a definition lists what is watched, the primary kind first", () => {
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

test("a builder is a value: two controllers can begin with the same one", () => {
  const start = controller("a").for(Namespace);
  const left = start.owns(ConfigMap).reconcile(() => Promise.resolve(done));
  const right = start.owns(Secret).reconcile(() => Promise.resolve(done));
  assertEquals(left.watches.map((watch) => watch.resource.kind), ["Namespace", "ConfigMap"]);
  assertEquals(right.watches.map((watch) => watch.resource.kind), ["Namespace", "Secret"]);
});

test("a name that is no DNS label is refused", () => {
  assertThrows(() => controller("Foo Controller"), /Cannot create controller "Foo Controller"/);
});

test("the same kind twice is refused", () => {
  assertThrows(() => controller("a").for(Namespace).owns(ConfigMap).owns(ConfigMap), /watched already/);
});

test("a mapping that returns keys of the wrong form says what they should look like", () => {
  const definition = controller("a").for(ConfigMap).watches(Node, { to: () => ["no-namespace"] })
    .reconcile(() => Promise.resolve(done));
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: "n" } };
  assertThrows(() => definition.watches[1]?.keysOf(node), /its keys have the form namespace\/name/);
});

test("the context is typed by what was declared", () => {
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

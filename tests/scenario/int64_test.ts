/** An integer of 64 bits on its whole way: kubectl's JSON and YAML, storage, watch, cache, controller, apply and patches. */
import { controller, defineResource, done, int64, manifest, z } from "../../src/mod.ts";
import { World } from "../../src/testing.ts";
import { assert, assertEquals, assertRejects, assertType, type Same, test } from "../testing.ts";

const Account = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Account",
  scope: "Namespaced",
  spec: z.object({ id: int64(), ids: z.array(int64()).optional(), free: z.record(z.string(), int64()).optional() }),
  status: z.object({ seen: int64() }),
});
const Copy = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Copy",
  scope: "Namespaced",
  spec: z.object({ id: int64(), more: z.array(int64()).optional() }),
});

const big = 9007199254740993n;
const path = "/apis/example.dev/v1/namespaces/default/accounts";

/** Copies the ID of each Account into its status and into a Copy. */
function copying(seen: unknown[], reconciles: { count: number }) {
  return controller("copying").for(Account).owns(Copy).reconcile(async (ctx) => {
    reconciles.count++;
    const { id, ids } = ctx.object.spec;
    assertType<Same<typeof id, number | bigint>>(true);
    seen.push(id);
    const { name = "", namespace } = ctx.object.metadata;
    await ctx.apply(manifest(Copy, { metadata: { name, namespace }, spec: { id, more: ids } }));
    await ctx.patchStatus({ seen: id });
    return done;
  });
}

test("[82] 9007199254740993 survives JSON, storage, cache, controller, apply, status and a converged reconcile", async () => {
  const seen: unknown[] = [];
  const reconciles = { count: 0 };
  await using world = await World.start({ controllers: [copying(seen, reconciles)], cluster: false });
  const body =
    `{"apiVersion":"example.dev/v1","kind":"Account","metadata":{"name":"a"},"spec":{"id":${big},"ids":[1,-${big}]}}`;
  const created = await world.client.raw(path, { method: "POST", body });
  assert(created.includes(`"id":${big},"ids":[1,-${big}]`), created);
  await world.settled();
  assertEquals([...new Set(seen)], [big]);
  assertEquals([world.get(Account, "default/a").status?.seen, world.get(Copy, "default/a").spec], [
    big,
    { id: big, more: [1, -big] },
  ]);
  const { revision } = world;
  const before = reconciles.count;
  await world.patch(Account, "default/a", { kind: "merge", value: { metadata: { labels: { touched: "yes" } } } });
  await world.settled();
  assert(reconciles.count > before);
  assertEquals(world.revision, revision + 1, "the comparison finds nothing to write");
});

test("[82] neighbours of 2^53 are different values in every patch, and in list and watch", async () => {
  await using world = await World.start({ controllers: [copying([], { count: 0 })], cluster: false });
  await world.create(Account, { name: "a", spec: { id: big } });
  const listed = await world.client.list(Account, { namespace: "default" });
  assertEquals(listed.items.map(({ spec }) => spec.id), [big]);
  const merged = await world.patch(Account, "default/a", { kind: "merge", value: { spec: { id: big + 2n } } });
  assertEquals(merged.spec.id, big + 2n);
  await assertRejects(() =>
    world.patch(Account, "default/a", {
      kind: "json",
      operations: [{ op: "test", path: "/spec/id", value: big }, { op: "replace", path: "/spec/id", value: 1 }],
    })
  );
  const patched = await world.patch(Account, "default/a", {
    kind: "json",
    operations: [
      { op: "test", path: "/spec/id", value: big + 2n },
      { op: "add", path: "/spec/free", value: { a: big } },
      { op: "copy", from: "/spec/free/a", path: "/spec/free/b" },
      { op: "replace", path: "/spec/id", value: 2n ** 63n - 1n },
    ],
  });
  assertEquals([patched.spec.id, patched.spec.free], [2n ** 63n - 1n, { a: big, b: big }]);
  await world.settled();
  assertEquals(world.get(Copy, "default/a").spec.id, 2n ** 63n - 1n);
  const updated = await world.client.update(Account, {
    ...patched,
    metadata: world.get(Account, "default/a").metadata,
  });
  assertEquals(updated.spec, patched.spec);
});

test("[82] YAML is read and written exactly, and the bounds of a schema are compared exactly", async () => {
  await using world = await World.start({ controllers: [copying([], { count: 0 })], cluster: false });
  const yaml =
    `apiVersion: example.dev/v1\nkind: Account\nmetadata:\n  name: a\nspec:\n  id: ${big}\n  ids: [1, ${-big}]\n`;
  const contentType = "application/apply-patch+yaml";
  const query = "?fieldManager=kubectl";
  const applied = await world.client.raw(`${path}/a${query}`, { method: "PATCH", body: yaml, contentType });
  assert(applied.includes(`"id":${big},"ids":[1,-${big}]`), applied);
  const shown = await world.client.raw(`${path}/a`, { accept: "application/yaml" });
  assert(shown.includes(`\n  id: ${big}\n  ids:\n  - 1\n  - -${big}\n`), shown);
  await world.settled(); // the controller writes the status
  const before = await world.client.raw(`${path}/a`);
  const again = await world.client.raw(`${path}/a${query}`, { method: "PATCH", body: yaml, contentType });
  assertEquals(again, before, "nothing has changed");
  const table = await world.client.raw(path, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });
  assert(table.includes('"name":"a"'), table);
  const wrong = yaml.replace(`id: ${big}`, "id: 1.5");
  await assertRejects(() => world.client.raw(`${path}/a${query}`, { method: "PATCH", body: wrong, contentType }), /id/);
});

/** Copies of live objects as desired objects: `{ ...live, data }`, as of a cached dependent that differs in one field. */
import { builtin, type KubeObject } from "../../src/api/mod.ts";
import { controller, done, labelled, manifest } from "../../src/controller/mod.ts";
import { World } from "../../src/simulation/mod.ts";
import { assertEquals, assertMatch, test } from "../testing.ts";

const { ConfigMap, Secret } = builtin;
const copied = { copied: "yes" };

test("a copy of a dependent with another field is applied, also after an own write, and then writes nothing", async () => {
  let isCopy = false;
  const copies = controller("copies").for(ConfigMap, { when: labelled(copied) }).owns(Secret).reconcile(async (ctx) => {
    const { name = "", namespace } = ctx.object.metadata;
    const live = ctx.find(Secret, `${namespace}/${name}`);
    const data = { text: btoa(ctx.object.data?.text ?? "") };
    isCopy = live?.metadata.managedFields !== undefined;
    await ctx.apply(
      live === undefined
        ? manifest(Secret, { metadata: { name, namespace }, data })
        : manifest(Secret, { ...live, metadata: { ...live.metadata, name }, data }),
    );
    return done;
  });
  await using world = await World.start({ controllers: [copies], cluster: false });
  await world.create(ConfigMap, { name: "a", labels: copied, data: { text: "one" } });
  await world.settled();
  for (const text of ["two", "three"]) {
    await world.patch(ConfigMap, "default/a", { kind: "merge", value: { data: { text } } });
    await world.settled();
    assertEquals([isCopy, world.get(Secret, "default/a").data], [true, { text: btoa(text) }]);
  }
  const { revision } = world;
  await world.patch(ConfigMap, "default/a", { kind: "merge", value: { data: { other: "x" } } });
  await world.settled();
  assertEquals(world.revision, revision + 1);
});

test("an apply of the reconciled object itself fails with what to do instead", async () => {
  let message = "";
  const selves = controller("selves").for(ConfigMap, { when: labelled(copied) }).reconcile(
    async (ctx) => {
      const { name = "", ...metadata }: KubeObject["metadata"] = ctx.object.metadata;
      await ctx.apply(manifest(ConfigMap, { ...ctx.object, metadata: { ...metadata, name }, data: { a: "b" } }))
        .catch((error) => message = String(error));
      return done;
    },
  );
  await using world = await World.start({ controllers: [selves], cluster: false });
  await world.create(ConfigMap, { name: "a", labels: copied });
  await world.settled();
  assertMatch(message, /it is the reconciled object, not a dependent of it\. Change it with patch or patchStatus$/);
});

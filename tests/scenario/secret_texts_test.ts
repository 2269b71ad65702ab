/** Secrets whose desired state has `stringData`, which the server stores as `data` and never returns. */
import { builtin, type KubeObject } from "../../src/api/mod.ts";
import { controller, done, manifest } from "../../src/controller/mod.ts";
import { World } from "../../src/simulation/mod.ts";
import { assertEquals, test } from "../testing.ts";

const { ConfigMap, Secret } = builtin;

const isCopied = ({ metadata }: KubeObject) => metadata.labels?.["copy"] === "yes";

/** Writes the data of a ConfigMap into two Secrets, as texts. */
const secrets = controller("secrets").for(ConfigMap, { when: ({ object }) => isCopied(object) }).owns(Secret)
  .reconcile(async (ctx) => {
    const { metadata: { namespace, name = "" }, data = {} } = ctx.object;
    for (const copy of [1, 2]) {
      await ctx.apply(manifest(Secret, { metadata: { namespace, name: `${name}-${copy}` }, stringData: data }));
    }
    return done;
  });

test("the texts of Secrets follow what is desired, also back to an earlier value, and are repaired", async () => {
  await using world = await World.start({ controllers: [secrets], cluster: false });
  const [source, first, second] = ["default/a", "default/a-1", "default/a-2"] as const;
  const stored = () => [first, second].map((key) => world.get(Secret, key).data);
  await world.create(ConfigMap, { name: "a", labels: { copy: "yes" }, data: { password: "one" } });
  await world.settled();
  const [one, two] = [{ password: "b25l" }, { password: "dHdv" }];
  for (const [password, expected] of [["two", two], ["one", one], ["two", two]] as const) {
    await world.patch(ConfigMap, source, { kind: "merge", value: { data: { password } } });
    await world.settled();
    assertEquals(stored(), [expected, expected]);
  }
  await world.patch(Secret, first, { kind: "merge", value: { data: one } });
  await world.settled();
  assertEquals(stored(), [two, two]);
  await world.patch(ConfigMap, source, { kind: "merge", value: { data: { password: null, user: "ü" } } });
  await world.settled();
  assertEquals(stored(), [{ user: "w7w=" }, { user: "w7w=" }]);
});

/** Several scopes of one kind in one Manager: by namespace and by label, side by side. */
import { assertEquals, test } from "../testing.ts";
import {
  ConfigMap,
  controller,
  type ControllerDefinition,
  type ControllerOptions,
  done,
  keyOf,
  Namespace,
} from "../../src/mod.ts";
import { World } from "../../src/testing.ts";

/** What one controller reconciles, and what it reads when it does. */
class Seen {
  readonly keys = new Set<string>();
  readable: readonly string[] = [];

  controller(name: string, options: ControllerOptions): ControllerDefinition {
    return controller(name, options).for(ConfigMap).reconcile((ctx) => {
      if (ctx.object.data?.test === undefined) return Promise.resolve(done);
      this.keys.add(keyOf(ctx.object));
      this.readable = ctx.list(ConfigMap).filter(({ data }) => data?.test !== undefined).map((one) => keyOf(one))
        .sort();
      return Promise.resolve(done);
    });
  }
}

function start() {
  const [one, labelled, both] = [new Seen(), new Seen(), new Seen()];
  const selector = { matchLabels: { app: "shop" } };
  const controllers = [
    one.controller("one", { namespace: "one" }),
    labelled.controller("labelled", { selector }),
    both.controller("both", { namespace: "two", selector }),
  ];
  return { one, labelled, both, controllers };
}

async function createObjects(world: World): Promise<void> {
  for (const name of ["one", "two"]) await world.create(Namespace, { name });
  for (const namespace of ["one", "two"]) {
    await world.create(ConfigMap, { name: "plain", namespace, data: { test: "" } });
    await world.create(ConfigMap, { name: "shop", namespace, labels: { app: "shop" }, data: { test: "" } });
  }
}

test("controllers of one Manager have their own scopes of a kind, for reconciles and for reads", async () => {
  const { one, labelled, both, controllers } = start();
  await using world = await World.start({ controllers, cluster: false });
  await createObjects(world);
  await world.settled();
  assertEquals([...one.keys].sort(), ["one/plain", "one/shop"]);
  assertEquals([...labelled.keys].sort(), ["one/shop", "two/shop"]);
  assertEquals([...both.keys].sort(), ["two/shop"]);
  for (const seen of [one, labelled, both]) assertEquals(seen.readable, [...seen.keys].sort());
});

test("an object that gets into the scope of one controller stays in that of another", async () => {
  const { one, labelled, controllers } = start();
  await using world = await World.start({ controllers, cluster: false });
  await createObjects(world);
  await world.settled();
  for (const seen of [one, labelled]) seen.keys.clear();
  const label = (app: string | null) => ({ kind: "merge", value: { metadata: { labels: { app } } } }) as const;
  await world.patch(ConfigMap, "one/plain", label("shop"));
  await world.patch(ConfigMap, "one/shop", label(null));
  await world.settled();
  assertEquals([...one.keys].sort(), ["one/plain", "one/shop"]);
  assertEquals([...labelled.keys], ["one/plain"]);
  assertEquals(labelled.readable.includes("one/plain"), true);
});

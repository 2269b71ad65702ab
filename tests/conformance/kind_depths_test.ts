import { assert, assertEquals, test } from "../testing.ts";
import { builtinFamilies, kindEffects } from "../../src/apiserver/kinds/mod.ts";
import { clusterWatches, notServed } from "./kind_depths.ts";

test("every built-in kind says what follows from its objects, and no other kind does", () => {
  const collections = builtinFamilies().map(({ collection }) => collection);
  assertEquals(Object.keys(kindEffects).toSorted(), collections.toSorted());
});

test("the simulated cluster acts on what it is said to act on", () => {
  const watches = clusterWatches();
  for (const [collection, effect] of Object.entries(kindEffects)) {
    if (effect.kind !== "cluster") continue;
    for (const name of effect.controllers) {
      const isWatching = ["for", "watches"].some((role) => watches.has(`${collection} ${role} ${name}`));
      assert(isWatching, `${name} does not watch ${collection}`);
    }
  }
});

test("every path and subresource of kube-apiserver is served", async () => {
  assertEquals(await notServed(), []);
});

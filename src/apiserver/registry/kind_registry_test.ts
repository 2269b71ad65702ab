import { assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { configMap, foo, fooBeta } from "../kind_test_data.ts";
import { KindRegistry } from "./kind_registry.ts";

const foos = { collection: "foos.example.com", served: [foo, fooBeta], storage: foo };

test("kinds are found by URL and by kind, in each version that is served", () => {
  const kinds = new KindRegistry();
  kinds.set(foos);
  assertEquals(kinds.find("example.com", "v1beta1", "foos")?.kind, fooBeta);
  assertEquals(kinds.findKind("example.com", "v1", "Foo")?.kind, foo);
  assertEquals(kinds.find("example.com", "v2", "foos"), undefined);
  assertEquals(kinds.find("", "v1", "constructor"), undefined);
  assertEquals([kinds.hasVersion("example.com", "v1"), kinds.hasVersion("example.com", "v2")], [true, false]);
});

test("a family takes the place of the one with its collection, as a whole", () => {
  const kinds = new KindRegistry();
  kinds.set(foos);
  kinds.set({ ...foos, served: [foo] });
  assertEquals(kinds.find("example.com", "v1beta1", "foos"), undefined);
  assertEquals([...kinds.kinds()], [foo]);
});

test("listeners are told of what changed, after the change, until they leave", () => {
  const kinds = new KindRegistry();
  const told: string[] = [];
  const listening = kinds.onChange((collection, family) => {
    told.push(`${collection} ${family?.served.length ?? "gone"} ${kinds.family(collection)?.served.length ?? "gone"}`);
  });
  kinds.set(foos);
  kinds.delete(foos.collection);
  kinds.delete(foos.collection);
  listening[Symbol.dispose]();
  kinds.set(foos);
  assertEquals(told, ["foos.example.com 2 2", "foos.example.com gone gone"]);
  assertEquals(kinds.generation, 3);
});

test("two families cannot have the same URL", () => {
  const kinds = new KindRegistry();
  kinds.set(foos);
  assertThrows(
    () => kinds.set({ collection: "others", served: [configMap, foo], storage: foo }),
    /Cannot serve others: foos.example.com has its URL/,
  );
  assertEquals(kinds.find("", "v1", "configmaps"), undefined);
});

test("a copy of a registry knows the same kinds, and what either learns is its own", () => {
  const kinds = new KindRegistry();
  kinds.set(foos);
  const copy = kinds.copy();
  assertEquals(copy.find("example.com", "v1", "foos"), kinds.find("example.com", "v1", "foos"));
  assertEquals(copy.generation, kinds.generation);
  copy.delete(foos.collection);
  assertEquals(copy.find("example.com", "v1", "foos"), undefined);
  assertEquals(kinds.family(foos.collection), foos);
});

import { assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { configMap, foo, fooBeta } from "../testing/test_kinds.ts";
import { KindRegistry } from "./kind_registry.ts";

const foos = { collection: "foos.example.com", served: [foo, fooBeta], storage: foo };

test("find() and findKind() find each served version", () => {
  const kinds = new KindRegistry();
  kinds.set(foos);
  assertEquals(kinds.find("example.com", "v1beta1", "foos")?.kind, fooBeta);
  assertEquals(kinds.findKind("example.com", "v1", "Foo")?.kind, foo);
  assertEquals(kinds.find("example.com", "v2", "foos"), undefined);
  assertEquals(kinds.find("", "v1", "constructor"), undefined);
  assertEquals([kinds.hasVersion("example.com", "v1"), kinds.hasVersion("example.com", "v2")], [true, false]);
});

test("set() replaces all versions of a collection", () => {
  const kinds = new KindRegistry();
  kinds.set(foos);
  kinds.set({ ...foos, served: [foo] });
  assertEquals(kinds.find("example.com", "v1beta1", "foos"), undefined);
  assertEquals([...kinds.kinds()], [foo]);
});

test("listeners get the collection after each change, until they are disposed", () => {
  const kinds = new KindRegistry();
  const changes: string[] = [];
  const listener = kinds.onChange((collection, family) => {
    changes.push(
      `${collection} ${family?.served.length ?? "gone"} ${kinds.family(collection)?.served.length ?? "gone"}`,
    );
  });
  kinds.set(foos);
  kinds.delete(foos.collection);
  kinds.delete(foos.collection);
  listener[Symbol.dispose]();
  kinds.set(foos);
  assertEquals(changes, ["foos.example.com 2 2", "foos.example.com gone gone"]);
  assertEquals(kinds.generation, 3);
});

test("set() rejects a family with the URL of another one", () => {
  const kinds = new KindRegistry();
  kinds.set(foos);
  assertThrows(
    () => kinds.set({ collection: "others", served: [configMap, foo], storage: foo }),
    /Cannot serve others: foos.example.com has its URL/,
  );
  assertEquals(kinds.find("", "v1", "configmaps"), undefined);
});

test("copy() has the same kinds, and is independent afterwards", () => {
  const kinds = new KindRegistry();
  kinds.set(foos);
  const copy = kinds.copy();
  assertEquals(copy.find("example.com", "v1", "foos"), kinds.find("example.com", "v1", "foos"));
  assertEquals(copy.generation, kinds.generation);
  copy.delete(foos.collection);
  assertEquals(copy.find("example.com", "v1", "foos"), undefined);
  assertEquals(kinds.family(foos.collection), foos);
});

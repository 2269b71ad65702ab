/** Tests of Store, Indexer and Lister without a reflector. */
import { assert, assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { keyOf, type KubeObject, objectKey, resourceVersion } from "../api/mod.ts";
import { Lister, NotInCacheError, Store } from "./mod.ts";

interface Item extends KubeObject {
  readonly owners: readonly string[];
}

function item(name: string, owners: readonly string[] = [], namespace = "default"): Item {
  return { apiVersion: "v1", kind: "Item", metadata: { name, namespace, labels: { name } }, owners };
}

function filled(store: Store<Item>, ...items: readonly Item[]): Store<Item> {
  for (const one of items) store.set(keyOf(one), one);
  return store;
}

const names = (items: readonly Item[]) => items.map((one) => one.metadata.name).sort();

test("[28] index sets without keys are deleted", () => {
  const store = filled(
    new Store<Item>({ indexers: { owner: (one) => one.owners } }),
    item("a", ["x", "y"]),
    item("b", ["y"]),
  );
  assertEquals(store.indexValues("owner"), ["x", "y"]);
  store.set(keyOf(item("a")), item("a", ["z"]));
  assertEquals([names(store.byIndex("owner", "x")), names(store.byIndex("owner", "y"))], [[], ["b"]]);
  assertEquals(store.indexValues("owner"), ["y", "z"]);
  store.delete(keyOf(item("a")));
  store.delete(keyOf(item("b")));
  assertEquals(store.indexValues("owner"), []);
});

test("[28] an index is correct, built before or after the changes", () => {
  const indexers = { owner: (one: Item) => one.owners };
  const early = new Store<Item>({ indexers });
  assertEquals(early.byIndex("owner", "x"), []);
  const late = new Store<Item>({ indexers });
  for (const store of [early, late]) {
    filled(store, item("a", ["x"]), item("b", ["x", "x"]), item("c", ["y"]));
    store.set(keyOf(item("c")), item("c", ["x"]));
    store.delete(keyOf(item("a")));
    assertEquals(names(store.byIndex("owner", "x")), ["b", "c"]);
  }
});

test("[28] an index is correct after a replace", () => {
  const store = filled(new Store<Item>({ indexers: { owner: (one) => one.owners } }), item("a", ["x"]));
  assertEquals(names(store.byIndex("owner", "x")), ["a"]);
  store.replace(new Map([[keyOf(item("b")), item("b", ["x"])]]), resourceVersion("5"));
  assertEquals(names(store.byIndex("owner", "x")), ["b"]);
  assertEquals(names(store.byNamespace("default")), ["b"]);
});

test("[28] an index function that throws removes that object from that index only, and is reported", () => {
  const errors: string[] = [];
  let broken = true;
  const store = new Store<Item>({
    indexers: {
      owner: (one) => {
        if (broken && one.metadata.name === "bad") throw new Error("boom");
        return one.owners;
      },
      name: (one) => [one.metadata.name ?? ""],
    },
    onIndexError: (index, key) => void errors.push(`${index} ${key}`),
  });
  filled(store, item("a", ["x"]), item("bad", ["x"]));
  assertEquals([names(store.byIndex("owner", "x")), names(store.byIndex("name", "bad"))], [["a"], ["bad"]]);
  assertEquals(errors, ["owner default/bad"]);
  broken = false;
  store.set(keyOf(item("bad")), item("bad", ["x", "y"]));
  assertEquals(names(store.byIndex("owner", "x")), ["a", "bad"]);
  broken = true;
  store.set(keyOf(item("bad")), item("bad", ["z"]));
  assertEquals([names(store.byIndex("owner", "x")), store.indexValues("owner")], [["a"], ["x"]]);
  store.delete(keyOf(item("bad")));
  assertEquals([store.size, names(store.byIndex("name", "bad"))], [1, []]);
});

test("an undeclared index is refused, and so is a second function with the same name", () => {
  const store = new Store<Item>({ indexers: { owner: (one) => one.owners } });
  assertThrows(() => store.byIndex("nope", "x"), /Cannot read index "nope"/);
  assertThrows(() => store.addIndexers({ owner: () => [] }), /another function has that name/);
  const again = (one: Item) => [one.kind];
  store.addIndexers({ kind: again });
  store.addIndexers({ kind: again });
  filled(store, item("a"));
  assertEquals(names(store.byIndex("kind", "Item")), ["a"]);
});

test("names and values such as __proto__ and constructor work as all others", () => {
  const store = new Store<Item>({ indexers: { owner: (one) => one.owners } });
  const odd = ["__proto__", "constructor", "toString", "hasOwnProperty"];
  filled(store, ...odd.map((name) => item(name, [name], name)));
  for (const name of odd) {
    assertEquals(names(store.byIndex("owner", name)), [name]);
    assertEquals(names(store.byNamespace(name)), [name]);
    assertEquals(store.get(objectKey({ name, namespace: name }))?.metadata.name, name);
  }
  assertEquals(store.get(objectKey({ name: "valueOf" })), undefined);
});

test("[30] the version of the store decreases only in a replace", () => {
  const store = new Store<Item>();
  store.advance(resourceVersion("5"));
  assertEquals(store.lastSyncResourceVersion, undefined);
  store.replace(new Map(), resourceVersion("99"));
  for (const [version, after] of [["100", "100"], ["99", "100"], ["9", "100"], ["1000", "1000"]] as const) {
    store.advance(resourceVersion(version));
    assertEquals(store.lastSyncResourceVersion, resourceVersion(after));
  }
  store.replace(new Map(), resourceVersion("7"));
  assertEquals(store.lastSyncResourceVersion, resourceVersion("7"));
});

test("a lister gets, finds, and lists by namespace, labels and a filter function", () => {
  const store = filled(new Store<Item>(), item("a"), item("b"), item("a", [], "other"));
  const lister = new Lister({ resource: "items.example.dev", store });
  const a = objectKey({ namespace: "default", name: "a" });
  assert(lister.get(a) === store.get(a));
  assert(lister.findNamed("a", "default") === store.get(a));
  assertEquals(lister.size, 3);
  assertEquals(lister.list().length, 3);
  assertEquals(names(lister.list({ namespace: "default" })), ["a", "b"]);
  assertEquals(lister.list({ namespace: "nowhere" }), []);
  assertEquals(lister.list({ labelSelector: { matchLabels: { name: "a" } } }).length, 2);
  assertEquals(lister.list({ namespace: "other", labelSelector: { matchLabels: { name: "b" } } }), []);
  assertEquals(names(lister.list({ filter: (one) => one.metadata.name === "b" })), ["b"]);
});

test("get() of a lister throws an error like the server's NotFound, and find() does not throw", () => {
  const lister = new Lister({ resource: "items.example.dev", store: new Store<Item>() });
  const key = objectKey({ namespace: "default", name: "a" });
  assertEquals(lister.find(key), undefined);
  const error = assertThrows(
    () => lister.get(key),
    /Cannot get items.example.dev "default\/a": it is not in the cache/,
  );
  assert(error instanceof NotInCacheError);
  assertEquals([error.code, error.reason], [404, "NotFound"]);
});

test("a list by index applies the other conditions as well", () => {
  const store = new Store<Item>({ indexers: { owner: (one) => one.owners } });
  for (const name of ["a", "b", "c"]) filled(store, item(name, ["red"], name === "c" ? "other" : "default"));
  filled(store, item("d", ["blue"]));
  const lister = new Lister({ resource: "items", store });
  const index = { name: "owner", value: "red" };
  assertEquals(names(lister.list({ index })), ["a", "b", "c"]);
  assertEquals(names(lister.list({ index, namespace: "default" })), ["a", "b"]);
  assertEquals(names(lister.list({ index, filter: ({ metadata }) => metadata.name !== "a" })), ["b", "c"]);
  assertThrows(() => lister.list({ index: { name: "nope", value: "x" } }), /"nope"/);
});

test("byNamespace() does not visit the objects of other namespaces", () => {
  const store = new Store<Item>();
  for (let index = 0; index < 1_000; index++) filled(store, item(`item-${index}`, [], `ns-${index % 100}`));
  assertEquals(store.byNamespace("ns-7").length, 10);
  let reads = 0;
  const watched = new Proxy(item("x", [], "ns-7"), {
    get: (target, property) => (reads++, Reflect.get(target, property)),
  });
  store.set(objectKey({ namespace: "elsewhere", name: "x" }), watched);
  reads = 0;
  assertEquals(store.byNamespace("ns-8").length, 10);
  assertEquals(reads, 0);
});

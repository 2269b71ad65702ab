import { assert, assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { seededRandom } from "../../async/mod.ts";
import type { JsonObject } from "../model/mod.ts";
import { ObjectStorage, ObjectTooLargeError, type StorageOptions } from "./storage.ts";
import type { StoredObject } from "./stored_object.ts";
import type { Cursor } from "./change_log.ts";

const things = "things";

function thing(name: string, value = 0): JsonObject {
  return { value, kind: "Thing", metadata: { name }, apiVersion: "v1" };
}

function create(storage: ObjectStorage, name: string, namespace = "a"): StoredObject {
  const stored = storage.create(things, namespace, name, thing(name));
  assert(stored !== undefined);
  return stored;
}

/** All changes that the cursor can read, as `added x@1`. */
function readings(cursor: Cursor): string[] {
  const read: string[] = [];
  for (let reading = cursor.read(); reading !== "none"; reading = cursor.read()) {
    if (reading === "expired") return [...read, "expired"];
    read.push(`${reading.kind} ${reading.current.name}@${reading.revision}`);
  }
  return read;
}

test("one revision counts the writes of all collections, and each state has its own", () => {
  const storage = new ObjectStorage();
  const first = create(storage, "x");
  const other = storage.create("others", "", "y", thing("y"));
  const second = storage.update(things, first, thing("x", 1));
  const last = second === undefined ? undefined : storage.delete(things, second);
  assertEquals([first.revision, other?.revision, second?.revision, last?.revision], [1, 2, 3, 4]);
  assertEquals(JSON.parse(last?.json ?? "").metadata.resourceVersion, "4");
  assertEquals(storage.revision, 4);
});

test("a write against a state that is not live any more changes nothing", () => {
  const storage = new ObjectStorage();
  const first = create(storage, "x");
  const second = storage.update(things, first, thing("x", 1));
  assertEquals(storage.update(things, first, thing("x", 2)), undefined);
  assertEquals(storage.delete(things, first), undefined);
  assertEquals(storage.create(things, "a", "x", thing("x")), undefined);
  assertEquals(storage.find(things, "a", "x"), second);
  assertEquals(storage.revision, 2);
});

test("create() does not change the object it gets, and its JSON begins with apiVersion and kind", () => {
  const storage = new ObjectStorage();
  const object = Object.freeze(thing("x"));
  Object.freeze(object["metadata"]);
  const stored = storage.create(things, "a", "x", object);
  assertEquals(
    stored?.json,
    '{"apiVersion":"v1","kind":"Thing","metadata":{"name":"x","resourceVersion":"1"},"value":0}',
  );
});

test("[94] keys named __proto__ and constructor are stored like other keys", () => {
  const storage = new ObjectStorage();
  const object: JsonObject = JSON.parse('{"metadata":{"name":"x"},"__proto__":{"polluted":true},"constructor":"y"}');
  const stored = storage.create(things, "a", "__proto__", object);
  assertEquals(JSON.parse(stored?.json ?? "")["constructor"], "y");
  assert(stored?.json.includes('"__proto__":{"polluted":true}') === true);
  assertEquals(Object.hasOwn(Object.prototype, "polluted"), false);
  assert(storage.find(things, "a", "__proto__") !== undefined);
  assertEquals(storage.find(things, "a", "constructor"), undefined);
});

test("snapshot() returns each stored revision as it was", () => {
  const storage = new ObjectStorage();
  const x = create(storage, "x");
  create(storage, "y");
  storage.delete(things, x);
  const sizes = [0, 1, 2, 3].map((revision) => storage.snapshot(things, revision)?.size);
  assertEquals(sizes, [0, 1, 2, 1]);
  assertEquals(storage.snapshot(things, 1)?.get("a/x"), x);
});

test("list() of a namespace does not include a namespace whose name continues with a dash", () => {
  const storage = new ObjectStorage();
  for (const namespace of ["a-b", "a", "ab"]) create(storage, "x", namespace);
  create(storage, "y", "a");
  const names = [...storage.list(things, "a")].map(({ metadata }) => JSON.stringify(metadata));
  assertEquals(names.length, 2);
  assertEquals([...storage.list(things)].length, 4);
});

test("a cursor reads the changes after its revision in order, and calls onChange once for new changes", () => {
  const storage = new ObjectStorage();
  const x = create(storage, "x");
  create(storage, "y");
  let wakes = 0;
  using cursor = storage.watch(things, { namespace: "", after: 1, onChange: () => wakes++ });
  assertEquals(readings(cursor), ["added y@2"]);
  storage.delete(things, x);
  create(storage, "z");
  assertEquals(wakes, 1);
  assertEquals(readings(cursor), ["deleted x@3", "added z@4"]);
  create(storage, "w");
  assertEquals(wakes, 2);
});

test("a cursor on a namespace or a name does not read other objects", () => {
  const storage = new ObjectStorage();
  using inA = storage.watch(things, { namespace: "a", after: 0, onChange: () => {} });
  using onX = storage.watch(things, { namespace: "", name: "x", after: 0, onChange: () => {} });
  assertEquals(readings(inA), []);
  create(storage, "x", "b");
  create(storage, "y", "a");
  assertEquals(readings(inA), ["added y@2"]);
  assertEquals(readings(onX), ["added x@1"]);
});

test("a waiting cursor does not expire when other namespaces change", () => {
  const storage = new ObjectStorage({ maxHistoryChanges: 3 });
  create(storage, "x", "a");
  using cursor = storage.watch(things, { namespace: "a", after: 1, onChange: () => {} });
  assertEquals(readings(cursor), []);
  for (let count = 0; count < 20; count++) create(storage, `n${count}`, "b");
  create(storage, "y", "a");
  assertEquals(readings(cursor), ["added y@22"]);
});

test("a cursor from a future revision reads the changes after that revision", () => {
  const storage = new ObjectStorage();
  using cursor = storage.watch(things, { namespace: "", after: 2, onChange: () => {} });
  for (const name of ["x", "y", "z"]) create(storage, name);
  assertEquals(readings(cursor), ["added z@3"]);
});

test("a cursor that starts or falls behind the history returns expired", () => {
  const storage = new ObjectStorage({ maxHistoryChanges: 2 });
  using slow = storage.watch(things, { namespace: "", after: 0, onChange: () => {} });
  for (const name of ["x", "y", "z"]) create(storage, name);
  assertEquals(readings(slow), ["expired"]);
  using late = storage.watch(things, { namespace: "", after: 0, onChange: () => {} });
  assertEquals(readings(late), ["expired"]);
  using inTime = storage.watch(things, { namespace: "", after: 1, onChange: () => {} });
  assertEquals(readings(inTime), ["added y@2", "added z@3"]);
  assertEquals(storage.droppedRevision(things), 1);
});

test("a disposed cursor gets no onChange and is removed from the collection", () => {
  const storage = new ObjectStorage();
  let wakes = 0;
  const cursor = storage.watch(things, { namespace: "a", after: 0, onChange: () => wakes++ });
  cursor.read();
  assertEquals(storage.cursors(things), 1);
  cursor[Symbol.dispose]();
  create(storage, "x");
  assertEquals([wakes, storage.cursors(things)], [0, 0]);
});

const bounds: readonly { readonly name: string; readonly options: StorageOptions; readonly changes: number }[] = [
  { name: "number", options: { maxHistoryChanges: 10 }, changes: 10 },
  { name: "size", options: { maxHistoryBytes: 900 }, changes: 10 },
];

for (const { name, options, changes } of bounds) {
  test(`the history is bounded by ${name}, but the objects are not`, () => {
    const storage = new ObjectStorage(options);
    for (let count = 0; count < 5000; count++) create(storage, `n${1000 + count}`);
    assertEquals(storage.size(things), 5000);
    const dropped = storage.droppedRevision(things);
    assert(dropped >= 5000 - changes && dropped < 5000, `dropped ${dropped}`);
    assertEquals(storage.snapshot(things, dropped - 1), undefined);
    assertEquals(storage.snapshot(things, dropped)?.size, dropped);
  });
}

test("each revision in the history has the state that was live then, whatever was dropped before it", () => {
  const storage = new ObjectStorage({ maxHistoryChanges: 300 });
  const random = seededRandom(7);
  const live = new Map<string, number>();
  const states: string[] = [""];
  for (let revision = 1; revision <= 1000; revision++) {
    const name = `n${Math.floor(random.next() * 40)}`;
    const stored = storage.find(things, "a", name);
    if (stored === undefined) storage.create(things, "a", name, thing(name));
    else if (random.next() < 0.4) storage.delete(things, stored);
    else storage.update(things, stored, thing(name, revision));
    if (storage.find(things, "a", name) === undefined) live.delete(name);
    else live.set(name, revision);
    states.push([...live].map(([key, at]) => `${key}@${at}`).toSorted().join(" "));
  }
  const oldest = storage.droppedRevision(things);
  assertEquals(oldest, 700);
  for (let revision = oldest; revision <= 1000; revision++) {
    const items: string[] = [];
    storage.snapshot(things, revision)?.scan("", ({ name, revision }) => items.push(`${name}@${revision}`) > 0);
    assertEquals(items.toSorted().join(" "), states[revision]);
  }
});

test("the labels of a state stay when its object is released", () => {
  const storage = new ObjectStorage({ maxRecentObjects: 1 });
  const labels = { app: "web" };
  const stored = storage.create(things, "a", "x", { ...thing("x"), metadata: { name: "x", labels } });
  create(storage, "y");
  assertEquals(stored?.labels, labels);
  assert(stored?.labels === stored?.labels);
  assertEquals(create(storage, "z").labels, {});
});

test("compact() drops the changes of all collections up to a revision", () => {
  const storage = new ObjectStorage();
  create(storage, "x");
  storage.create("others", "", "y", thing("y"));
  create(storage, "z");
  storage.compact(2);
  assertEquals([storage.droppedRevision(things), storage.droppedRevision("others")], [1, 2]);
  assertEquals(storage.snapshot(things, 2)?.size, 1);
});

test("create() rejects an object that is too large, and uses no revision", () => {
  const storage = new ObjectStorage({ maxObjectBytes: 100 });
  const large = { ...thing("x"), text: "x".repeat(200) };
  assert(assertThrows(() => storage.create(things, "a", "x", large)) instanceof ObjectTooLargeError);
  assertEquals([storage.revision, storage.size(things)], [0, 0]);
});

test("a state that is not recent parses its object again, with the same content", () => {
  const storage = new ObjectStorage({ maxRecentObjects: 2 });
  const first = create(storage, "x");
  const object = first.object;
  assertEquals(first.object, object);
  assert(first.object === object);
  for (const name of ["y", "z"]) create(storage, name);
  assert(first.object !== object);
  assertEquals(first.object, object);
  assert(first.object === first.object);
  assertEquals([...storage.list(things)].length, 3);
});

test("a storage rejects invalid limits of its history", () => {
  assertThrows(() => new ObjectStorage({ maxHistoryChanges: -1 }), /maxHistoryChanges is -1/);
  assertThrows(() => new ObjectStorage({ maxHistoryBytes: NaN }), /maxHistoryBytes is NaN/);
});

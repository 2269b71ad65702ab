import { assert, assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import type { JsonObject } from "../model/mod.ts";
import { ObjectStorage } from "./storage.ts";

function thing(name: string, value = 0): JsonObject {
  return { apiVersion: "v1", kind: "Thing", metadata: { name }, value };
}

function write(storage: ObjectStorage, collection: string, name: string): void {
  storage.create(collection, "a", name, thing(name));
}

function names(storage: ObjectStorage, collection: string): string[] {
  return [...storage.list(collection)].map((object) => `${JSON.parse(JSON.stringify(object)).metadata.name}`);
}

/** `things added x@1`, for each change. */
function changes(storage: ObjectStorage, after: number): string[] {
  return [...storage.changesAfter(after)].map(({ collection, change: { kind, current, revision } }) =>
    `${collection} ${kind} ${current.name}@${revision}`
  );
}

test("copy() has the same objects and history, and is independent afterwards", () => {
  const storage = new ObjectStorage();
  write(storage, "things", "x");
  write(storage, "others", "y");
  const copy = storage.copy();
  write(storage, "things", "of the first");
  write(copy, "things", "of the copy");
  assertEquals([copy.revision, storage.revision], [3, 3]);
  assertEquals(names(storage, "things"), ["of the first", "x"]);
  assertEquals(names(copy, "things"), ["of the copy", "x"]);
  assertEquals(copy.snapshot("things", 1)?.size, 1);
  assertEquals(changes(copy, 0), ["things added x@1", "others added y@2", "things added of the copy@3"]);
  assert(copy.find("things", "a", "x") === storage.find("things", "a", "x"), "the objects are shared");
});

test("copy() does not have changes that were dropped before", () => {
  const storage = new ObjectStorage({ maxHistoryChanges: 2 });
  for (const name of ["a", "b", "c"]) write(storage, "things", name);
  const copy = storage.copy();
  assertEquals(copy.droppedRevision("things"), 1);
  assertEquals(copy.snapshot("things", 0), undefined);
  write(copy, "things", "d");
  assertEquals([copy.droppedRevision("things"), storage.droppedRevision("things")], [2, 1]);
});

test("changesAfter() returns the changes of all collections in the order of the writes", () => {
  const storage = new ObjectStorage();
  for (const name of ["a", "b"]) for (const kind of ["things", "others"]) write(storage, kind, name);
  assertEquals(changes(storage, 1), ["others added a@2", "things added b@3", "others added b@4"]);
  assertEquals(changes(storage, 4), []);
});

test("replay() of the changes of a copy leads to the same state, and wakes cursors", () => {
  const storage = new ObjectStorage();
  write(storage, "things", "x");
  const copy = storage.copy();
  const before = copy.find("things", "a", "x");
  assert(before !== undefined);
  const changed = copy.update("things", before, thing("x", 1));
  assert(changed !== undefined);
  copy.delete("things", changed);
  const revisions: number[] = [];
  using cursor = storage.watch("things", { namespace: "", after: 1, onChange: () => revisions.push(storage.revision) });
  assertEquals(cursor.read(), "none");
  for (const change of copy.changesAfter(1)) storage.replay(change);
  assertEquals(revisions, [2]);
  assertEquals(changes(storage, 0), changes(copy, 0));
  assertEquals([storage.revision, storage.size("things")], [3, 0]);
});

test("replay() rejects a change that is not the next one", () => {
  const storage = new ObjectStorage();
  const copy = storage.copy();
  for (const name of ["x", "y"]) write(copy, "things", name);
  const [, second] = copy.changesAfter(0);
  assert(second !== undefined);
  assertThrows(() => storage.replay(second), /its revision 2 is not the next one/);
  assertEquals([storage.revision, storage.size("things")], [0, 0]);
});

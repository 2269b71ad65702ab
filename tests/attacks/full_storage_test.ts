/**
 * Attacks by number on the storage of `dev`: a client that creates, grows and deletes objects without end.
 *
 * The rules: the objects together, their history and the parsed states stay within their limits after each write; a full
 * storage says so in the words of etcd, and can be emptied; Events expire. A model counts what the storage should have.
 */
import { KubernetesTestServer } from "../../src/apiserver/testing/kubernetes_test_server.ts";
import { ObjectStorage, StorageFullError } from "../../src/apiserver/storage/mod.ts";
import { RecentObjects } from "../../src/apiserver/storage/stored_object.ts";
import { seededRandom } from "../../src/async/mod.ts";
import { assert, assertEquals, assertStringIncludes, test } from "../testing.ts";

const random = seededRandom(14);
const below = (count: number) => Math.floor(random.next() * count);

const maxBytes = 200_000;
const object = (name: string, characters: number) => ({ metadata: { name }, data: "x".repeat(characters) });

/** Runs a write. @returns undefined when the storage is full */
function unlessFull<T>(write: () => T): T | undefined {
  try {
    return write();
  } catch (error) {
    if (error instanceof StorageFullError) return undefined;
    throw error;
  }
}

test("[security 15] any writes keep the storage and its history within their limits", () => {
  const storage = new ObjectStorage({ maxBytes, maxHistoryBytes: maxBytes });
  let refused = 0;
  for (let round = 0; round < 5_000; round++) {
    const [collection, name] = [`c${below(3)}`, `n${below(60)}`];
    const size = [10, 1_000, 10_000, 40_000][below(4)] ?? 0;
    const live = storage.find(collection, "", name);
    const revision = storage.revision;
    const written = live === undefined
      ? unlessFull(() => storage.create(collection, "", name, object(name, size)))
      : below(4) === 0
      ? storage.delete(collection, live)
      : unlessFull(() => storage.update(collection, live, object(name, size)));
    if (written === undefined) refused++;
    // A refused write leaves no trace.
    assertEquals(storage.revision, written === undefined ? revision : revision + 1);
    let sum = 0;
    for (let index = 0; index < 3; index++) {
      for (const stored of storage.list(`c${index}`)) sum += JSON.stringify(stored).length;
    }
    assertEquals(storage.bytes, sum);
    assert(sum <= maxBytes * 17 / 16, `${sum} characters`);
    assert(storage.historyBytes <= maxBytes, `${storage.historyBytes} characters of history`);
  }
  assert(refused > 100, `${refused} are refused`);
  const copy = storage.copy();
  assertEquals([copy.bytes, copy.historyBytes], [storage.bytes, storage.historyBytes]);
});

test("parsed states are released when they are large together, oldest first", () => {
  const released: number[] = [];
  const recent = new RecentObjects(100);
  const state = (id: number, megabytes: number) => {
    return { json: { length: megabytes * 1024 * 1024 } as string, release: () => void released.push(id) };
  };
  for (let id = 0; id < 80; id++) recent.add(state(id, 1));
  assertEquals(released, Array.from({ length: 76 }, (_, id) => id));
  recent.add(state(80, 200));
  assertEquals(released.length, 80);
  for (let id = 0; id < 150; id++) recent.add(state(100 + id, 0));
  assertEquals([released.length, recent.characters], [131, 0]);
});

const maps = "/api/v1/namespaces/default/configmaps";
const map = (name: string, characters: number) => ({ metadata: { name }, data: { a: "x".repeat(characters) } });

test("[security 15] a full server says so, and can be emptied", async () => {
  // The default roles are objects, too.
  using server = new KubernetesTestServer(new ObjectStorage({ maxBytes: 1024 * 1024 }));
  let answer = await server.send("POST", maps, map("m0", 50_000));
  let count = 1;
  for (; answer.code === 201 && count < 100; count++) {
    answer = await server.send("POST", maps, map(`m${count}`, 50_000));
  }
  assertEquals([answer.code, answer.body.message], [500, "etcdserver: mvcc: database space exceeded"]);
  // A finalizer makes the deletion an update.
  const patch = { "content-type": "application/merge-patch+json" };
  assertEquals((await server.send("PATCH", `${maps}/m0`, { metadata: { finalizers: ["a.b/c"] } }, patch)).code, 200);
  assertEquals((await server.send("DELETE", `${maps}/m0`)).code, 200);
  assertEquals((await server.send("PATCH", `${maps}/m0`, { metadata: { finalizers: null } }, patch)).code, 200);
  assertEquals((await server.send("GET", `${maps}/m0`)).code, 404);
  assertEquals((await server.send("POST", maps, map("again", 40_000))).code, 201);
  assertEquals(server.errors, []);
});

test("[security 15] an Event is deleted an hour after its last write", async () => {
  using server = new KubernetesTestServer();
  const events = "/api/v1/namespaces/default/events";
  const event = (name: string) => ({
    metadata: { name, namespace: "default" },
    involvedObject: { kind: "ConfigMap", namespace: "default", name: "a" },
    reason: "Tested",
    type: "Normal",
  });
  const names = async () => {
    const { body } = await server.send("GET", events);
    return body.items.map((item: { metadata: { name: string } }) => item.metadata.name);
  };
  for (const name of ["a", "b", "c"]) await server.create(events, event(name));
  await server.clock.advance(30 * 60_000);
  const patch = { "content-type": "application/merge-patch+json" };
  assertEquals((await server.send("PATCH", `${events}/a`, { count: 2 }, patch)).code, 200);
  assertEquals((await server.send("DELETE", `${events}/c`)).code, 200);
  await server.create(events, event("c"));
  await server.clock.advance(30 * 60_000 - 1);
  assertEquals(await names(), ["a", "b", "c"]);
  await server.clock.advance(1);
  assertEquals(await names(), ["a", "c"]);
  await server.clock.advance(30 * 60_000);
  assertEquals(await names(), []);
  const { body } = await server.send("GET", `${events}/a`);
  assertStringIncludes(body.message, "not found");
});

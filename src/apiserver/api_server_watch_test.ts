import { assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { configMaps, foos, mergePatch, TestServer } from "./testing/test_server.ts";
import { ObjectStorage } from "./storage/mod.ts";
import { foo, fooBeta } from "./testing/test_kinds.ts";

test("a watch from a version gets every later change once, in order", async () => {
  using server = new TestServer();
  const { body } = await server.createConfigMap("a");
  await server.createConfigMap("b");
  const watch = await server.watch(`${configMaps}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
  assertEquals(watch.response.headers.get("content-type"), "application/json");
  await server.send("PATCH", `${configMaps}/a`, { data: { k: "v" } }, mergePatch);
  await server.send("DELETE", `${configMaps}/a`);
  await server.createConfigMap("a");
  assertEquals(await watch.take(4), ["ADDED b@6", "MODIFIED a@7", "DELETED a@8", "ADDED a@9"]);
  await watch.cancel();
  assertEquals(server.api.watches, 0);
});

test("a watch without a version starts with the existing objects, sorted by name", async () => {
  using server = new TestServer();
  for (const name of ["b", "a"]) await server.createConfigMap(name);
  for (const query of ["", "&resourceVersion=0"]) {
    const watch = await server.watch(`${configMaps}?watch=1${query}`);
    assertEquals(await watch.take(2), ["ADDED a@6", "ADDED b@5"]);
    await watch.cancel();
  }
});

test("a streaming list ends its initial events with a bookmark of their version", async () => {
  using server = new TestServer();
  for (let index = 0; index < 1200; index++) await server.createConfigMap(`n${1000 + index}`);
  const query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  const watch = await server.watch(`${configMaps}?${query}`);
  await server.createConfigMap("later");
  const initial = await watch.take(1200);
  assertEquals([initial[0], initial[1199]], ["ADDED n1000@5", "ADDED n2199@1204"]);
  assertEquals(await watch.next(), {
    type: "BOOKMARK",
    object: {
      kind: "ConfigMap",
      apiVersion: "v1",
      metadata: { resourceVersion: "1204", annotations: { "k8s.io/initial-events-end": "true" } },
    },
  });
  assertEquals(await watch.take(1), ["ADDED later@1205"]);
  await watch.cancel();
});

test("an object that enters a selection is ADDED, and one that leaves it is DELETED with its last selected state", async () => {
  using server = new TestServer();
  await server.createConfigMap("a");
  const watch = await server.watch(`${configMaps}?watch=1&resourceVersion=5&labelSelector=app%3Dx`);
  const label = (app: string | null) =>
    server.send("PATCH", `${configMaps}/a`, { metadata: { labels: { app } } }, mergePatch);
  await label("x");
  await server.send("PATCH", `${configMaps}/a`, { data: { k: "v" } }, mergePatch);
  await label("y");
  await server.send("DELETE", `${configMaps}/a`);
  assertEquals(await watch.take(2), ["ADDED a@6", "MODIFIED a@7"]);
  const left = await watch.next();
  assertEquals([left.type, left.object.metadata.resourceVersion], ["DELETED", "8"]);
  assertEquals([left.object.metadata.labels, left.object.data], [{ app: "x" }, { k: "v" }]);
  await server.createConfigMap("b", {}, { labels: { app: "x" } });
  assertEquals(await watch.take(1), ["ADDED b@10"]);
  await watch.cancel();
});

test("a watch may have a field selector, also for a single name", async () => {
  using server = new TestServer();
  await server.createFoo("f", { color: "blue" });
  const blue = await server.watch(`${foos}?watch=1&resourceVersion=5&fieldSelector=spec.color%3Dblue`);
  const named = await server.watch(`${foos}?watch=1&resourceVersion=5&fieldSelector=metadata.name%3Dg`);
  await server.createFoo("g", { color: "green" });
  await server.send("PATCH", `${foos}/f`, { spec: { color: "red" } }, mergePatch);
  assertEquals(await blue.take(1), ["DELETED f@7"]);
  assertEquals(await named.take(1), ["ADDED g@6"]);
  await Promise.all([blue.cancel(), named.cancel()]);
});

test("a watch of a namespace gets no events of another one", async () => {
  using server = new TestServer();
  const watch = await server.watch("/api/v1/namespaces/kube-system/configmaps?watch=1&resourceVersion=4");
  const all = await server.watch("/api/v1/configmaps?watch=1&resourceVersion=4");
  await server.createConfigMap("a");
  await server.send("POST", "/api/v1/namespaces/kube-system/configmaps", { metadata: { name: "b" } });
  assertEquals(await watch.take(1), ["ADDED b@6"]);
  assertEquals(await all.take(2), ["ADDED a@5", "ADDED b@6"]);
  await Promise.all([watch.cancel(), all.cancel()]);
});

test("bookmarks come each minute and shortly before the timeout, and the watch ends in time", async () => {
  using server = new TestServer();
  const watch = await server.watch(
    `${configMaps}?watch=1&resourceVersion=4&allowWatchBookmarks=true&timeoutSeconds=150`,
  );
  await server.clock.advance(60_000);
  assertEquals(await watch.take(1), ["BOOKMARK @4"]);
  await server.createFoo("f");
  await server.clock.advance(60_000);
  assertEquals(await watch.take(1), ["BOOKMARK @5"]);
  await server.clock.advance(28_000);
  assertEquals(await watch.take(1), ["BOOKMARK @5"]);
  await server.clock.advance(2_000);
  assertEquals(await watch.next(), undefined);
  assertEquals([server.api.watches, server.clock.pendingTimers], [0, 0]);
});

test("a watch without allowWatchBookmarks gets none, and all watches share one timer", async () => {
  using server = new TestServer();
  const watches = await Promise.all(
    Array.from({ length: 50 }, () => server.watch(`${configMaps}?watch=1&timeoutSeconds=90`)),
  );
  assertEquals([server.api.watches, server.clock.pendingTimers], [50, 1]);
  await server.clock.advance(90_000);
  for (const watch of watches) assertEquals(await watch.next(), undefined);
  assertEquals([server.api.watches, server.clock.pendingTimers], [0, 0]);
});

test("a watch without timeoutSeconds runs between 30 and 60 minutes", async () => {
  using server = new TestServer();
  const watch = await server.watch(`${configMaps}?watch=1`);
  await server.clock.advance(1_799_000);
  assertEquals(server.api.watches, 1);
  await server.clock.advance(1_801_000);
  assertEquals(server.api.watches, 0);
  assertEquals(await watch.next(), undefined);
});

test("a watch from an expired version gets a 410 as an event", async () => {
  using server = new TestServer({ storage: new ObjectStorage({ maxHistoryChanges: 3 }) });
  for (const name of ["a", "b", "c", "d"]) await server.createConfigMap(name);
  const watch = await server.watch(`${configMaps}?watch=1&resourceVersion=2`);
  const event = await watch.next();
  assertEquals([event.type, event.object.code, event.object.reason], ["ERROR", 410, "Expired"]);
  assertEquals(event.object.message, "too old resource version: 2 (5)");
  assertEquals(await watch.next(), undefined);
});

test("a client that reads nothing needs no memory, and gets a 410 when it is behind the history", async () => {
  using server = new TestServer({ storage: new ObjectStorage({ maxHistoryChanges: 50 }) });
  const watch = await server.watch(`${configMaps}?watch=1&resourceVersion=4`);
  for (let index = 0; index < 2000; index++) {
    await server.createConfigMap(`n${index}`, { data: { text: "x".repeat(500) } });
  }
  let received = 0;
  let event = await watch.next();
  for (; event.type !== "ERROR"; event = await watch.next()) received++;
  assertEquals([event.object.code, received > 0, received < 400], [410, true, true]);
});

test("a streaming list from a version that is not reached yet gets a 504 as an event", async () => {
  using server = new TestServer();
  const query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=99";
  const event = await (await server.watch(`${configMaps}?${query}`)).next();
  assertEquals([event.type, event.object.code, event.object.details.retryAfterSeconds], ["ERROR", 504, 1]);
});

test("a watch ends with the signal of its request, and closes its cursor", async () => {
  using server = new TestServer();
  const controller = new AbortController();
  const watch = await server.watch(`${configMaps}?watch=1`, { signal: controller.signal });
  const reading = watch.next();
  controller.abort();
  await assertRejects(() => reading);
  assertEquals([server.api.watches, server.clock.pendingTimers, server.api.storage.cursors("configmaps")], [0, 0, 0]);
});

test("the watches of a kind end when the kind changes or is removed, those of other kinds continue", async () => {
  using server = new TestServer();
  const [ofFoos, ofMaps] = [await server.watch(`${foos}?watch=1`), await server.watch(`${configMaps}?watch=1`)];
  server.api.kinds.delete("foos.example.com");
  assertEquals(await ofFoos.next(), undefined);
  assertEquals(server.api.watches, 1);
  assertEquals((await server.send("GET", foos)).code, 404);
  await ofMaps.cancel();
});

test("a disposed server ends its watches and has no timer", async () => {
  const server = new TestServer();
  const watch = await server.watch(`${configMaps}?watch=1&allowWatchBookmarks=true`);
  await watch.next();
  server[Symbol.dispose]();
  assertEquals(await watch.next(), undefined);
  assertEquals(server.clock.pendingTimers, 0);
});

test("a watch in another version gets converted objects in order, also with slow conversions", async () => {
  const slow = {
    ...fooBeta,
    convert: async (objects: Parameters<typeof fooBeta.convert>[0]) => {
      await Promise.resolve();
      return await fooBeta.convert(objects);
    },
  };
  using server = new TestServer();
  server.api.kinds.set({ collection: "foos.example.com", served: [foo, slow], storage: foo });
  const watch = await server.watch("/apis/example.com/v1beta1/foos?watch=1&resourceVersion=4");
  for (const [index, name] of ["a", "b", "c"].entries()) await server.createFoo(name, { replicas: index });
  await server.send("DELETE", `${foos}/b`);
  const events = [await watch.next(), await watch.next(), await watch.next(), await watch.next()];
  assertEquals(events.map(({ type, object }) => `${type} ${object.metadata.name} ${object.spec.size}`), [
    "ADDED a 0",
    "ADDED b 1",
    "ADDED c 2",
    "DELETED b 1",
  ]);
  assertEquals(events[0].object.apiVersion, "example.com/v1beta1");
  await watch.cancel();
});

test("a watch of tables sends its columns once", async () => {
  using server = new TestServer();
  for (const name of ["a", "b"]) await server.createConfigMap(name);
  const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
  const watch = await server.watch(`${configMaps}?watch=1`, { headers: { accept } });
  const [first, second] = [await watch.next(), await watch.next()];
  assertEquals([first.object.kind, first.object.columnDefinitions.length], ["Table", 1]);
  assertEquals([second.object.columnDefinitions, second.object.rows[0].cells], [null, ["b"]]);
  await watch.cancel();
});

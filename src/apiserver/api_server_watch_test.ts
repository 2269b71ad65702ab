import { assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { configMaps, foos, mergePatch, Rig } from "./_server_rig.ts";
import { ObjectStorage } from "./storage/mod.ts";
import { foo, fooBeta } from "./kind_test_data.ts";

test("a watch from a version sees every change after it, once and in order", async () => {
  using rig = new Rig();
  const { body } = await rig.createConfigMap("a");
  await rig.createConfigMap("b");
  const watch = await rig.watch(`${configMaps}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
  assertEquals(watch.response.headers.get("content-type"), "application/json");
  await rig.send("PATCH", `${configMaps}/a`, { data: { k: "v" } }, mergePatch);
  await rig.send("DELETE", `${configMaps}/a`);
  await rig.createConfigMap("a");
  assertEquals(await watch.take(4), ["ADDED b@6", "MODIFIED a@7", "DELETED a@8", "ADDED a@9"]);
  await watch.cancel();
  assertEquals(rig.server.watches, 0);
});

test("a watch without a version begins with what is there, by name", async () => {
  using rig = new Rig();
  for (const name of ["b", "a"]) await rig.createConfigMap(name);
  for (const query of ["", "&resourceVersion=0"]) {
    const watch = await rig.watch(`${configMaps}?watch=1${query}`);
    assertEquals(await watch.take(2), ["ADDED a@6", "ADDED b@5"]);
    await watch.cancel();
  }
});

test("a streaming list ends its initial events with a bookmark of the version they are of", async () => {
  using rig = new Rig();
  for (let index = 0; index < 1200; index++) await rig.createConfigMap(`n${1000 + index}`);
  const query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  const watch = await rig.watch(`${configMaps}?${query}`);
  await rig.createConfigMap("later");
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

test("what comes into a selection is ADDED, and what leaves it is DELETED with its last selected state", async () => {
  using rig = new Rig();
  await rig.createConfigMap("a");
  const watch = await rig.watch(`${configMaps}?watch=1&resourceVersion=5&labelSelector=app%3Dx`);
  const label = (app: string | null) =>
    rig.send("PATCH", `${configMaps}/a`, { metadata: { labels: { app } } }, mergePatch);
  await label("x");
  await rig.send("PATCH", `${configMaps}/a`, { data: { k: "v" } }, mergePatch);
  await label("y");
  await rig.send("DELETE", `${configMaps}/a`);
  assertEquals(await watch.take(2), ["ADDED a@6", "MODIFIED a@7"]);
  const left = await watch.next();
  assertEquals([left.type, left.object.metadata.resourceVersion], ["DELETED", "8"]);
  assertEquals([left.object.metadata.labels, left.object.data], [{ app: "x" }, { k: "v" }]);
  await rig.createConfigMap("b", {}, { labels: { app: "x" } });
  assertEquals(await watch.take(1), ["ADDED b@10"]);
  await watch.cancel();
});

test("fields select as labels do, also by name alone", async () => {
  using rig = new Rig();
  await rig.createFoo("f", { color: "blue" });
  const blue = await rig.watch(`${foos}?watch=1&resourceVersion=5&fieldSelector=spec.color%3Dblue`);
  const named = await rig.watch(`${foos}?watch=1&resourceVersion=5&fieldSelector=metadata.name%3Dg`);
  await rig.createFoo("g", { color: "green" });
  await rig.send("PATCH", `${foos}/f`, { spec: { color: "red" } }, mergePatch);
  assertEquals(await blue.take(1), ["DELETED f@7"]);
  assertEquals(await named.take(1), ["ADDED g@6"]);
  await Promise.all([blue.cancel(), named.cancel()]);
});

test("a watch of a namespace sees nothing of another", async () => {
  using rig = new Rig();
  const watch = await rig.watch("/api/v1/namespaces/kube-system/configmaps?watch=1&resourceVersion=4");
  const all = await rig.watch("/api/v1/configmaps?watch=1&resourceVersion=4");
  await rig.createConfigMap("a");
  await rig.send("POST", "/api/v1/namespaces/kube-system/configmaps", { metadata: { name: "b" } });
  assertEquals(await watch.take(1), ["ADDED b@6"]);
  assertEquals(await all.take(2), ["ADDED a@5", "ADDED b@6"]);
  await Promise.all([watch.cancel(), all.cancel()]);
});

test("bookmarks come each minute and shortly before the end, and the end comes in time", async () => {
  using rig = new Rig();
  const watch = await rig.watch(`${configMaps}?watch=1&resourceVersion=4&allowWatchBookmarks=true&timeoutSeconds=150`);
  await rig.clock.advance(60_000);
  assertEquals(await watch.take(1), ["BOOKMARK @4"]);
  await rig.createFoo("f");
  await rig.clock.advance(60_000);
  assertEquals(await watch.take(1), ["BOOKMARK @5"]);
  await rig.clock.advance(28_000);
  assertEquals(await watch.take(1), ["BOOKMARK @5"]);
  await rig.clock.advance(2_000);
  assertEquals(await watch.next(), undefined);
  assertEquals([rig.server.watches, rig.clock.pendingTimers], [0, 0]);
});

test("without bookmarks there are none, and all watches together hold one timer", async () => {
  using rig = new Rig();
  const watches = await Promise.all(
    Array.from({ length: 50 }, () => rig.watch(`${configMaps}?watch=1&timeoutSeconds=90`)),
  );
  assertEquals([rig.server.watches, rig.clock.pendingTimers], [50, 1]);
  await rig.clock.advance(90_000);
  for (const watch of watches) assertEquals(await watch.next(), undefined);
  assertEquals([rig.server.watches, rig.clock.pendingTimers], [0, 0]);
});

test("a watch that does not say how long runs between half an hour and an hour", async () => {
  using rig = new Rig();
  const watch = await rig.watch(`${configMaps}?watch=1`);
  await rig.clock.advance(1_799_000);
  assertEquals(rig.server.watches, 1);
  await rig.clock.advance(1_801_000);
  assertEquals(rig.server.watches, 0);
  assertEquals(await watch.next(), undefined);
});

test("a watch from beyond the history gets a 410, as an event", async () => {
  using rig = new Rig({ storage: new ObjectStorage({ historyChanges: 3 }) });
  for (const name of ["a", "b", "c", "d"]) await rig.createConfigMap(name);
  const watch = await rig.watch(`${configMaps}?watch=1&resourceVersion=2`);
  const event = await watch.next();
  assertEquals([event.type, event.object.code, event.object.reason], ["ERROR", 410, "Expired"]);
  assertEquals(event.object.message, "too old resource version: 2 (5)");
  assertEquals(await watch.next(), undefined);
});

test("a watcher that takes nothing costs no memory, and is told when it fell behind", async () => {
  using rig = new Rig({ storage: new ObjectStorage({ historyChanges: 50 }) });
  const watch = await rig.watch(`${configMaps}?watch=1&resourceVersion=4`);
  for (let index = 0; index < 2000; index++) {
    await rig.createConfigMap(`n${index}`, { data: { text: "x".repeat(500) } });
  }
  let received = 0;
  let event = await watch.next();
  for (; event.type !== "ERROR"; event = await watch.next()) received++;
  assertEquals([event.object.code, received > 0, received < 400], [410, true, true]);
});

test("a streaming list from a version that is not reached is told to wait, as an event", async () => {
  using rig = new Rig();
  const query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=99";
  const event = await (await rig.watch(`${configMaps}?${query}`)).next();
  assertEquals([event.type, event.object.code, event.object.details.retryAfterSeconds], ["ERROR", 504, 1]);
});

test("a watch ends with the request that opened it, and leaves nothing behind", async () => {
  using rig = new Rig();
  const controller = new AbortController();
  const watch = await rig.watch(`${configMaps}?watch=1`, { signal: controller.signal });
  const reading = watch.next();
  controller.abort();
  await assertRejects(() => reading);
  assertEquals([rig.server.watches, rig.clock.pendingTimers, rig.server.storage.cursors("configmaps")], [0, 0, 0]);
});

test("the watches of a kind end when the kind changes or goes, those of others go on", async () => {
  using rig = new Rig();
  const [ofFoos, ofMaps] = [await rig.watch(`${foos}?watch=1`), await rig.watch(`${configMaps}?watch=1`)];
  rig.server.kinds.delete("foos.example.com");
  assertEquals(await ofFoos.next(), undefined);
  assertEquals(rig.server.watches, 1);
  assertEquals((await rig.send("GET", foos)).code, 404);
  await ofMaps.cancel();
});

test("a server that stops ends its watches and holds no timer", async () => {
  const rig = new Rig();
  const watch = await rig.watch(`${configMaps}?watch=1&allowWatchBookmarks=true`);
  await watch.next();
  rig[Symbol.dispose]();
  assertEquals(await watch.next(), undefined);
  assertEquals(rig.clock.pendingTimers, 0);
});

test("a watch in another version gets converted objects, in order, also where converting takes its time", async () => {
  const slow = {
    ...fooBeta,
    convert: async (objects: Parameters<typeof fooBeta.convert>[0]) => {
      await Promise.resolve();
      return await fooBeta.convert(objects);
    },
  };
  using rig = new Rig();
  rig.server.kinds.set({ collection: "foos.example.com", served: [foo, slow], storage: foo });
  const watch = await rig.watch("/apis/example.com/v1beta1/foos?watch=1&resourceVersion=4");
  for (const [index, name] of ["a", "b", "c"].entries()) await rig.createFoo(name, { replicas: index });
  await rig.send("DELETE", `${foos}/b`);
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

test("a watch of tables says its columns once", async () => {
  using rig = new Rig();
  for (const name of ["a", "b"]) await rig.createConfigMap(name);
  const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
  const watch = await rig.watch(`${configMaps}?watch=1`, { headers: { accept } });
  const [first, second] = [await watch.next(), await watch.next()];
  assertEquals([first.object.kind, first.object.columnDefinitions.length], ["Table", 1]);
  assertEquals([second.object.columnDefinitions, second.object.rows[0].cells], [null, ["b"]]);
  await watch.cancel();
});

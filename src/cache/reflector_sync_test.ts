/** Tests of how a reflector gets a full state when that is hard: WatchList (15), permissions (16), CRDs (20). */
import { assert, assertEquals, test } from "../../tests/testing.ts";
import { bookmarkAt, FakeApiError, type Thing } from "../../tests/fakes/list_watch.ts";
import type { WatchEvent } from "../api/mod.ts";
import { drain } from "../async/mod.ts";
import { Rig, startRig } from "./_rig.ts";
import { problemOf } from "./mod.ts";

const closing = (version: number) => bookmarkAt(version, { "k8s.io/initial-events-end": "true" });

test("[15] a stream of the full state asks for initial events, not older than the last version, and for bookmarks", async () => {
  await using rig = await startRig({ prepare: (api) => api.put("a") });
  const [first] = rig.api.watches();
  assertEquals({ ...first, timeoutSeconds: 0 }, {
    resourceVersion: "",
    timeoutSeconds: 0,
    allowWatchBookmarks: true,
    sendInitialEvents: true,
    resourceVersionMatch: "NotOlderThan",
  });
  assertEquals(rig.api.lists(), []);
});

test("[15] nothing is visible before the closing bookmark, everything at once after it, and the stream goes on", async () => {
  const rig = new Rig();
  await using _stopping = rig;
  const [a, b] = [rig.api.put("a"), rig.api.put("b")];
  const added = (object: Thing): WatchEvent<Thing> => ({ type: "ADDED", object });
  rig.api.stream({ batches: [[added(a)], [added(b), bookmarkAt(101)]], then: "hang" });
  await rig.start();
  assertEquals([rig.informer.hasSynced, rig.informer.store.size, rig.news()], [false, 0, []]);
  assertEquals(rig.informer.store.lastSyncResourceVersion, undefined);
  await using other = new Rig();
  const c = { ...b, metadata: { ...b.metadata, name: "c", uid: "c" } };
  other.api.stream({ batches: [[added(a), added(b)], [closing(102), added(c)]], then: "hang" });
  await other.start();
  assertEquals([other.informer.hasSynced, other.informer.store.size], [true, 3]);
  assertEquals(other.news(), ["+ default/a 0", "+ default/b 0", "+ default/c 0"]);
  assertEquals(other.api.watches().length, 1);
});

test("[15] a stream cut before its closing bookmark is thrown away and read again", async () => {
  const rig = new Rig();
  await using _stopping = rig;
  const ghost: WatchEvent<Thing> = { type: "ADDED", object: rig.api.put("ghost") };
  rig.api.delete("ghost");
  rig.api.put("real");
  rig.api.stream({ batches: [[ghost]], then: "close" }, { batches: [[ghost]], then: new TypeError("reset") });
  await rig.start();
  assertEquals(rig.waits, "cut 1");
  await rig.waitOut();
  assertEquals(rig.waits, "unreachable 2");
  await rig.waitOut();
  assertEquals(rig.news(), ["+ default/real 0"]);
  assertEquals(rig.api.lists(), []);
});

test("[15] streams that are cut again and again are given up for lists, which make progress page by page", async () => {
  const rig = new Rig();
  await using _stopping = rig;
  const ghost: WatchEvent<Thing> = { type: "ADDED", object: rig.api.put("a") };
  rig.api.stream(...Array.from({ length: 3 }, () => ({ batches: [[ghost]], then: "close" as const })));
  await rig.start();
  for (let attempt = 0; attempt < 3; attempt++) await rig.waitOut();
  assertEquals([rig.api.watches().filter((watch) => watch.sendInitialEvents).length, rig.api.lists().length], [3, 1]);
  assert(rig.informer.hasSynced);
});

for (const [code, reason] of [[400, "BadRequest"], [422, "Invalid"], [405, "MethodNotAllowed"]] as const) {
  test(`[15] a server that answers ${code} to a stream of the full state gets lists from then on`, async () => {
    const rig = new Rig({ prepare: (api) => api.put("a") });
    await using _stopping = rig;
    rig.api.refuse("watch", new FakeApiError(code, reason));
    await rig.start();
    assertEquals(rig.cached, ["default/a 0"]);
    rig.api.endWatches(new FakeApiError(410, "Expired"));
    await drain();
    await rig.waitOut();
    assertEquals(rig.api.lists().length, 2);
    assertEquals(rig.api.watches().filter((watch) => watch.sendInitialEvents).length, 1);
  });
}

test("[15] a server that never sends the closing bookmark gets a list after a minute", async () => {
  const rig = new Rig({ prepare: (api) => api.put("a") });
  await using _stopping = rig;
  const a = rig.api.put("a", { value: 2 });
  rig.api.stream({ batches: [[{ type: "ADDED", object: a }]], then: "hang" });
  await rig.start();
  await rig.clock.advance(59_999);
  assertEquals([rig.informer.hasSynced, rig.api.lists().length], [false, 0]);
  await rig.clock.advance(1);
  assertEquals([rig.informer.hasSynced, rig.api.lists().length], [true, 1]);
  assertEquals(rig.cached, ["default/a 2"]);
});

test("[15] 429 to a stream of the full state is retried as a stream", async () => {
  const rig = new Rig({ prepare: (api) => api.put("a") });
  await using _stopping = rig;
  rig.api.refuse("watch", new FakeApiError(429, "TooManyRequests"), new FakeApiError(429, "TooManyRequests"));
  await rig.start();
  await rig.waitOut();
  assertEquals(rig.waits, "throttled 2");
  await rig.waitOut();
  assertEquals([rig.api.lists().length, rig.cached.length], [0, 1]);
});

test("[15] the transform is applied once to each object, streamed, listed or watched", async () => {
  for (const watchList of [true, false]) {
    const seen: string[] = [];
    await using rig = await startRig({
      watchList,
      transform: (thing) => {
        seen.push(thing.metadata.name ?? "");
        return { ...thing, spec: { value: (thing.spec?.value ?? 0) + 1 } };
      },
      prepare: (api) => (api.put("a"), api.put("b")),
    });
    rig.api.put("c");
    await drain();
    assertEquals(seen, ["a", "b", "c"]);
    assertEquals(rig.cached, ["default/a 1", "default/b 1", "default/c 1"]);
  }
});

for (
  const [code, reason, words] of [[401, "Unauthorized", "credentials not accepted"], [
    403,
    "Forbidden",
    "forbidden",
  ]] as const
) {
  for (const watchList of [true, false]) {
    test(`[16] ${code} on a ${watchList ? "stream" : "list"} is retried for ever, named for readiness, and heals`, async () => {
      const rig = new Rig({ watchList, prepare: (api) => api.put("a") });
      await using _stopping = rig;
      const kind = watchList ? "watch" : "list";
      rig.api.refuse(kind, ...Array.from({ length: 50 }, () => new FakeApiError(code, reason)));
      await rig.start();
      for (let attempt = 1; attempt <= 50; attempt++) {
        assertEquals(rig.waits, `${reason.toLowerCase()} ${attempt}`);
        assertEquals(problemOf(rig.informer.status())?.startsWith(`things.example.dev: ${words}`), true);
        await rig.waitOut();
      }
      await rig.healthy();
      assertEquals(rig.status.kind, "watching");
      assertEquals(problemOf(rig.informer.status()), undefined);
      assertEquals(rig.cached, ["default/a 0"]);
    });
  }
}

test("[16] a permission that is taken away while watching is named, and the cache stays as it is", async () => {
  await using rig = await startRig({ prepare: (api) => api.put("a") });
  rig.api.refuse("watch", ...Array.from({ length: 3 }, () => new FakeApiError(403, "Forbidden")));
  rig.api.endWatches();
  await drain();
  await rig.waitOut();
  assertEquals(rig.waits, "forbidden 2");
  assertEquals(problemOf(rig.informer.status()), "things.example.dev: forbidden to list or watch (403 Forbidden)");
  assertEquals(rig.cached, ["default/a 0"]);
  await rig.waitOut();
  await rig.waitOut();
  assertEquals(rig.api.watches().at(-1)?.resourceVersion, "101");
});

test("[20] a CRD that is not installed is waited for and named, and works when it appears", async () => {
  for (const watchList of [true, false]) {
    const rig = new Rig({ watchList, prepare: (api) => api.put("a") });
    await using _stopping = rig;
    rig.api.refuse(watchList ? "watch" : "list", ...Array.from({ length: 6 }, () => new FakeApiError(404, "NotFound")));
    await rig.start();
    for (let attempt = 1; attempt <= 6; attempt++) {
      assertEquals(rig.waits, `missing ${attempt}`);
      assertEquals(
        problemOf(rig.informer.status()),
        "things.example.dev: CRD missing: run install-crds (404 NotFound)",
      );
      assert(!rig.informer.hasSynced);
      await rig.waitOut();
    }
    assertEquals(rig.news(), ["+ default/a 0"]);
  }
});

test("[20] a CRD that is deleted and comes back: the store is emptied, then filled", async () => {
  for (const watchList of [true, false]) {
    await using rig = await startRig({ watchList, prepare: (api) => (api.put("a"), api.put("b")) });
    await rig.healthy();
    rig.news();
    const missing = new FakeApiError(404, "NotFound");
    rig.api.refuse("watch", ...(watchList ? [missing, missing] : [missing]));
    rig.api.refuse("list", ...(watchList ? [] : [missing]));
    rig.api.endWatches();
    await drain();
    assertEquals([rig.waits, rig.news()], ["missing 1", []]);
    await rig.waitOut();
    assertEquals([rig.waits, rig.news()], ["missing 2", ["-? default/a 0", "-? default/b 0"]]);
    assertEquals(rig.cached, []);
    rig.api.restore(3, []);
    rig.api.put("a", { value: 9 });
    await rig.waitOut();
    await rig.waitOut();
    assertEquals(rig.news(), ["+ default/a 9"]);
    assertEquals(rig.cached, rig.served);
    if (watchList) assertEquals(rig.api.watches().at(-1)?.resourceVersion, "");
    else assertEquals(rig.api.lists().map((list) => list.resourceVersion), ["0", "102", "0"]);
  }
});

test("[20] one 404 alone empties nothing", async () => {
  await using rig = await startRig({ prepare: (api) => api.put("a") });
  rig.news();
  rig.api.refuse("watch", new FakeApiError(404, "NotFound"));
  rig.api.endWatches();
  await drain();
  assertEquals(rig.waits, "missing 1");
  await rig.waitOut();
  assertEquals([rig.status.kind, rig.news(), rig.cached], ["watching", [], ["default/a 0"]]);
});

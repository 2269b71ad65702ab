/** Tests of how a reflector reads a full state: WatchList (behaviour 15), permissions (16), missing CRDs (20). */
import { assert, assertEquals, test } from "../../tests/testing.ts";
import { bookmarkAt, FakeApiError, type Thing } from "../../tests/fakes/list_watch.ts";
import type { WatchEvent } from "../api/mod.ts";
import { drain } from "../async/mod.ts";
import { startEnvironment, TestEnvironment } from "./testing/test_environment.ts";
import { problemOf } from "./mod.ts";

const closing = (version: number) => bookmarkAt(version, { "k8s.io/initial-events-end": "true" });

test("[15] a stream of the full state requests initial events, not older than the last version, and bookmarks", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a") });
  const [first] = env.api.watches();
  assertEquals({ ...first, timeoutSeconds: 0 }, {
    resourceVersion: "",
    timeoutSeconds: 0,
    allowWatchBookmarks: true,
    sendInitialEvents: true,
    resourceVersionMatch: "NotOlderThan",
  });
  assertEquals(env.api.lists(), []);
});

test("[15] nothing is visible before the closing bookmark, everything at once after it, and the stream continues", async () => {
  const env = new TestEnvironment();
  await using _stopping = env;
  const [a, b] = [env.api.put("a"), env.api.put("b")];
  const added = (object: Thing): WatchEvent<Thing> => ({ type: "ADDED", object });
  env.api.scriptWatches({ batches: [[added(a)], [added(b), bookmarkAt(101)]], then: "hang" });
  await env.start();
  assertEquals([env.informer.hasSynced, env.informer.store.size, env.takeReceived()], [false, 0, []]);
  assertEquals(env.informer.store.lastSyncResourceVersion, undefined);
  await using other = new TestEnvironment();
  const c = { ...b, metadata: { ...b.metadata, name: "c", uid: "c" } };
  other.api.scriptWatches({ batches: [[added(a), added(b)], [closing(102), added(c)]], then: "hang" });
  await other.start();
  assertEquals([other.informer.hasSynced, other.informer.store.size], [true, 3]);
  assertEquals(other.takeReceived(), ["+ default/a 0", "+ default/b 0", "+ default/c 0"]);
  assertEquals(other.api.watches().length, 1);
});

test("[15] a stream that is interrupted before its closing bookmark is dropped and read again", async () => {
  const env = new TestEnvironment();
  await using _stopping = env;
  const deleted: WatchEvent<Thing> = { type: "ADDED", object: env.api.put("ghost") };
  env.api.delete("ghost");
  env.api.put("real");
  env.api.scriptWatches({ batches: [[deleted]], then: "close" }, {
    batches: [[deleted]],
    then: new TypeError("reset"),
  });
  await env.start();
  assertEquals(env.waiting, "interrupted 1");
  await env.waitOutBackoff();
  assertEquals(env.waiting, "unreachable 2");
  await env.waitOutBackoff();
  assertEquals(env.takeReceived(), ["+ default/real 0"]);
  assertEquals(env.api.lists(), []);
});

test("[15] after three interrupted streams, lists are used, which make progress page by page", async () => {
  const env = new TestEnvironment();
  await using _stopping = env;
  const deleted: WatchEvent<Thing> = { type: "ADDED", object: env.api.put("a") };
  env.api.scriptWatches(...Array.from({ length: 3 }, () => ({ batches: [[deleted]], then: "close" as const })));
  await env.start();
  for (let attempt = 0; attempt < 3; attempt++) await env.waitOutBackoff();
  assertEquals([env.api.watches().filter((watch) => watch.sendInitialEvents).length, env.api.lists().length], [3, 1]);
  assert(env.informer.hasSynced);
});

for (const [code, reason] of [[400, "BadRequest"], [422, "Invalid"], [405, "MethodNotAllowed"]] as const) {
  test(`[15] a server that rejects a stream of the full state with ${code} gets lists from then on`, async () => {
    const env = new TestEnvironment({ prepare: (api) => api.put("a") });
    await using _stopping = env;
    env.api.failNext("watch", new FakeApiError(code, reason));
    await env.start();
    assertEquals(env.cached, ["default/a 0"]);
    env.api.endWatches(new FakeApiError(410, "Expired"));
    await drain();
    await env.waitOutBackoff();
    assertEquals(env.api.lists().length, 2);
    assertEquals(env.api.watches().filter((watch) => watch.sendInitialEvents).length, 1);
  });
}

test("[15] a server that does not send the closing bookmark gets a list after a minute", async () => {
  const env = new TestEnvironment({ prepare: (api) => api.put("a") });
  await using _stopping = env;
  const a = env.api.put("a", { value: 2 });
  env.api.scriptWatches({ batches: [[{ type: "ADDED", object: a }]], then: "hang" });
  await env.start();
  await env.clock.advance(59_999);
  assertEquals([env.informer.hasSynced, env.api.lists().length], [false, 0]);
  await env.clock.advance(1);
  assertEquals([env.informer.hasSynced, env.api.lists().length], [true, 1]);
  assertEquals(env.cached, ["default/a 2"]);
});

test("[15] after 429, a stream of the full state is retried as a stream", async () => {
  const env = new TestEnvironment({ prepare: (api) => api.put("a") });
  await using _stopping = env;
  env.api.failNext("watch", new FakeApiError(429, "TooManyRequests"), new FakeApiError(429, "TooManyRequests"));
  await env.start();
  await env.waitOutBackoff();
  assertEquals(env.waiting, "throttled 2");
  await env.waitOutBackoff();
  assertEquals([env.api.lists().length, env.cached.length], [0, 1]);
});

test("[15] the transform is applied once to each object of a stream, a list and a watch", async () => {
  for (const watchList of [true, false]) {
    const seen: string[] = [];
    await using env = await startEnvironment({
      watchList,
      transform: (thing) => {
        seen.push(thing.metadata.name ?? "");
        return { ...thing, spec: { value: (thing.spec?.value ?? 0) + 1 } };
      },
      prepare: (api) => (api.put("a"), api.put("b")),
    });
    env.api.put("c");
    await drain();
    assertEquals(seen, ["a", "b", "c"]);
    assertEquals(env.cached, ["default/a 1", "default/b 1", "default/c 1"]);
  }
});

for (
  const [code, reason, sentence] of [[401, "Unauthorized", "credentials not accepted"], [
    403,
    "Forbidden",
    "forbidden",
  ]] as const
) {
  for (const watchList of [true, false]) {
    test(`[16] ${code} on a ${watchList ? "stream" : "list"} is retried until it succeeds, and readiness reports it`, async () => {
      const env = new TestEnvironment({ watchList, prepare: (api) => api.put("a") });
      await using _stopping = env;
      const kind = watchList ? "watch" : "list";
      env.api.failNext(kind, ...Array.from({ length: 50 }, () => new FakeApiError(code, reason)));
      await env.start();
      for (let attempt = 1; attempt <= 50; attempt++) {
        assertEquals(env.waiting, `${reason.toLowerCase()} ${attempt}`);
        assertEquals(problemOf(env.informer.status())?.startsWith(`things.example.dev: ${sentence}`), true);
        await env.waitOutBackoff();
      }
      await env.becomeHealthy();
      assertEquals(env.status.kind, "watching");
      assertEquals(problemOf(env.informer.status()), undefined);
      assertEquals(env.cached, ["default/a 0"]);
    });
  }
}

test("[16] a permission that is removed during a watch is reported, and the cache stays unchanged", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a") });
  env.api.failNext("watch", ...Array.from({ length: 3 }, () => new FakeApiError(403, "Forbidden")));
  env.api.endWatches();
  await drain();
  await env.waitOutBackoff();
  assertEquals(env.waiting, "forbidden 2");
  assertEquals(problemOf(env.informer.status()), "things.example.dev: forbidden to list or watch (403 Forbidden)");
  assertEquals(env.cached, ["default/a 0"]);
  await env.waitOutBackoff();
  await env.waitOutBackoff();
  assertEquals(env.api.watches().at(-1)?.resourceVersion, "101");
});

test("[20] a CRD that is not installed is reported, and its objects are cached once it is installed", async () => {
  for (const watchList of [true, false]) {
    const env = new TestEnvironment({ watchList, prepare: (api) => api.put("a") });
    await using _stopping = env;
    env.api.failNext(
      watchList ? "watch" : "list",
      ...Array.from({ length: 6 }, () => new FakeApiError(404, "NotFound")),
    );
    await env.start();
    for (let attempt = 1; attempt <= 6; attempt++) {
      assertEquals(env.waiting, `missing ${attempt}`);
      assertEquals(
        problemOf(env.informer.status()),
        "things.example.dev: CRD missing: run install-crds (404 NotFound)",
      );
      assert(!env.informer.hasSynced);
      await env.waitOutBackoff();
    }
    assertEquals(env.takeReceived(), ["+ default/a 0"]);
  }
});

test("[20] when a CRD is deleted and created again, the store is emptied and filled again", async () => {
  for (const watchList of [true, false]) {
    await using env = await startEnvironment({ watchList, prepare: (api) => (api.put("a"), api.put("b")) });
    await env.becomeHealthy();
    env.takeReceived();
    const missing = new FakeApiError(404, "NotFound");
    env.api.failNext("watch", ...(watchList ? [missing, missing] : [missing]));
    env.api.failNext("list", ...(watchList ? [] : [missing]));
    env.api.endWatches();
    await drain();
    assertEquals([env.waiting, env.takeReceived()], ["missing 1", []]);
    await env.waitOutBackoff();
    assertEquals([env.waiting, env.takeReceived()], ["missing 2", ["-? default/a 0", "-? default/b 0"]]);
    assertEquals(env.cached, []);
    env.api.restore(3, []);
    env.api.put("a", { value: 9 });
    await env.waitOutBackoff();
    await env.waitOutBackoff();
    assertEquals(env.takeReceived(), ["+ default/a 9"]);
    assertEquals(env.cached, env.served);
    if (watchList) assertEquals(env.api.watches().at(-1)?.resourceVersion, "");
    else assertEquals(env.api.lists().map((list) => list.resourceVersion), ["0", "102", "0"]);
  }
});

test("[20] a single 404 deletes nothing from the store", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a") });
  env.takeReceived();
  env.api.failNext("watch", new FakeApiError(404, "NotFound"));
  env.api.endWatches();
  await drain();
  assertEquals(env.waiting, "missing 1");
  await env.waitOutBackoff();
  assertEquals([env.status.kind, env.takeReceived(), env.cached], ["watching", [], ["default/a 0"]]);
});

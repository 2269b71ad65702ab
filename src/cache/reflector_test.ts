/** Tests of the reflector with a scripted server: versions, lists, watches, failures (behaviours 1-9). */
import { assert, assertEquals, test } from "../../tests/testing.ts";
import { bookmarkAt, FakeApiError, tooLarge } from "../../tests/fakes/list_watch.ts";
import { resourceVersion } from "../api/mod.ts";
import { drain } from "../async/mod.ts";
import { startEnvironment } from "./testing/test_environment.ts";

test("[1] the first list requests version 0, and the watch begins at the version of the list", async () => {
  await using env = await startEnvironment({ watchList: false, prepare: (api) => api.put("a") });
  assertEquals(env.api.lists(), [{ resourceVersion: "0", limit: 500 }]);
  assertEquals(env.api.watches()[0]?.resourceVersion, "101");
  assertEquals(env.cached, ["default/a 0"]);
});

for (
  const [form, error] of Object.entries({
    "410": new FakeApiError(410, "Expired"),
    "too large, as a cause": tooLarge(),
    "too large, as a cause's message": new FakeApiError(504, "Timeout", {
      status: { code: 504, reason: "Timeout", details: { causes: [{ message: "Too large resource version" }] } },
    }),
    "too large, as text": new FakeApiError(504, "Timeout", {
      status: { code: 504, reason: "Timeout", message: "Too large resource version: 9, current: 8" },
    }),
  })
) {
  test(`[1] a relist requests the last version, and after ${form} the most recent one, once`, async () => {
    await using env = await startEnvironment({ watchList: false, prepare: (api) => api.put("a") });
    env.api.failNext("list", error);
    env.api.endWatches(new FakeApiError(410, "Expired"));
    await drain();
    await env.waitOutBackoff();
    assertEquals(env.api.lists().map((list) => list.resourceVersion), ["0", "101", ""]);
    env.api.put("b");
    env.api.compact();
    env.api.put("c");
    env.api.endWatches(new FakeApiError(410, "Expired"));
    await drain();
    await env.waitOutBackoff();
    assertEquals(env.api.lists().map((list) => list.resourceVersion), ["0", "101", "", "103"]);
  });
}

test("[1] a stream of the full state begins at the last version, and after 410 at the most recent one", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a") });
  env.api.failNext("watch", new FakeApiError(410, "Gone"), new FakeApiError(410, "Expired"));
  env.api.endWatches();
  await drain();
  await env.waitOutBackoff();
  assertEquals(
    env.api.watches().map((watch) => `${watch.sendInitialEvents ?? false} "${watch.resourceVersion}"`),
    ['true ""', 'false "101"', 'true "101"', 'true ""'],
  );
  assertEquals(env.status.kind, "watching");
});

test("[2] a watch that expires costs one list, at the last version and not at the most recent one", async () => {
  await using env = await startEnvironment({ watchList: false, prepare: (api) => api.put("a") });
  await env.becomeHealthy();
  env.api.put("b");
  await drain();
  env.api.send([{ type: "ERROR", object: { code: 410, reason: "Expired", message: "too old" } }]);
  await drain();
  assertEquals(env.waiting, "expired 1");
  await env.waitOutBackoff();
  assertEquals(env.api.lists().map((list) => list.resourceVersion), ["0", "102"]);
  await env.becomeHealthy();
  assertEquals(env.status.kind, "watching");
});

test("[3] when a continue token expires, the pages are dropped and one unpaged list at the same version is read", async () => {
  await using env = await startEnvironment({
    watchList: false,
    pageSize: 2,
    api: { hasWatchCache: false },
    prepare: (api) => {
      for (const name of ["a", "b", "c", "d", "e"]) api.put(name);
      const list = api.list.bind(api);
      let pages = 0;
      api.list = async (options, signal) => {
        const page = await list(options, signal);
        // Between the second page and the third, the token expires and the state changes.
        if (++pages === 2) {
          api.put("a", { value: 7 });
          api.compact();
        }
        return page;
      };
    },
  });
  assertEquals(env.api.lists(), [
    { resourceVersion: "0", limit: 2 },
    { limit: 2, continue: "105:2" },
    { limit: 2, continue: "105:4" },
    { resourceVersion: "0" },
  ]);
  assertEquals(env.cached, env.served);
  assertEquals(env.takeReceived().length, 5);
});

test("[3] pages of different versions are never combined", async () => {
  await using env = await startEnvironment({
    watchList: false,
    pageSize: 2,
    api: { hasWatchCache: false },
    prepare: (api) => {
      for (const name of ["a", "b", "c"]) api.put(name);
      const list = api.list.bind(api);
      api.list = async (options, signal) => {
        const page = await list(options, signal);
        return options.continue === undefined ? page : { ...page, resourceVersion: resourceVersion("999") };
      };
    },
  });
  assertEquals(env.api.lists().at(-1), { resourceVersion: "0" });
  assertEquals(env.api.watches()[0]?.resourceVersion, "103");
});

test("[4] a page has 500 items by default, and lists above version 0 are not paged", async () => {
  await using env = await startEnvironment({ watchList: false, prepare: (api) => api.put("a") });
  env.api.endWatches(new FakeApiError(410, "Expired"));
  await drain();
  await env.waitOutBackoff();
  assertEquals(env.api.lists(), [{ resourceVersion: "0", limit: 500 }, { resourceVersion: "101" }]);
});

test("[4] a server that pages the first list gets paged lists from then on", async () => {
  await using env = await startEnvironment({
    watchList: false,
    pageSize: 2,
    api: { hasWatchCache: false },
    prepare: (api) => ["a", "b", "c"].forEach((name) => api.put(name)),
  });
  env.api.endWatches(new FakeApiError(410, "Expired"));
  await drain();
  await env.waitOutBackoff();
  assertEquals(env.api.lists().map((list) => list.limit), [2, 2, 2, 2]);
});

test("[4] a page size that is not a positive integer is refused", async () => {
  for (const pageSize of [0, -1, 1.5, NaN]) {
    await startEnvironment({ pageSize }).then(
      () => assert(false, `${pageSize} was accepted`),
      (error: unknown) => assert(error instanceof RangeError),
    );
  }
});

test("[5] a bookmark advances the version, calls no handler, and the next watch begins there", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a") });
  env.takeReceived();
  env.api.changeElsewhere();
  env.api.bookmark();
  await drain();
  assertEquals(env.informer.store.lastSyncResourceVersion, resourceVersion("102"));
  env.api.endWatches();
  await drain();
  assertEquals(env.api.watches().at(-1)?.resourceVersion, "102");
  assertEquals(env.takeReceived(), []);
});

test("[6] unordered ADDED events of a watch without a version do not advance it before another event has come", async () => {
  const thing = (name: string, version: string) => ({
    type: "ADDED" as const,
    object: {
      apiVersion: "v1",
      kind: "Thing",
      metadata: { name, uid: name, resourceVersion: resourceVersion(version) },
    },
  });
  await using env = await startEnvironment({
    watchList: false,
    prepare: (api) => {
      api.list = () => Promise.resolve({ items: [], resourceVersion: resourceVersion("") });
      api.scriptWatches(
        { batches: [[thing("b", "90"), thing("a", "50")]], then: "close" },
        { batches: [[thing("b", "90"), thing("a", "50")], [bookmarkAt(95)], [thing("c", "96")]], then: "close" },
        { batches: [], then: "hang" },
      );
    },
  });
  assertEquals(env.api.watches().map((watch) => watch.resourceVersion), ["", "", "96"]);
  assertEquals(env.informer.store.size, 3);
});

test("[7] after 429 as the response to a watch, it is retried with backoff at the same version, without a relist", async () => {
  await using env = await startEnvironment({ watchList: false, prepare: (api) => api.put("a") });
  await env.becomeHealthy();
  const busy = new FakeApiError(429, "TooManyRequests");
  env.api.failNext("watch", busy, busy, busy, busy);
  env.api.endWatches();
  await drain();
  for (let attempt = 1; attempt <= 4; attempt++) {
    assertEquals(env.waiting, `throttled ${attempt}`);
    await env.waitOutBackoff();
  }
  assertEquals(env.api.lists().length, 1);
  assertEquals(env.api.watches().map((watch) => watch.resourceVersion), Array(6).fill("101"));
});

test("[7] after 429 as an ERROR event, the watch is retried with backoff at the reached version, without a relist", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a") });
  env.api.put("b");
  env.api.send([{ type: "ERROR", object: { code: 429, reason: "TooManyRequests" } }]);
  await drain();
  assertEquals(env.waiting, "throttled 1");
  await env.waitOutBackoff();
  assertEquals(env.api.watches().at(-1)?.resourceVersion, "102");
  assertEquals(env.api.watches().filter((watch) => watch.sendInitialEvents).length, 1);
});

test("[7] Retry-After is respected, up to five minutes", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a") });
  env.api.failNext("watch", new FakeApiError(429, "TooManyRequests", { retryAfterMs: 20_000 }));
  env.api.failNext("watch", new FakeApiError(429, "TooManyRequests", { retryAfterMs: 1e12 }));
  env.api.endWatches();
  await drain();
  await env.clock.advance(19_999);
  assertEquals(env.waiting, "throttled 1");
  await env.clock.advance(1);
  assertEquals(env.waiting, "throttled 2");
  await env.clock.advance(300_000);
  assertEquals(env.api.openWatches, 1);
});

test("[8] a refused connection is retried with delays of 0.8 to 30 s, and jitter of up to 100 %", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a") });
  env.api.failNext("watch", ...Array.from({ length: 12 }, () => new TypeError("connection refused")));
  env.api.endWatches();
  await drain();
  const delays: number[] = [];
  while (env.status.kind === "waiting") {
    assertEquals(env.status.reason, "unreachable");
    delays.push(env.status.nextAttemptAt - env.clock.now());
    await env.waitOutBackoff();
    if (env.api.openWatches > 0) break;
  }
  const bases = [800, 1600, 3200, 6400, 12800, 25600, 30000, 30000, 30000, 30000, 30000, 30000];
  assertEquals(delays.length, bases.length);
  bases.forEach((base, index) => {
    const delay = delays[index] ?? 0;
    assert(delay >= base && delay < 2 * base, `delay ${index} is ${delay}, not in [${base}, ${2 * base})`);
  });
  assertEquals(env.api.watches().filter((watch) => watch.sendInitialEvents).length, 1);
  assertEquals(env.api.watches().at(-1)?.resourceVersion, "101");
});

test("[8] delays start over after two healthy minutes, not before", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a") });
  const refused = () => new TypeError("connection refused");
  const firstDelay = async (...errors: Error[]) => {
    env.api.failNext("watch", ...errors);
    env.api.endWatches();
    await drain();
    const { status } = env;
    assert(status.kind === "waiting");
    const delay = status.nextAttemptAt - env.clock.now();
    for (let left = errors.length; left > 0; left--) await env.waitOutBackoff();
    return delay;
  };
  await firstDelay(refused(), refused(), refused());
  await env.clock.advance(60_000);
  assert(await firstDelay(refused()) >= 6_400);
  await env.clock.advance(121_000);
  assert(await firstDelay(refused()) < 1_600);
});

test("[9] internal errors are retried for 30 s, then a relist follows", async () => {
  await using env = await startEnvironment({ watchList: false, prepare: (api) => api.put("a") });
  await env.becomeHealthy();
  const internal = () => new FakeApiError(500, "InternalError");
  env.api.failNext("watch", ...Array.from({ length: 10 }, internal));
  env.api.endWatches();
  await drain();
  const startedAt = env.clock.monotonic();
  while (env.api.lists().length === 1) {
    assertEquals(env.status.kind === "waiting" && env.status.reason, "internal");
    await env.waitOutBackoff();
  }
  assert(env.clock.monotonic() - startedAt >= 30_000);
  assert(env.api.watches().length >= 4);
});

test("[9] internal errors that are far apart never cause a relist", async () => {
  await using env = await startEnvironment({ watchList: false, prepare: (api) => api.put("a") });
  for (let round = 0; round < 4; round++) {
    env.api.send([{ type: "ERROR", object: { code: 500, reason: "InternalError" } }]);
    await drain();
    await env.waitOutBackoff();
    await env.clock.advance(61_000);
  }
  assertEquals(env.api.lists().length, 1);
});

test("[9] after an object that the server cannot read, a relist replaces the store", async () => {
  await using env = await startEnvironment({ watchList: false, prepare: (api) => (api.put("a"), api.put("corrupt")) });
  env.takeReceived();
  env.api.send([{ type: "ERROR", object: { code: 500, reason: "StorageReadError" } }]);
  env.api.endWatches();
  env.api.delete("corrupt");
  await drain();
  assertEquals(env.waiting, "unreadable 1");
  await env.waitOutBackoff();
  assertEquals(env.api.lists().length, 2);
  assertEquals(env.takeReceived(), ["-? default/corrupt 0"]);
});

test("[9] after any other ERROR event a relist follows, because events may be lost", async () => {
  await using env = await startEnvironment({ watchList: false, prepare: (api) => api.put("a") });
  env.api.send([{ type: "ERROR", object: { code: 503, reason: "ServiceUnavailable" } }]);
  await drain();
  await env.waitOutBackoff();
  assertEquals(env.api.lists().length, 2);
});

test("[9] a watch that is rejected with 503 is retried without a relist", async () => {
  await using env = await startEnvironment({ watchList: false, prepare: (api) => api.put("a") });
  await env.becomeHealthy();
  env.api.failNext("watch", new FakeApiError(503, "ServiceUnavailable"));
  env.api.endWatches();
  await drain();
  assertEquals(env.waiting, "unavailable 1");
  await env.waitOutBackoff();
  assertEquals([env.api.lists().length, env.api.openWatches], [1, 1]);
});

test("after the server has rejected the version of a watch, a relist follows, at that version and then at the most recent one", async () => {
  await using env = await startEnvironment({ watchList: false, prepare: (api) => api.put("a") });
  await env.becomeHealthy();
  const invalid = new FakeApiError(400, "BadRequest");
  env.api.failNext("watch", invalid);
  env.api.failNext("list", invalid);
  env.api.endWatches();
  await drain();
  await env.waitOutBackoff();
  await env.waitOutBackoff();
  assertEquals(env.api.lists().map((list) => list.resourceVersion), ["0", "101", ""]);
  assertEquals(env.waiting, "rejected 2");
  await env.becomeHealthy();
  assertEquals(env.status.kind, "watching");
});

test("after a restore of the server from a backup, the store has the restored state", async () => {
  await using env = await startEnvironment({ watchList: false, prepare: (api) => (api.put("a"), api.put("b")) });
  const [old] = env.api.objects().values();
  assert(old !== undefined);
  env.takeReceived();
  env.api.restore(101, [old]);
  env.api.endWatches(new FakeApiError(410, "Expired"));
  await drain();
  await env.waitOutBackoff();
  assertEquals(env.api.lists().map((list) => list.resourceVersion), ["0", "102", ""]);
  assertEquals(env.takeReceived(), ["-? default/b 0"]);
  assertEquals(env.informer.store.lastSyncResourceVersion, resourceVersion("101"));
  env.api.put("c", { value: 3 });
  await drain();
  assertEquals(env.takeReceived(), ["+ default/c 3"]);
});

test("[124] a cache is measured as following while its watch is open, and not while it waits", async () => {
  const following: number[] = [];
  await using env = await startEnvironment({
    metrics: {
      count() {},
      observe() {},
      forget() {},
      set: (name, _, value) => void (name === "informer_following" && following.push(value)),
    },
  });
  assertEquals(following, [0, 1]);
  env.api.failNext("watch", new FakeApiError(403, "Forbidden"));
  env.api.endWatches(new FakeApiError(500, "InternalError"));
  await drain();
  assertEquals(following.at(-1), 0);
  await env.waitOutBackoff();
  assertEquals([following.at(-1), env.waiting], [0, "forbidden 2"]);
  await env.waitOutBackoff();
  await env.becomeHealthy();
  assertEquals(following.at(-1), 1);
});

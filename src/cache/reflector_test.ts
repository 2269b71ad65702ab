/** Tests of the reflector against a scripted server, behaviours.md 2.1: versions, lists, watches, failures. */
import { assert, assertEquals, test } from "../../tests/testing.ts";
import { bookmarkAt, FakeApiError, tooLarge } from "../../tests/fakes/list_watch.ts";
import { resourceVersion } from "../api/mod.ts";
import { drain } from "../async/mod.ts";
import { startRig } from "./_rig.ts";

test("[1] the first list asks for version 0 and the watch follows from the list's version", async () => {
  await using rig = await startRig({ watchList: false, prepare: (api) => api.put("a") });
  assertEquals(rig.api.lists(), [{ resourceVersion: "0", limit: 500 }]);
  assertEquals(rig.api.watches()[0]?.resourceVersion, "101");
  assertEquals(rig.cached, ["default/a 0"]);
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
  test(`[1] a relist asks for the last version, and after ${form} for the most recent, once`, async () => {
    await using rig = await startRig({ watchList: false, prepare: (api) => api.put("a") });
    rig.api.refuse("list", error);
    rig.api.endWatches(new FakeApiError(410, "Expired"));
    await drain();
    await rig.waitOut();
    assertEquals(rig.api.lists().map((list) => list.resourceVersion), ["0", "101", ""]);
    rig.api.put("b");
    rig.api.compact();
    rig.api.put("c");
    rig.api.endWatches(new FakeApiError(410, "Expired"));
    await drain();
    await rig.waitOut();
    assertEquals(rig.api.lists().map((list) => list.resourceVersion), ["0", "101", "", "103"]);
  });
}

test("[1] a stream of the full state starts at the last version, and after 410 at the most recent", async () => {
  await using rig = await startRig({ prepare: (api) => api.put("a") });
  rig.api.refuse("watch", new FakeApiError(410, "Gone"), new FakeApiError(410, "Expired"));
  rig.api.endWatches();
  await drain();
  await rig.waitOut();
  assertEquals(
    rig.api.watches().map((watch) => `${watch.sendInitialEvents ?? false} "${watch.resourceVersion}"`),
    ['true ""', 'false "101"', 'true "101"', 'true ""'],
  );
  assertEquals(rig.status.kind, "watching");
});

test("[2] a watch that expires costs one list, at the last version and not at the most recent", async () => {
  await using rig = await startRig({ watchList: false, prepare: (api) => api.put("a") });
  await rig.healthy();
  rig.api.put("b");
  await drain();
  rig.api.send([{ type: "ERROR", object: { code: 410, reason: "Expired", message: "too old" } }]);
  await drain();
  assertEquals(rig.waits, "expired 1");
  await rig.waitOut();
  assertEquals(rig.api.lists().map((list) => list.resourceVersion), ["0", "102"]);
  await rig.healthy();
  assertEquals(rig.status.kind, "watching");
});

test("[3] a continue token that expires throws the pages away for one unpaged list at the same version", async () => {
  await using rig = await startRig({
    watchList: false,
    pageSize: 2,
    api: { watchCache: false },
    prepare: (api) => {
      for (const name of ["a", "b", "c", "d", "e"]) api.put(name);
      const list = api.list.bind(api);
      let pages = 0;
      api.list = async (options, signal) => {
        const page = await list(options, signal);
        // Between the second page and the third the token expires, and the state moves on.
        if (++pages === 2) {
          api.put("a", { value: 7 });
          api.compact();
        }
        return page;
      };
    },
  });
  assertEquals(rig.api.lists(), [
    { resourceVersion: "0", limit: 2 },
    { limit: 2, continue: "105:2" },
    { limit: 2, continue: "105:4" },
    { resourceVersion: "0" },
  ]);
  assertEquals(rig.cached, rig.served);
  assertEquals(rig.news().length, 5);
});

test("[3] pages of two versions are never mixed", async () => {
  await using rig = await startRig({
    watchList: false,
    pageSize: 2,
    api: { watchCache: false },
    prepare: (api) => {
      for (const name of ["a", "b", "c"]) api.put(name);
      const list = api.list.bind(api);
      api.list = async (options, signal) => {
        const page = await list(options, signal);
        return options.continue === undefined ? page : { ...page, resourceVersion: resourceVersion("999") };
      };
    },
  });
  assertEquals(rig.api.lists().at(-1), { resourceVersion: "0" });
  assertEquals(rig.api.watches()[0]?.resourceVersion, "103");
});

test("[4] pages hold 500 by default, and lists above version 0 are not paged", async () => {
  await using rig = await startRig({ watchList: false, prepare: (api) => api.put("a") });
  rig.api.endWatches(new FakeApiError(410, "Expired"));
  await drain();
  await rig.waitOut();
  assertEquals(rig.api.lists(), [{ resourceVersion: "0", limit: 500 }, { resourceVersion: "101" }]);
});

test("[4] a server that pages the first list gets paged lists for ever", async () => {
  await using rig = await startRig({
    watchList: false,
    pageSize: 2,
    api: { watchCache: false },
    prepare: (api) => ["a", "b", "c"].forEach((name) => api.put(name)),
  });
  rig.api.endWatches(new FakeApiError(410, "Expired"));
  await drain();
  await rig.waitOut();
  assertEquals(rig.api.lists().map((list) => list.limit), [2, 2, 2, 2]);
});

test("[4] a page size that is no positive integer is refused", async () => {
  for (const pageSize of [0, -1, 1.5, NaN]) {
    await startRig({ pageSize }).then(
      () => assert(false, `${pageSize} was taken`),
      (error: unknown) => assert(error instanceof RangeError),
    );
  }
});

test("[5] a bookmark moves the version, calls no handler, and the next watch starts from it", async () => {
  await using rig = await startRig({ prepare: (api) => api.put("a") });
  rig.news();
  rig.api.elsewhere();
  rig.api.bookmark();
  await drain();
  assertEquals(rig.informer.store.lastSyncResourceVersion, resourceVersion("102"));
  rig.api.endWatches();
  await drain();
  assertEquals(rig.api.watches().at(-1)?.resourceVersion, "102");
  assertEquals(rig.news(), []);
});

test("[6] unordered ADDED events of a watch from no version do not move it until another event has come", async () => {
  const thing = (name: string, version: string) => ({
    type: "ADDED" as const,
    object: {
      apiVersion: "v1",
      kind: "Thing",
      metadata: { name, uid: name, resourceVersion: resourceVersion(version) },
    },
  });
  await using rig = await startRig({
    watchList: false,
    prepare: (api) => {
      api.list = () => Promise.resolve({ items: [], resourceVersion: resourceVersion("") });
      api.stream(
        { batches: [[thing("b", "90"), thing("a", "50")]], then: "close" },
        { batches: [[thing("b", "90"), thing("a", "50")], [bookmarkAt(95)], [thing("c", "96")]], then: "close" },
        { batches: [], then: "hang" },
      );
    },
  });
  assertEquals(rig.api.watches().map((watch) => watch.resourceVersion), ["", "", "96"]);
  assertEquals(rig.informer.store.size, 3);
});

test("[7] 429 at the start of a watch backs off at the same version without a relist", async () => {
  await using rig = await startRig({ watchList: false, prepare: (api) => api.put("a") });
  await rig.healthy();
  const busy = new FakeApiError(429, "TooManyRequests");
  rig.api.refuse("watch", busy, busy, busy, busy);
  rig.api.endWatches();
  await drain();
  for (let attempt = 1; attempt <= 4; attempt++) {
    assertEquals(rig.waits, `throttled ${attempt}`);
    await rig.waitOut();
  }
  assertEquals(rig.api.lists().length, 1);
  assertEquals(rig.api.watches().map((watch) => watch.resourceVersion), Array(6).fill("101"));
});

test("[7] 429 as an ERROR event backs off at the version reached without a relist", async () => {
  await using rig = await startRig({ prepare: (api) => api.put("a") });
  rig.api.put("b");
  rig.api.send([{ type: "ERROR", object: { code: 429, reason: "TooManyRequests" } }]);
  await drain();
  assertEquals(rig.waits, "throttled 1");
  await rig.waitOut();
  assertEquals(rig.api.watches().at(-1)?.resourceVersion, "102");
  assertEquals(rig.api.watches().filter((watch) => watch.sendInitialEvents).length, 1);
});

test("[7] Retry-After is never undercut, and honoured up to five minutes", async () => {
  await using rig = await startRig({ prepare: (api) => api.put("a") });
  rig.api.refuse("watch", new FakeApiError(429, "TooManyRequests", { retryAfterMs: 20_000 }));
  rig.api.refuse("watch", new FakeApiError(429, "TooManyRequests", { retryAfterMs: 1e12 }));
  rig.api.endWatches();
  await drain();
  await rig.clock.advance(19_999);
  assertEquals(rig.waits, "throttled 1");
  await rig.clock.advance(1);
  assertEquals(rig.waits, "throttled 2");
  await rig.clock.advance(300_000);
  assertEquals(rig.api.openWatches, 1);
});

test("[8] a refused connection is retried with growing delays of 0.8 to 30 s and up to as much jitter", async () => {
  await using rig = await startRig({ prepare: (api) => api.put("a") });
  rig.api.refuse("watch", ...Array.from({ length: 12 }, () => new TypeError("connection refused")));
  rig.api.endWatches();
  await drain();
  const delays: number[] = [];
  while (rig.status.kind === "waiting") {
    assertEquals(rig.status.reason, "unreachable");
    delays.push(rig.status.nextAttemptAt - rig.clock.now());
    await rig.waitOut();
    if (rig.api.openWatches > 0) break;
  }
  const bases = [800, 1600, 3200, 6400, 12800, 25600, 30000, 30000, 30000, 30000, 30000, 30000];
  assertEquals(delays.length, bases.length);
  bases.forEach((base, index) => {
    const delay = delays[index] ?? 0;
    assert(delay >= base && delay < 2 * base, `delay ${index} is ${delay}, not in [${base}, ${2 * base})`);
  });
  assertEquals(rig.api.watches().filter((watch) => watch.sendInitialEvents).length, 1);
  assertEquals(rig.api.watches().at(-1)?.resourceVersion, "101");
});

test("[8] delays start over after two healthy minutes, not before", async () => {
  await using rig = await startRig({ prepare: (api) => api.put("a") });
  const refused = () => new TypeError("connection refused");
  const firstDelay = async (...errors: Error[]) => {
    rig.api.refuse("watch", ...errors);
    rig.api.endWatches();
    await drain();
    const { status } = rig;
    assert(status.kind === "waiting");
    const delay = status.nextAttemptAt - rig.clock.now();
    for (let left = errors.length; left > 0; left--) await rig.waitOut();
    return delay;
  };
  await firstDelay(refused(), refused(), refused());
  await rig.clock.advance(60_000);
  assert(await firstDelay(refused()) >= 6_400);
  await rig.clock.advance(121_000);
  assert(await firstDelay(refused()) < 1_600);
});

test("[9] internal errors are retried inside the window and then answered by a relist", async () => {
  await using rig = await startRig({ watchList: false, prepare: (api) => api.put("a") });
  await rig.healthy();
  const internal = () => new FakeApiError(500, "InternalError");
  rig.api.refuse("watch", ...Array.from({ length: 10 }, internal));
  rig.api.endWatches();
  await drain();
  const startedAt = rig.clock.monotonic();
  while (rig.api.lists().length === 1) {
    assertEquals(rig.status.kind === "waiting" && rig.status.reason, "internal");
    await rig.waitOut();
  }
  assert(rig.clock.monotonic() - startedAt >= 30_000);
  assert(rig.api.watches().length >= 4);
});

test("[9] internal errors that are far apart are each retried", async () => {
  await using rig = await startRig({ watchList: false, prepare: (api) => api.put("a") });
  for (let round = 0; round < 4; round++) {
    rig.api.send([{ type: "ERROR", object: { code: 500, reason: "InternalError" } }]);
    await drain();
    await rig.waitOut();
    await rig.clock.advance(61_000);
  }
  assertEquals(rig.api.lists().length, 1);
});

test("[9] an object the server cannot read is answered by a relist that replaces the store", async () => {
  await using rig = await startRig({ watchList: false, prepare: (api) => (api.put("a"), api.put("corrupt")) });
  rig.news();
  rig.api.send([{ type: "ERROR", object: { code: 500, reason: "StorageReadError" } }]);
  rig.api.endWatches();
  rig.api.delete("corrupt");
  await drain();
  assertEquals(rig.waits, "unreadable 1");
  await rig.waitOut();
  assertEquals(rig.api.lists().length, 2);
  assertEquals(rig.news(), ["-? default/corrupt 0"]);
});

test("[9] an ERROR event of another kind is answered by a relist, as events may be lost", async () => {
  await using rig = await startRig({ watchList: false, prepare: (api) => api.put("a") });
  rig.api.send([{ type: "ERROR", object: { code: 503, reason: "ServiceUnavailable" } }]);
  await drain();
  await rig.waitOut();
  assertEquals(rig.api.lists().length, 2);
});

test("[9] a watch that is refused with 503 is retried without a relist", async () => {
  await using rig = await startRig({ watchList: false, prepare: (api) => api.put("a") });
  await rig.healthy();
  rig.api.refuse("watch", new FakeApiError(503, "ServiceUnavailable"));
  rig.api.endWatches();
  await drain();
  assertEquals(rig.waits, "unavailable 1");
  await rig.waitOut();
  assertEquals([rig.api.lists().length, rig.api.openWatches], [1, 1]);
});

test("a watch whose version the server rejects is answered by a relist, first at that version and then at the most recent", async () => {
  await using rig = await startRig({ watchList: false, prepare: (api) => api.put("a") });
  await rig.healthy();
  const invalid = new FakeApiError(400, "BadRequest");
  rig.api.refuse("watch", invalid);
  rig.api.refuse("list", invalid);
  rig.api.endWatches();
  await drain();
  await rig.waitOut();
  await rig.waitOut();
  assertEquals(rig.api.lists().map((list) => list.resourceVersion), ["0", "101", ""]);
  assertEquals(rig.waits, "refused 2");
  await rig.healthy();
  assertEquals(rig.status.kind, "watching");
});

test("a server restored from a backup is followed: the store goes back with it", async () => {
  await using rig = await startRig({ watchList: false, prepare: (api) => (api.put("a"), api.put("b")) });
  const [old] = rig.api.objects().values();
  assert(old !== undefined);
  rig.news();
  rig.api.restore(101, [old]);
  rig.api.endWatches(new FakeApiError(410, "Expired"));
  await drain();
  await rig.waitOut();
  assertEquals(rig.api.lists().map((list) => list.resourceVersion), ["0", "102", ""]);
  assertEquals(rig.news(), ["-? default/b 0"]);
  assertEquals(rig.informer.store.lastSyncResourceVersion, resourceVersion("101"));
  rig.api.put("c", { value: 3 });
  await drain();
  assertEquals(rig.news(), ["+ default/c 3"]);
});

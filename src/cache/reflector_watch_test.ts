/** Tests of what a reflector makes of a watch's time and lines, behaviours.md 10-14, and of its end, 17. */
import { assert, assertEquals, assertStringIncludes, test } from "../../tests/testing.ts";
import { FakeApi, FakeApiError, type Thing } from "../../tests/fakes/list_watch.ts";
import { objectKey, resourceVersion, type WatchEvent } from "../api/mod.ts";
import { drain, seededRandom, VirtualClock } from "../async/mod.ts";
import { key, Rig, startRig } from "./_rig.ts";
import { Informer } from "./mod.ts";

/** An event as a server might send it and no type allows it. */
function wild(json: string): WatchEvent<Thing> {
  return JSON.parse(json);
}

test("[10] timeoutSeconds is spread over 5 to 10 minutes", async () => {
  const asked: number[] = [];
  for (let seed = 0; seed < 200; seed++) {
    await using rig = await startRig({ seed });
    asked.push(rig.api.watches()[0]?.timeoutSeconds ?? 0);
  }
  assert(asked.every((seconds) => seconds >= 300 && seconds < 600));
  assert(asked.some((seconds) => seconds < 350) && asked.some((seconds) => seconds > 550));
});

test("[10] a server that never closes the watch is left 5 s after the agreed time", async () => {
  const clock = new VirtualClock();
  const api = new FakeApi();
  const informer = new Informer<Thing>({ name: "things", listWatch: api, clock, random: seededRandom(7) });
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  await drain();
  const agreedMs = (api.watches()[0]?.timeoutSeconds ?? 0) * 1000;
  await clock.advance(agreedMs + 4_999);
  assertEquals([api.watches().length, api.openWatches], [1, 1]);
  await clock.advance(1);
  assertEquals([api.watches().length, api.openWatches], [2, 1]);
  assertEquals(api.watches()[1]?.sendInitialEvents, undefined);
  stop.abort();
  await running;
});

test("[11] a stream that falls silent after bookmarks were seen is noticed within 150 s and taken up again", async () => {
  await using rig = await startRig({ prepare: (api) => api.put("a") });
  await rig.clock.advance(60_000);
  rig.api.bookmark();
  await drain();
  await rig.clock.advance(149_999);
  assertEquals(rig.status.kind, "watching");
  await rig.clock.advance(1);
  assertEquals(rig.waits, "stalled 1");
  assertEquals(rig.api.openWatches, 0);
  await rig.waitOut();
  assertEquals(rig.api.openWatches, 1);
  assertEquals(rig.counts.get("reflector_stalled_watches_total"), 1);
});

test("[11] each bookmark or event starts the 150 s anew", async () => {
  await using rig = await startRig({ prepare: (api) => api.put("a") });
  rig.api.bookmark();
  await drain();
  for (let minute = 0; minute < 4; minute++) {
    await rig.clock.advance(60_000);
    if (minute % 2 === 0) rig.api.bookmark();
    else rig.api.put("a", { value: minute });
    await drain();
  }
  assertEquals([rig.status.kind, rig.api.watches().length], ["watching", 1]);
});

test("[11] silence means nothing on a server that was never seen to send bookmarks", async () => {
  await using rig = await startRig({ prepare: (api) => api.put("a") });
  await rig.clock.advance(299_000);
  assertEquals([rig.status.kind, rig.api.watches().length], ["watching", 1]);
});

test("[12] a watch that ends at once and brought nothing backs off, without a relist", async () => {
  const rig = new Rig({ prepare: (api) => api.put("a") });
  await using _stopping = rig;
  await rig.start();
  rig.api.stream(...Array.from({ length: 5 }, () => ({ batches: [], then: "close" as const })));
  rig.api.endWatches();
  for (let attempt = 1; attempt <= 5; attempt++) {
    await drain();
    assertEquals(rig.waits, `cut ${attempt}`);
    await rig.waitOut();
  }
  assertEquals(rig.counts.get("reflector_short_watches_total"), 5);
  assertEquals(rig.api.watches().filter((watch) => watch.sendInitialEvents).length, 1);
});

test("[12] a watch that brings the same bookmark and ends at once backs off as well", async () => {
  await using rig = await startRig({ prepare: (api) => api.put("a") });
  const bookmark = wild('{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"101"}}}');
  rig.api.stream({ batches: [[bookmark]], then: "close" });
  rig.api.endWatches();
  await drain();
  assertEquals(rig.waits, "cut 1");
});

test("[12] a watch that ends after it brought something is taken up at once", async () => {
  await using rig = await startRig({ prepare: (api) => api.put("a") });
  rig.api.put("b");
  rig.api.endWatches();
  await drain();
  assertEquals([rig.status.kind, rig.api.openWatches], ["watching", 1]);
});

for (
  const [what, event] of Object.entries({
    "an unknown type": '{"type":"RENAMED","object":{"kind":"Thing","metadata":{"name":"x"}}}',
    "another kind": '{"type":"ADDED","object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"}}}',
    "another version":
      '{"type":"ADDED","object":{"apiVersion":"example.dev/v9","kind":"Thing","metadata":{"name":"x"}}}',
    "a Table": '{"type":"ADDED","object":{"apiVersion":"meta.k8s.io/v1","kind":"Table","metadata":{},"rows":[]}}',
    "no name": '{"type":"MODIFIED","object":{"apiVersion":"example.dev/v1","kind":"Thing","metadata":{}}}',
    "no metadata": '{"type":"DELETED","object":{"apiVersion":"example.dev/v1","kind":"Thing"}}',
    "no object": '{"type":"ADDED","object":null}',
    "a bookmark without metadata": '{"type":"BOOKMARK","object":{}}',
    "a bookmark of null": '{"type":"BOOKMARK","object":null}',
  })
) {
  test(`[13] an event with ${what} is passed over and counted, and the stream goes on`, async () => {
    await using rig = await startRig({
      expected: { apiVersion: "example.dev/v1", kind: "Thing" },
      prepare: (api) => api.put("a"),
    });
    rig.news();
    rig.api.send([wild(event)]);
    rig.api.put("b");
    await drain();
    assertEquals(rig.news(), ["+ default/b 0"]);
    assertEquals([rig.api.watches().length, rig.status.kind], [1, "watching"]);
    assertEquals(rig.counts.get("reflector_skipped_events_total"), 1);
  });
}

test("[13] items of a built-in kind's list, which carry no kind, are taken and get theirs", async () => {
  await using rig = await startRig({
    watchList: false,
    expected: { apiVersion: "example.dev/v1", kind: "Thing" },
    prepare: (api) => {
      api.list = () => Promise.resolve(JSON.parse('{"items":[{"metadata":{"name":"a"}}],"resourceVersion":"5"}'));
    },
  });
  const thing = rig.informer.lister.get(objectKey({ name: "a" }));
  assertEquals([thing.apiVersion, thing.kind], ["example.dev/v1", "Thing"]);
});

test("[14] a line that is not an event ends the watch, which is taken up from the version before it", async () => {
  await using rig = await startRig({ prepare: (api) => api.put("a") });
  rig.news();
  rig.api.put("b");
  rig.api.send([{ type: "MALFORMED", line: '{"type":"ADDED","obj', cause: new SyntaxError("cut") }]);
  await drain();
  assertEquals(rig.waits, "malformed 1");
  rig.api.put("c");
  await rig.waitOut();
  assertEquals(rig.api.watches().at(-1)?.resourceVersion, "102");
  assertEquals(rig.news(), ["+ default/b 0", "+ default/c 0"]);
  assertEquals(rig.informer.status().quarantined, []);
});

test("[14] what came before a bad line in the same batch is taken, and not asked for again", async () => {
  await using rig = await startRig({ prepare: (api) => api.put("a") });
  rig.news();
  const b = rig.api.put("b");
  rig.api.endWatches();
  rig.api.stream({
    batches: [[{
      type: "ADDED",
      object: { ...b, metadata: { ...b.metadata, resourceVersion: resourceVersion("150") } },
    }, poison("c")]],
    then: "hang",
  });
  await drain();
  assertEquals(rig.waits, "malformed 1");
  await rig.waitOut();
  assertEquals(rig.api.watches().at(-1)?.resourceVersion, "150");
});

const poison = (name: string): WatchEvent<Thing> => ({
  type: "MALFORMED",
  line:
    `{"type":"MODIFIED","object":{"metadata":{"name":"${name}","namespace":"default","uid":"u"},"spec":{"v":\u0001}}}`,
  cause: new SyntaxError("bad control character"),
});

test("[14] a line that is bad again at the same position is quarantined by its key, and the stream goes on", async () => {
  await using rig = await startRig({ prepare: (api) => (api.put("a", { value: 1 }), api.put("b")) });
  rig.news();
  rig.api.send([poison("a")]);
  await drain();
  assertEquals(rig.waits, "malformed 1");
  rig.api.stream({ batches: [[poison("a")]], then: "go on" });
  await rig.waitOut();
  rig.api.put("b", { value: 2 });
  await drain();
  assertEquals(rig.status.kind, "watching");
  assertEquals(rig.news(), ["~ default/b 0>2"]);
  assertEquals(rig.informer.status().quarantined.map((line) => [line.key, line.after]), [[
    key("a"),
    resourceVersion("102"),
  ]]);
  assertEquals(rig.counts.get("reflector_quarantined_lines_total"), 1);
  assertEquals(rig.informer.lister.get(key("a")).spec?.value, 1);
  rig.api.put("a", { value: 3 });
  await drain();
  assertEquals(rig.informer.status().quarantined, []);
});

test("[14] a bad line among the initial events keeps the object that is there and lets the others sync", async () => {
  await using rig = await startRig({ prepare: (api) => (api.put("a", { value: 1 }), api.put("b")) });
  rig.news();
  const initial = (value: number): WatchEvent<Thing>[] => {
    const metadata = { ...rig.informer.lister.get(key("b")).metadata, resourceVersion: `20${value}` };
    const b = JSON.stringify({ type: "ADDED", object: { metadata, spec: { value } } });
    return [poison("a"), wild(b), wild(closingBookmark(`20${value}`))];
  };
  rig.api.endWatches(new FakeApiError(410, "Expired"));
  rig.api.stream({ batches: [initial(5)], then: "hang" }, { batches: [initial(6)], then: "hang" });
  await drain();
  await rig.waitOut();
  assertEquals(rig.waits, "malformed 2");
  assertEquals(rig.news(), []);
  await rig.waitOut();
  assertEquals(rig.status.kind, "watching");
  assertEquals(rig.news(), ["~ default/b 0>6"]);
  assertEquals(rig.cached, ["default/a 1", "default/b 6"]);
});

function closingBookmark(version: string): string {
  const metadata = { resourceVersion: version, annotations: { "k8s.io/initial-events-end": "true" } };
  return JSON.stringify({ type: "BOOKMARK", object: { metadata } });
}

test("[14] a stream that is cut at the same byte for ever loses nothing when it heals", async () => {
  await using rig = await startRig({ prepare: (api) => api.put("a") });
  rig.news();
  const cut: WatchEvent<Thing> = {
    type: "MALFORMED",
    line: '{"type":"ADDED","object":{"meta',
    cause: new SyntaxError("cut"),
  };
  rig.api.stream(...Array.from({ length: 4 }, () => ({ batches: [[cut]], then: "close" as const })));
  rig.api.endWatches();
  await drain();
  rig.api.put("b");
  for (let attempt = 0; attempt < 4; attempt++) await rig.waitOut();
  assertEquals(rig.status.kind, "watching");
  assertEquals(rig.news(), ["+ default/b 0"]);
});

for (const phase of ["list", "streaming", "backoff", "watch"] as const) {
  test(`[17] a stop during ${phase} returns at once, aborts the request and leaves no timer`, async () => {
    const rig = new Rig({
      watchList: phase !== "list",
      prepare: (api) => {
        if (phase === "list") api.refuse("list", "hang");
        if (phase === "streaming") api.refuse("watch", "hang");
        if (phase === "backoff") api.refuse("watch", new FakeApiError(503, "ServiceUnavailable"));
      },
    });
    await rig.start();
    assertEquals(
      rig.status.kind,
      { list: "listing", streaming: "streaming", backoff: "waiting", watch: "watching" }[phase],
    );
    await rig.stop();
    assertEquals(rig.status.kind, "stopped");
    assertEquals([rig.clock.pendingTimers, rig.api.openWatches], [0, 0]);
  });
}

test("[17] a reflector whose signal is aborted before it starts makes no request", async () => {
  const rig = new Rig();
  await rig.stop();
  await rig.start();
  assertEquals([rig.api.requests.length, rig.clock.pendingTimers], [0, 0]);
});

test("[18] versions beyond 2^53 are told apart, and ones that are no numbers switch the checks off", async () => {
  const thing = (name: string, version: string): WatchEvent<Thing> =>
    wild(JSON.stringify({ type: "MODIFIED", object: { metadata: { name, uid: name, resourceVersion: version } } }));
  await using rig = await startRig({ prepare: (api) => api.put("a") });
  rig.news();
  rig.api.send([thing("big", "9007199254740993"), thing("big", "9007199254740992"), thing("big", "9007199254740994")]);
  await drain();
  assertEquals(rig.news().length, 2);
  assertEquals(rig.informer.store.lastSyncResourceVersion, resourceVersion("9007199254740994"));
  rig.api.send([thing("odd", "b7"), thing("odd", "a9"), thing("odd", "a9")]);
  await drain();
  assertEquals(rig.news().length, 2);
  assert(rig.informer.isAtLeast(resourceVersion("zz")));
});

test("[18] an event older than what the cache has is passed over", async () => {
  await using rig = await startRig();
  const old = rig.api.put("a", { value: 1 });
  rig.api.put("a", { value: 2 });
  await drain();
  rig.news();
  rig.api.send([{ type: "MODIFIED", object: old }, { type: "DELETED", object: old }]);
  await drain();
  assertEquals(rig.news(), []);
  assertEquals(rig.cached, ["default/a 2"]);
  assertEquals(rig.counts.get("reflector_skipped_events_total"), 2);
});

test("[19] in test mode an object that the stream has left out is found", async () => {
  const found: string[] = [];
  const rig = new Rig({
    checkConsistency: true,
    onError: (error) => void found.push(String(error)),
    prepare: (api) => {
      api.put("a");
      api.stream({ batches: [[wild(closingBookmark("101"))]], then: "hang" });
    },
  });
  await using _stopping = rig;
  await rig.start();
  await drain();
  assertEquals(found.length, 1);
  assertStringIncludes(found[0] ?? "", '"default/a" is listed but not cached');
});

test("[19] in test mode each sync is compared with a list at exactly its version", async () => {
  const found: unknown[] = [];
  const checks = { checkConsistency: true, onError: (error: unknown) => void found.push(error) };
  await using good = await startRig({ ...checks, prepare: (api) => (api.put("a"), api.put("b")) });
  await drain();
  assertEquals(good.api.lists(), [{ resourceVersion: "102", resourceVersionMatch: "Exact" }]);
  assertEquals(found, []);
  await using bad = await startRig({
    ...checks,
    prepare: (api) => {
      api.put("a");
      const thing = wild('{"type":"ADDED","object":{"metadata":{"name":"ghost","uid":"u","resourceVersion":"9"}}}');
      api.stream({ batches: [[thing, wild(closingBookmark("101"))]], then: "hang" });
    },
  });
  await drain();
  assertEquals(bad.status.kind, "watching");
  assertEquals(found.length, 1);
  assertStringIncludes(String(found[0]), '"ghost" is cached but not listed');
});

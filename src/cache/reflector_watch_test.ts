/** Tests of the time limits and the lines of a watch (behaviours 10-14), its stop (17) and versions (18, 19). */
import { assert, assertEquals, assertStringIncludes, test } from "../../tests/testing.ts";
import { FakeApi, FakeApiError, type Thing } from "../../tests/fakes/list_watch.ts";
import { objectKey, resourceVersion, type WatchEvent } from "../api/mod.ts";
import { drain, seededRandom, VirtualClock } from "../async/mod.ts";
import { key, startEnvironment, TestEnvironment } from "./testing/test_environment.ts";
import { Informer } from "./mod.ts";

/** An event that a server may send although its type does not allow it. */
function untypedEvent(json: string): WatchEvent<Thing> {
  return JSON.parse(json);
}

test("[10] timeoutSeconds is a random time between 5 and 10 minutes", async () => {
  const requested: number[] = [];
  for (let seed = 0; seed < 200; seed++) {
    await using env = await startEnvironment({ seed });
    requested.push(env.api.watches()[0]?.timeoutSeconds ?? 0);
  }
  assert(requested.every((seconds) => seconds >= 300 && seconds < 600));
  assert(requested.some((seconds) => seconds < 350) && requested.some((seconds) => seconds > 550));
});

test("[10] a watch that the server does not close is closed 5 s after the requested time", async () => {
  const clock = new VirtualClock();
  const api = new FakeApi();
  const informer = new Informer<Thing>({ name: "things", listWatch: api, clock, random: seededRandom(7) });
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  await drain();
  const requestedMs = (api.watches()[0]?.timeoutSeconds ?? 0) * 1000;
  await clock.advance(requestedMs + 4_999);
  assertEquals([api.watches().length, api.openWatches], [1, 1]);
  await clock.advance(1);
  assertEquals([api.watches().length, api.openWatches], [2, 1]);
  assertEquals(api.watches()[1]?.sendInitialEvents, undefined);
  stop.abort();
  await running;
});

test("[11] a stream that is silent for 150 s after a bookmark was seen is closed and opened again", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a") });
  await env.clock.advance(60_000);
  env.api.bookmark();
  await drain();
  await env.clock.advance(149_999);
  assertEquals(env.status.kind, "watching");
  await env.clock.advance(1);
  assertEquals(env.waiting, "stalled 1");
  assertEquals(env.api.openWatches, 0);
  await env.waitOutBackoff();
  assertEquals(env.api.openWatches, 1);
  assertEquals(env.counts.get("reflector_stalled_watches_total"), 1);
});

test("[11] each bookmark or event restarts the 150 s", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a") });
  env.api.bookmark();
  await drain();
  for (let minute = 0; minute < 4; minute++) {
    await env.clock.advance(60_000);
    if (minute % 2 === 0) env.api.bookmark();
    else env.api.put("a", { value: minute });
    await drain();
  }
  assertEquals([env.status.kind, env.api.watches().length], ["watching", 1]);
});

test("[11] a silent stream stays open when its server has not sent bookmarks", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a") });
  await env.clock.advance(299_000);
  assertEquals([env.status.kind, env.api.watches().length], ["watching", 1]);
});

test("[12] a watch that ends at once without any event is retried with backoff, without a relist", async () => {
  const env = new TestEnvironment({ prepare: (api) => api.put("a") });
  await using _stopping = env;
  await env.start();
  env.api.scriptWatches(...Array.from({ length: 5 }, () => ({ batches: [], then: "close" as const })));
  env.api.endWatches();
  for (let attempt = 1; attempt <= 5; attempt++) {
    await drain();
    assertEquals(env.waiting, `interrupted ${attempt}`);
    await env.waitOutBackoff();
  }
  assertEquals(env.counts.get("reflector_short_watches_total"), 5);
  assertEquals(env.api.watches().filter((watch) => watch.sendInitialEvents).length, 1);
});

test("[12] a watch that sends the same bookmark and ends at once is retried with backoff as well", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a") });
  const bookmark = untypedEvent('{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"101"}}}');
  env.api.scriptWatches({ batches: [[bookmark]], then: "close" });
  env.api.endWatches();
  await drain();
  assertEquals(env.waiting, "interrupted 1");
});

test("[12] a watch that ends after an event is opened again at once", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a") });
  env.api.put("b");
  env.api.endWatches();
  await drain();
  assertEquals([env.status.kind, env.api.openWatches], ["watching", 1]);
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
  test(`[13] an event with ${what} is skipped and counted, and the stream continues`, async () => {
    await using env = await startEnvironment({
      expected: { apiVersion: "example.dev/v1", kind: "Thing" },
      prepare: (api) => api.put("a"),
    });
    env.takeReceived();
    env.api.send([untypedEvent(event)]);
    env.api.put("b");
    await drain();
    assertEquals(env.takeReceived(), ["+ default/b 0"]);
    assertEquals([env.api.watches().length, env.status.kind], [1, "watching"]);
    assertEquals(env.counts.get("reflector_skipped_events_total"), 1);
  });
}

test("[13] items of a list without kind and apiVersion are cached, with the kind of the list", async () => {
  await using env = await startEnvironment({
    watchList: false,
    expected: { apiVersion: "example.dev/v1", kind: "Thing" },
    prepare: (api) => {
      api.list = () => Promise.resolve(JSON.parse('{"items":[{"metadata":{"name":"a"}}],"resourceVersion":"5"}'));
    },
  });
  const thing = env.informer.lister.get(objectKey({ name: "a" }));
  assertEquals([thing.apiVersion, thing.kind], ["example.dev/v1", "Thing"]);
});

test("[14] a line that is not an event ends the watch, and the next watch begins at the version before it", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a") });
  env.takeReceived();
  env.api.put("b");
  env.api.send([{ type: "MALFORMED", line: '{"type":"ADDED","obj', cause: new SyntaxError("cut") }]);
  await drain();
  assertEquals(env.waiting, "malformed 1");
  env.api.put("c");
  await env.waitOutBackoff();
  assertEquals(env.api.watches().at(-1)?.resourceVersion, "102");
  assertEquals(env.takeReceived(), ["+ default/b 0", "+ default/c 0"]);
  assertEquals(env.informer.status().quarantined, []);
});

test("[14] events before a bad line in the same batch are taken, and not requested again", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a") });
  env.takeReceived();
  const b = env.api.put("b");
  env.api.endWatches();
  env.api.scriptWatches({
    batches: [[{
      type: "ADDED",
      object: { ...b, metadata: { ...b.metadata, resourceVersion: resourceVersion("150") } },
    }, malformedLine("c")]],
    then: "hang",
  });
  await drain();
  assertEquals(env.waiting, "malformed 1");
  await env.waitOutBackoff();
  assertEquals(env.api.watches().at(-1)?.resourceVersion, "150");
});

const malformedLine = (name: string): WatchEvent<Thing> => ({
  type: "MALFORMED",
  line:
    `{"type":"MODIFIED","object":{"metadata":{"name":"${name}","namespace":"default","uid":"u"},"spec":{"v":\u0001}}}`,
  cause: new SyntaxError("bad control character"),
});

test("[14] a line that is bad again at the same position is quarantined with its key, and the stream continues", async () => {
  await using env = await startEnvironment({ prepare: (api) => (api.put("a", { value: 1 }), api.put("b")) });
  env.takeReceived();
  env.api.send([malformedLine("a")]);
  await drain();
  assertEquals(env.waiting, "malformed 1");
  env.api.scriptWatches({ batches: [[malformedLine("a")]], then: "continue" });
  await env.waitOutBackoff();
  env.api.put("b", { value: 2 });
  await drain();
  assertEquals(env.status.kind, "watching");
  assertEquals(env.takeReceived(), ["~ default/b 0>2"]);
  assertEquals(env.informer.status().quarantined.map((line) => [line.key, line.after]), [[
    key("a"),
    resourceVersion("102"),
  ]]);
  assertEquals(env.counts.get("reflector_quarantined_lines_total"), 1);
  assertEquals(env.informer.lister.get(key("a")).spec?.value, 1);
  env.api.put("a", { value: 3 });
  await drain();
  assertEquals(env.informer.status().quarantined, []);
});

test("[14] after a bad line among the initial events, its cached object stays and the others sync", async () => {
  await using env = await startEnvironment({ prepare: (api) => (api.put("a", { value: 1 }), api.put("b")) });
  env.takeReceived();
  const initial = (value: number): WatchEvent<Thing>[] => {
    const metadata = { ...env.informer.lister.get(key("b")).metadata, resourceVersion: `20${value}` };
    const b = JSON.stringify({ type: "ADDED", object: { metadata, spec: { value } } });
    return [malformedLine("a"), untypedEvent(b), untypedEvent(closingBookmark(`20${value}`))];
  };
  env.api.endWatches(new FakeApiError(410, "Expired"));
  env.api.scriptWatches({ batches: [initial(5)], then: "hang" }, { batches: [initial(6)], then: "hang" });
  await drain();
  await env.waitOutBackoff();
  assertEquals(env.waiting, "malformed 2");
  assertEquals(env.takeReceived(), []);
  await env.waitOutBackoff();
  assertEquals(env.status.kind, "watching");
  assertEquals(env.takeReceived(), ["~ default/b 0>6"]);
  assertEquals(env.cached, ["default/a 1", "default/b 6"]);
});

function closingBookmark(version: string): string {
  const metadata = { resourceVersion: version, annotations: { "k8s.io/initial-events-end": "true" } };
  return JSON.stringify({ type: "BOOKMARK", object: { metadata } });
}

test("[14] a stream that is interrupted several times at the same byte loses no event", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a") });
  env.takeReceived();
  const incomplete: WatchEvent<Thing> = {
    type: "MALFORMED",
    line: '{"type":"ADDED","object":{"meta',
    cause: new SyntaxError("cut"),
  };
  env.api.scriptWatches(...Array.from({ length: 4 }, () => ({ batches: [[incomplete]], then: "close" as const })));
  env.api.endWatches();
  await drain();
  env.api.put("b");
  for (let attempt = 0; attempt < 4; attempt++) await env.waitOutBackoff();
  assertEquals(env.status.kind, "watching");
  assertEquals(env.takeReceived(), ["+ default/b 0"]);
});

for (const phase of ["list", "streaming", "backoff", "watch"] as const) {
  test(`[17] run() ends at once on a stop during ${phase}, aborts the request and leaves no timer`, async () => {
    const env = new TestEnvironment({
      watchList: phase !== "list",
      prepare: (api) => {
        if (phase === "list") api.failNext("list", "hang");
        if (phase === "streaming") api.failNext("watch", "hang");
        if (phase === "backoff") api.failNext("watch", new FakeApiError(503, "ServiceUnavailable"));
      },
    });
    await env.start();
    assertEquals(
      env.status.kind,
      { list: "listing", streaming: "streaming", backoff: "waiting", watch: "watching" }[phase],
    );
    await env.stop();
    assertEquals(env.status.kind, "stopped");
    assertEquals([env.clock.pendingTimers, env.api.openWatches], [0, 0]);
  });
}

test("[17] a reflector whose signal is aborted before it runs makes no request", async () => {
  const env = new TestEnvironment();
  await env.stop();
  await env.start();
  assertEquals([env.api.requests.length, env.clock.pendingTimers], [0, 0]);
});

test("[18] versions above 2^53 are distinguished, and versions that are not numbers are not compared", async () => {
  const thing = (name: string, version: string): WatchEvent<Thing> =>
    untypedEvent(
      JSON.stringify({ type: "MODIFIED", object: { metadata: { name, uid: name, resourceVersion: version } } }),
    );
  await using env = await startEnvironment({ prepare: (api) => api.put("a") });
  env.takeReceived();
  env.api.send([thing("big", "9007199254740993"), thing("big", "9007199254740992"), thing("big", "9007199254740994")]);
  await drain();
  assertEquals(env.takeReceived().length, 2);
  assertEquals(env.informer.store.lastSyncResourceVersion, resourceVersion("9007199254740994"));
  env.api.send([thing("odd", "b7"), thing("odd", "a9"), thing("odd", "a9")]);
  await drain();
  assertEquals(env.takeReceived().length, 2);
  assert(env.informer.isAtLeast(resourceVersion("zz")));
});

test("[18] an event that is older than the cached object is skipped", async () => {
  await using env = await startEnvironment();
  const old = env.api.put("a", { value: 1 });
  env.api.put("a", { value: 2 });
  await drain();
  env.takeReceived();
  env.api.send([{ type: "MODIFIED", object: old }, { type: "DELETED", object: old }]);
  await drain();
  assertEquals(env.takeReceived(), []);
  assertEquals(env.cached, ["default/a 2"]);
  assertEquals(env.counts.get("reflector_skipped_events_total"), 2);
});

test("[19] the consistency check finds an object that is missing in the stream", async () => {
  const found: string[] = [];
  const env = new TestEnvironment({
    checkConsistency: true,
    onError: (error) => void found.push(String(error)),
    prepare: (api) => {
      api.put("a");
      api.scriptWatches({ batches: [[untypedEvent(closingBookmark("101"))]], then: "hang" });
    },
  });
  await using _stopping = env;
  await env.start();
  await drain();
  assertEquals(found.length, 1);
  assertStringIncludes(found[0] ?? "", '"default/a" is listed but not cached');
});

test("[19] the consistency check compares each sync with a list at exactly its version", async () => {
  const found: unknown[] = [];
  const checks = { checkConsistency: true, onError: (error: unknown) => void found.push(error) };
  await using good = await startEnvironment({ ...checks, prepare: (api) => (api.put("a"), api.put("b")) });
  await drain();
  assertEquals(good.api.lists(), [{ resourceVersion: "102", resourceVersionMatch: "Exact" }]);
  assertEquals(found, []);
  await using bad = await startEnvironment({
    ...checks,
    prepare: (api) => {
      api.put("a");
      const thing = untypedEvent(
        '{"type":"ADDED","object":{"metadata":{"name":"ghost","uid":"u","resourceVersion":"9"}}}',
      );
      api.scriptWatches({ batches: [[thing, untypedEvent(closingBookmark("101"))]], then: "hang" });
    },
  });
  await drain();
  assertEquals(bad.status.kind, "watching");
  assertEquals(found.length, 1);
  assertStringIncludes(String(found[0]), '"ghost" is cached but not listed');
});

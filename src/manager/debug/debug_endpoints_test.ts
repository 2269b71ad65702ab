import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { controller, done, TerminalError } from "../../controller/mod.ts";
import { builtin } from "../../api/mod.ts";
import { VirtualClock } from "../../async/mod.ts";
import { Recording } from "../../observe/mod.ts";
import { nextTurn } from "../../runtime/mod.ts";
import { createTestManager, greeter, namespace } from "../testing/test_manager.ts";
import { debugStateOf } from "../manager.ts";
import { debugEndpoints } from "./debug_endpoints.ts";
import type { CacheState } from "./debug_state.ts";
import { endpointOf, get, here, idleEndpoint, token } from "./testing/test_endpoint.ts";

test("[security 29] without the token nothing is shown, and any other token is refused", async () => {
  const { handler } = idleEndpoint();
  for (
    const authorization of [
      "",
      "Bearer ",
      `Bearer ${token}x`,
      `Bearer ${token.slice(1)}`,
      `Basic ${token}`,
      `Bearer ${"x".repeat(10_000)}`,
    ]
  ) {
    const response = await get(handler, "/debug/queues", { authorization });
    assertEquals([response.status, response.headers.get("www-authenticate")], [401, "Bearer"], authorization);
    assertEquals(await response.json(), { error: "The token is missing or wrong" });
  }
  assertEquals((await get(handler, "/debug/queues")).status, 200);
});

test("[security 29] web pages, other hosts and other methods than GET are refused before the token is looked at", async () => {
  const { handler } = idleEndpoint();
  assertEquals((await get(handler, "/debug/queues", { origin: "http://127.0.0.1:8082" })).status, 403);
  for (const host of ["evil.example", "evil.example:8082", "127.0.0.1.evil.example", "10.0.0.1", ""]) {
    assertEquals((await get(handler, "/debug/queues", { host })).status, 403, host);
  }
  for (const host of ["127.0.0.1", "localhost:8082", "[::1]:8082", "127.1.2.3"]) {
    assertEquals((await get(handler, "/debug/queues", { host })).status, 200, host);
  }
  for (const method of ["HEAD", "POST", "PUT", "DELETE", "OPTIONS"]) {
    const response = await handler(new Request("http://127.0.0.1/debug/queues", { method }), here);
    assertEquals([response.status, response.headers.get("allow")], [405, "GET"], method);
  }
  const open = idleEndpoint({ isLoopback: false }).handler;
  assertEquals((await get(open, "/debug/queues", { host: "operator.example" })).status, 200);
});

test("[130] queues and caches show what the controllers do", async () => {
  const failing = controller("failing").for(builtin.Namespace).reconcile(({ object }) => {
    if (object.metadata.name === "bad") throw new Error("no quota");
    if (object.metadata.name === "worse") throw new TerminalError("it cannot work");
    return Promise.resolve(done);
  });
  const recording = new Recording({ now: () => 0 });
  await using test = createTestManager([failing], { recorder: recording });
  for (const name of ["good", "bad", "worse"]) test.cluster.put(`/api/v1/namespaces/${name}`, namespace(name));
  void test.start();
  const handler = endpointOf(test, recording);
  await test.until(() => test.manager.retrying().length === 1);
  const { queues } = await (await get(handler, "/debug/queues")).json();
  const { controller: name, isRunning, waiting, queued } = queues[0];
  assertEquals([name, isRunning, waiting, queued], ["failing", true, 1, 0]);
  const { caches } = await (await get(handler, "/debug/caches")).json();
  const [{ hasSynced, state, objects, bytes, unconfirmedWrites }] = caches;
  assertEquals([caches.length, hasSynced, state, objects, unconfirmedWrites], [1, true, "watching", 3, 0]);
  assert(bytes > 100 && bytes < 10_000, `${bytes}`);
});

test("[130] the caches show their lag in seconds and in versions", async () => {
  await using test = createTestManager([greeter()]);
  test.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  void test.start();
  await test.until(() => test.cluster.writes.length > 0 && test.manager.isIdle());
  await test.clock.advance(12_000);
  const handler = endpointOf(test, new Recording({ now: () => 0 }));
  const { caches } = await (await get(handler, "/debug/caches")).json();
  const lags = caches.map((
    { name, lagSeconds, versionsBehind, resourceVersion, latestResourceVersion }: CacheState,
  ) => [name, lagSeconds, versionsBehind, resourceVersion === latestResourceVersion]);
  assertEquals(lags, [["namespaces", 12, 0, true], ["configmaps", 12, 0, true]]);
});

test("[130] /debug/why answers with the chain of a running process, and with the reason why nothing happens", async () => {
  const recording = new Recording({ now: () => Date.UTC(2026, 10, 23, 9) });
  await using test = createTestManager([greeter()], { recorder: recording });
  void test.start();
  const handler = endpointOf(test, recording);
  await test.until(() => test.manager.isIdle());
  test.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  await test.until(() => test.cluster.writes.length > 0 && test.manager.isIdle());
  const { object, chains } = await (await get(handler, "/debug/why?kind=ns&key=shop")).json();
  assertEquals(object, { resource: "namespaces", kind: "Namespace", key: "shop" });
  assertMatch(
    chains[0].steps.map(({ text }: { text: string }) => text).join(" → "),
    /^Namespace shop was created.* → Namespace shop queued, waited 0 ms → reconciled in 0 ms: applied ConfigMap shop\/greeter/,
  );
  const not = await (await get(handler, "/debug/why?kind=ns&key=other&not")).json();
  assertEquals(not.reasons[0].kind, "not-cached");
  assertEquals((await get(handler, "/debug/why?kind=odd&key=a")).status, 404);
  const odd = await (await get(handler, "/debug/why?kind=odd&key=a&not")).json();
  assertEquals(odd.reasons[0].kind, "not-watched");
  const write = recording.entries().find((entry) => entry.kind === "write");
  const ofWrite = await (await get(handler, `/debug/why?entry=${write?.id}`)).json();
  assertEquals([ofWrite.object.key, ofWrite.chains], ["shop/greeter", [chains[0]]]);
  assertEquals((await get(handler, "/debug/why?entry=999999")).status, 404);
  assertEquals((await get(handler, "/debug/why?entry=x")).status, 400);
  assertEquals((await get(handler, "/debug/why?kind=ns")).status, 400);
  assertEquals((await get(handler, "/debug/why?kind=ns&key=a&limit=1000")).status, 400);
});

test("[130] the recording comes in pages after an id", async () => {
  const { handler, recording } = idleEndpoint();
  for (let n = 0; n < 3_000; n++) recording.record({ kind: "note", actor: "test", what: `${n}`, causes: [] });
  const ids: number[] = [];
  for (let after = 0, pages = 0; pages < 3; pages++) {
    const { entries, next, lastId } = await (await get(handler, `/debug/recording?after=${after}`)).json();
    ids.push(...entries.map(({ id }: { id: number }) => id));
    assert(entries.length <= 2_000 && lastId === 3_000);
    after = next;
  }
  assertEquals([ids.length, ids[0], ids.at(-1)], [3_000, 1, 3_000]);
  assertEquals((await get(handler, "/debug/recording?after=x")).status, 400);
});

/** Reads `count` events of a stream. */
async function events(reader: ReadableStreamDefaultReader<Uint8Array>, count: number): Promise<readonly string[]> {
  let text = "";
  while (text.split("\n\n").length <= count) {
    const { done: isOver, value } = await reader.read();
    if (isOver) break;
    text += new TextDecoder().decode(value);
  }
  return text.split("\n\n").slice(0, -1);
}

test("[130] the recording is followed as server-sent events, and a client that does not read is ended", async () => {
  const { handler, recording, test } = idleEndpoint({ maxBytes: 200_000 });
  const note = (what: string) => recording.record({ kind: "note", actor: "test", what, causes: [] });
  note("before");
  const live = { accept: "text/event-stream" };
  const response = await get(handler, "/debug/recording", live);
  assertEquals(response.headers.get("content-type"), "text/event-stream");
  note("after");
  const reader = response.body?.getReader();
  assert(reader !== undefined);
  const [first = "", second = ""] = await events(reader, 2);
  assertMatch(first, /^id: 1\ndata: \{.*"before"/);
  assertMatch(second, /^id: 2\ndata: \{.*"after"/);
  for (let n = 0; n < 500; n++) note(`${n}`);
  const ids = (await events(reader, 500)).map((event) => Number(/^id: (\d+)/.exec(event)?.[1]));
  assertEquals(ids, Array.from({ length: 500 }, (_, index) => index + 3), "no entry is left out");
  const quiet = events(reader, 1);
  while (test.clock.pendingTimers === 0) await nextTurn();
  await test.clock.advance(15_000);
  assertEquals(await quiet, [": nothing has happened"]);
  for (let n = 0; n < 5_000; n++) note(`${n}`);
  assertEquals(await events(reader, 10_000), ['event: behind\ndata: {"lastId":502}'], "it has not read in time");
  const followers: Response[] = [];
  for (let n = 0; n < 17; n++) followers.push(await get(handler, "/debug/recording", live));
  assertEquals(followers.map(({ status }) => status), [...Array(16).fill(200), 503]);
  for (const { body } of followers.slice(0, 16)) await body?.cancel();
  const again = await get(handler, "/debug/recording", live);
  assertEquals(again.status, 200);
  await again.body?.cancel();
});

test("[130] a CPU profile opens in Chrome's tools; one is made at a time", async () => {
  const clock = new VirtualClock();
  const { test } = idleEndpoint();
  const recording = new Recording({ now: () => 0 });
  const handler = debugEndpoints({ state: debugStateOf(test.manager), recording, token, isLoopback: true, clock });
  assertEquals((await get(handler, "/debug/cpu?seconds=61")).status, 400);
  const profiling = get(handler, "/debug/cpu?seconds=5");
  while (clock.pendingTimers === 0) await nextTurn();
  assertEquals((await get(handler, "/debug/heap")).status, 429);
  await clock.advance(5_000);
  const response = await profiling;
  assertEquals(response.headers.get("content-disposition"), 'attachment; filename="process.cpuprofile"');
  const { nodes }: { nodes: unknown[] } = await response.json();
  assert(nodes.length > 0);
});

test("[security 29] a heap snapshot, which contains credentials, is served on loopback only", async () => {
  const response = await get(idleEndpoint({ isLoopback: false }).handler, "/debug/heap");
  assertEquals(response.status, 403);
  const local = await get(idleEndpoint().handler, "/debug/heap");
  assertEquals(local.status, 200);
  await local.body?.cancel();
  const small = await get(idleEndpoint({ maxHeapBytes: 1 }).handler, "/debug/heap");
  assertEquals(small.status, 503);
  assertMatch(await small.text(), /A snapshot of \d+ MiB would stop the process for too long/);
});

/** Tests of a cache of several namespaces, which may be added and removed. */
import { assert, assertEquals, assertRejects, assertThrows, test } from "../../tests/testing.ts";
import { FakeApi, FakeApiError, type Thing } from "../../tests/fakes/list_watch.ts";
import { resourceVersion } from "../api/mod.ts";
import { drain, seededRandom, VirtualClock } from "../async/mod.ts";
import { key, recorder } from "./testing/test_environment.ts";
import { Informer, MultiNamespaceInformer, problemOf } from "./mod.ts";

/** One fake API per namespace, and an informer of some of them. */
function multi(namespaces: readonly string[]) {
  const clock = new VirtualClock();
  const random = seededRandom(3);
  const apis = new Map<string, FakeApi>();
  const api = (namespace: string) => {
    const existing = apis.get(namespace) ?? new FakeApi();
    apis.set(namespace, existing);
    return existing;
  };
  const informer = new MultiNamespaceInformer<Thing>({
    name: "things",
    clock,
    namespaces,
    informerFor: (namespace) =>
      new Informer<Thing>({
        name: `things in namespace ${namespace}`,
        listWatch: api(namespace),
        clock,
        random,
        freeze: true,
      }),
  });
  const stop = new AbortController();
  const put = (namespace: string, name: string, value = 0) => api(namespace).put(name, { namespace, value });
  return { clock, api, put, informer, stop, signal: stop.signal };
}

const cached = (informer: MultiNamespaceInformer<Thing>) =>
  informer.lister.list().map((thing) => `${thing.metadata.namespace}/${thing.metadata.name}`).sort();

test("a lister reads several namespaces as one", async () => {
  const { informer, put, stop, signal } = multi(["one", "two"]);
  put("one", "a");
  put("two", "a", 2);
  put("two", "b");
  informer.addIndexers({ value: (thing) => [String(thing.spec?.value)] });
  const running = informer.run(signal);
  await informer.synced(signal);
  assertEquals(cached(informer), ["one/a", "two/a", "two/b"]);
  assertEquals(informer.lister.size, 3);
  assertEquals(informer.lister.get(key("a", "two")).spec?.value, 2);
  assertEquals(informer.lister.find(key("a", "three")), undefined);
  assertEquals(informer.lister.list({ namespace: "two" }).length, 2);
  assertEquals(informer.lister.list({ namespace: "three" }), []);
  assertEquals(informer.lister.byIndex("value", "0").length, 2);
  assertEquals([...informer.lister.indexValues("value")].sort(), ["0", "2"]);
  stop.abort();
  await running;
});

test("a handler gets the changes of all namespaces, and has synced after the initial objects of all", async () => {
  const { informer, put, api, clock, stop, signal } = multi(["one", "two"]);
  put("one", "a");
  put("two", "b");
  api("two").failNext("watch", new FakeApiError(503, "ServiceUnavailable"));
  const received: string[] = [];
  const registration = informer.addHandler(recorder(received));
  const running = informer.run(signal);
  await drain();
  assertEquals([received, registration.hasSynced, informer.hasSynced], [["+ one/a 0"], false, false]);
  await clock.advance(2_000);
  assertEquals([registration.hasSynced, informer.hasSynced], [true, true]);
  put("two", "b", 1);
  put("one", "a", 1);
  await drain();
  assertEquals(received, ["+ one/a 0", "+ two/b 0", "~ two/b 0>1", "~ one/a 0>1"]);
  stop.abort();
  await running;
});

test("a handler of several namespaces gets one call at a time", async () => {
  const { informer, put, clock, stop, signal } = multi(["one", "two"]);
  put("one", "a");
  put("two", "b");
  let running = 0, maxRunning = 0, calls = 0;
  informer.addHandler({
    onAdd: async () => {
      maxRunning = Math.max(maxRunning, ++running);
      await clock.sleep(10, signal);
      running--;
      calls++;
    },
  });
  const run = informer.run(signal);
  await clock.advance(100);
  assertEquals([maxRunning, calls], [1, 2]);
  stop.abort();
  await run;
});

test("a namespace that is added delivers its objects, and the removal of one notifies no handler", async () => {
  const { informer, put, api, stop, signal } = multi(["one"]);
  put("one", "a");
  put("two", "b");
  const received: string[] = [];
  informer.addHandler(recorder(received));
  const running = informer.run(signal);
  await informer.synced(signal);
  informer.add("two");
  informer.add("two");
  assert(!informer.hasSynced);
  await informer.synced(signal);
  await drain();
  assertEquals(cached(informer), ["one/a", "two/b"]);
  await informer.remove("one");
  await informer.remove("one");
  put("one", "c");
  put("two", "d");
  await drain();
  assertEquals([cached(informer), informer.namespaces, api("one").openWatches], [["two/b", "two/d"], ["two"], 0]);
  assertEquals(received, ["+ one/a 0", "+ two/b 0", "+ two/d 0"]);
  stop.abort();
  await running;
});

test("waitFor() waits in the namespace of the write", async () => {
  const { informer, put, stop, signal } = multi(["one", "two"]);
  const running = informer.run(signal);
  await informer.synced(signal);
  put("one", "a");
  await drain();
  const written = resourceVersion("101");
  assertEquals([informer.isAtLeast(written, "one"), informer.isAtLeast(written, "two"), informer.isAtLeast(written)], [
    true,
    false,
    false,
  ]);
  assert(informer.isAtLeast(written, "elsewhere"));
  assertEquals(await informer.waitFor(written, signal, { namespace: "one" }), true);
  const both = informer.waitFor(written, signal);
  put("two", "b");
  assertEquals(await both, true);
  stop.abort();
  await running;
});

test("a namespace that may not be read is reported, and the others work", async () => {
  const { informer, put, api, stop, signal } = multi(["open", "closed"]);
  put("open", "a");
  api("closed").failNext("watch", new FakeApiError(403, "Forbidden"));
  const running = informer.run(signal);
  await drain();
  assertEquals(cached(informer), ["open/a"]);
  assertEquals(informer.statuses().flatMap((status) => problemOf(status) ?? []), [
    "things in namespace closed: forbidden to list or watch (403 Forbidden)",
  ]);
  stop.abort();
  await running;
});

test("an informer without namespaces has synced, and a stopped one refuses handlers and a second run", async () => {
  const { informer, clock, stop, signal } = multi([]);
  const registration = informer.addHandler({ onAdd: () => {} });
  const running = informer.run(signal);
  await informer.synced(signal);
  assertEquals([registration.hasSynced, cached(informer)], [true, []]);
  stop.abort();
  await running;
  await assertRejects(() => informer.run(signal), /was started before/);
  assertThrows(() => informer.addHandler({ onAdd: () => {} }), /it has stopped/);
  assertEquals(clock.pendingTimers, 0);
});

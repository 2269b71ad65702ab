/** Tests of several namespaces as one view, and of namespaces that come and go. */
import { assert, assertEquals, assertRejects, assertThrows, test } from "../../tests/testing.ts";
import { FakeApi, FakeApiError, type Thing } from "../../tests/fakes/list_watch.ts";
import { resourceVersion } from "../api/mod.ts";
import { drain, seededRandom, VirtualClock } from "../async/mod.ts";
import { key, recorder } from "./_rig.ts";
import { Informer, MultiNamespaceInformer, problemOf } from "./mod.ts";

/** One fake API per namespace, and the view over some of them. */
function multi(namespaces: readonly string[]) {
  const clock = new VirtualClock();
  const random = seededRandom(3);
  const apis = new Map<string, FakeApi>();
  const api = (namespace: string) => {
    const present = apis.get(namespace) ?? new FakeApi();
    apis.set(namespace, present);
    return present;
  };
  const view = new MultiNamespaceInformer<Thing>({
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
  return { clock, api, put, view, stop, signal: stop.signal };
}

const cached = (view: MultiNamespaceInformer<Thing>) =>
  view.lister.list().map((thing) => `${thing.metadata.namespace}/${thing.metadata.name}`).sort();

test("several namespaces are read as one", async () => {
  const { view, put, stop, signal } = multi(["one", "two"]);
  put("one", "a");
  put("two", "a", 2);
  put("two", "b");
  view.addIndexers({ value: (thing) => [String(thing.spec?.value)] });
  const running = view.run(signal);
  await view.synced(signal);
  assertEquals(cached(view), ["one/a", "two/a", "two/b"]);
  assertEquals(view.lister.size, 3);
  assertEquals(view.lister.get(key("a", "two")).spec?.value, 2);
  assertEquals(view.lister.find(key("a", "three")), undefined);
  assertEquals(view.lister.list({ namespace: "two" }).length, 2);
  assertEquals(view.lister.list({ namespace: "three" }), []);
  assertEquals(view.lister.byIndex("value", "0").length, 2);
  assertEquals([...view.lister.indexValues("value")].sort(), ["0", "2"]);
  stop.abort();
  await running;
});

test("a handler of several namespaces hears of all, and has synced when it has processed all initial objects", async () => {
  const { view, put, api, clock, stop, signal } = multi(["one", "two"]);
  put("one", "a");
  put("two", "b");
  api("two").refuse("watch", new FakeApiError(503, "ServiceUnavailable"));
  const heard: string[] = [];
  const registration = view.addHandler(recorder(heard));
  const running = view.run(signal);
  await drain();
  assertEquals([heard, registration.hasSynced, view.hasSynced], [["+ one/a 0"], false, false]);
  await clock.advance(2_000);
  assertEquals([registration.hasSynced, view.hasSynced], [true, true]);
  put("two", "b", 1);
  put("one", "a", 1);
  await drain();
  assertEquals(heard, ["+ one/a 0", "+ two/b 0", "~ two/b 0>1", "~ one/a 0>1"]);
  stop.abort();
  await running;
});

test("a handler of several namespaces is called once at a time", async () => {
  const { view, put, clock, stop, signal } = multi(["one", "two"]);
  put("one", "a");
  put("two", "b");
  let running = 0, most = 0, calls = 0;
  view.addHandler({
    added: async () => {
      most = Math.max(most, ++running);
      await clock.sleep(10, signal);
      running--;
      calls++;
    },
  });
  const run = view.run(signal);
  await clock.advance(100);
  assertEquals([most, calls], [1, 2]);
  stop.abort();
  await run;
});

test("a namespace that is added at run time brings its objects, one that is removed leaves without a word", async () => {
  const { view, put, api, stop, signal } = multi(["one"]);
  put("one", "a");
  put("two", "b");
  const heard: string[] = [];
  view.addHandler(recorder(heard));
  const running = view.run(signal);
  await view.synced(signal);
  view.add("two");
  view.add("two");
  assert(!view.hasSynced);
  await view.synced(signal);
  await drain();
  assertEquals(cached(view), ["one/a", "two/b"]);
  await view.remove("one");
  await view.remove("one");
  put("one", "c");
  put("two", "d");
  await drain();
  assertEquals([cached(view), view.namespaces, api("one").openWatches], [["two/b", "two/d"], ["two"], 0]);
  assertEquals(heard, ["+ one/a 0", "+ two/b 0", "+ two/d 0"]);
  stop.abort();
  await running;
});

test("versions are waited for in the namespace of the write", async () => {
  const { view, put, stop, signal } = multi(["one", "two"]);
  const running = view.run(signal);
  await view.synced(signal);
  put("one", "a");
  await drain();
  const written = resourceVersion("101");
  assertEquals([view.isAtLeast(written, "one"), view.isAtLeast(written, "two"), view.isAtLeast(written)], [
    true,
    false,
    false,
  ]);
  assert(view.isAtLeast(written, "elsewhere"));
  assertEquals(await view.waitFor(written, signal, { namespace: "one" }), true);
  const both = view.waitFor(written, signal);
  put("two", "b");
  assertEquals(await both, true);
  stop.abort();
  await running;
});

test("a namespace that may not be read is named, and the others work", async () => {
  const { view, put, api, stop, signal } = multi(["open", "closed"]);
  put("open", "a");
  api("closed").refuse("watch", new FakeApiError(403, "Forbidden"));
  const running = view.run(signal);
  await drain();
  assertEquals(cached(view), ["open/a"]);
  assertEquals(view.statuses().flatMap((status) => problemOf(status) ?? []), [
    "things in namespace closed: forbidden to list or watch (403 Forbidden)",
  ]);
  stop.abort();
  await running;
});

test("a view of no namespace has synced, and what has stopped takes no handler and no second run", async () => {
  const { view, clock, stop, signal } = multi([]);
  const registration = view.addHandler({ added: () => {} });
  const running = view.run(signal);
  await view.synced(signal);
  assertEquals([registration.hasSynced, cached(view)], [true, []]);
  stop.abort();
  await running;
  await assertRejects(() => view.run(signal), /was started before/);
  assertThrows(() => view.addHandler({ added: () => {} }), /it has stopped/);
  assertEquals(clock.pendingTimers, 0);
});

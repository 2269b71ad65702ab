/** Informers with bounded caches: what stays, what is evicted, and how bodies come back. */
import { FakeApi, type Thing } from "../../tests/fakes/list_watch.ts";
import { assert, assertEquals, assertRejects, assertThrows, test } from "../../tests/testing.ts";
import type { ObjectKey } from "../api/mod.ts";
import { drain } from "../async/mod.ts";
import { BoundedBodies, type CacheLimit } from "./bounded_bodies.ts";
import { EvictedBodyError, isEvicted, keptPart } from "./evicted_body.ts";
import { key, TestEnvironment } from "./testing/test_environment.ts";

/** An informer with a bounded cache of things with the numbers from 0, and the keys that it read. */
async function boundedThings(limit: CacheLimit, things: number, hidden?: ObjectKey): Promise<{
  readonly environment: TestEnvironment;
  readonly reads: ObjectKey[];
  /** Holds single reads back until it is called. */
  readonly answer: () => void;
}> {
  const reads: ObjectKey[] = [];
  const { promise, resolve: answer } = Promise.withResolvers<void>();
  const environment: TestEnvironment = new TestEnvironment({
    prepare: (api: FakeApi) => {
      for (let index = 0; index < things; index++) api.put(`t${index}`, { value: index });
    },
    indexers: { parity: (thing) => [String((thing.spec?.value ?? 0) % 2)] },
    bounds: {
      limit,
      read: async (read) => {
        reads.push(read);
        await promise;
        return read === hidden ? undefined : environment.api.objects().get(read);
      },
    },
  });
  await environment.start();
  return { environment, reads, answer };
}

const valueOf = (thing: Thing | undefined) => thing?.spec?.value;

test("handlers see every object with its body, the cache keeps as many bodies as the limit says", async () => {
  const { environment } = await boundedThings({ maxObjects: 2 }, 5);
  await using _stopping = environment;
  assertEquals(environment.received, [0, 1, 2, 3, 4].map((index) => `+ default/t${index} ${index}`));
  const kept = environment.informer.lister.list({ filter: (thing) => !isEvicted(thing) });
  assertEquals([environment.informer.lister.size, kept.map(valueOf)], [5, [3, 4]]);
});

test("an evicted object has its metadata, and a read of another field says what to do", async () => {
  const { environment } = await boundedThings({ maxObjects: 1 }, 2);
  await using _stopping = environment;
  const evicted = environment.informer.lister.get(key("t0"));
  assertEquals([evicted.kind, evicted.metadata.name, Object.keys(keptPart(evicted))], [
    "Thing",
    "t0",
    ["apiVersion", "kind", "metadata"],
  ]);
  for (
    const read of [() => evicted.spec, () => ({ ...evicted }), () => "spec" in evicted, () => JSON.stringify(evicted)]
  ) {
    const error = assertThrows(read, /its body was evicted from the cache\. Read it with ctx\.find or ctx\.list/);
    assert(error instanceof EvictedBodyError);
  }
});

test("indices find evicted objects, also after changes and a new list", async () => {
  const { environment } = await boundedThings({ maxObjects: 1 }, 4);
  await using _stopping = environment;
  const even = () => environment.informer.lister.byIndex("parity", "0").map(({ metadata }) => metadata.name).sort();
  assertEquals(even(), ["t0", "t2"]);
  environment.api.put("t0", { value: 1 });
  environment.api.put("t1", { value: 2 });
  await drain();
  assertEquals(even(), ["t1", "t2"]);
  environment.api.delete("t2");
  await drain();
  assertEquals(even(), ["t1"]);
});

test("concurrent loads of a body are one request, and the body stays until the last one is disposed", async () => {
  const { environment, reads, answer } = await boundedThings({ maxObjects: 1 }, 3);
  await using _stopping = environment;
  const { informer, signal } = environment;
  const loads = [informer.loadBodies([key("t0")], signal), informer.loadBodies([key("t0")], signal)];
  answer();
  const [first, second] = await Promise.all(loads);
  assertEquals([reads, valueOf(informer.lister.get(key("t0")))], [[key("t0")], 0]);
  first?.[Symbol.dispose]();
  environment.api.put("t1", { value: 5 });
  await drain();
  assertEquals(isEvicted(informer.lister.get(key("t0"))), false);
  second?.[Symbol.dispose]();
  assertEquals(informer.lister.list({ filter: (thing) => !isEvicted(thing) }).length, 1);
});

test("at most ten single reads run at a time, and many bodies are read in pages of one list", async () => {
  const { environment, reads, answer } = await boundedThings({ maxObjects: 1 }, 40);
  await using _stopping = environment;
  const { informer, signal, api } = environment;
  const few = informer.loadBodies(Array.from({ length: 15 }, (_, index) => key(`t${index}`)), signal);
  await drain();
  assertEquals(reads.length, 10);
  answer();
  (await few)[Symbol.dispose]();
  assertEquals(reads.length, 15);
  const lists = api.lists().length;
  using _all = await informer.loadBodies(
    informer.lister.list().map(({ metadata }) => key(metadata.name ?? "")),
    signal,
  );
  assertEquals([reads.length, api.lists().length - lists], [15, 1]);
  assertEquals(
    informer.lister.list().map(valueOf).sort((a = 0, b = 0) => a - b),
    Array.from({ length: 40 }, (_, at) => at),
  );
});

test("a newer state that is read is in the cache, and handlers are notified once", async () => {
  const { environment, answer } = await boundedThings({ maxObjects: 1 }, 2);
  await using _stopping = environment;
  const { informer, signal, api } = environment;
  const seen: (number | undefined)[] = [];
  informer.addHandler({ onUpdate: (_old, current) => void seen.push(valueOf(current)) });
  await drain();
  const loading = informer.loadBodies([key("t0")], signal);
  api.put("t0", { value: 9 });
  answer();
  using _loaded = await loading;
  await drain();
  assertEquals([valueOf(informer.lister.get(key("t0"))), seen], [9, [9]]);
});

test("an object that the server does not have any more is reported, an aborted load holds nothing", async () => {
  const { environment, answer } = await boundedThings({ maxObjects: 1 }, 3, key("t0"));
  await using _stopping = environment;
  const { informer } = environment;
  const aborting = new AbortController();
  const aborted = informer.loadBodies([key("t1")], aborting.signal);
  aborting.abort(new Error("enough"));
  await assertRejects(() => aborted, /enough/);
  const loading = informer.loadBodies([key("t0")], environment.signal);
  answer();
  using loaded = await loading;
  assertEquals([[...loaded.gone], isEvicted(informer.lister.get(key("t0")))], [[key("t0")], true]);
  assertEquals(environment.counts.get("informer_live_reads_total"), 2);
});

test("the limit in bytes evicts what was used longest ago, and never what is held", () => {
  const bodies = new BoundedBodies({ maxBytes: 1_000 });
  const thing = (size: number) => ({
    apiVersion: "v1",
    kind: "Thing",
    metadata: { name: "x" },
    text: "x".repeat(size),
  });
  using held = bodies.hold(key("a"));
  for (const name of ["a", "b", "c"]) bodies.put(key(name), thing(300));
  assertEquals(bodies.takeExcess(), [key("b")]);
  assert(bodies.bytes > 600 && bodies.bytes <= 1_000, String(bodies.bytes));
  held[Symbol.dispose]();
  bodies.put(key("d"), thing(300));
  assertEquals([bodies.takeExcess(), bodies.size], [[key("a")], 2]);
});

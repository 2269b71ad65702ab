/** Tests of resyncs of large caches: rounds of slices. handler_test.ts has those of small ones. */
import { assertEquals, test } from "../../tests/testing.ts";
import { type ObjectKey, objectKey } from "../api/mod.ts";
import { VirtualClock } from "../async/mod.ts";
import { logger } from "../observe/mod.ts";
import { Listener, type ListenerSource } from "./listener.ts";
import { noCacheMetrics } from "./metrics.ts";
import { Resyncs } from "./resyncs.ts";

/** A cached object, and its state. */
interface Counted {
  readonly key: ObjectKey;
  readonly state: number;
}

/** A cache with `count` objects. */
class FakeSource implements ListenerSource<Counted> {
  readonly objects = new Map<ObjectKey, Counted>();
  filling = false;

  constructor(name: string, count: number) {
    for (let index = 0; index < count; index++) this.put(objectKey({ name: `${name}-${index}` }), 0);
  }

  put(key: ObjectKey, state: number): void {
    this.objects.set(key, { key, state });
  }

  attach(): Disposable {
    return { [Symbol.dispose]: () => {} };
  }

  keys(): Iterable<ObjectKey> {
    return this.objects.keys();
  }

  get(key: ObjectKey): Counted | undefined {
    return this.objects.get(key);
  }

  isFilling(): boolean {
    return this.filling;
  }
}

/** Resyncs of some caches, and what was delivered when. */
class TestResyncs implements Disposable {
  readonly clock = new VirtualClock();
  readonly sources: Map<ListenerSource<Counted>, undefined>;
  /** Calls of the handler by second. */
  readonly calls = new Map<number, number>();
  /** What was delivered in the current round. */
  received: Counted[] = [];
  /** Set: the handler is busy until it resolves. */
  gate: Promise<void> | undefined;
  readonly #resyncs: Resyncs<Counted>;

  constructor(sources: readonly FakeSource[], periodMs: number) {
    this.sources = new Map(sources.map((source) => [source, undefined]));
    const listener = new Listener<Counted>({
      ...{ name: "handler", informer: "things", log: logger("test"), metrics: noCacheMetrics, onError: () => {} },
      handler: { onUpdate: (_, current) => this.#onUpdate(current) },
    });
    this.#resyncs = new Resyncs({
      listener,
      sources: this.sources,
      hasSynced: () => true,
      periodMs,
      clock: this.clock,
    });
  }

  #onUpdate(current: Counted): Promise<void> | undefined {
    const second = this.clock.monotonic() / 1_000;
    this.calls.set(second, (this.calls.get(second) ?? 0) + 1);
    this.received.push(current);
    return this.gate;
  }

  [Symbol.dispose](): void {
    this.#resyncs[Symbol.dispose]();
  }
}

test("[37] a resync of many objects is spread over the period, and delivers each object once in a period", async () => {
  using resyncs = new TestResyncs([new FakeSource("a", 900), new FakeSource("b", 900)], 60_000);
  await resyncs.clock.advance(119_000);
  assertEquals([...resyncs.calls], [[60, 450], [75, 450], [90, 450], [105, 450]]);
  assertEquals(new Set(resyncs.received.map(({ key }) => key)).size, 1_800);
  await resyncs.clock.advance(60_000);
  assertEquals([...resyncs.calls.keys()].slice(4), [120, 135, 150, 165]);
  assertEquals(resyncs.received.length, 3_600);
});

test("[37] the slices of a short period are larger, and not closer than 100 ms", async () => {
  using resyncs = new TestResyncs([new FakeSource("a", 20_000)], 500);
  await resyncs.clock.advance(999);
  assertEquals([...resyncs.calls], [[0.5, 4_000], [0.6, 4_000], [0.7, 4_000], [0.8, 4_000], [0.9, 4_000]]);
});

test("[25] a slice delivers what the caches have at its moment, and nothing of a removed namespace", async () => {
  const [kept, removed] = [new FakeSource("kept", 750), new FakeSource("removed", 750)];
  using resyncs = new TestResyncs([kept, removed], 60_000);
  await resyncs.clock.advance(60_000);
  assertEquals(resyncs.received.length, 500);
  const [changed, deleted] = [objectKey({ name: "kept-600" }), objectKey({ name: "kept-700" })];
  kept.put(changed, 1);
  kept.put(objectKey({ name: "kept-new" }), 1);
  kept.objects.delete(deleted);
  resyncs.sources.delete(removed);
  await resyncs.clock.advance(59_999);
  const states = new Map(resyncs.received.map(({ key, state }) => [key, state]));
  assertEquals([states.get(changed), states.get(deleted), states.size], [1, undefined, 749]);
  resyncs.received = [];
  await resyncs.clock.advance(60_000);
  assertEquals(resyncs.received.length, 750, "the next round has the new object");
});

test("a slice waits while a cache reads objects that it lacks, and for a handler that is busy", async () => {
  const source = new FakeSource("a", 1_000);
  using resyncs = new TestResyncs([source], 60_000);
  await resyncs.clock.advance(60_000);
  source.filling = true;
  await resyncs.clock.advance(100_000);
  assertEquals([...resyncs.calls], [[60, 500]]);
  source.filling = false;
  const gate = Promise.withResolvers<void>();
  resyncs.gate = gate.promise;
  await resyncs.clock.advance(30_000);
  assertEquals([...resyncs.calls], [[60, 500], [180, 1]]);
  await resyncs.clock.advance(500_000);
  assertEquals(resyncs.received.length, 501, "nothing more for a busy handler");
  resyncs.gate = undefined;
  gate.resolve();
  await resyncs.clock.advance(1_000);
  assertEquals(resyncs.received.length, 1_000, "what had waited");
});

test("no timer remains of resyncs that have ended in the middle of a round", async () => {
  using resyncs = new TestResyncs([new FakeSource("a", 2_000)], 60_000);
  await resyncs.clock.advance(70_000);
  resyncs[Symbol.dispose]();
  assertEquals(resyncs.clock.pendingTimers, 0);
});

/**
 * Model-based test of the cache without a reflector: random sequences of operations against a model that is small
 * enough to be checked by reading. A failure prints fast-check's seed and the shrunk sequence.
 *
 * Invariants: the store equals the model after each step; every handler, fast or slow, early or late, gets exactly the
 * notifications of the model, in that order; indices equal a scan.
 */
import fc from "fast-check";
import { assert, assertEquals, test } from "../../tests/testing.ts";
import type { Thing } from "../../tests/fakes/list_watch.ts";
import { keyOf, type ObjectKey, resourceVersion } from "../api/mod.ts";
import { logger } from "../observe/mod.ts";
import { CacheWriter } from "./cache_writer.ts";
import { ObjectFilter } from "./object_filter.ts";
import { FanOut, initialAdd, Listener, observedChange } from "./listener.ts";
import { recorder } from "./testing/test_environment.ts";
import { noCacheMetrics, Store } from "./mod.ts";

const runs = 2_000;

type Operation =
  | { readonly kind: "put" | "recreate" | "remove" | "stale" | "repeat"; readonly name: string; readonly value: number }
  | { readonly kind: "relist"; readonly names: readonly string[]; readonly value: number }
  | { readonly kind: "late" | "resync" | "release" | "clear" };

const name = fc.constantFrom("a", "b", "c", "d");
const value = fc.nat({ max: 3 });
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("put" as const), name, value }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom("recreate" as const, "remove" as const), name, value }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("stale" as const, "repeat" as const), name, value }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("relist" as const), names: fc.subarray(["a", "b", "c", "d"]), value }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom("late" as const, "resync" as const, "release" as const, "clear" as const),
    }),
  },
);

/** The behaviour of a cache, without indices, batches, backlogs or promises. */
class Model {
  readonly state = new Map<ObjectKey, Thing>();
  readonly logs: string[][] = [];
  synced = false;

  notify(line: string): void {
    for (const log of this.logs) log.push(line);
  }

  upsert(thing: Thing): void {
    const key = keyOf(thing);
    const old = this.state.get(key);
    if (old !== undefined && Number(thing.metadata.resourceVersion) <= Number(old.metadata.resourceVersion)) return;
    if (old === undefined) this.notify(`+ ${key} ${thing.spec?.value}`);
    else if (old.metadata.uid === thing.metadata.uid) this.notify(`~ ${key} ${old.spec?.value}>${thing.spec?.value}`);
    else {
      this.notify(`-? ${key} ${old.spec?.value}`);
      this.notify(`+ ${key} ${thing.spec?.value}`);
      this.state.delete(key);
    }
    this.state.set(key, thing);
  }

  remove(thing: Thing): void {
    const key = keyOf(thing);
    const old = this.state.get(key);
    if (old === undefined || Number(thing.metadata.resourceVersion) < Number(old.metadata.resourceVersion)) return;
    const isSame = old.metadata.uid === thing.metadata.uid;
    this.notify(isSame ? `- ${key} ${thing.spec?.value}` : `-? ${key} ${old.spec?.value}`);
    this.state.delete(key);
  }

  replace(things: readonly Thing[]): void {
    const next = new Map(things.map((thing) => [keyOf(thing), thing] as const));
    for (const [key, old] of [...this.state]) {
      if (next.has(key)) continue;
      this.notify(`-? ${key} ${old.spec?.value}`);
      this.state.delete(key);
    }
    for (const [key, thing] of next) {
      this.upsert(thing);
      // From now on the order is that of the list.
      this.state.delete(key);
      this.state.set(key, thing);
    }
    this.synced = true;
  }
}

/** The cache and its model; every operation is applied to both. */
class Pair {
  readonly model = new Model();
  readonly store = new Store<Thing>({
    indexers: { value: (thing) => [String(thing.spec?.value), thing.metadata.uid ?? ""] },
  });
  readonly fanOut = new FanOut<Thing>();
  readonly received: string[][] = [];
  readonly writer: CacheWriter<Thing>;
  readonly #gates: (() => void)[] = [];
  #version = 100;
  #uid = 0;

  constructor() {
    const filter = new ObjectFilter<Thing>({
      expected: undefined,
      transform: (thing) => thing,
      freeze: true,
      selects: () => true,
      project: (thing) => thing,
      onSkip() {},
    });
    const nothing = () => {};
    this.writer = new CacheWriter({
      ...{ store: this.store, fanOut: this.fanOut, filter },
      ...{ onStale: nothing, onRead: nothing, onReplaced: nothing, onAdvanced: nothing },
    });
  }

  /** One handler that is called at once, or one whose calls last until the next release. */
  addHandler(slow: boolean): void {
    const received: string[] = [];
    const inner = recorder(received);
    const gate = () => new Promise<void>((resolve) => this.#gates.push(resolve));
    const handler = slow
      ? {
        onAdd: (thing: Thing, info: { isInInitialList: boolean }) => gate().then(() => inner.onAdd?.(thing, info)),
        onUpdate: (old: Thing, current: Thing) => gate().then(() => inner.onUpdate?.(old, current, observedChange)),
        onDelete: (tombstone: Parameters<NonNullable<typeof inner.onDelete>>[0]) =>
          gate().then(() => inner.onDelete?.(tombstone)),
      }
      : inner;
    const listener = new Listener({
      name: "h",
      informer: "i",
      handler,
      log: logger("test"),
      metrics: noCacheMetrics,
      onError() {},
    });
    for (const thing of this.store.values()) listener.added(thing, initialAdd);
    this.fanOut.add(listener);
    this.received.push(received);
    this.model.logs.push([...this.model.state].map(([key, thing]) => `+ ${key} ${thing.spec?.value}`));
  }

  thing(name: string, value: number, as: { readonly uid?: string; readonly version?: number } = {}): Thing {
    const { uid = `uid-${name}`, version = ++this.#version } = as;
    const metadata = { name, namespace: "n", uid, resourceVersion: resourceVersion(String(version)) };
    return { apiVersion: "v1", kind: "Thing", metadata, spec: { value } };
  }

  apply(operation: Operation): void {
    switch (operation.kind) {
      case "put":
        return this.#upsert(this.#present(operation.name, operation.value));
      case "recreate":
        return this.#upsert(this.thing(operation.name, operation.value, { uid: `uid-${++this.#uid}` }));
      case "repeat":
        return this.#upsert(this.#present(operation.name, operation.value, this.#version));
      case "stale":
        return this.#upsert(this.#present(operation.name, operation.value, this.#version - 3));
      case "remove": {
        const thing = this.#present(operation.name, operation.value);
        this.writer.remove(thing);
        return this.model.remove(thing);
      }
      case "relist": {
        const things = operation.names.map((name) => {
          const existing = this.model.state.get(keyOf({ metadata: { name, namespace: "n" } }));
          return operation.value === 0 && existing !== undefined ? existing : this.#present(name, operation.value);
        });
        const replacement = this.writer.beginReplace();
        for (const thing of things) replacement.upsert(thing);
        replacement.commit(resourceVersion(String(++this.#version)));
        return this.model.replace(things);
      }
      case "clear":
        this.writer.clear();
        return this.model.synced ? this.model.replace([]) : undefined;
      case "late":
        return this.addHandler(this.received.length % 2 === 1);
      case "resync":
        for (const thing of this.store.values()) this.fanOut.updated(thing, thing, observedChange);
        for (const [key, thing] of this.model.state) {
          this.model.notify(`~ ${key} ${thing.spec?.value}>${thing.spec?.value}`);
        }
        return;
      case "release":
        return this.#release();
      default:
        operation satisfies never;
    }
  }

  check(): void {
    const text = (things: Iterable<Thing>) => [...things].map((thing) => JSON.stringify(thing)).sort();
    assertEquals(text(this.store.values()), text(this.model.state.values()));
    for (const index of ["0", "1", "2", "3"]) {
      const scanned = [...this.model.state.values()].filter((thing) => String(thing.spec?.value) === index);
      assertEquals(text(this.store.byIndex("value", index)), text(scanned));
    }
    assertEquals(this.store.byNamespace("n").length, this.model.state.size);
  }

  /** Lets slow handlers finish, then compares the notifications of all handlers. */
  async settle(): Promise<void> {
    for (
      let round = 0;
      round < 500 && this.received.some((log, index) => log.length < (this.model.logs[index]?.length ?? 0));
      round++
    ) {
      this.#release();
      for (let hop = 0; hop < 6; hop++) await Promise.resolve();
    }
    assertEquals(this.received, this.model.logs);
  }

  #present(name: string, value: number, version?: number): Thing {
    const uid = this.model.state.get(keyOf({ metadata: { name, namespace: "n" } }))?.metadata.uid;
    return this.thing(name, value, {
      ...(uid === undefined ? {} : { uid }),
      ...(version === undefined ? {} : { version }),
    });
  }

  #upsert(thing: Thing): void {
    this.writer.upsert(thing);
    this.model.upsert(thing);
  }

  #release(): void {
    for (const open of this.#gates.splice(0)) open();
  }
}

test(`[21][23][24][27][28][31][32] the cache equals its model in ${runs} random sequences`, async () => {
  let notifications = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 5, maxLength: 40, size: "max" }), async (operations) => {
      const pair = new Pair();
      pair.addHandler(false);
      pair.addHandler(true);
      await Promise.resolve();
      for (const one of operations) {
        pair.apply(one);
        pair.check();
      }
      await pair.settle();
      notifications += pair.model.logs[0]?.length ?? 0;
    }),
    { seed: 2026, numRuns: runs },
  );
  assert(notifications > 5 * runs, `only ${notifications} notifications`);
});

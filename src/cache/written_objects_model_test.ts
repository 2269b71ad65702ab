/**
 * Model-based test of the cache with own writes: random histories of a server, of which the cache gets events, lists, and
 * the responses to the writes of this process, early or late. A failure prints fast-check's seed and the shrunk sequence.
 *
 * The model is one rule: for each key, the cache has the newest of what the watch has shown and what the responses have
 * shown. Invariants beside it: a handler never gets an older state after a newer one, and no state twice; a writer is
 * notified of each change between what it had read and what it wrote.
 */
import fc from "fast-check";
import { assert, assertEquals, test } from "../../tests/testing.ts";
import type { Thing } from "../../tests/fakes/list_watch.ts";
import { keyOf, type ObjectKey, objectKey, resourceVersion } from "../api/mod.ts";
import { logger } from "../observe/mod.ts";
import { CacheWriter } from "./cache_writer.ts";
import { ObjectFilter } from "./object_filter.ts";
import { FanOut, Listener } from "./listener.ts";
import { noCacheMetrics, Store } from "./mod.ts";

const runs = 2_000;

type Operation =
  /** Another client writes, or deletes. */
  | { readonly kind: "theirs"; readonly name: string; readonly deletes: boolean }
  /** This process writes or deletes; the response comes at once, or with a later `respond`. */
  | { readonly kind: "ours"; readonly name: string; readonly deletes: boolean; readonly late: boolean }
  | { readonly kind: "respond" }
  /** The watch shows some changes. */
  | { readonly kind: "watch"; readonly count: number }
  /** A list at a version between the watch and the newest one. */
  | { readonly kind: "list"; readonly behind: number };

const name = fc.constantFrom("a", "b", "c");
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("theirs" as const), name, deletes: fc.nat(3).map((n) => n === 0) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("ours" as const),
      name,
      deletes: fc.nat(3).map((n) => n === 0),
      late: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("respond" as const) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("watch" as const), count: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("list" as const), behind: fc.nat(4) }) },
);

/** One change of the server: a new state, or the end of an object. */
interface Change {
  readonly version: number;
  readonly key: ObjectKey;
  /** The new state; for a deletion the final one. */
  readonly object: Thing;
  readonly isDeletion: boolean;
  readonly writer: string | undefined;
}

interface Response {
  readonly change: Change;
}

/** An own write whose response the cache has got. */
interface Acknowledged {
  readonly change: Change;
  readonly baseVersion: number;
}

class Bench {
  readonly history: Change[] = [];
  readonly late: Response[] = [];
  readonly acknowledged: Acknowledged[] = [];
  /** What the responses have shown: the newest change of each key. */
  readonly responded = new Map<ObjectKey, Change>();
  /** The UIDs whose deletion by this process was responded. */
  readonly ended = new Set<string>();
  readonly delivered: { readonly key: ObjectKey; readonly version: number; readonly isDeletion: boolean }[] = [];
  readonly intervening: string[] = [];
  readonly store = new Store<Thing>();
  readonly fanOut = new FanOut<Thing>();
  readonly writer: CacheWriter<Thing>;
  watched = 0;
  hasListed = false;
  hasLate = false;
  #version = 0;

  constructor() {
    const filter = new ObjectFilter<Thing>({
      ...{ expected: undefined, transform: (thing) => thing, freeze: true },
      ...{ selects: () => true, project: (thing: Thing) => thing, onSkip() {} },
    });
    const nothing = () => {};
    this.writer = new CacheWriter({
      ...{ store: this.store, fanOut: this.fanOut, filter },
      ...{ onStale: nothing, onRead: nothing, onReplaced: nothing, onAdvanced: nothing },
    });
    this.fanOut.add(
      new Listener<Thing>({
        ...{ name: "h", informer: "i", log: logger("test"), metrics: noCacheMetrics },
        onError(error) {
          throw error;
        },
        handler: {
          onAdd: (thing) => this.#deliver(thing, false),
          onUpdate: (_old, thing) => this.#deliver(thing, false),
          onDelete: ({ lastKnown }) => this.#deliver(lastKnown, true),
          onIntervening: ({ writer, old, current }) => {
            const state = current ?? old;
            if (state !== undefined) this.intervening.push(`${writer.key} ${keyOf(state)}`);
          },
        },
      }),
    );
    this.writer.beginReplace().commit(resourceVersion("0"));
  }

  async apply(operation: Operation): Promise<void> {
    switch (operation.kind) {
      case "theirs":
        return void this.#change(operation.name, operation.deletes, undefined);
      case "ours": {
        // The response to a deletion has no version, so it must not overtake another response about the same object.
        if (operation.deletes) this.#respondAll(operation.name);
        const change = this.#change(operation.name, operation.deletes, `key-${operation.name}`);
        if (change === undefined) return;
        if (operation.late && !operation.deletes) {
          this.late.push({ change });
          this.hasLate = true;
        } else this.#respond(change);
        break;
      }
      case "respond": {
        const next = this.late.shift();
        if (next !== undefined) this.#respond(next.change);
        break;
      }
      case "watch":
        this.#watch(operation.count);
        break;
      case "list":
        this.#list(Math.max(this.watched, this.#version - operation.behind));
        break;
      default:
        operation satisfies never;
    }
    // The listener is busy until its first turn has passed.
    await Promise.resolve();
  }

  /** The rule: the newest of what was watched and what was responded. */
  check(): void {
    for (const key of new Set(this.history.map((change) => change.key))) {
      const shown = this.#stateAt(key, this.watched);
      const responded = this.responded.get(key);
      const newest = [shown, responded].filter((one) => one !== undefined)
        .reduce<Change | undefined>(
          (best, one) => best === undefined || one.version > best.version ? one : best,
          undefined,
        );
      const isThere = newest !== undefined && !newest.isDeletion && !this.ended.has(newest.object.metadata.uid ?? "");
      const expected = isThere ? newest.object : undefined;
      assertEquals(this.store.get(key), expected, `${key}, watched up to ${this.watched}`);
    }
  }

  /** Shows everything, then checks what handlers and writers were told. */
  finish(): void {
    while (this.late.length > 0) this.#respond(this.late.shift()!.change);
    this.#watch(this.history.length);
    this.check();
    assertEquals(this.writer.unconfirmedWrites, 0);
    const last = new Map<ObjectKey, number>();
    for (const { key, version, isDeletion } of this.delivered) {
      const before = last.get(key) ?? -1;
      assert(isDeletion ? version >= before : version > before, `${key}: ${version} after ${before}`);
      last.set(key, version);
    }
    for (const { change, baseVersion } of this.acknowledged) {
      const { key, version, writer } = change;
      const between = this.history.some((one) =>
        one.key === key && one.version > baseVersion && one.version < version && one.writer !== writer &&
        one.object.metadata.uid === change.object.metadata.uid
      );
      const wasNotified = this.intervening.includes(`${writer} ${key}`);
      if (between && !change.isDeletion) {
        assert(wasNotified || this.#hasEnded(key, baseVersion), `${writer} must look at ${key} again`);
      }
    }
    const isOnlyOurs = this.history.every((one) => one.writer !== undefined && !one.isDeletion);
    if (isOnlyOurs && !this.hasListed && !this.hasLate) assertEquals(this.intervening, []);
  }

  /** True when handlers were notified of an end of the object since: then its keys look again anyway. */
  #hasEnded(key: ObjectKey, since: number): boolean {
    return this.delivered.some((one) => one.key === key && one.isDeletion && one.version >= since);
  }

  #deliver(thing: Thing, isDeletion: boolean): void {
    this.delivered.push({ key: keyOf(thing), version: Number(thing.metadata.resourceVersion), isDeletion });
  }

  #change(name: string, deletes: boolean, writer: string | undefined): Change | undefined {
    const key = objectKey({ namespace: "n", name });
    const existing = this.#stateAt(key, Infinity);
    const isThere = existing !== undefined && !existing.isDeletion;
    if (deletes && !isThere) return undefined;
    const version = ++this.#version;
    const uid = isThere ? existing.object.metadata.uid : `uid-${version}`;
    const metadata = { name, namespace: "n", uid, resourceVersion: resourceVersion(String(version)) };
    const change: Change = {
      ...{ version, key, isDeletion: deletes, writer },
      object: { apiVersion: "v1", kind: "Thing", metadata, spec: { value: version } },
    };
    this.history.push(change);
    return change;
  }

  #respondAll(name: string): void {
    const own = this.late.filter(({ change }) => change.object.metadata.name === name);
    for (const one of own) {
      this.late.splice(this.late.indexOf(one), 1);
      this.#respond(one.change);
    }
  }

  #respond(change: Change): void {
    const { key, object, isDeletion, version } = change;
    const writer = { controller: "c", key: change.writer as ObjectKey };
    const baseVersion = Number(this.store.get(key)?.metadata.resourceVersion ?? this.watched);
    if (isDeletion) {
      const uid = object.metadata.uid ?? "";
      const cached = this.store.get(key);
      this.writer.deleteThrough(key, uid, writer);
      this.ended.add(uid);
      // The response has no version: of other objects with that name it does not tell whether they are older.
      if (version > this.watched && cached?.metadata.uid === uid) this.#record(key, change);
      return;
    }
    const result = this.writer.writeThrough(object, { writer });
    if (result === "stored") this.acknowledged.push({ change, baseVersion });
    if (version > this.watched) this.#record(key, change);
  }

  #record(key: ObjectKey, change: Change): void {
    if ((this.responded.get(key)?.version ?? 0) < change.version) this.responded.set(key, change);
  }

  #watch(count: number): void {
    for (let left = count; left > 0; left--) {
      const change = this.history.find((one) => one.version > this.watched);
      if (change === undefined) return;
      if (change.isDeletion) this.writer.remove(change.object);
      else this.writer.upsert(change.object);
      this.watched = change.version;
      this.writer.advance(resourceVersion(String(change.version)));
    }
  }

  #list(version: number): void {
    const replacement = this.writer.beginReplace();
    for (const key of new Set(this.history.map((change) => change.key))) {
      const state = this.#stateAt(key, version);
      if (state !== undefined && !state.isDeletion) replacement.upsert(state.object);
    }
    this.watched = version;
    this.hasListed = true;
    replacement.commit(resourceVersion(String(version)));
  }

  #stateAt(key: ObjectKey, version: number): Change | undefined {
    return this.history.findLast((change) => change.key === key && change.version <= version);
  }
}

test(`[21][64] a cache with own writes equals its model in ${runs} random histories`, async () => {
  let [stored, notified] = [0, 0];
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 5, maxLength: 40, size: "max" }), async (operations) => {
      const bench = new Bench();
      await Promise.resolve();
      for (const one of operations) {
        await bench.apply(one);
        bench.check();
      }
      bench.finish();
      stored += bench.acknowledged.length;
      notified += bench.intervening.length;
    }),
    { seed: 2026, numRuns: runs },
  );
  assert(stored > 2 * runs && notified > runs / 4, `only ${stored} writes and ${notified} notifications`);
});

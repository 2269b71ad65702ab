/**
 * Model-based test of a cache whose part grows and shrinks: random changes, gains, losses and faults, while lists and watches
 * arrive late. A failure prints fast-check's seed and the shrunk sequence.
 *
 * Invariants: when the cache has what it has gained, it shows no object of it in a state from before the gain, and none that
 * was deleted before; it never does so later either. A handler never sees an older version of a key. After the faults the
 * cache equals the part of the server.
 */
import fc from "fast-check";
import { FakeApi, FakeApiError, type Thing } from "../../tests/fakes/list_watch.ts";
import { assert, assertEquals, test } from "../../tests/testing.ts";
import { keyOf, type ListWatch } from "../api/mod.ts";
import { type Clock, drain, type Random, seededRandom, VirtualClock } from "../async/mod.ts";
import { Informer } from "./mod.ts";
import { letterOf, LetterPart } from "./testing/letter_part.ts";

const runs = 2_000;
const slots = ["a", "b", "c", "d"];
const names = slots.flatMap((slot) => [1, 2, 3].map((index) => `${slot}${index}`));

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom("put", "write", "delete", "recreate"),
      name: fc.constantFrom(...names),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom("gain", "gain", "lose"), name: fc.constantFrom(...slots) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom("end", "bookmark", "compact", "refuse", "forget"),
      name: fc.constant(""),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constantFrom("wait", "waitLong"), name: fc.constant("") }) },
);

/** The cache follows a part. */
const start = [{ kind: "gain", name: "a" }, { kind: "gain", name: "b" }, { kind: "waitLong", name: "" }];

function numberOf(thing: Thing): number {
  return Number(thing.metadata.resourceVersion);
}

/** Lists and watches that arrive late, from a server that selects or does not. */
function late(api: FakeApi, clock: Clock, random: Random, selects: boolean): ListWatch<Thing> {
  const wait = (signal: AbortSignal) => clock.sleep(Math.floor(random.next() * 400), signal);
  const isSelected = (thing: Thing, selector: string | undefined) =>
    !selects || selector === undefined || selector.split(" || ").includes(letterOf(thing));
  return {
    async list(options, signal) {
      await wait(signal);
      const page = await api.list(options, signal);
      const items = page.items.filter((thing) => isSelected(thing, options.shardSelector));
      await wait(signal);
      return { ...page, items };
    },
    async *watch(options, signal) {
      for await (const batch of api.watch(options, signal)) {
        for (const event of batch) {
          if (random.next() < 0.5) await wait(signal);
          const isObject = event.type === "ADDED" || event.type === "MODIFIED" || event.type === "DELETED";
          if (!isObject || isSelected(event.object, options.shardSelector)) yield [event];
        }
      }
    },
  };
}

interface ModelOptions {
  readonly follows: "at once" | "in turn";
  readonly watchList: boolean;
  /** Whether the server knows shard selectors. */
  readonly selects: boolean;
  readonly seed: number;
}

/** A server, the cache of a part of it, and what must hold. */
class Model implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly part = new LetterPart();
  readonly api: FakeApi;
  readonly informer: Informer<Thing>;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  /** The last version of each deleted UID. */
  readonly #deletedAt = new Map<string, number>();
  /** The version of the server when a slot was gained, of each slot whose objects the cache has. */
  readonly #filledAt = new Map<string, number>();
  readonly #seen = new Map<string, number>();
  /** True when nothing was lost after the cache has forgotten what is not in the part. */
  #hasForgotten = true;
  /** Whether a gain is followed at once, or when the gain before it has been. */
  readonly #follows: "at once" | "in turn";
  #following: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;

  constructor({ follows, watchList, selects, seed }: ModelOptions) {
    this.#follows = follows;
    const random = seededRandom(seed);
    this.api = new FakeApi({ clock: this.clock });
    for (const name of names) if (random.next() < 0.5) this.api.put(name);
    this.informer = new Informer<Thing>({
      ...{ name: "things", part: this.part, clock: this.clock, random, watchList, pageSize: 2 },
      listWatch: late(this.api, this.clock, random, selects),
    });
    const see = (thing: Thing) => this.#attempt(() => this.#see(thing));
    this.informer.addHandler({ onAdd: see, onUpdate: (_old, thing) => see(thing) });
    this.#running = this.informer.run(this.#stop.signal);
  }

  /** Keeps the first failure for the step that is being played. */
  #attempt(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.#failure ??= { error };
    }
  }

  #see(thing: Thing): void {
    this.#checkExists(thing);
    const { name = "" } = thing.metadata;
    assert((this.#seen.get(name) ?? 0) < numberOf(thing), `${name} went back`);
    this.#seen.set(name, numberOf(thing));
  }

  /** How often the newest state of the part was read. */
  get reads(): number {
    const reads = [...this.api.lists(), ...this.api.watches().filter(({ sendInitialEvents }) => sendInitialEvents)];
    return reads.filter(({ resourceVersion }) => resourceVersion === "").length;
  }

  async play({ kind, name }: { readonly kind: string; readonly name: string }): Promise<void> {
    const { api, clock } = this;
    if (kind === "put") api.put(name);
    if (kind === "write") this.#write(api.put(name));
    if (kind === "delete" || kind === "recreate") this.#delete(name);
    if (kind === "recreate") api.put(name);
    if (kind === "gain" && !this.part.held.has(name)) this.#gain(name);
    if (kind === "lose" && this.part.lose(name)) this.#lose(name);
    if (kind === "forget") this.#forget();
    if (kind === "end") api.endWatches();
    if (kind === "bookmark") api.bookmark();
    if (kind === "compact") api.compact();
    if (kind === "refuse") api.failNext("list", new FakeApiError(503, "ServiceUnavailable"));
    if (kind === "wait") await clock.advance(150);
    if (kind === "waitLong") await clock.advance(5_000);
    await drain();
    this.check();
  }

  #write(thing: Thing): void {
    this.informer.writeThrough(thing, { writer: { controller: "things", key: keyOf(thing) } });
  }

  #delete(name: string): void {
    const thing = [...this.api.objects().values()].find(({ metadata }) => metadata.name === name);
    this.api.delete(name);
    if (thing?.metadata.uid !== undefined) this.#deletedAt.set(thing.metadata.uid, Number(this.api.version));
  }

  #gain(slot: string): void {
    this.part.gain(slot);
    const gainedAt = Number(this.api.version);
    const { generation } = this.part;
    const before = this.#follows === "in turn" ? this.#following : Promise.resolve();
    this.#following = before.then(() => this.informer.followPart(this.#stop.signal)).then(() => {
      if (this.part.held.get(slot) !== generation) return;
      this.#filledAt.set(slot, gainedAt);
      this.#attempt(() => this.check());
    }, () => {});
  }

  #forget(): void {
    this.informer.forgetOthers();
    this.#hasForgotten = true;
  }

  /** What is lost may be seen again in the same version. */
  #lose(slot: string): void {
    this.#filledAt.delete(slot);
    this.#hasForgotten = false;
    for (const name of names) if (name.startsWith(slot)) this.#seen.delete(name);
  }

  /** An object of a filled slot was not deleted before the gain. */
  #checkExists(thing: Thing): void {
    const gainedAt = this.#filledAt.get(letterOf(thing));
    const deletedAt = this.#deletedAt.get(thing.metadata.uid ?? "") ?? Infinity;
    assert(deletedAt > (gainedAt ?? 0), `${thing.metadata.name} was deleted before its slot was gained`);
  }

  /** Nothing of a filled slot is older than its gain. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
    const cached = new Map([...this.informer.store.values()].map((thing) => [thing.metadata.name, thing]));
    for (const thing of cached.values()) {
      this.#checkExists(thing);
      assert(!this.#hasForgotten || this.part.includes(thing), `${thing.metadata.name} is not in the part`);
    }
    for (const thing of this.api.objects().values()) {
      const gainedAt = this.#filledAt.get(letterOf(thing));
      if (gainedAt === undefined || numberOf(thing) > gainedAt) continue;
      const version = cached.get(thing.metadata.name)?.metadata.resourceVersion;
      assertEquals(
        version,
        thing.metadata.resourceVersion,
        `${thing.metadata.name} is not as it was when it was gained`,
      );
    }
  }

  /** The cache equals the part of the server. */
  async settle(): Promise<void> {
    for (let round = 0; round < 40; round++) await this.clock.advance(20_000);
    this.#forget();
    const expected = [...this.api.objects().values()].filter((thing) => this.part.includes(thing));
    const text = (thing: Thing) => `${thing.metadata.name} ${thing.metadata.resourceVersion}`;
    assertEquals([...this.informer.store.values()].map(text).sort(), expected.map(text).sort());
    assertEquals(this.#filledAt.size, this.part.held.size, "a gained slot was never filled");
    this.check();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

test(`a part that grows and shrinks shows nothing from before a gain, in ${runs} random sequences`, async () => {
  let filled = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 40, size: "max" }),
      fc.record({
        follows: fc.constantFrom("at once", "in turn"),
        watchList: fc.boolean(),
        selects: fc.boolean(),
        seed: fc.nat(),
      }),
      async (sequence, options) => {
        await using model = new Model(options);
        for (const next of [...start, ...sequence]) await model.play(next);
        await model.settle();
        filled += model.reads;
      },
    ),
    { numRuns: runs, seed: 1 },
  );
  assert(filled > runs, `only ${filled} reads of a part`);
});

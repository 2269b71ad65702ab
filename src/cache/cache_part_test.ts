import { FakeApi, FakeApiError, type Thing } from "../../tests/fakes/list_watch.ts";
import { assert, assertEquals, assertRejects, test } from "../../tests/testing.ts";
import type { KubeObject, ListWatch, ResourceVersion, WatchEvent } from "../api/mod.ts";
import { drain, Latch, VirtualClock } from "../async/mod.ts";
import { type CachePart, type PartSelection, readsOf } from "./cache_part.ts";
import { Informer } from "./informer.ts";

function object(name: string, version: string): KubeObject {
  const metadata = { name, uid: name, resourceVersion: version as ResourceVersion };
  return { apiVersion: "v1", kind: "Thing", metadata };
}

/** A part by the first letter of the name. */
class LetterPart implements CachePart {
  readonly id = "letters";
  letters: readonly string[] = [];
  generation = 0;
  readonly #gains = new Map<string, number>();
  readonly #started = new Latch();

  gain(...letters: readonly string[]): void {
    this.letters = [...this.letters, ...letters];
    this.generation++;
    for (const letter of letters) this.#gains.set(letter, this.generation);
    this.#started.open();
  }

  includes({ metadata: { name = "" } }: KubeObject): boolean {
    return this.letters.includes(name.charAt(0));
  }

  shardSelector(): string | undefined {
    return this.letters.join(" || ");
  }

  gainedSince(generation: number): PartSelection {
    const gained = this.letters.filter((letter) => (this.#gains.get(letter) ?? 0) > generation);
    return {
      includes: ({ metadata: { name = "" } }) =>
        gained.includes(name.charAt(0)) && this.letters.includes(name.charAt(0)),
      shardSelector: () => gained.join(" || "),
    };
  }

  started(signal: AbortSignal): Promise<void> {
    return this.#started.wait(signal);
  }
}

const never = new AbortController().signal;
const refused = Object.assign(new Error("said Bad Request"), { code: 400 });

test("only objects of the part are listed, and others that a watch shows count as deleted", async () => {
  const part = new LetterPart();
  part.gain("a");
  const event = (type: "ADDED" | "MODIFIED" | "DELETED", name: string): WatchEvent<KubeObject> => ({
    type,
    object: object(name, "2"),
  });
  const listWatch: ListWatch = {
    list: ({ shardSelector }) => {
      assertEquals(shardSelector, "a");
      return Promise.resolve({
        items: [object("a1", "1"), object("b1", "1")],
        resourceVersion: "1" as ResourceVersion,
      });
    },
    async *watch({ shardSelector }) {
      assertEquals(shardSelector, "a");
      yield [event("ADDED", "a2"), event("ADDED", "b2"), event("MODIFIED", "b1"), event("DELETED", "a1")];
    },
  };
  const filtered = readsOf(listWatch, part).whole;
  assertEquals((await filtered.list({}, never)).items.map(({ metadata }) => metadata.name), ["a1"]);
  const events = (await Array.fromAsync(filtered.watch({}, never))).flat();
  assertEquals(events.map(({ type }) => type), ["ADDED", "DELETED", "DELETED", "DELETED"]);
});

test("a selector that the server refuses is left out from then on; other errors are not hidden", async () => {
  const part = new LetterPart();
  part.gain("a");
  const sent: (string | undefined)[] = [];
  let error: unknown = refused;
  const { whole: filtered } = readsOf<KubeObject>({
    list({ shardSelector }) {
      sent.push(shardSelector);
      return shardSelector === undefined
        ? Promise.resolve({ items: [], resourceVersion: "1" as ResourceVersion })
        : Promise.reject(error);
    },
    async *watch() {},
  }, part);
  error = Object.assign(new Error("said Forbidden"), { code: 403 });
  await assertRejects(() => filtered.list({}, never), /Forbidden/);
  error = refused;
  await filtered.list({}, never);
  await filtered.list({}, never);
  assertEquals(sent, ["a", "a", undefined, undefined]);
});

test("what a part gains is read at its newest version, and what leaves it is forgotten without a deletion", async () => {
  const part = new LetterPart();
  const lists: (string | undefined)[] = [];
  const stored = [object("a1", "1"), object("b1", "1"), object("c1", "1")];
  const listWatch: ListWatch = {
    announcesOpen: true,
    list({ resourceVersion }) {
      lists.push(resourceVersion);
      return Promise.resolve({ items: stored, resourceVersion: "5" as ResourceVersion });
    },
    async *watch(_options, signal) {
      yield [];
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    },
  };
  const informer = new Informer({ name: "things", listWatch, part, watchList: false, clock: new VirtualClock() });
  const seen: string[] = [];
  informer.addHandler({
    onAdd: ({ metadata }) => seen.push(`+${metadata.name}`),
    onDelete: ({ key }) => seen.push(`-${key}`),
  });
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  await drain();
  assertEquals(lists, [], "nothing is listed for an empty part");
  part.gain("a");
  await informer.followPart(never);
  assertEquals([informer.store.size, seen], [1, ["+a1"]]);
  await informer.followPart(never);
  part.gain("b");
  await informer.followPart(never);
  assertEquals([seen, lists], [["+a1", "+b1"], ["", ""]]);
  part.letters = ["b"];
  informer.forgetOthers();
  assertEquals([[...informer.store.values()].length, seen.length], [1, 2]);
  part.gain("a");
  const interrupted = informer.followPart(AbortSignal.abort(new Error("changed my mind")));
  await assertRejects(() => interrupted, /changed my mind/);
  await informer.followPart(never);
  assertEquals(seen, ["+a1", "+b1", "+a1"]);
  stop.abort();
  await running;
  part.gain("c");
  await assertRejects(() => informer.followPart(never), /has stopped/);
  assert(informer.store.size === 2);
});

/** A server with a1 and b1, and an informer of the part "a" that follows it. */
async function follow(clock: VirtualClock) {
  const api = new FakeApi({ clock });
  const part = new LetterPart();
  for (const name of ["a1", "b1"]) api.put(name);
  const skipped: string[] = [];
  const informer = new Informer<Thing>({
    ...{ name: "things", listWatch: api, part, clock },
    metrics: { count: (name) => void skipped.push(name), observe: () => {}, set: () => {}, forget: () => {} },
  });
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  part.gain("a");
  await informer.followPart(never);
  await drain();
  return {
    ...{ api, part, informer },
    cached: () => [...informer.store.values()].map(({ metadata }) => metadata.name).sort(),
    stale: () => skipped.filter((name) => name === "reflector_skipped_events_total").length,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

test("only what a part has gained is listed, and the watch continues where it was", async () => {
  await using following = await follow(new VirtualClock());
  const { api, part, informer } = following;
  const { version } = api;
  api.requests.length = 0;
  part.gain("b");
  const filling = informer.followPart(never);
  api.put("a1");
  api.put("b1");
  api.put("b2");
  api.delete("b2");
  await filling;
  await drain();
  assertEquals(api.lists(), [{ resourceVersion: "", limit: 500, shardSelector: "b" }]);
  const watches = api.watches().map(({ resourceVersion, shardSelector }) => [resourceVersion, shardSelector]);
  assertEquals(watches, [[version, "a || b"]]);
  assertEquals([following.cached(), following.stale()], [["a1", "b1"], 0]);
});

test("a full state after a gain is not older than the list of what was gained", async () => {
  const clock = new VirtualClock();
  await using following = await follow(clock);
  const { api, part, informer } = following;
  part.gain("b");
  const filling = informer.followPart(never);
  api.put("b1");
  api.failNext("watch", new FakeApiError(410, "Expired"));
  await filling;
  const { version } = api;
  api.requests.length = 0;
  await clock.advance(60_000);
  assertEquals(api.watches()[0]?.resourceVersion, version);
  assertEquals(api.watches()[0]?.sendInitialEvents, true);
});

test("versions that cannot be compared, and a list that is older than the cache, make a gain read everything", async () => {
  for (const list of ["newest", "5"] as const) {
    const clock = new VirtualClock();
    await using following = await follow(clock);
    const { api, part, informer } = following;
    if (list === "newest") {
      api.send([{ type: "BOOKMARK", object: { metadata: { resourceVersion: list as ResourceVersion } } }]);
      await drain();
    } else api.restore(Number(list), [...api.objects().values()]);
    api.requests.length = 0;
    part.gain("b");
    await informer.followPart(never);
    assertEquals(api.lists().length, list === "newest" ? 0 : 1);
    assertEquals([api.watches()[0]?.sendInitialEvents, api.watches()[0]?.resourceVersion], [true, ""]);
    assertEquals(following.cached(), ["a1", "b1"]);
  }
});

import { FakeApi } from "../../tests/fakes/list_watch.ts";
import { assert, assertEquals, assertRejects, test } from "../../tests/testing.ts";
import type { KubeObject, ListWatch, ResourceVersion, WatchEvent } from "../api/mod.ts";
import { drain, VirtualClock } from "../async/mod.ts";
import { partListWatch } from "./cache_part.ts";
import { Informer } from "./informer.ts";
import { LetterPart } from "./testing/letter_part.ts";

function object(name: string, version: string): KubeObject {
  const metadata = { name, uid: name, resourceVersion: version as ResourceVersion };
  return { apiVersion: "v1", kind: "Thing", metadata };
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
  const filtered = partListWatch(listWatch, part);
  assertEquals((await filtered.list({}, never)).items.map(({ metadata }) => metadata.name), ["a1"]);
  const events = (await Array.fromAsync(filtered.watch({}, never))).flat();
  assertEquals(events.map(({ type }) => type), ["ADDED", "DELETED", "DELETED", "DELETED"]);
});

test("a selector that the server refuses is left out from then on; other errors are not hidden", async () => {
  const part = new LetterPart();
  part.gain("a");
  const sent: (string | undefined)[] = [];
  let error: unknown = refused;
  const filtered = partListWatch<KubeObject>({
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

test("a part that grows is read anew at the newest version, and what leaves it is forgotten without a deletion", async () => {
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
  part.lose("a");
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

test("there is no resync while a cache reads what its part has gained", async () => {
  const clock = new VirtualClock();
  const api = new FakeApi({ clock });
  const part = new LetterPart();
  const informer = new Informer<KubeObject>({ name: "things", listWatch: api, part, clock });
  let updates = 0;
  informer.addHandler({ onUpdate: () => void updates++ }, { resyncMs: 1_000 });
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  api.put("a1");
  part.gain("a");
  await informer.followPart(never);
  await clock.advance(1_500);
  assertEquals(updates, 1);
  api.failNext("watch", "hang");
  part.gain("b");
  const given = new AbortController();
  const filling = informer.followPart(given.signal);
  await clock.advance(3_000);
  assertEquals(updates, 1);
  given.abort(new Error("no longer held"));
  await assertRejects(() => filling, /no longer held/);
  await clock.advance(1_000);
  assertEquals(updates, 2);
  stop.abort();
  await running;
});

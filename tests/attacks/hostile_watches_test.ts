/**
 * Attacks by the sequence of watch events: a hostile server sends events of unknown types, objects without metadata,
 * deletions of unknown objects, versions that go backwards, objects of other kinds and namespaces, odd errors, and it ends
 * its streams anywhere. A generator writes the streams; every third one ends with a good state.
 *
 * The rules: nothing is thrown and the reflector goes on; the cache has only objects of its kind, in its namespace, with
 * metadata of the declared types, each under its own key; its handlers are told exactly the changes of the cache (a model);
 * requests are not repeated without a wait; and a good stream after all that gives a cache that is equal to the server.
 */
import { builtin, keyOf, type KubeObject } from "../../src/api/mod.ts";
import { drain, seededRandom, VirtualClock } from "../../src/async/mod.ts";
import { informersOf } from "../../src/cache.ts";
import { Client } from "../../src/client/mod.ts";
import { assert, assertEquals, test } from "../testing.ts";

const { ConfigMap } = builtin;

class Generator {
  readonly #random;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  below(count: number): number {
    return Math.floor(this.#random.next() * count);
  }

  pick<T>(list: readonly T[]): T {
    const one = list[this.below(list.length)];
    if (one === undefined && list.length === 0) throw new Error("Cannot pick from an empty list");
    return one as T;
  }

  #metadata(): unknown {
    if (this.below(6) === 0) return this.pick([undefined, null, [], "x", 5, {}, { name: 5 }, { name: null }]);
    const odd = this.below(5) === 0;
    return {
      name: odd
        ? this.pick<unknown>(["__proto__", "", "a/b", 5, undefined, "constructor"])
        : this.pick(["a", "b", "c"]),
      namespace: this.below(6) === 0 ? this.pick<unknown>(["other", "", undefined, null, 7]) : "shop",
      uid: this.pick<unknown>(["u1", "u2", undefined, ...(odd ? [5, {}] : [])]),
      resourceVersion: this.pick<unknown>([
        String(this.below(50)),
        ...(odd ? ["0", "-1", "x", "9".repeat(300), undefined, 7, null, {}] : []),
      ]),
      ...(odd ? { labels: this.pick<unknown>([null, [], "x", { a: 5 }, { a: { b: "c" } }, { a: "b" }]) } : {}),
      ...(odd ? { ownerReferences: this.pick<unknown>([null, {}, [null], ["x"], [{}]]) } : {}),
      ...(odd ? { managedFields: this.pick<unknown>([null, {}, [null], []]) } : {}),
    };
  }

  #object(): unknown {
    const kind = this.below(6) === 0
      ? this.pick<unknown>(["Secret", "Table", "Status", undefined, null, 5, "ConfigMapList"])
      : "ConfigMap";
    return {
      apiVersion: this.below(9) === 0 ? this.pick<unknown>(["v2", null, 5]) : "v1",
      kind,
      metadata: this.#metadata(),
    };
  }

  #event(): unknown {
    const types = [
      "ADDED",
      "MODIFIED",
      "DELETED",
      "ADDED",
      "MODIFIED",
      "DELETED",
      "BOOKMARK",
      "ERROR",
      "NEW",
      "",
      null,
      5,
    ];
    const type = this.pick<unknown>(types);
    if (type === "ERROR") {
      const code = this.pick<unknown>([410, 500, 429, 403, 404, "410", null, {}, -1]);
      const details = this.pick<unknown>([null, "x", { retryAfterSeconds: -1 }, {
        retryAfterSeconds: "9",
        causes: [null],
      }]);
      const message = this.pick<unknown>(["m", { toString: 5 }, null, 7]);
      return {
        type,
        object: { kind: "Status", code, message, reason: this.pick<unknown>(["Expired", 5, "X"]), details },
      };
    }
    return { type, object: this.below(15) === 0 ? this.pick<unknown>([null, [], "x", 5]) : this.#object() };
  }

  line(): string {
    if (this.below(25) === 0) return this.pick(["{", "null", "[]", '"x"', "\u0000", "", '{"type":"ADDED","object":']);
    const text = JSON.stringify(this.#event());
    return this.below(40) === 0 ? text.slice(0, this.below(text.length)) : text;
  }

  list(): unknown {
    if (this.below(3) === 0) return this.pick<unknown>([null, [], {}, { kind: "Table", metadata: {} }, this.#object()]);
    const items = Array.from({ length: this.below(4) }, () => this.#object());
    const resourceVersion = this.pick<unknown>(["5", "9", "", null, 5]);
    return { kind: "ConfigMapList", apiVersion: "v1", metadata: { resourceVersion }, items };
  }
}

const good = (name: string, version: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "shop", uid: `good-${name}`, resourceVersion: version },
});
const goodItems = [good("a", "901"), good("z", "902")];

function isOfTheCache({ apiVersion, kind, metadata }: KubeObject): boolean {
  const { name, namespace, uid, resourceVersion, labels = {}, ownerReferences = [] } = metadata;
  return apiVersion === "v1" && kind === "ConfigMap" && namespace === "shop" && typeof name === "string" &&
    name !== "" && (uid === undefined || typeof uid === "string") &&
    (resourceVersion === undefined || typeof resourceVersion === "string") &&
    Object.values(labels).every((value) => typeof value === "string") && Array.isArray(ownerReferences);
}

for (const watchList of [true, false]) {
  test(`[13, 113] a hostile ${watchList ? "stream" : "list and watch"} never breaks a cache, and never mixes kinds`, async () => {
    let seen = 0;
    for (let seed = 1; seed <= 60; seed++) {
      const generator = new Generator(seed);
      const clock = new VirtualClock();
      let isHostile = true;
      let requests = 0;
      const client = new Client(({ url }) => {
        requests++;
        const query = new URL(url).searchParams;
        const isWatch = query.get("watch") === "true";
        if (!isHostile) {
          const list = {
            kind: "ConfigMapList",
            apiVersion: "v1",
            metadata: { resourceVersion: "910" },
            items: goodItems,
          };
          if (!isWatch) return Promise.resolve(Response.json(list));
          const end = { type: "BOOKMARK", object: bookmark("910") };
          const events = query.has("sendInitialEvents")
            ? [...goodItems.map((object) => ({ type: "ADDED", object })), end]
            : [{ type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired" } }];
          return Promise.resolve(open(events.map((event) => JSON.stringify(event))));
        }
        if (!isWatch) return Promise.resolve(new Response(JSON.stringify(generator.list()) ?? ""));
        const lines = Array.from({ length: generator.below(12) }, () => generator.line());
        const version = String(generator.below(60));
        if (generator.below(3) === 0) lines.push(JSON.stringify({ type: "BOOKMARK", object: bookmark(version) }));
        return Promise.resolve(new Response(lines.join("\n") + generator.pick(["\n", ""])));
      }, { clock });
      const factory = informersOf(client, { clock, watchList, random: seededRandom(seed) });
      const informer = factory.informer(ConfigMap, { namespace: "shop" });
      const model = new Map<string, KubeObject>();
      const problems: string[] = [];
      informer.addHandler({
        onAdd: (object) => {
          if (model.has(keyOf(object))) problems.push(`added twice: ${keyOf(object)}`);
          model.set(keyOf(object), object);
        },
        onUpdate: (_old, object) => {
          if (!model.has(keyOf(object))) problems.push(`updated before it was added: ${keyOf(object)}`);
          model.set(keyOf(object), object);
        },
        onDelete: ({ key }) => {
          if (!model.delete(key)) problems.push(`deleted before it was added: ${key}`);
        },
      });
      const stop = new AbortController();
      const running = factory.run(stop.signal);
      for (let step = 0; step < 60; step++) {
        await clock.advance(1_000);
        for (const object of informer.lister.list()) {
          seen++;
          assert(isOfTheCache(object), `seed ${seed}: ${JSON.stringify(object)}`);
          assert(informer.lister.find(keyOf(object)) === object, `seed ${seed}`);
        }
      }
      // About one in 0.8 s at first, each with a few relists; a loop would make thousands.
      assert(requests < 600, `seed ${seed}: ${requests} requests`);
      isHostile = false;
      for (let step = 0; step < 400; step++) await clock.advance(1_000);
      await drain();
      assertEquals(problems, [], `seed ${seed}`);
      const cached = informer.lister.list().map((object) => `${keyOf(object)} ${object.metadata.resourceVersion}`)
        .sort();
      assertEquals(cached, ["shop/a 901", "shop/z 902"], `seed ${seed}`);
      assertEquals([...model.keys()].sort(), ["shop/a", "shop/z"], `seed ${seed}`);
      stop.abort();
      await running;
      assertEquals(clock.pendingTimers, 0, `seed ${seed}`);
    }
    assert(seen > 200, `the caches were empty: ${seen}`);
  });
}

function bookmark(resourceVersion: string): object {
  const annotations = { "k8s.io/initial-events-end": "true" };
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { resourceVersion, annotations } };
}

/** A response whose stream stays open. */
function open(lines: readonly string[]): Response {
  const bytes = new TextEncoder().encode(lines.join("\n") + "\n");
  return new Response(new ReadableStream({ start: (controller) => controller.enqueue(bytes) }));
}

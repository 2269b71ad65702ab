/** Tests of ConditionalInformer: a kind that is watched while a condition holds, and the informer that several watchers share. */
import { FakeApi, type Thing } from "../../tests/fakes/list_watch.ts";
import { assert, assertEquals, assertThrows, test } from "../../tests/testing.ts";
import type { KubeObject, ListWatch, Resource } from "../api/mod.ts";
import { drain, seededRandom, VirtualClock } from "../async/mod.ts";
import { type ActivationState, type CacheScope, InformerFactory, noCacheMetrics, type ObjectOf } from "./mod.ts";
import { key, recorder } from "./testing/test_environment.ts";

const things: Resource<Thing, "Thing"> = {
  group: "example.dev",
  version: "v1",
  kind: "Thing",
  plural: "things",
  scope: "Namespaced",
};
const settings: Resource<Thing, "Thing"> = { ...things, plural: "settings" };

/** A factory over two fake APIs, and conditions on the value of a setting: it must be at least a number. */
class Fixture implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly things = new FakeApi({ clock: this.clock });
  readonly settings = new FakeApi({ clock: this.clock });
  readonly forgotten: string[] = [];
  readonly factory: InformerFactory;
  readonly stop = new AbortController();
  #running = Promise.resolve();

  constructor(namespaces?: readonly string[]) {
    this.things.put("a");
    this.factory = new InformerFactory({
      clock: this.clock,
      random: seededRandom(1),
      ...(namespaces === undefined ? {} : { namespaces }),
      metrics: { ...noCacheMetrics, forget: (name) => void this.forgotten.push(name) },
      listWatch: <R extends Resource>(resource: R, _scope: CacheScope): ListWatch<ObjectOf<R>> => {
        const api: unknown = resource.plural === "things" ? this.things : this.settings;
        assert(serves<ObjectOf<R>>(api));
        return api;
      },
    });
  }

  /** An informer of the Things while the setting is at least `minimum`, what its handler got, and its states. */
  whileAtLeast(minimum: number) {
    const received: string[] = [];
    const states: string[] = [];
    const informer = this.factory.conditional(things, {}, {
      condition: {
        informer: this.factory.informer(settings, { namespace: "default" }),
        key: key("switch"),
        evaluate: (object: KubeObject | undefined) => {
          const { value = 0 } = (object as Thing | undefined)?.spec ?? {};
          return value >= minimum || `${value} is below ${minimum}`;
        },
      },
      onState: (state: ActivationState) => states.push(state.kind === "inactive" ? state.reason : state.kind),
    });
    const registration = informer.addHandler(recorder(received), { name: "recorder" });
    return { informer, registration, received, states };
  }

  async start(): Promise<void> {
    this.#running = this.factory.run(this.stop.signal);
    await drain();
  }

  async set(value: number): Promise<void> {
    this.settings.put("switch", { value });
    await drain();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop.abort();
    await this.#running;
    assertEquals([this.things.openWatches, this.settings.openWatches, this.clock.pendingTimers], [0, 0, 0]);
  }
}

function serves<T>(api: unknown): api is ListWatch<T> {
  return api instanceof FakeApi;
}

test("while the condition does not hold, nothing is requested, and the informer counts as synced", async () => {
  await using fixture = new Fixture();
  const { informer, registration, received, states } = fixture.whileAtLeast(1);
  assertEquals([informer.hasSynced, informer.activation.state.kind], [false, "unknown"]);
  await fixture.start();
  await informer.synced(fixture.stop.signal);
  await registration.synced(fixture.stop.signal);
  assertEquals([fixture.things.watches().length, fixture.things.lists().length], [0, 0]);
  assertEquals([informer.hasSynced, informer.lister.size, received, states], [true, 0, [], ["0 is below 1"]]);
});

test("when it begins to hold, handlers get the objects before the cache is active; when it ends, no deletion", async () => {
  await using fixture = new Fixture();
  const { informer, received, states } = fixture.whileAtLeast(1);
  const seen: string[] = [];
  informer.activation.listen(() =>
    seen.push(`${informer.activation.state.kind}: ${informer.lister.size}, ${received}`)
  );
  await fixture.start();
  await fixture.set(1);
  fixture.things.put("b");
  await drain();
  await fixture.set(0);
  fixture.things.put("c");
  await drain();
  assertEquals(seen, ["active: 1, + default/a 0", "inactive: 0, + default/a 0,+ default/b 0"]);
  assertEquals(states, ["0 is below 1", "syncing", "active", "0 is below 1"]);
  assertEquals([fixture.things.openWatches, informer.lister.find(key("a")), received.length], [0, undefined, 2]);
  await fixture.set(1);
  assertEquals(received.slice(2), ["+ default/a 0", "+ default/b 0", "+ default/c 0"]);
  assertEquals([informer.activation.beginnings, informer.lister.size], [2, 3]);
});

test("watchers with different conditions share one informer, and the last one to leave stops it", async () => {
  await using fixture = new Fixture();
  const [one, two] = [fixture.whileAtLeast(1), fixture.whileAtLeast(2)];
  await fixture.start();
  await fixture.set(2);
  assertEquals([fixture.things.openWatches, one.informer.current === two.informer.current], [1, true]);
  await fixture.set(1);
  assertEquals([fixture.things.openWatches, one.informer.lister.size, two.informer.lister.size], [1, 1, 0]);
  await fixture.set(0);
  assertEquals([fixture.things.openWatches, one.informer.lister.size], [0, 0]);
  assertEquals(fixture.forgotten, ["things.example.dev"]);
});

test("an informer that was also requested without a condition goes on", async () => {
  await using fixture = new Fixture();
  const { informer } = fixture.whileAtLeast(1);
  await fixture.start();
  await fixture.set(1);
  assert(fixture.factory.informer(things) === informer.current);
  await fixture.set(0);
  assertEquals([fixture.things.openWatches, informer.lister.size, fixture.factory.lister(things).size], [1, 0, 1]);
  assertEquals(fixture.forgotten, []);
});

test("a condition that flaps a thousand times leaves no informer, handler, watch or timer behind", async () => {
  await using fixture = new Fixture();
  const watchers = [fixture.whileAtLeast(1), fixture.whileAtLeast(1), fixture.whileAtLeast(2)];
  await fixture.start();
  for (let round = 0; round < 1_000; round++) {
    fixture.settings.put("switch", { value: round % 3 });
    // Sometimes the cache has no time to be filled.
    if (round % 7 !== 0) await drain();
  }
  await fixture.set(2);
  assertEquals([fixture.factory.informers().length, fixture.things.openWatches], [2, 1]);
  assertEquals(watchers.map(({ informer }) => informer.lister.size), [1, 1, 1]);
  await fixture.set(0);
  assertEquals([fixture.factory.informers().length, fixture.things.openWatches], [1, 0]);
  for (const { received } of watchers) {
    const deleted = received.filter((text) => text.startsWith("-"));
    assertEquals(deleted, [], "no object counted as deleted");
  }
});

test("a condition that cannot be read is not known, and its cache says why", async () => {
  await using fixture = new Fixture();
  fixture.settings.failNext("watch", "hang");
  const { informer, states } = fixture.whileAtLeast(1);
  await fixture.start();
  assertEquals([informer.hasSynced, states, informer.statuses().map(({ name }) => name)], [
    false,
    [],
    ["settings.example.dev in namespace default"],
  ]);
});

test("a conditional informer of several namespaces has each of them while it is active", async () => {
  await using fixture = new Fixture(["default"]);
  const { informer, received } = fixture.whileAtLeast(1);
  await fixture.start();
  assertEquals(informer.cachedNamespaces?.stateOf("default"), "absent");
  await fixture.set(1);
  assertEquals([informer.cachedNamespaces?.stateOf("default"), received], ["synced", ["+ default/a 0"]]);
  await fixture.factory.removeNamespace("default");
  assertEquals([informer.cachedNamespaces?.stateOf("default"), informer.lister.size], ["absent", 0]);
});

test("a stopped conditional informer refuses handlers, and waits for it end", async () => {
  const fixture = new Fixture();
  const { informer } = fixture.whileAtLeast(1);
  const waiting = informer.synced(new AbortController().signal).then(() => "synced", (error: Error) => error.message);
  fixture.settings.failNext("watch", "hang");
  await fixture.start();
  await fixture[Symbol.asyncDispose]();
  assertEquals(await waiting, "Cannot wait for informer things.example.dev to sync: it has stopped");
  assertThrows(() => informer.addHandler({ onAdd: () => {} }), /it has stopped/);
  assertThrows(() => fixture.whileAtLeast(1), /the factory has stopped/);
});

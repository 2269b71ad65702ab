/** Controllers in the namespaces that a label selector matches, while the labels change. */
import { controller, type ControllerDefinition, done, Manager, manifest, requeueAfter } from "../../src/mod.ts";
import { builtin, keyOf } from "../../src/api/mod.ts";
import { MetricsRegistry } from "../../src/observe/mod.ts";
import { Client, type Transport } from "../../src/client/mod.ts";
import { type Clock, type Random, seededRandom } from "../../src/async/mod.ts";
import { World } from "../../src/simulation/mod.ts";
import { assert, assertEquals, assertThrows, test } from "../testing.ts";

const { ConfigMap, Namespace, Secret } = builtin;

const namespaceSelector = { matchLabels: { team: "a" } };
const selected = { team: "a" };

/** What a reconcile has seen. */
interface Seen {
  readonly key: string;
  readonly found: boolean;
}

/** A controller that makes a Secret of each ConfigMap, and reconciles it again after an hour. */
function copies(seen: { push(one: Seen): unknown }): ControllerDefinition {
  return controller("copies").for(ConfigMap).owns(Secret).reconcileKey(async ({ key }, toolbox) => {
    const map = toolbox.find(ConfigMap, key);
    seen.push({ key, found: map !== undefined });
    if (map === undefined) return done;
    const { namespace, name = "" } = map.metadata;
    const secret = manifest(Secret, { metadata: { namespace, name }, stringData: { a: "b" } });
    await toolbox.apply(Secret, secret, { resource: ConfigMap, object: map });
    return requeueAfter(3_600_000);
  });
}

async function label(world: World, namespace: string, team: string | null): Promise<void> {
  await world.patch(Namespace, namespace, { kind: "merge", value: { metadata: { labels: { team } } } as never });
}

test("a namespace that gets the labels is reconciled, and one that loses them is left alone, without a restart", async () => {
  const seen: Seen[] = [];
  await using world = await World.start({ controllers: [copies(seen)], namespaceSelector });
  for (const name of ["one", "two"]) {
    await world.create(Namespace, { name, ...(name === "one" ? { labels: selected } : {}) });
    await world.create(ConfigMap, { namespace: name, name: "mine" });
  }
  await world.settled();
  assertEquals(world.list(Secret).map(keyOf), ["one/kube-root-ca.crt", "one/mine"]);

  await label(world, "two", "a");
  await world.settled();
  assert(world.find(Secret, "two/mine") !== undefined, "the namespace has joined");

  await label(world, "one", null);
  await world.settled();
  seen.length = 0;
  await world.create(ConfigMap, { namespace: "one", name: "later" });
  await world.delete(Secret, "one/mine");
  await world.settled();
  await world.clock.advance(2 * 3_600_000);
  await world.settled();
  assertEquals(seen.filter(({ key }) => key.startsWith("one/")), [], "the requeue in an hour was dropped as well");
  assert(seen.some(({ key }) => key === "two/mine"));

  await label(world, "one", "a");
  await world.settled();
  assertEquals(["one/mine", "one/later"].map((key) => world.find(Secret, key) !== undefined), [true, true]);
  assert(seen.every(({ found }) => found || false), "no object counted as deleted");
});

test("the deletion of a namespace is a deletion of its objects", async () => {
  const deleted: string[] = [];
  const watcher = controller("watcher").for(ConfigMap)
    .deleted((ctx) => {
      deleted.push(ctx.object.metadata.name ?? "");
      return Promise.resolve(done);
    })
    .reconcile(() => Promise.resolve(done));
  await using world = await World.start({ controllers: [watcher], namespaceSelector });
  await world.create(Namespace, { name: "one", labels: selected });
  await world.create(ConfigMap, { namespace: "one", name: "mine" });
  await world.settled();
  await world.delete(Namespace, "one");
  await world.settled();
  assertEquals([world.find(Namespace, "one"), deleted.includes("mine")], [undefined, true]);
  deleted.length = 0;
  await world.create(Namespace, { name: "one" });
  await world.create(ConfigMap, { namespace: "one", name: "other" });
  await world.delete(ConfigMap, "one/other");
  await world.settled();
  assertEquals(deleted, [], "a namespace of the same name, without the labels");
});

test("a reconcile that runs when its namespace loses the labels is aborted, and is no failure", async () => {
  const entered = Promise.withResolvers<void>();
  const ends: string[] = [];
  const slow = controller("slow").for(ConfigMap).reconcile(async (ctx) => {
    if (ctx.object.metadata.name !== "slow") return done;
    entered.resolve();
    const { promise, reject } = Promise.withResolvers<never>();
    ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason));
    return await promise.catch((error: unknown) => {
      ends.push(String(error));
      throw error;
    });
  });
  await using world = await World.start({ controllers: [slow], namespaceSelector });
  await world.create(Namespace, { name: "one", labels: selected });
  await world.settled();
  await world.create(ConfigMap, { namespace: "one", name: "slow" });
  await entered.promise;
  await label(world, "one", null);
  await world.settled();
  assertEquals(ends, ["AbortError: Namespace one is no longer selected"]);
});

/** A network that loses requests, responses and watches. */
class FaultyNetwork {
  readonly #random: Random;
  isFaulty = true;
  clock: Clock | undefined;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Caches of the same namespace are filled at different times. */
  async #delay(signal: AbortSignal): Promise<void> {
    await this.clock?.sleep(this.#random.next() * 3_000, signal);
  }

  readonly wrap = (send: Transport): Transport => async (request) => {
    if (!this.isFaulty) return await send(request);
    const chance = this.#random.next();
    if (chance < 0.05) throw new TypeError("the connection was reset before the request");
    if (chance < 0.1) return Response.json({ kind: "Status", apiVersion: "v1", code: 500 }, { status: 500 });
    if (request.method === "GET" && chance > 0.6) await this.#delay(request.signal);
    const response = await send(request);
    if (chance < 0.15 && request.method !== "GET") throw new TypeError("the connection was reset after the request");
    const isWatch = new URL(request.url).searchParams.get("watch") !== null;
    return isWatch && chance < 0.4 && response.body !== null
      ? new Response(cut(response.body, this.#random))
      : response;
  };
}

/** A watch that ends after a few chunks. */
function cut(body: ReadableStream<Uint8Array>, random: Random): ReadableStream<Uint8Array> {
  let left = 1 + Math.floor(random.next() * 4);
  return body.pipeThrough(
    new TransformStream({
      transform(chunk, controller) {
        controller.enqueue(chunk);
        if (--left === 0) controller.terminate();
      },
    }),
  );
}

/** One step of a user, with names that are never used again: what is not found was deleted. */
async function step(world: World, random: Random, count: number): Promise<void> {
  const pick = <T>(items: readonly T[]) => items[Math.floor(random.next() * items.length)];
  const namespace = pick(["one", "two", "three"]) ?? "one";
  const map = pick(world.list(ConfigMap, namespace).filter(({ metadata }) => metadata.name?.startsWith("map")));
  const chance = random.next();
  if (chance < 0.4) return await label(world, namespace, random.next() < 0.5 ? "a" : null);
  if (chance < 0.8 || map === undefined) return void await world.create(ConfigMap, { namespace, name: `map-${count}` });
  await world.delete(ConfigMap, `${namespace}/${map.metadata.name}`);
}

for (const seed of [1, 2, 3, 4, 5, 6]) {
  test(`no object counts as deleted while namespaces come and go under faults, and all converges (seed ${seed})`, async () => {
    const random = seededRandom(seed);
    const network = new FaultyNetwork(seededRandom(seed + 100));
    const problems: string[] = [];
    let world: World | undefined;
    const onSeen = ({ key, found }: Seen) => {
      if (!found && world?.find(ConfigMap, key) !== undefined) problems.push(`${key} exists`);
    };
    await using running = world = await World.start({
      controllers: [copies({ push: onSeen })],
      ...{ namespaceSelector, seed, wrap: network.wrap },
    });
    network.clock = running.clock;
    for (const name of ["one", "two", "three"]) await running.create(Namespace, { name });
    for (let count = 0; count < 60; count++) {
      await step(running, random, count);
      await running.clock.advance(random.next() < 0.3 ? 2_000 : 20);
    }
    network.isFaulty = false;
    await running.settled();
    assertEquals(problems, []);
    for (
      const name of ["one", "two", "three"].filter((one) => running.get(Namespace, one).metadata.labels?.team === "a")
    ) {
      const [maps, secrets] = [ConfigMap, Secret].map((kind) =>
        running.list(kind, name).map(({ metadata }) => metadata.name)
      );
      assertEquals(secrets, maps, `namespace ${name}`);
    }
  });
}

/** The transport of a client. */
function transportOf(client: Client): Transport {
  let own: Transport | undefined;
  client.withTransport((transport) => own = transport);
  if (own === undefined) throw new Error("Cannot find the transport of the client");
  return own;
}

test("the process is not ready while the namespaces are not known, and its metrics follow them", async () => {
  await using world = await World.start({ controllers: [] });
  const { clock } = world;
  await world.create(Namespace, { name: "one", labels: selected });
  let isForbidden = true;
  const send = transportOf(world.client);
  const client = new Client((request) => {
    const isDenied = isForbidden && new URL(request.url).pathname === "/api/v1/namespaces";
    if (!isDenied) return send(request);
    return Promise.resolve(Response.json({ kind: "Status", apiVersion: "v1", code: 403 }, { status: 403 }));
  }, { clock });
  const metrics = new MetricsRegistry();
  const manager = new Manager({ client, clock, random: seededRandom(1), metrics, namespaceSelector });
  manager.add(copies([]));
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  await clock.advance(1_000);
  const problems = () => manager.checks().map(({ name, problem }) => [name, problem()] as const);
  const [[name, problem] = [], controllers] = problems();
  assertEquals([name, problem?.includes("forbidden to list or watch")], ["namespaces", true]);
  assertEquals(controllers?.[1], "configmaps: not synced yet (not started); secrets: not synced yet (not started)");
  isForbidden = false;
  await clock.advance(120_000);
  assertEquals(problems(), [["namespaces", undefined], ["copies", undefined]]);
  const series = async () =>
    (await metrics.render()).split("\n").filter((line) => /^selected_namespaces|in namespace one/.test(line)).length;
  assert(await series() > 2);
  await label(world, "one", null);
  await clock.advance(1_000);
  assertEquals([await series(), (await metrics.render()).includes("selected_namespaces 0")], [1, true]);
  stop.abort();
  await clock.advance(1_000);
  await running;
});

test("a Manager has namespaces or a selector of them", () => {
  const client = new Client(() => Promise.reject(new Error("there is no server")));
  assertThrows(
    () => new Manager({ client, namespaces: ["a"], namespaceSelector }),
    /both namespaces and a namespaceSelector/,
  );
});

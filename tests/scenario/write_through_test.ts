/**
 * Tests of reads after own writes, in a World whose network is slower in one direction: the watch comes after the
 * response, or before it. Each test states what every reader of the process sees.
 */
import {
  anyOf,
  changed,
  ConfigMap,
  controller,
  type ControllerDefinition,
  type ControllerOptions,
  done,
  manifest,
  Namespace,
  Secret,
} from "../../src/mod.ts";
import type { Transport } from "../../src/client.ts";
import { World } from "../../src/testing.ts";
import { VirtualClock } from "../../src/async/mod.ts";
import { assert, assertEquals, test } from "../testing.ts";

/** How long the network delays something, in virtual milliseconds. */
interface Network {
  /** Each read of a watch. @default 0 */
  readonly watchMs?: number;
  /** The response to each write. @default 0 */
  readonly responseMs?: number;
  /** Called before each write of a controller is sent. */
  readonly beforeWrite?: (request: Request) => Promise<void>;
  /** Called with the response to each write; may throw instead of returning one. */
  readonly afterWrite?: (request: Request, response: Response) => Promise<Response>;
}

function slow(network: Network, clock: VirtualClock): (transport: Transport) => Transport {
  const { watchMs = 0, responseMs = 0, beforeWrite, afterWrite } = network;
  return (transport) => async (request) => {
    const isWatch = new URL(request.url).searchParams.get("watch") === "true";
    const isWrite = request.method !== "GET" && request.method !== "HEAD";
    if (isWrite) await beforeWrite?.(request);
    const response = await transport(request);
    if (isWrite) {
      if (responseMs > 0) await clock.sleep(responseMs, request.signal);
      return await (afterWrite?.(request, response) ?? response);
    }
    if (!isWatch || response.body === null || watchMs === 0) return response;
    const delayed = new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, out) {
        await clock.sleep(watchMs, request.signal);
        out.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(delayed), response);
  };
}

async function startWorld(controllers: readonly ControllerDefinition[], network: Network): Promise<World> {
  const clock = new VirtualClock();
  return await World.start({ controllers, clock, cluster: false, wrap: slow(network, clock) });
}

/** Gives each ConfigMap the lowest port that no other has, as it sees them in the cache. */
const portAllocator = controller("ports").for(ConfigMap).uses(ConfigMap, ["patch"]).reconcile(async (ctx) => {
  if (ctx.object.data?.port !== undefined) return done;
  const taken = new Set(ctx.list(ConfigMap).map(({ data }) => data?.port));
  let port = 1;
  while (taken.has(String(port))) port++;
  await ctx.patch(ConfigMap, ctx.object, { kind: "merge", value: { data: { port: String(port) } } });
  return done;
});

function ports(world: World): readonly (string | undefined)[] {
  return world.list(ConfigMap, "default").map(({ data }) => data?.port).sort();
}

const six = ["a", "b", "c", "d", "e", "f"];

test("[64] numbers that are allocated from a list of the cache are unique, with watch events 50 ms late", async () => {
  await using world = await startWorld([portAllocator], { watchMs: 50 });
  for (const name of six) await world.create(ConfigMap, { name });
  await world.settled();
  assertEquals(ports(world), ["1", "2", "3", "4", "5", "6"]);
});

test("[64] numbers are unique when writes take effect and their responses are lost", async () => {
  let lost = 0;
  await using world = await startWorld([portAllocator], {
    watchMs: 50,
    afterWrite: (_request, response) => {
      if (lost++ % 2 === 0) throw new TypeError("connection reset");
      return Promise.resolve(response);
    },
  });
  for (const name of six) await world.create(ConfigMap, { name });
  await world.settled();
  assertEquals(ports(world), ["1", "2", "3", "4", "5", "6"]);
  assert(lost >= 6);
});

test("[64] an attempt, other keys and other controllers read what was applied, before the watch shows it", async () => {
  const seen: string[] = [];
  const greeter = controller("greeter").for(Namespace).owns(ConfigMap).reconcile(async (ctx) => {
    const namespace = ctx.object.metadata.name ?? "";
    if (!namespace.startsWith("team-")) return done;
    const before = ctx.list(ConfigMap, { labelSelector: { matchLabels: { app: "greeter" } } }).length;
    const metadata = { namespace, name: "greeting", labels: { app: "greeter" } };
    await ctx.apply(manifest(ConfigMap, { metadata, data: { text: "hello" } }));
    seen.push(`${namespace} ${before} ${ctx.get(ConfigMap, `${namespace}/greeting`).data?.text}`);
    return done;
  });
  const reader = controller("reader").for(Secret).watches(ConfigMap, { to: () => [] }).reconcile((ctx) => {
    seen.push(`reader ${ctx.list(ConfigMap, { labelSelector: { matchLabels: { app: "greeter" } } }).length}`);
    return Promise.resolve(done);
  });
  const secret: { create?: Promise<unknown> } = {};
  await using world = await startWorld([greeter, reader], { watchMs: 50 });
  for (const team of ["team-a", "team-b", "team-c"]) await world.create(Namespace, { name: team });
  secret.create = world.create(Secret, { name: "ask" });
  await secret.create;
  await world.settled();
  assertEquals(seen.filter((line) => line.startsWith("team-")), ["team-a 0 hello", "team-b 1 hello", "team-c 2 hello"]);
  assertEquals(seen.filter((line) => line.startsWith("reader")).length, 1);
});

/** Counts the reconciles of a controller that applies one ConfigMap for each Namespace `team-*`. */
function countingGreeter(counts: Map<string, number>, options: ControllerOptions = {}): ControllerDefinition {
  return controller("greeter", options).for(Namespace).owns(ConfigMap).reconcile(async (ctx) => {
    const namespace = ctx.object.metadata.name ?? "";
    if (!namespace.startsWith("team-")) return done;
    counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
    await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name: "greeting" }, data: { text: "hello" } }));
    return done;
  });
}

for (const [name, network] of [["later", { watchMs: 50 }], ["earlier", { responseMs: 50 }]] as const) {
  test(`[64] one create costs one reconcile, when the watch is ${name} than the response`, async () => {
    const counts = new Map<string, number>();
    await using world = await startWorld([countingGreeter(counts)], network);
    for (const team of ["team-a", "team-b"]) await world.create(Namespace, { name: team });
    await world.settled();
    assertEquals([...counts], [["team-a", 1], ["team-b", 1]]);
    await world.delete(ConfigMap, "team-a/greeting");
    await world.settled();
    assertEquals([...counts], [["team-a", 2], ["team-b", 1]]);
  });
}

test("[64] a controller that asks for its own writes is reconciled after them", async () => {
  const counts = new Map<string, number>();
  await using world = await startWorld([countingGreeter(counts, { ownWrites: "deliver" })], { watchMs: 50 });
  await world.create(Namespace, { name: "team-a" });
  await world.settled();
  assertEquals(counts.get("team-a"), 2);
});

test("[64] a key looks again when another client has written between its read and its write", async () => {
  const texts: (string | undefined)[] = [];
  const labels: (string | undefined)[] = [];
  const labeller = controller("labeller").for(Namespace).owns(ConfigMap).reconcile(async (ctx) => {
    const namespace = ctx.object.metadata.name ?? "";
    if (!namespace.startsWith("team-")) return done;
    const found = ctx.find(ConfigMap, `${namespace}/greeting`);
    labels.push(found?.metadata.labels?.wanted);
    const text = found?.metadata.labels?.wanted ?? "hello";
    const written = await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name: "greeting" }, data: { text } }));
    texts.push(written.data?.text);
    return done;
  });
  let interfered = false;
  const holder: { world?: World } = {};
  await using world = await startWorld([labeller], {
    watchMs: 50,
    // Between the read of the second attempt and its write, a user asks for another text.
    beforeWrite: async (request) => {
      if (request.method !== "PATCH" || texts.length !== 1 || interfered) return;
      interfered = true;
      const value = { metadata: { labels: { wanted: "moin" } } };
      await holder.world?.patch(ConfigMap, "team-a/greeting", { kind: "merge", value });
    },
  });
  holder.world = world;
  await world.create(Namespace, { name: "team-a" });
  await world.settled();
  await world.patch(ConfigMap, "team-a/greeting", { kind: "merge", value: { data: { text: "changed" } } });
  await world.settled();
  assert(interfered);
  assertEquals(labels.at(-1), "moin");
  assertEquals(world.get(ConfigMap, "team-a/greeting").data?.text, "moin");
});

test("a predicate sees who made a change", async () => {
  const writers: string[] = [];
  const greeter = countingGreeter(new Map());
  const observer = controller("observer").for(ConfigMap, {
    when: ({ writtenBy }) => {
      if (writtenBy !== undefined) writers.push(`${writtenBy.controller} ${writtenBy.key}`);
      return false;
    },
  }).reconcile(() => Promise.resolve(done));
  await using world = await startWorld([greeter, observer], { watchMs: 50 });
  await world.create(Namespace, { name: "team-a" });
  await world.settled();
  assertEquals(writers, ["greeter team-a"]);
});

test("a key that deletes an object is reconciled when the object is gone", async () => {
  const seen: boolean[] = [];
  const cleaner = controller("cleaner").for(Secret).owns(ConfigMap, { deletes: true }).reconcile(async (ctx) => {
    const { namespace = "", name = "" } = ctx.object.metadata;
    const map = ctx.find(ConfigMap, `${namespace}/${name}`);
    seen.push(map !== undefined);
    const isFirst = seen.length === 1;
    if (isFirst) await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name } }));
    else if (map !== undefined) await ctx.delete(ConfigMap, map);
    if (!isFirst) assertEquals(ctx.find(ConfigMap, `${namespace}/${name}`), undefined);
    return done;
  });
  await using world = await startWorld([cleaner], { watchMs: 50 });
  await world.create(Secret, { name: "a" });
  await world.settled();
  await world.patch(Secret, "default/a", { kind: "merge", value: { metadata: { labels: { again: "1" } } } });
  await world.settled();
  assertEquals(seen, [false, true, false]);
});

test("a write that the predicate would reject does not requeue the key after an intervening status write", async () => {
  const counts = new Map<string, number>();
  let interfered = false;
  const holder: { world?: World } = {};
  const scaler = controller("scaler").for(ConfigMap, { when: anyOf(changed.labels, changed.annotations) })
    .uses(ConfigMap, ["patch"]).reconcile(async (ctx) => {
      const name = ctx.object.metadata.name ?? "";
      counts.set(name, (counts.get(name) ?? 0) + 1);
      await ctx.patch(ConfigMap, ctx.object, { kind: "merge", value: { data: { seen: "yes" } } });
      return done;
    });
  await using world = await startWorld([scaler], {
    watchMs: 50,
    beforeWrite: async () => {
      if (interfered) return;
      interfered = true;
      await holder.world?.patch(ConfigMap, "default/a", { kind: "merge", value: { data: { other: "1" } } });
    },
  });
  holder.world = world;
  await world.create(ConfigMap, { name: "a" });
  await world.settled();
  assertEquals([interfered, counts.get("a")], [true, 1]);
});

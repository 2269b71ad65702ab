/** Tests that cached responses change nothing but the time. */
import { assert, assertEquals, test } from "../../tests/testing.ts";
import { kubernetesApi, ObjectStorage } from "../apiserver/mod.ts";
import { seededRandom, VirtualClock } from "../async/mod.ts";
import { CachingServer, CountingRandom, ResponseCache, WholeSecondClock } from "./_response_cache.ts";

/** A server that starts with a copy of a storage, and the paths of the writes that it executed itself. */
async function startServer(cache: ResponseCache, baseline: ObjectStorage, seed = 1) {
  const clock = new VirtualClock();
  const random = new CountingRandom(seededRandom(seed));
  const storage = baseline.copy();
  const executed: string[] = [];
  const { server: { fetch } } = kubernetesApi({ clock, random, storage });
  await fetch(new Request("https://server/readyz"));
  const server = new CachingServer({
    ...{ cache, storage, clock, random },
    server: (request) => {
      if (request.method !== "GET") executed.push(new URL(request.url).pathname);
      return fetch(request);
    },
  });
  return { clock, storage, executed, fetch: server.fetch };
}

type Server = Awaited<ReturnType<typeof startServer>>;

async function send({ fetch }: Pick<Server, "fetch">, method: string, path: string, body?: object): Promise<string> {
  const headers = { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
  const init = body === undefined ? { method } : { method, headers, body: JSON.stringify(body) };
  const response = await fetch(new Request(`https://server${path}`, init));
  return `${response.status} ${response.headers.get("content-type")} ${await response.text()}`;
}

const maps = "/api/v1/namespaces/default/configmaps";

async function sendAll(server: Server): Promise<readonly string[]> {
  return [
    await send(server, "POST", maps, { metadata: { generateName: "a-" } }),
    await send(server, "POST", maps, { metadata: { name: "b" }, data: { key: "1" } }),
    await send(server, "POST", maps, { metadata: { name: "b" } }),
    await send(server, "PATCH", `${maps}/b`, { data: { key: "2" } }),
    await send(server, "GET", maps),
    await send(server, "DELETE", `${maps}/b`),
    await send(server, "GET", maps),
  ];
}

async function prepareStorage(): Promise<ObjectStorage> {
  const storage = new ObjectStorage();
  await kubernetesApi({ clock: new VirtualClock(), random: seededRandom(0), storage }).server.fetch(
    new Request("https://server/readyz"),
  );
  return storage;
}

test("a server with a cached history responds and stores the same, and executes nothing", async () => {
  const [cache, baseline] = [new ResponseCache(), await prepareStorage()];
  const [first, second] = [await startServer(cache, baseline), await startServer(cache, baseline)];
  const responses = await sendAll(first);
  assertEquals(await sendAll(second), responses);
  assertEquals([first.executed.length, second.executed.length], [5, 0]);
  assertEquals([...second.storage.list("configmaps")], [...first.storage.list("configmaps")]);
  assertEquals([...second.storage.changesAfter(0)].length, [...first.storage.changesAfter(0)].length);
});

test("a server with a cache responds like a server without one", async () => {
  const baseline = await prepareStorage();
  const cache = new ResponseCache();
  await sendAll(await startServer(cache, baseline));
  const cached = await sendAll(await startServer(cache, baseline));
  assertEquals(cached, await sendAll(await startServer(new ResponseCache(), baseline)));
  assert(cached[2]?.startsWith("409"), "rejections are cached too");
});

test("a write with another body, time, history or random position is executed", async () => {
  const [cache, baseline] = [new ResponseCache(), await prepareStorage()];
  const create = (server: Server, name = "a") => send(server, "POST", maps, { metadata: { name } });
  const servers = [await startServer(cache, baseline), await startServer(cache, baseline)] as const;
  const later = await startServer(cache, baseline);
  await later.clock.advance(1);
  const [first, otherBody] = servers;
  await create(first);
  await create(otherBody, "b");
  await create(later);
  await create(otherBody);
  assertEquals([first, otherBody, later].map(({ executed }) => executed.length), [1, 2, 1]);
  assertEquals(otherBody.storage.size("configmaps"), first.storage.size("configmaps") + 1);
});

test("a server continues after a cached history with the same random numbers as a server without a cache", async () => {
  const [cache, baseline] = [new ResponseCache(), await prepareStorage()];
  await sendAll(await startServer(cache, baseline));
  const [caching, alone] = [await startServer(cache, baseline), await startServer(new ResponseCache(), baseline)];
  const last: string[] = [];
  for (const server of [caching, alone]) {
    await send(server, "POST", maps, { metadata: { generateName: "a-" } });
    last.push(await send(server, "POST", maps, { metadata: { generateName: "new-" } }));
  }
  assertEquals(caching.executed.length, 1);
  assertEquals(last[0], last[1]);
});

test("concurrent writes are not cached", async () => {
  const [cache, baseline] = [new ResponseCache(), await prepareStorage()];
  const server = await startServer(cache, baseline);
  await Promise.all(["a", "b"].map((name) => send(server, "POST", maps, { metadata: { name } })));
  assertEquals(cache.start.history.writes.size, 0);
  assertEquals(server.storage.size("configmaps") - baseline.size("configmaps"), 2);
});

const events = "/api/v1/namespaces/default/events";

function sendEvent(server: Server, name: string): Promise<string> {
  const involvedObject = { kind: "ConfigMap", namespace: "default", name: "a" };
  return send(server, "POST", events, { metadata: { name }, involvedObject });
}

test("other writes do not depend on Events, and Events depend on the Events before them", async () => {
  const [cache, baseline] = [new ResponseCache(), await prepareStorage()];
  const create = (server: Server, name: string) => send(server, "POST", maps, { metadata: { name } });
  const sendBoth = async (server: Server, event: string) => {
    return [await sendEvent(server, event), await create(server, "a"), await sendEvent(server, "last")];
  };
  const first = await startServer(cache, baseline);
  await sendBoth(first, "one");
  const [same, other] = [await startServer(cache, baseline), await startServer(cache, baseline)];
  await sendBoth(same, "one");
  assertEquals(same.executed, []);
  const responses = await sendBoth(other, "two");
  assertEquals(other.executed, [events, events], "the ConfigMap is taken from the first server");
  assertEquals(responses, await sendBoth(await startServer(new ResponseCache(), baseline), "two"));
  assertEquals([...other.storage.list("events")].map(({ metadata }) => (metadata as { name: string }).name), [
    "last",
    "two",
  ]);
});

test("a write that changes nothing is no part of the history", async () => {
  const [cache, baseline] = [new ResponseCache(), await prepareStorage()];
  const create = (server: Server) => send(server, "POST", maps, { metadata: { name: "a" } });
  const [first, second] = [await startServer(cache, baseline), await startServer(cache, baseline)];
  await create(first);
  assert((await send(second, "DELETE", `${maps}/none`)).startsWith("404"));
  await create(second);
  assertEquals(second.executed, [`${maps}/none`]);
});

test("a WholeSecondClock shows the start of the second, and its timers are those of its clock", async () => {
  const base = new VirtualClock();
  const clock = new WholeSecondClock(base);
  const startedAt = base.now();
  let fired = 0;
  clock.timer(1_500, () => fired++);
  await base.advance(1_999);
  assertEquals([clock.now() - startedAt, clock.monotonic(), fired], [1_000, 1_999, 1]);
});

/** What servers remember of each other: nothing but time may depend on it. */
import { assert, assertEquals, test } from "../../tests/testing.ts";
import { kubernetesApi, ObjectStorage } from "../apiserver/mod.ts";
import { seededRandom, VirtualClock } from "../async/mod.ts";
import { CountedRandom, RememberingServer, ServerMemory } from "./_server_memory.ts";

/** A server that begins with what a storage holds, and what it worked out itself. */
async function serverOf(memory: ServerMemory, beginning: ObjectStorage, seed = 1) {
  const clock = new VirtualClock();
  const random = new CountedRandom(seededRandom(seed));
  const storage = beginning.copy();
  const worked: string[] = [];
  const { server: { fetch } } = kubernetesApi({ clock, random, storage });
  await fetch(new Request("https://server/readyz"));
  const server = new RememberingServer({
    ...{ memory, storage, clock, random },
    server: (request) => {
      if (request.method !== "GET") worked.push(new URL(request.url).pathname);
      return fetch(request);
    },
  });
  return { clock, storage, worked, fetch: server.fetch };
}

type Server = Awaited<ReturnType<typeof serverOf>>;

async function asked({ fetch }: Pick<Server, "fetch">, method: string, path: string, body?: object): Promise<string> {
  const headers = { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
  const sent = body === undefined ? { method } : { method, headers, body: JSON.stringify(body) };
  const response = await fetch(new Request(`https://server${path}`, sent));
  return `${response.status} ${response.headers.get("content-type")} ${await response.text()}`;
}

const maps = "/api/v1/namespaces/default/configmaps";

async function play(server: Server): Promise<readonly string[]> {
  return [
    await asked(server, "POST", maps, { metadata: { generateName: "a-" } }),
    await asked(server, "POST", maps, { metadata: { name: "b" }, data: { key: "1" } }),
    await asked(server, "POST", maps, { metadata: { name: "b" } }),
    await asked(server, "PATCH", `${maps}/b`, { data: { key: "2" } }),
    await asked(server, "GET", maps),
    await asked(server, "DELETE", `${maps}/b`),
    await asked(server, "GET", maps),
  ];
}

async function begun(): Promise<ObjectStorage> {
  const storage = new ObjectStorage();
  await kubernetesApi({ clock: new VirtualClock(), random: seededRandom(0), storage }).server.fetch(
    new Request("https://server/readyz"),
  );
  return storage;
}

test("a server with the same past answers and stores the very same, and works out nothing", async () => {
  const [memory, beginning] = [new ServerMemory(), await begun()];
  const [first, second] = [await serverOf(memory, beginning), await serverOf(memory, beginning)];
  const answers = await play(first);
  assertEquals(await play(second), answers);
  assertEquals([first.worked.length, second.worked.length], [5, 0]);
  assertEquals([...second.storage.list("configmaps")], [...first.storage.list("configmaps")]);
  assertEquals([...second.storage.changesAfter(0)].length, [...first.storage.changesAfter(0)].length);
});

test("a server that remembers answers as one that does not", async () => {
  const beginning = await begun();
  const memory = new ServerMemory();
  await play(await serverOf(memory, beginning));
  const remembered = await play(await serverOf(memory, beginning));
  assertEquals(remembered, await play(await serverOf(new ServerMemory(), beginning)));
  assert(remembered[2]?.startsWith("409"), "refusals are remembered too");
});

test("another body, another time, another past or other chance is worked out anew", async () => {
  const [memory, beginning] = [new ServerMemory(), await begun()];
  const create = (server: Server, name = "a") => asked(server, "POST", maps, { metadata: { name } });
  const servers = [await serverOf(memory, beginning), await serverOf(memory, beginning)] as const;
  const later = await serverOf(memory, beginning);
  await later.clock.advance(1);
  const [first, otherBody] = servers;
  await create(first);
  await create(otherBody, "b");
  await create(later);
  await create(otherBody);
  assertEquals([first, otherBody, later].map(({ worked }) => worked.length), [1, 2, 1]);
  assertEquals(otherBody.storage.size("configmaps"), first.storage.size("configmaps") + 1);
});

test("a server that comes to something new goes on by itself, with the chance it would have had", async () => {
  const [memory, beginning] = [new ServerMemory(), await begun()];
  await play(await serverOf(memory, beginning));
  const [remembering, alone] = [await serverOf(memory, beginning), await serverOf(new ServerMemory(), beginning)];
  const ends: string[] = [];
  for (const server of [remembering, alone]) {
    await asked(server, "POST", maps, { metadata: { generateName: "a-" } });
    ends.push(await asked(server, "POST", maps, { metadata: { generateName: "new-" } }));
  }
  assertEquals(remembering.worked.length, 1);
  assertEquals(ends[0], ends[1]);
});

test("a server that was asked two things at once remembers neither", async () => {
  const [memory, beginning] = [new ServerMemory(), await begun()];
  const server = await serverOf(memory, beginning);
  await Promise.all(["a", "b"].map((name) => asked(server, "POST", maps, { metadata: { name } })));
  assertEquals(memory.beginning.size, 0);
  assertEquals(server.storage.size("configmaps") - beginning.size("configmaps"), 2);
});

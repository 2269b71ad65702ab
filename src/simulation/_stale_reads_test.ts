/** Tests of reads from a server whose watch cache is behind, or whose history was compacted. */
import { kubernetesApi } from "../apiserver/mod.ts";
import { seededRandom, VirtualClock } from "../async/mod.ts";
import { assertEquals, test } from "../../tests/testing.ts";
import { CompactedHistory, fetchStale } from "./_stale_reads.ts";

const maps = "https://server/api/v1/namespaces/default/configmaps";

/** A server with the ConfigMaps `a` and `b`, and the revision between their creations. */
async function startServer() {
  const { server } = kubernetesApi({ clock: new VirtualClock(), random: seededRandom(1) });
  await server.fetch(new Request("https://server/readyz"));
  const create = async (name: string) => {
    const body = JSON.stringify({ metadata: { name } });
    await server.fetch(new Request(maps, { method: "POST", body, headers: { "content-type": "application/json" } }));
  };
  await create("a");
  const { revision } = server.storage;
  await create("b");
  return { server, revision };
}

async function listNames(response: Response): Promise<readonly string[]> {
  const { items }: { items: { metadata: { name: string } }[] } = await response.json();
  return items.map(({ metadata }) => metadata.name);
}

test("fetchStale() answers a list from the cache with the old state, and a quorum list with the newest one", async () => {
  const { server, revision } = await startServer();
  using _ending = server;
  const list = async (query: string) =>
    await listNames(await fetchStale(server.fetch, new Request(maps + query), { revision, isWatch: false }));
  assertEquals(await list("?resourceVersion=0"), ["a"]);
  assertEquals(await list(""), ["a", "b"]);
});

test("fetchStale() starts a watch with the old state and its bookmark", async () => {
  const { server, revision } = await startServer();
  using _ending = server;
  const query = "?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
  const response = await fetchStale(server.fetch, new Request(maps + query), { revision, isWatch: true });
  const reader = response.body?.getReader();
  const { value } = await reader?.read() ?? {};
  await reader?.cancel();
  const lines = new TextDecoder().decode(value).trim().split("\n").map((line) => JSON.parse(line));
  const [added, bookmark] = lines;
  assertEquals(lines.map(({ type }) => type), ["ADDED", "BOOKMARK"]);
  assertEquals([added.object.kind, added.object.metadata.name], ["ConfigMap", "a"]);
  assertEquals(bookmark.object.metadata.resourceVersion, String(revision));
});

test("fetchStale() starts a watch of metadata with its bookmark where there were no objects", async () => {
  const { server } = kubernetesApi({ clock: new VirtualClock(), random: seededRandom(1) });
  using _ending = server;
  await server.fetch(new Request("https://server/readyz"));
  const query = "?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
  const accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
  const request = new Request(maps + query, { headers: { accept } });
  const { revision } = server.storage;
  const reader = (await fetchStale(server.fetch, request, { revision, isWatch: true })).body?.getReader();
  const { value } = await reader?.read() ?? {};
  await reader?.cancel();
  const { type, object } = JSON.parse(new TextDecoder().decode(value));
  assertEquals([type, object.kind], ["BOOKMARK", "PartialObjectMetadata"]);
});

test("after a compaction, watches that resume at an older version are expired, others are not", () => {
  const history = new CompactedHistory();
  const isExpired = (collection: string, query: string) =>
    history.isExpired(collection, { url: `https://server/x?${query}` });
  assertEquals(isExpired("configmaps", "watch=true&resourceVersion=4"), false);
  history.compact("configmaps", "5");
  history.compact("configmaps", "3");
  const expired = ["watch=true&resourceVersion=4"];
  const served = [
    "watch=true&resourceVersion=5",
    "watch=true&resourceVersion=4&sendInitialEvents=true",
    "watch=true&resourceVersion=0",
    "resourceVersion=4",
  ];
  assertEquals(expired.map((query) => isExpired("configmaps", query)), [true]);
  assertEquals(served.map((query) => isExpired("configmaps", query)), [false, false, false, false]);
  assertEquals(isExpired("secrets", "watch=true&resourceVersion=4"), false);
});

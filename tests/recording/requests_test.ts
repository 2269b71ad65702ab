/**
 * Tests of the requests in a recording: whatever a reconcile asks the server is an entry, with its answer, and without
 * secrets.
 */
import { VirtualClock } from "../../src/async/mod.ts";
import type { Client } from "../../src/client/mod.ts";
import { ConfigMap, controller, done, Namespace, Secret, ServiceAccount } from "../../src/mod.ts";
import { type Entry, Recording } from "../../src/observe/mod.ts";
import { World } from "../../src/simulation/mod.ts";
import { assert, assertEquals, test } from "../testing.ts";

/** What one reconcile sends, and the answers: the entries as a file with states has them. */
async function entriesOf(
  work: (client: Client) => Promise<unknown>,
  prepare: (world: World) => Promise<unknown> = () => Promise.resolve(),
): Promise<readonly Entry[]> {
  const clock = new VirtualClock();
  const entries: Entry[] = [];
  const sink = { keepsStates: true, write: (entry: Entry) => void entries.push(entry) };
  const recorder = new Recording({ now: () => clock.now(), sink });
  const worker = controller("worker").for(Namespace, { when: ({ object }) => object.metadata.name === "team-a" })
    .reconcile(async ({ client }) => {
      await work(client);
      return done;
    });
  const options = { controllers: [worker], cluster: false, access: "unchecked", clock, recorder } as const;
  await using world = await World.start(options);
  await prepare(world);
  await world.create(Namespace, { name: "team-a" });
  await world.settled();
  const start = entries.find(({ kind }) => kind === "reconcile-start");
  return entries.filter((entry) => {
    const isCacheRead = entry.kind === "read" && entry.from === "cache";
    return entry.causes.includes(start?.id ?? 0) && entry.kind !== "reconcile-end" && !isCacheRead;
  });
}

/** The entries but for what differs between any two runs. */
function essence(entries: readonly Entry[]): readonly unknown[] {
  return entries.map(({ id: _, at: __, causes: ___, controller: ____, key: _____, ...rest }) => rest);
}

test("[137] live reads are recorded with what they found, an absent object, and their failure", async () => {
  const entries = await entriesOf(async (client) => {
    await client.get(ConfigMap, "default/a");
    await client.find(ConfigMap, "default/none");
    await client.list(ConfigMap, { namespace: "default", labelSelector: { matchLabels: { app: "web" } } });
    await client.get(ConfigMap, "default/a", { resourceVersion: "999999" }).catch(() => {});
  }, async (world) => {
    await world.create(ConfigMap, { name: "a", labels: { app: "web" }, data: { color: "red", password: "hunter2" } });
    await world.create(ConfigMap, { name: "b" });
  });
  const [got, absent, listed, failed] = entries;
  assert(got?.kind === "read" && absent?.kind === "read" && listed?.kind === "read" && failed?.kind === "read");
  const object = { resource: "configmaps", kind: "ConfigMap", key: "default/a" };
  assertEquals([got.from, got.object, typeof got.resourceVersion], ["server", object, "string"]);
  assertEquals((got.state as { data?: unknown } | undefined)?.data, { color: "red", password: "[masked]" });
  assertEquals(essence([absent]), [
    { kind: "read", from: "server", object: { ...object, key: "default/none" }, durationMs: 0 },
  ]);
  assertEquals([listed.objects, listed.object.key, listed.path], [
    1,
    undefined,
    "/api/v1/namespaces/default/configmaps?labelSelector=app%3Dweb",
  ]);
  assert(Array.isArray(listed.state) && listed.state.length === 1 && !JSON.stringify(listed).includes("hunter2"));
  assertEquals([failed.failure?.code, failed.resourceVersion, failed.state], [504, undefined, undefined]);
});

test("[137] writes that show no object are recorded: deleteCollection, evict, createToken", async () => {
  const entries = await entriesOf(async (client) => {
    await client.deleteCollection(ConfigMap, { namespace: "default", labelSelector: { matchLabels: { app: "web" } } });
    await client.evict("default/none").catch(() => {});
    await client.createToken("default/robot", { audiences: ["vault"] });
  }, async (world) => {
    await world.create(ConfigMap, { name: "a", labels: { app: "web" } });
    await world.create(ServiceAccount, { name: "robot" });
  });
  const writes = entries.filter((entry) => entry.kind === "write");
  assertEquals(writes.map(({ verb, object, subresource, answer }) => [verb, object.key, subresource, answer.kind]), [
    ["deletecollection", undefined, undefined, "stored"],
    ["create", "default/none", "eviction", "failed"],
    ["create", "default/robot", "token", "stored"],
  ]);
  assertEquals(writes.map(({ path }) => path), [
    "/api/v1/namespaces/default/configmaps?labelSelector=app%3Dweb",
    undefined,
    undefined,
  ]);
  assertEquals(writes.map(({ state }) => state), [undefined, undefined, undefined]);
});

test("[137] raw requests are recorded with their answer, and without the secrets in either direction", async () => {
  const path = "/api/v1/namespaces/default/secrets";
  const entries = await entriesOf(async (client) => {
    await client.raw("/version");
    await client.raw("/nowhere").catch(() => {});
    const secret = { metadata: { name: "db" }, stringData: { dsn: "hunter2" } };
    await client.raw(path, { method: "POST", body: JSON.stringify(secret) });
    await client.raw(`${path}/db`);
    await client.get(Secret, "default/db");
    await client.list(Secret, { namespace: "default" });
  });
  const requests = entries.filter((entry) => entry.kind === "request");
  assertEquals(requests.map(({ method, path, answer }) => [method, path, answer.kind]), [
    ["GET", "/version", "answered"],
    ["GET", "/nowhere", "failed"],
    ["POST", path, "answered"],
    ["GET", `${path}/db`, "answered"],
  ]);
  const [version, nowhere, posted, got] = requests;
  assert("gitVersion" in (version?.state as object) && nowhere?.answer.kind === "failed");
  assertEquals(nowhere.answer.code, 404);
  assertEquals(posted?.body, { metadata: { name: "db" } });
  assertEquals((got?.state as { metadata?: { name?: string } } | undefined)?.metadata?.name, "db");
  const text = JSON.stringify(entries);
  for (const secret of ["hunter2", btoa("hunter2")]) assert(!text.includes(secret), `${secret} is in ${text}`);
});

test("[137] without states, reads and requests have no content", async () => {
  const clock = new VirtualClock();
  const recorder = new Recording({ now: () => clock.now() });
  const reader = controller("reader").for(Namespace).reconcile(async ({ client, object }) => {
    await client.find(Namespace, `${object.metadata.name}`);
    await client.raw("/version");
    return done;
  });
  await using world = await World.start({
    controllers: [reader],
    cluster: false,
    clock,
    recorder,
    access: "unchecked",
  });
  await world.create(Namespace, { name: "team-a" });
  await world.settled();
  const live = recorder.entries().filter((entry) =>
    (entry.kind === "read" && entry.from === "server") || entry.kind === "request"
  );
  assert(live.length >= 2 && live.every((entry) => !("state" in entry)), JSON.stringify(live));
});

/** Tests of StateStore with an API server in memory. */
import { z } from "zod";
import { assertEquals, assertRejects, assertThrows, test } from "../../tests/testing.ts";
import { VirtualClock } from "../async/mod.ts";
import { Client } from "./client.ts";
import { StateStore, type StateStoreOptions } from "./state_store.ts";

const Cursor = z.object({ position: z.int(), seen: z.array(z.string()).default([]) });

type Data = Readonly<Record<string, string>> | undefined;

/** A server with one object, which counts its writes and calls `beforeWrite` before each. */
class MemoryServer {
  stored: { readonly metadata: Readonly<Record<string, string>>; readonly data: Data } | undefined;
  writes = 0;
  beforeWrite: () => void = () => {};
  #version = 1;

  set(data: Data): void {
    const resourceVersion = String(++this.#version);
    this.stored = { metadata: { namespace: "shop", name: "state", uid: "1", resourceVersion }, data };
  }

  async answer(request: Request): Promise<Response> {
    const kind = request.url.includes("/secrets") ? "Secret" : "ConfigMap";
    const identity = { apiVersion: "v1", kind };
    if (request.method === "GET") {
      return this.stored ? Response.json({ ...identity, ...this.stored }) : failed(404, "NotFound");
    }
    this.beforeWrite();
    this.writes++;
    const sent = await request.json();
    if (request.method === "POST" && this.stored !== undefined) return failed(409, "AlreadyExists");
    if (request.method === "PUT" && this.stored === undefined) return failed(404, "NotFound");
    const isOld = request.method === "PUT" && sent.metadata.resourceVersion !== this.stored?.metadata.resourceVersion;
    if (isOld) return failed(409, "Conflict");
    this.set(sent.data);
    return Response.json({ ...identity, ...this.stored });
  }
}

function failed(code: number, reason: string): Response {
  return Response.json({ kind: "Status", status: "Failure", code, reason, message: reason }, { status: code });
}

function memoryServer(first?: Data) {
  const server = new MemoryServer();
  if (first !== undefined) server.set(first);
  return { server, client: new Client((request) => server.answer(request)) };
}

function storeOf(client: Client, options: Partial<StateStoreOptions<typeof Cursor>> = {}) {
  const random = { next: () => 0 };
  const clock = new VirtualClock();
  const settings = {
    object: "shop/state",
    schema: Cursor,
    initial: { position: 0, seen: [] },
    random,
    clock,
    ...options,
  };
  return { clock, store: new StateStore(client, settings) };
}

test("a store has its initial value until the first update creates the object", async () => {
  const { server, client } = memoryServer();
  const { store } = storeOf(client);
  assertEquals([await store.read(), server.writes], [{ position: 0, seen: [] }, 0]);
  assertEquals(await store.update((state) => ({ ...state, position: 7 })), { position: 7, seen: [] });
  assertEquals(server.stored?.data, { state: '{"position":7,"seen":[]}' });
  assertEquals(await store.read(), { position: 7, seen: [] });
});

test("an update that changes nothing writes nothing, and other keys of the object stay", async () => {
  const { server, client } = memoryServer({ other: "x", state: '{"position":1,"seen":[]}' });
  const { store } = storeOf(client);
  await store.update((state) => state);
  assertEquals(server.writes, 0);
  await store.update(() => ({ position: 2, seen: ["a"] }));
  assertEquals(server.stored?.data, { other: "x", state: '{"position":2,"seen":["a"]}' });
});

test("two writers lose no change: the function is called again with the value of the other", async () => {
  for (const first of [undefined, { state: '{"position":1,"seen":[]}' }]) {
    const { server, client } = memoryServer(first);
    const { store, clock } = storeOf(client);
    server.beforeWrite = () => {
      server.beforeWrite = () => {};
      server.set({ state: '{"position":5,"seen":["other"]}' });
    };
    const updated = store.update(({ position, seen }) => ({ position: position + 1, seen: [...seen, "own"] }));
    await clock.advance(1_000);
    assertEquals(await updated, { position: 6, seen: ["other", "own"] });
    assertEquals(server.writes, 2);
  }
});

test("an update whose object is deleted meanwhile begins again with the initial value", async () => {
  const { server, client } = memoryServer({ state: '{"position":5,"seen":[]}' });
  const { store, clock } = storeOf(client);
  server.beforeWrite = () => {
    server.beforeWrite = () => {};
    server.stored = undefined;
  };
  const updated = store.update(({ position }) => ({ position: position + 1, seen: [] }));
  await clock.advance(1_000);
  assertEquals([await updated, server.stored?.data], [{ position: 1, seen: [] }, {
    state: '{"position":1,"seen":[]}',
  }]);
});

test("a function that changes its argument in place changes the stored value only", async () => {
  const { server, client } = memoryServer();
  const { store } = storeOf(client);
  const push = (state: z.output<typeof Cursor>) => {
    state.seen.push("a");
    return state;
  };
  server.beforeWrite = () => {
    throw new Error("down");
  };
  await assertRejects(() => store.update(push), /down/);
  assertEquals(await store.read(), { position: 0, seen: [] });
});

test("a value that JSON does not have is refused, and not stored as an empty object", async () => {
  const { server, client } = memoryServer();
  const given = new StateStore(client, { object: "shop/state", schema: z.set(z.int()), initial: new Set<number>() });
  await assertRejects(
    () => given.update(() => new Set([30_000])),
    /^Cannot store the state in "shop\/state": the value is of the type Set, which JSON does not have$/,
  );
  assertEquals(server.writes, 0);
});

test("an update gives up with the conflict after its attempts", async () => {
  const { server, client } = memoryServer({ state: '{"position":1,"seen":[]}' });
  const { store, clock } = storeOf(client, { maxAttempts: 3 });
  server.beforeWrite = () => server.set({ state: `{"position":${server.writes},"seen":[]}` });
  const updated = assertRejects(() => store.update(() => ({ position: -1, seen: [] })), /Conflict/);
  await clock.advance(1_000);
  await updated;
  assertEquals(server.writes, 3);
});

test("a value that does not fit the schema, or is too large, is an error, and nothing is written", async () => {
  const { server, client } = memoryServer({ state: '{"position":"x"}' });
  const { store } = storeOf(client, { maxBytes: 40 });
  await assertRejects(() => store.read(), /^Cannot use the state in "shop\/state": position: .*expected number/);
  server.set({ state: "{" });
  await assertRejects(() => store.update((state) => state), /"shop\/state": it is not JSON\. Give new fields/);
  server.set({ state: '{"position":1}' });
  assertEquals(await store.read(), { position: 1, seen: [] });
  await assertRejects(() => store.update(() => ({ position: 1.5, seen: [] })), /position: /);
  const large = { position: 1, seen: ["a".repeat(40)] };
  await assertRejects(
    () => store.update(() => large),
    /^Cannot store the state in "shop\/state": 66 bytes are more than 40/,
  );
  assertEquals(server.writes, 0);
  assertThrows(() => storeOf(client, { object: "state" }), /"state": it is not namespace\/name/);
  assertThrows(() => storeOf(client, { maxBytes: 2 ** 21 }), /maxBytes 2097152 is not within/);
});

test("in a Secret, the value is in base64", async () => {
  const { server, client } = memoryServer();
  const { store } = storeOf(client, { kind: "Secret", key: "cursor" });
  await store.update((state) => ({ ...state, seen: ["ä"] }));
  assertEquals(server.stored?.data, { cursor: "eyJwb3NpdGlvbiI6MCwic2VlbiI6WyLDpCJdfQ==" });
  assertEquals((await store.read()).seen, ["ä"]);
});

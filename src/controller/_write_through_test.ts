/** Tests of what a controller is told about its writes and live reads, with caches that answer as each test says. */
import { assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { builtin, type KubeObject, type ObjectKey, objectKey, resourceVersion } from "../api/mod.ts";
import { VirtualClock } from "../async/mod.ts";
import type { SharedInformer, WriteThroughResult } from "../cache/mod.ts";
import { Client, type Transport } from "../client/mod.ts";
import { logger } from "../observe/mod.ts";
import { WriteThrough } from "./_write_through.ts";
import type { Caches } from "./caches.ts";
import type { Cause } from "./request.ts";

const { ConfigMap } = builtin;
const key = objectKey({ namespace: "shop", name: "owner" });
const never = new AbortController().signal;
const change = { kind: "merge", value: { data: { color: "blue" } } } as const;

function configMap(version: string): KubeObject {
  const metadata = { name: "a", namespace: "shop", uid: "u-a", resourceVersion: resourceVersion(version) };
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

interface Fixture {
  readonly writeThrough: WriteThrough;
  readonly client: Client;
  readonly clock: VirtualClock;
  /** What the caches and the listener were told, in order. */
  readonly told: string[];
}

/** Caches of ConfigMaps that answer `result`, and have `cached`. */
function fixture(transport: Transport, result: WriteThroughResult = "stored", cached?: KubeObject): Fixture {
  const told: string[] = [];
  const lister = { find: () => cached } as unknown as SharedInformer<KubeObject>["lister"];
  const caches: Caches = {
    find: () => undefined,
    whyInactive: () => undefined,
    list: () => [],
    informer: () => {
      throw new Error("not needed here");
    },
    findInformer: (resource) =>
      resource.kind === "ConfigMap" ? { lister } as unknown as SharedInformer<KubeObject> : undefined,
    writeThrough: (_resource, { metadata }, write) => {
      told.push(`cache ${metadata.name} ${metadata.resourceVersion} by ${write?.writer.key ?? "a read"}`);
      return result;
    },
    deleteThrough: (_resource, objectKey, uid, writer) =>
      void told.push(`delete ${objectKey} ${uid} by ${writer?.key ?? "a read"}`),
    otherVersionsOf: () => [],
  };
  const clock = new VirtualClock();
  const client = new Client(transport, { clock });
  const listener = {
    onMissing: (one: ObjectKey) => void told.push(`missing ${one}`),
    onUnseen: (one: ObjectKey) => void told.push(`unseen ${one}`),
    onShownBefore: (one: ObjectKey, isOwn: (cause: Cause) => boolean) => {
      const cause: Cause = { source: "configmaps", change: "updated", key: "shop/a", resourceVersion: "7" };
      told.push(`shown before ${one} ${isOwn(cause)} ${isOwn({ ...cause, resourceVersion: "8" })}`);
    },
  };
  const log = logger("test");
  return {
    writeThrough: new WriteThrough({ controller: "foo", client, caches, clock, log, listener }),
    client,
    clock,
    told,
  };
}

async function patchWith(one: Fixture): Promise<void> {
  await one.writeThrough.clientFor(key, one.client, never).patch(ConfigMap, "shop/a", change);
}

function listOf(items: readonly KubeObject[]): Response {
  return Response.json({ apiVersion: "v1", kind: "ConfigMapList", metadata: { resourceVersion: "9" }, items });
}

/** Lets the write fail, and the reads answer like this. */
function failing(read: () => Promise<Response>): Transport {
  return (request) =>
    request.method === "GET" ? read() : Promise.resolve(Response.json({ kind: "Status", code: 504 }, { status: 504 }));
}

test("the response to a write enters the caches with its writer, before the write returns", async () => {
  const one = fixture(() => Promise.resolve(Response.json(configMap("7"))));
  await patchWith(one);
  assertEquals(one.told, ["cache a 7 by shop/owner"]);
});

test("a write that the watch has shown before names the causes that are its own", async () => {
  const one = fixture(() => Promise.resolve(Response.json(configMap("7"))), "known");
  await patchWith(one);
  assertEquals(one.told.at(-1), "shown before shop/owner true false");
});

test("a written object that is deleted already is missing; one that was only read is unseen", async () => {
  const one = fixture(() => Promise.resolve(Response.json(configMap("7"))), "missing");
  await patchWith(one);
  one.writeThrough.observeLive(key, ConfigMap, configMap("8"));
  assertEquals(one.told.filter((line) => !line.startsWith("cache")), ["missing shop/owner", "unseen shop/owner"]);
});

test("a write with an unknown outcome is settled by a live read before its error is thrown", async () => {
  const one = fixture(failing(() => Promise.resolve(listOf([configMap("8")]))));
  await assertRejects(() => patchWith(one));
  assertEquals([one.told, one.writeThrough.isUnsettled(key)], [["cache a 8 by a read"], false]);
});

test("a live read without the object deletes the cached one that is not newer than the read", async () => {
  for (const [version, expected] of [["5", ["delete shop/a u-a by a read"]], ["12", []]] as const) {
    const one = fixture(failing(() => Promise.resolve(listOf([]))), "stored", configMap(version));
    await assertRejects(() => patchWith(one));
    assertEquals(one.told, [...expected]);
  }
});

test("what could not be read stays unsettled until the next attempt reads it, for at most 10 s", async () => {
  let isReachable = false;
  const one = fixture(
    failing(() =>
      isReachable ? Promise.resolve(listOf([configMap("8")])) : Promise.reject(new TypeError("connection reset"))
    ),
  );
  await assertRejects(() => patchWith(one));
  assertEquals(one.writeThrough.isUnsettled(key), true);
  await assertRejects(() => one.writeThrough.settle(key, never));
  isReachable = true;
  await one.writeThrough.settle(key, never);
  assertEquals([one.told, one.writeThrough.isUnsettled(key)], [["cache a 8 by a read"], false]);
  isReachable = false;
  await assertRejects(() => patchWith(one));
  await one.clock.advance(10_000);
  await one.writeThrough.settle(key, never);
  assertEquals(one.writeThrough.isUnsettled(key), false, "after 10 s the key goes on");
});

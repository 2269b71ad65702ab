import { assertEquals, test } from "../../tests/testing.ts";
import {
  builtin,
  type KubeObject,
  type ObjectKey,
  objectKey,
  type Resource,
  resourceVersion,
  splitKey,
} from "../api/mod.ts";
import type { SharedInformer } from "../cache/mod.ts";
import { logger } from "../observe/mod.ts";
import { OwnWrites, type OwnWritesListener } from "./_own_writes.ts";
import type { Caches } from "./caches.ts";
import type { Cause } from "./request.ts";

const key = objectKey({ namespace: "default", name: "a" });
const log = logger("test");

/** A cache of Deployments. The test decides which versions and names it has. */
class FakeCaches implements Caches {
  seen = 0;
  /** The names of the cached objects. */
  readonly names = new Set<string>();
  readonly #waiting: { readonly version: number; readonly resolve: (caughtUp: boolean) => void }[] = [];

  informer(): never {
    throw new Error("not needed here");
  }
  find(): undefined {
    return undefined;
  }
  list(): readonly never[] {
    return [];
  }
  findInformer(resource: Resource): SharedInformer<KubeObject> | undefined {
    if (resource.kind !== "Deployment") return undefined;
    const find = (key: ObjectKey) => this.names.has(splitKey(key).name) ? deployment("1") : undefined;
    const informer: Partial<SharedInformer<KubeObject>> = {
      lister: { find, list: () => [] } as unknown as SharedInformer<KubeObject>["lister"],
      isAtLeast: (version) => Number(version) <= this.seen,
      waitFor: (version) => new Promise((resolve) => this.#waiting.push({ version: Number(version), resolve })),
    };
    return informer as SharedInformer<KubeObject>;
  }
  /** Lets the cache reach a version. */
  reach(version: number): void {
    this.seen = version;
    for (const waiter of this.#waiting) if (waiter.version <= version) waiter.resolve(true);
  }
  /** Lets every wait reach its deadline. */
  timeOut(): void {
    for (const waiter of this.#waiting) waiter.resolve(false);
  }
}

function deployment(version: string): KubeObject {
  const metadata = { name: "web", namespace: "default", resourceVersion: resourceVersion(version) };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata };
}

/** Records the calls. */
class Listener implements OwnWritesListener {
  readonly causes: Cause[] = [];
  readonly missingNames: (string | undefined)[] = [];

  onRelease(_key: ObjectKey, cause: Cause): void {
    this.causes.push(cause);
  }
  onMissing(_key: ObjectKey, _resource: Resource, object: KubeObject): void {
    this.missingNames.push(object.metadata.name);
  }
}

const settle = () =>
  new Promise<void>((resolve) => queueMicrotask(() => queueMicrotask(() => queueMicrotask(resolve))));

test("[64] a key is held until the cache has the key's own write, then it is released once", async () => {
  const caches = new FakeCaches();
  const listener = new Listener();
  using writes = new OwnWrites(caches, log, listener);
  writes.record(key, builtin.Deployment, deployment("7"));
  assertEquals(writes.hold(key), true);
  assertEquals(writes.hold(key), true, "an event that comes in the meantime does not release it");
  caches.reach(6);
  await settle();
  assertEquals(listener.causes.length, 0);
  caches.reach(7);
  await settle();
  assertEquals(listener.causes.length, 1);
  assertEquals(writes.hold(key), false);
});

test("[64] a key is not held when the cache already has its writes", () => {
  const caches = new FakeCaches();
  using writes = new OwnWrites(caches, log, new Listener());
  caches.reach(9);
  writes.record(key, builtin.Deployment, deployment("7"));
  assertEquals(writes.hold(key), false);
});

test("[64] a held key is released at the deadline when the cache does not catch up", async () => {
  const caches = new FakeCaches();
  const listener = new Listener();
  using writes = new OwnWrites(caches, log, listener);
  writes.record(key, builtin.Deployment, deployment("7"));
  assertEquals(writes.hold(key), true);
  caches.timeOut();
  await settle();
  assertEquals(listener.causes.length, 1);
  assertEquals(writes.hold(key), false);
});

test("[64] the writes of one key hold no other key, and writes of kinds that are not cached hold no key", () => {
  const caches = new FakeCaches();
  using writes = new OwnWrites(caches, log, new Listener());
  const other: ObjectKey = objectKey({ namespace: "default", name: "b" });
  writes.record(key, builtin.Deployment, deployment("7"));
  writes.record(other, builtin.Secret, deployment("8"));
  assertEquals(writes.hold(other), false);
});

test("a created object that the cache does not have when it passes its version is missing; before that nothing is settled", async () => {
  const caches = new FakeCaches();
  const listener = new Listener();
  using writes = new OwnWrites(caches, log, listener);
  writes.record(key, builtin.Deployment, deployment("7"));
  await settle();
  assertEquals([listener.missingNames, writes.isSettled()], [[], false]);
  caches.reach(9);
  assertEquals(writes.isSettled(), false, "the check has not run yet");
  await settle();
  assertEquals([listener.missingNames, writes.isSettled()], [["web"], true]);
});

test("a created object is missing when the response comes later than the cache passes its version without it", () => {
  const [caches, listener] = [new FakeCaches(), new Listener()];
  using writes = new OwnWrites(caches, log, listener);
  caches.reach(9);
  writes.record(key, builtin.Deployment, deployment("7"));
  assertEquals([listener.missingNames, writes.hold(key)], [["web"], false]);
});

test("an object found on the server is missing when the cache passes its version without it; a cache that does not select it is ignored", async () => {
  const caches = new FakeCaches();
  const listener = new Listener();
  using writes = new OwnWrites(caches, log, listener);
  writes.observeUncached(key, builtin.Deployment, deployment("7"));
  assertEquals([writes.hold(key), writes.isSettled()], [false, false]);
  caches.reach(8);
  await settle();
  assertEquals([listener.missingNames, writes.isSettled()], [["web"], true]);
  writes.observeUncached(key, builtin.Deployment, deployment("7"));
  writes.observeUncached(key, builtin.Secret, deployment("9"));
  await settle();
  assertEquals(listener.missingNames, ["web"]);
});

test("an object that the cache has, or receives later, is not missing", async () => {
  const caches = new FakeCaches();
  const listener = new Listener();
  using writes = new OwnWrites(caches, log, listener);
  writes.record(key, builtin.Deployment, deployment("7"));
  caches.names.add("web");
  caches.reach(7);
  await settle();
  writes.record(key, builtin.Deployment, deployment("8"));
  caches.names.clear();
  caches.reach(8);
  await settle();
  assertEquals(listener.missingNames, [], "the deletion of a cached object is an event");
});

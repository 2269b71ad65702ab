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
import type { Cause } from "./reconciler.ts";

const key = objectKey({ namespace: "default", name: "a" });
const log = logger("test");

/** A cache of Deployments whose progress the test decides. */
class FakeCaches implements Caches {
  seen = 0;
  /** Names that are in the cache. */
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
  /** Lets the cache see a version. */
  reach(version: number): void {
    this.seen = version;
    for (const waiter of this.#waiting) if (waiter.version <= version) waiter.resolve(true);
  }
  /** Plays the deadline of every wait. */
  giveUp(): void {
    for (const waiter of this.#waiting) waiter.resolve(false);
  }
}

function deployment(version: string): KubeObject {
  const metadata = { name: "web", namespace: "default", resourceVersion: resourceVersion(version) };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata };
}

/** Notes what it hears. */
class Listener implements OwnWritesListener {
  readonly causes: Cause[] = [];
  readonly vanishedNames: (string | undefined)[] = [];

  released(_key: ObjectKey, cause: Cause): void {
    this.causes.push(cause);
  }
  vanished(_key: ObjectKey, _resource: Resource, object: KubeObject): void {
    this.vanishedNames.push(object.metadata.name);
  }
}

const settle = () =>
  new Promise<void>((resolve) => queueMicrotask(() => queueMicrotask(() => queueMicrotask(resolve))));

test("[64] a key is held until the cache has seen the key's own write, then it comes back once", async () => {
  const caches = new FakeCaches();
  const listener = new Listener();
  using writes = new OwnWrites(caches, log, listener);
  writes.remember(key, builtin.Deployment, deployment("7"));
  assertEquals(writes.hold(key), true);
  assertEquals(writes.hold(key), true, "an event that comes meanwhile does not let it through");
  caches.reach(6);
  await settle();
  assertEquals(listener.causes.length, 0);
  caches.reach(7);
  await settle();
  assertEquals(listener.causes.length, 1);
  assertEquals(writes.hold(key), false);
});

test("[64] a key whose writes the cache has seen already is not held", () => {
  const caches = new FakeCaches();
  using writes = new OwnWrites(caches, log, new Listener());
  caches.reach(9);
  writes.remember(key, builtin.Deployment, deployment("7"));
  assertEquals(writes.hold(key), false);
});

test("[64] when the cache does not catch up in time the key runs anyway", async () => {
  const caches = new FakeCaches();
  const listener = new Listener();
  using writes = new OwnWrites(caches, log, listener);
  writes.remember(key, builtin.Deployment, deployment("7"));
  assertEquals(writes.hold(key), true);
  caches.giveUp();
  await settle();
  assertEquals(listener.causes.length, 1);
  assertEquals(writes.hold(key), false);
});

test("[64] one key's writes hold no other key, and kinds that are not cached hold nobody", () => {
  const caches = new FakeCaches();
  using writes = new OwnWrites(caches, log, new Listener());
  const other: ObjectKey = objectKey({ namespace: "default", name: "b" });
  writes.remember(key, builtin.Deployment, deployment("7"));
  writes.remember(other, builtin.Secret, deployment("8"));
  assertEquals(writes.hold(other), false);
});

test("what was created and is not there when the cache has passed it has vanished, and nobody rests before", async () => {
  const caches = new FakeCaches();
  const listener = new Listener();
  using writes = new OwnWrites(caches, log, listener);
  writes.remember(key, builtin.Deployment, deployment("7"));
  await settle();
  assertEquals([listener.vanishedNames, writes.isSettled()], [[], false]);
  caches.reach(9);
  assertEquals(writes.isSettled(), false, "nobody has looked yet");
  await settle();
  assertEquals([listener.vanishedNames, writes.isSettled()], [["web"], true]);
});

test("what was created has vanished when its answer is slower than a cache that does not have it", () => {
  const [caches, listener] = [new FakeCaches(), new Listener()];
  using writes = new OwnWrites(caches, log, listener);
  caches.reach(9);
  writes.remember(key, builtin.Deployment, deployment("7"));
  assertEquals([listener.vanishedNames, writes.hold(key)], [["web"], false]);
});

test("what stood in the way and is not there when the cache has passed it has vanished; a cache that has no use for it is let be", async () => {
  const caches = new FakeCaches();
  const listener = new Listener();
  using writes = new OwnWrites(caches, log, listener);
  writes.meet(key, builtin.Deployment, deployment("7"));
  assertEquals([writes.hold(key), writes.isSettled()], [false, false]);
  caches.reach(8);
  await settle();
  assertEquals([listener.vanishedNames, writes.isSettled()], [["web"], true]);
  writes.meet(key, builtin.Deployment, deployment("7"));
  writes.meet(key, builtin.Secret, deployment("9"));
  await settle();
  assertEquals(listener.vanishedNames, ["web"]);
});

test("what the cache has, or comes to have, has not vanished", async () => {
  const caches = new FakeCaches();
  const listener = new Listener();
  using writes = new OwnWrites(caches, log, listener);
  writes.remember(key, builtin.Deployment, deployment("7"));
  caches.names.add("web");
  caches.reach(7);
  await settle();
  writes.remember(key, builtin.Deployment, deployment("8"));
  caches.names.clear();
  caches.reach(8);
  await settle();
  assertEquals(listener.vanishedNames, [], "the end of what was cached is heard of");
});

import { assertEquals, test } from "../../tests/testing.ts";
import { builtin, type KubeObject, type ObjectKey, objectKey, type Resource, resourceVersion } from "../api/mod.ts";
import type { SharedInformer } from "../cache/mod.ts";
import { logger } from "../observe/mod.ts";
import { OwnWrites } from "./_own_writes.ts";
import type { Caches } from "./caches.ts";
import type { Cause } from "./reconciler.ts";

const key = objectKey({ namespace: "default", name: "a" });
const log = logger("test");

/** A cache of Deployments whose progress the test decides. */
class FakeCaches implements Caches {
  seen = 0;
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
    const informer: Partial<SharedInformer<KubeObject>> = {
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

function released(): { readonly causes: Cause[]; readonly release: (cause: Cause) => void } {
  const causes: Cause[] = [];
  return { causes, release: (cause) => void causes.push(cause) };
}

const settle = () =>
  new Promise<void>((resolve) => queueMicrotask(() => queueMicrotask(() => queueMicrotask(resolve))));

test("[64] a key is held until the cache has seen the key's own write, then it comes back once", async () => {
  const caches = new FakeCaches();
  using writes = new OwnWrites(caches, log);
  const { causes, release } = released();
  writes.remember(key, builtin.Deployment, deployment("7"));
  assertEquals(writes.hold(key, release), true);
  assertEquals(writes.hold(key, release), true, "an event that comes meanwhile does not let it through");
  caches.reach(6);
  await settle();
  assertEquals(causes.length, 0);
  caches.reach(7);
  await settle();
  assertEquals(causes.length, 1);
  assertEquals(writes.hold(key, release), false);
});

test("[64] a key whose writes the cache has seen already is not held", () => {
  const caches = new FakeCaches();
  using writes = new OwnWrites(caches, log);
  caches.reach(9);
  writes.remember(key, builtin.Deployment, deployment("7"));
  assertEquals(writes.hold(key, released().release), false);
});

test("[64] when the cache does not catch up in time the key runs anyway", async () => {
  const caches = new FakeCaches();
  using writes = new OwnWrites(caches, log);
  const { causes, release } = released();
  writes.remember(key, builtin.Deployment, deployment("7"));
  assertEquals(writes.hold(key, release), true);
  caches.giveUp();
  await settle();
  assertEquals(causes.length, 1);
  assertEquals(writes.hold(key, release), false);
});

test("[64] one key's writes hold no other key, and kinds that are not cached hold nobody", () => {
  const caches = new FakeCaches();
  using writes = new OwnWrites(caches, log);
  const other: ObjectKey = objectKey({ namespace: "default", name: "b" });
  writes.remember(key, builtin.Deployment, deployment("7"));
  writes.remember(other, builtin.Secret, deployment("8"));
  assertEquals(writes.hold(other, released().release), false);
});

/**
 * OwnWrites: reads of a controller see its own writes. After a reconcile has written an object, its key is held until
 * the cache has the written version.
 *
 * Guarantees: a held key is released as soon as the cache has the version, and after 10 s in any case, because a cache
 * that cannot catch up must not stop the controller. Only cached kinds are waited for. An object that was created, or
 * that was found on the server and not in the cache, is reported as missing if the cache passes its version without
 * having it: it was deleted before the watch sent it, so no event will come for it.
 *
 * The idea is that of KEP-5647; the deadline is ours.
 */
import { keyOf, type KubeObject, type ObjectKey, type Resource, resourceId, type ResourceVersion } from "../api/mod.ts";
import type { Logger } from "../observe/mod.ts";
import type { Caches } from "./caches.ts";
import type { Cause } from "./request.ts";

/** Receives what became of a controller's own writes. */
export interface OwnWritesListener {
  /** A held key can be reconciled. */
  onRelease(key: ObjectKey, cause: Cause): void;
  /** An object that a reconcile of `key` created or found on the server is deleted. No other event reports that. */
  onMissing(key: ObjectKey, resource: Resource, object: KubeObject): void;
}

const maxHoldMs = 10_000;

interface Write {
  readonly resource: Resource;
  readonly version: ResourceVersion;
  readonly namespace: string | undefined;
}

export class OwnWrites implements Disposable {
  readonly #caches: Caches;
  readonly #log: Logger;
  readonly #listener: OwnWritesListener;
  readonly #stop = new AbortController();
  /** The last write to each kind, per key. Small: an entry is deleted as soon as its key can be reconciled. */
  readonly #writes = new Map<ObjectKey, Map<string, Write>>();
  readonly #held = new Set<ObjectKey>();
  /** Number of objects for which `#awaitObject` waits. */
  #awaited = 0;

  constructor(caches: Caches, log: Logger, listener: OwnWritesListener) {
    this.#caches = caches;
    this.#log = log;
    this.#listener = listener;
  }

  /** Records that a reconcile of `key` made the server store `object`. */
  record(key: ObjectKey, resource: Resource, object: KubeObject): void {
    const { resourceVersion: version, namespace } = object.metadata;
    const informer = this.#caches.findInformer(resource);
    if (version === undefined || informer === undefined) return;
    if (informer.isAtLeast(version, namespace)) {
      // The response came later than the watch, or later than a relist, which shows no object that was created and
      // deleted before it.
      if (informer.lister.find(keyOf(object)) === undefined) this.#listener.onMissing(key, resource, object);
      return;
    }
    const writes = this.#writes.get(key) ?? new Map<string, Write>();
    writes.set(resourceId(resource), { resource, version, namespace });
    this.#writes.set(key, writes);
    if (informer.lister.find(keyOf(object)) === undefined) void this.#awaitObject(key, resource, object);
  }

  /** Records that a reconcile of `key` found an object on the server that is not in the cache. Does not hold the key. */
  observeUncached(key: ObjectKey, resource: Resource, object: KubeObject): void {
    const { resourceVersion: version, namespace } = object.metadata;
    // A cache that has passed the version without the object does not select it.
    if (version === undefined || this.#caches.findInformer(resource)?.isAtLeast(version, namespace) !== false) return;
    void this.#awaitObject(key, resource, object);
  }

  /** Holds `key` while the cache lacks a write of it. @returns True when it is held; `onRelease` is called afterwards. */
  hold(key: ObjectKey): boolean {
    if (this.#held.has(key)) return true;
    const writes = this.#writes.get(key);
    if (writes === undefined) return false;
    const missing = [...writes.values()].filter((write) => !this.#isCached(write));
    if (missing.length === 0) {
      this.#writes.delete(key);
      return false;
    }
    this.#held.add(key);
    void this.#releaseWhenCached(key, missing);
    return true;
  }

  /** True when the caches have all writes, so that none of them can add a key to the queue any more. */
  isSettled(): boolean {
    if (this.#held.size > 0 || this.#awaited > 0) return false;
    for (const [key, writes] of this.#writes) {
      if (![...writes.values()].every((write) => this.#isCached(write))) return false;
      this.#writes.delete(key);
    }
    return true;
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
    this.#writes.clear();
  }

  #isCached(write: Write): boolean {
    return this.#caches.findInformer(write.resource)?.isAtLeast(write.version, write.namespace) ?? true;
  }

  /** Waits without a deadline until the cache has passed the version of the object, then checks that it has the object. */
  async #awaitObject(key: ObjectKey, resource: Resource, object: KubeObject): Promise<void> {
    const { signal } = this.#stop;
    const { resourceVersion: version, namespace } = object.metadata;
    const informer = this.#caches.findInformer(resource);
    if (version === undefined || informer === undefined) return;
    this.#awaited++;
    try {
      if (!await informer.waitFor(version, signal, { namespace })) return;
      if (informer.lister.find(keyOf(object)) === undefined) this.#listener.onMissing(key, resource, object);
    } catch (error) {
      if (!signal.aborted) this.#log.error("waiting for the cache failed", { key, error });
    } finally {
      this.#awaited--;
    }
  }

  async #releaseWhenCached(key: ObjectKey, missing: readonly Write[]): Promise<void> {
    const { signal } = this.#stop;
    try {
      const results = await Promise.all(
        missing.map(({ resource, version, namespace }) =>
          this.#caches.findInformer(resource)?.waitFor(version, signal, { timeoutMs: maxHoldMs, namespace })
        ),
      );
      if (results.includes(false)) {
        this.#log.warn("cache did not receive the controller's own write in time, reconciling anyway", { key });
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#log.error("waiting for the cache failed, reconciling anyway", { key, error });
    }
    this.#held.delete(key);
    this.#writes.delete(key);
    this.#listener.onRelease(key, { source: "cache", change: "requeue", key });
  }
}

/**
 * OwnWrites: read your own writes. Remembers, per key, how far the caches must be before the key may be reconciled
 * again, because the reconciler itself wrote that version. And what was created, or stood in the way, and is deleted by
 * somebody before the watch told of either, is missed: no event will come for it.
 *
 * Guarantees: a held key comes back as soon as the caches have caught up, and after 10 s in any case (a cache that
 * cannot catch up must not stop the controller; the reconcile is then level-based as always). Only kinds that are
 * cached are waited for. The idea is KEP-5647's; the deadline is ours.
 */
import { keyOf, type KubeObject, type ObjectKey, type Resource, resourceId, type ResourceVersion } from "../api/mod.ts";
import type { Logger } from "../observe/mod.ts";
import type { Caches } from "./caches.ts";
import type { Cause } from "./reconciler.ts";

/** Hears what a controller's own writes came to. */
export interface OwnWritesListener {
  /** A key that was held may run. */
  released(key: ObjectKey, cause: Cause): void;
  /** What reconciling `key` created or met is gone; nothing else tells of it. */
  vanished(key: ObjectKey, resource: Resource, object: KubeObject): void;
}

const failOpenMs = 10_000;

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
  /** The last write of each kind, per key. Small: an entry goes as soon as its key may run. */
  readonly #writes = new Map<ObjectKey, Map<string, Write>>();
  readonly #held = new Set<ObjectKey>();
  /** Created or met, and not seen yet. */
  #unseen = 0;

  constructor(caches: Caches, log: Logger, listener: OwnWritesListener) {
    this.#caches = caches;
    this.#log = log;
    this.#listener = listener;
  }

  /** Notes that reconciling `key` made the server store `object`. */
  remember(key: ObjectKey, resource: Resource, object: KubeObject): void {
    const { resourceVersion: version, namespace } = object.metadata;
    const informer = this.#caches.findInformer(resource);
    if (version === undefined || informer === undefined) return;
    if (informer.isAtLeast(version, namespace)) {
      // The answer was slower than the watch, which may not have told of it at all: a relist passes over what came and went.
      if (informer.lister.find(keyOf(object)) === undefined) this.#listener.vanished(key, resource, object);
      return;
    }
    const writes = this.#writes.get(key) ?? new Map<string, Write>();
    writes.set(resourceId(resource), { resource, version, namespace });
    this.#writes.set(key, writes);
    if (informer.lister.find(keyOf(object)) === undefined) void this.#expect(key, resource, object);
  }

  /** Notes that reconciling `key` met an object on the server that its cache has not seen yet. */
  meet(key: ObjectKey, resource: Resource, object: KubeObject): void {
    const { resourceVersion: version, namespace } = object.metadata;
    // A cache that has passed it and does not have it is not meant to.
    if (version === undefined || this.#caches.findInformer(resource)?.isAtLeast(version, namespace) !== false) return;
    void this.#expect(key, resource, object);
  }

  /** True when `key` must wait; the listener hears when it need not any longer. */
  hold(key: ObjectKey): boolean {
    if (this.#held.has(key)) return true;
    const writes = this.#writes.get(key);
    if (writes === undefined) return false;
    const behind = [...writes.values()].filter((write) => !this.#hasSeen(write));
    if (behind.length === 0) {
      this.#writes.delete(key);
      return false;
    }
    this.#held.add(key);
    void this.#release(key, behind);
    return true;
  }

  /** True when the caches have seen everything that was written, so that nothing will come back because of it. */
  isSettled(): boolean {
    if (this.#held.size > 0 || this.#unseen > 0) return false;
    for (const [key, writes] of this.#writes) {
      if (![...writes.values()].every((write) => this.#hasSeen(write))) return false;
      this.#writes.delete(key);
    }
    return true;
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
    this.#writes.clear();
  }

  #hasSeen(write: Write): boolean {
    return this.#caches.findInformer(write.resource)?.isAtLeast(write.version, write.namespace) ?? true;
  }

  /** Waits, however long, until the cache has passed what was created or met, and looks whether it is there. */
  async #expect(key: ObjectKey, resource: Resource, object: KubeObject): Promise<void> {
    const { signal } = this.#stop;
    const { resourceVersion: version, namespace } = object.metadata;
    const informer = this.#caches.findInformer(resource);
    if (version === undefined || informer === undefined) return;
    this.#unseen++;
    try {
      if (!await informer.waitFor(version, signal, { namespace })) return;
      if (informer.lister.find(keyOf(object)) === undefined) this.#listener.vanished(key, resource, object);
    } catch (error) {
      if (!signal.aborted) this.#log.error("Cannot wait for the cache to pass an object", { key, error });
    } finally {
      this.#unseen--;
    }
  }

  async #release(key: ObjectKey, behind: readonly Write[]): Promise<void> {
    const { signal } = this.#stop;
    try {
      const caught = await Promise.all(
        behind.map(({ resource, version, namespace }) =>
          this.#caches.findInformer(resource)?.waitFor(version, signal, { timeoutMs: failOpenMs, namespace })
        ),
      );
      if (caught.includes(false)) {
        this.#log.warn("the cache is behind the controller's own write, reconciling anyway", { key });
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#log.error("Cannot wait for the cache, reconciling anyway", { key, error });
    }
    this.#held.delete(key);
    this.#writes.delete(key);
    this.#listener.released(key, { source: "cache", change: "requeue", key });
  }
}

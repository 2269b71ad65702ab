/**
 * UnionReader: the caches of several namespaces read as one. A key says which of them has it, so a get is as cheap as
 * with one cache.
 */
import {
  compareResourceVersions,
  type KubeObject,
  type ObjectKey,
  type ResourceVersion,
  splitKey,
} from "../api/mod.ts";
import type { StoreReader } from "./store.ts";

/** Reads several stores, each of one namespace. */
export class UnionReader<T extends KubeObject> implements StoreReader<T> {
  readonly #members: () => ReadonlyMap<string, StoreReader<T>>;

  constructor(members: () => ReadonlyMap<string, StoreReader<T>>) {
    this.#members = members;
  }

  get size(): number {
    let size = 0;
    for (const member of this.#members().values()) size += member.size;
    return size;
  }

  /** The oldest of the members' versions: what is complete in all of them. */
  get lastSyncResourceVersion(): ResourceVersion | undefined {
    let oldest: ResourceVersion | undefined;
    for (const { lastSyncResourceVersion } of this.#members().values()) {
      if (lastSyncResourceVersion === undefined) return undefined;
      const order = oldest === undefined ? -1 : compareResourceVersions(lastSyncResourceVersion, oldest);
      if (order !== undefined && order < 0) oldest = lastSyncResourceVersion;
    }
    return oldest;
  }

  get(key: ObjectKey): T | undefined {
    return this.#members().get(splitKey(key).namespace ?? "")?.get(key);
  }

  *values(): Iterable<T> {
    for (const member of [...this.#members().values()]) yield* member.values();
  }

  byNamespace(namespace: string): readonly T[] {
    return this.#members().get(namespace)?.byNamespace(namespace) ?? [];
  }

  byIndex(index: string, value: string): readonly T[] {
    return [...this.#members().values()].flatMap((member) => member.byIndex(index, value));
  }

  indexValues(index: string): readonly string[] {
    return [...new Set([...this.#members().values()].flatMap((member) => member.indexValues(index)))];
  }
}

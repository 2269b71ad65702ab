/**
 * KindRegistry: the kinds that the server serves now. kinds/ adds the built-in ones at the start, crd/ adds and removes those
 * of CRDs at runtime. discovery/ reads it, and http/ looks up the kind of a URL in it.
 *
 * Guarantees: all versions of a collection are added and removed together, so no request sees half of a change.
 */
import type { Kind } from "../model/mod.ts";

/** The versions of a kind that share one collection. */
export interface KindFamily {
  /** As {@link Kind.collection}. */
  readonly collection: string;
  /** The versions that are served. */
  readonly served: readonly Kind[];
  /** The storage version. It may be unserved. */
  readonly storage: Kind;
  /** Versions that are defined and not served: managers may own fields in them. @default none */
  readonly unserved?: readonly Kind[];
}

/** A served kind and its family. */
export interface KnownKind {
  readonly kind: Kind;
  readonly family: KindFamily;
}

/** Called after a change with the new family; `undefined` when it was removed. */
export type KindListener = (collection: string, family: KindFamily | undefined) => void;

/**
 * The kinds that are served.
 *
 * @example
 * ```ts
 * import { foo } from "../testing/test_kinds.ts";
 * import { KindRegistry } from "./mod.ts";
 *
 * const kinds = new KindRegistry();
 * kinds.set({ collection: "foos.example.com", served: [foo], storage: foo });
 * console.assert(kinds.find("example.com", "v1", "foos")?.kind === foo);
 * ```
 */
export class KindRegistry {
  readonly #families = new Map<string, KindFamily>();
  /** By group, version and plural. */
  readonly #known = new Map<string, KnownKind>();
  /** Kinds that are bodies of subresources and have no URL. */
  readonly #bodies: KnownKind[] = [];
  readonly #listeners = new Set<KindListener>();
  #generation = 0;

  /** Another registry with the same kinds and without listeners; the two are independent from now on. */
  copy(): KindRegistry {
    const copy = new KindRegistry();
    for (const [collection, family] of this.#families) copy.#families.set(collection, family);
    for (const [url, known] of this.#known) copy.#known.set(url, known);
    copy.#bodies.push(...this.#bodies);
    copy.#generation = this.#generation;
    return copy;
  }

  /** The number of changes: data derived from the kinds is valid while this is the same. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Adds a family, or replaces the one with its collection.
   *
   * @throws {TypeError} when another family serves one of its URLs
   */
  set(family: KindFamily): void {
    for (const kind of family.served) {
      const other = this.#known.get(urlKey(kind.group, kind.version, kind.plural));
      if (other === undefined || other.family.collection === family.collection) continue;
      throw new TypeError(`Cannot serve ${family.collection}: ${other.family.collection} has its URL`);
    }
    this.#forget(family.collection);
    this.#families.set(family.collection, family);
    for (const kind of family.served) {
      this.#known.set(urlKey(kind.group, kind.version, kind.plural), { kind, family });
    }
    this.#changed(family.collection, family);
  }

  /** Adds a family whose objects are only bodies of subresources; only {@link findKind} finds it. */
  addBody(family: KindFamily): void {
    for (const kind of family.served) this.#bodies.push({ kind, family });
  }

  /** Removes a family; its objects stay in the storage. */
  delete(collection: string): void {
    if (!this.#forget(collection)) return;
    this.#changed(collection, undefined);
  }

  /** The kind in a URL. */
  find(group: string, version: string, plural: string): KnownKind | undefined {
    return this.#known.get(urlKey(group, version, plural));
  }

  /** The kind of an object, from its apiVersion and kind. */
  findKind(group: string, version: string, kind: string): KnownKind | undefined {
    for (const known of this.#known.values()) {
      if (known.kind.kind === kind && known.kind.version === version && known.kind.group === group) return known;
    }
    return this.#bodies.find((known) =>
      known.kind.kind === kind && known.kind.version === version && known.kind.group === group
    );
  }

  family(collection: string): KindFamily | undefined {
    return this.#families.get(collection);
  }

  /** All families, in the order of their first addition. */
  families(): IterableIterator<KindFamily> {
    return this.#families.values();
  }

  /** All served kinds, grouped by collection. */
  *kinds(): IterableIterator<Kind> {
    for (const family of this.#families.values()) yield* family.served;
  }

  /** True when a kind is served under `/apis/<group>/<version>` (`/api/<version>` for ""). */
  hasVersion(group: string, version: string): boolean {
    for (const { kind } of this.#known.values()) {
      if (kind.group === group && kind.version === version) return true;
    }
    return false;
  }

  /** Calls `listener` after each change, until the result is disposed. */
  onChange(listener: KindListener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  #forget(collection: string): boolean {
    const family = this.#families.get(collection);
    if (family === undefined) return false;
    for (const kind of family.served) this.#known.delete(urlKey(kind.group, kind.version, kind.plural));
    // A replaced family keeps its position: Map.set of an existing key does not move it.
    this.#families.set(collection, { ...family, served: [] });
    return true;
  }

  #changed(collection: string, family: KindFamily | undefined): void {
    if (family === undefined) this.#families.delete(collection);
    this.#generation++;
    for (const listener of this.#listeners) listener(collection, family);
  }
}

function urlKey(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`;
}

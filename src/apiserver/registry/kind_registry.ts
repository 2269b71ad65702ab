/**
 * KindRegistry: the kinds the server knows at this moment. kinds/ adds the built-in ones at the start, crd/ adds and takes
 * away those of CRDs while the server runs, discovery/ reads it, and the verbs look up in it what a URL names.
 *
 * Kinds are added by collection: all versions that share one store come and go together, so that no request ever sees
 * half of a change.
 */
import type { Kind } from "../model/mod.ts";

/** The kinds that are stored together, one per version. */
export interface KindFamily {
  /** As {@link Kind.collection}. */
  readonly collection: string;
  /** The versions that are served. */
  readonly served: readonly Kind[];
  /** The version objects are written in. It need not be served. */
  readonly storage: Kind;
}

/** A served kind and the family it is of. */
export interface KnownKind {
  readonly kind: Kind;
  readonly family: KindFamily;
}

/** Told of a change: the family as it is now, `undefined` where it is gone. */
export type KindListener = (collection: string, family: KindFamily | undefined) => void;

/**
 * The kinds that are served.
 *
 * @example
 * ```ts
 * import { foo } from "../kind_test_data.ts";
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
  /** Those that are sent to parts of others, and have no URL. */
  readonly #bodies: KnownKind[] = [];
  readonly #listeners = new Set<KindListener>();
  #generation = 0;

  /** Another registry of the same kinds; the two go on apart. Nobody listens to it yet. */
  copy(): KindRegistry {
    const copy = new KindRegistry();
    for (const [collection, family] of this.#families) copy.#families.set(collection, family);
    for (const [url, known] of this.#known) copy.#known.set(url, known);
    copy.#bodies.push(...this.#bodies);
    copy.#generation = this.#generation;
    return copy;
  }

  /** Counts the changes: what is derived from the kinds is valid while this stays. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Adds a family, or puts it in the place of the one with its collection.
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

  /** Adds a family whose objects are only sent to a part of another: nothing but {@link findKind} knows of it. */
  addBody(family: KindFamily): void {
    for (const kind of family.served) this.#bodies.push({ kind, family });
  }

  /** Takes a family away; its objects stay in the storage. */
  delete(collection: string): void {
    if (!this.#forget(collection)) return;
    this.#changed(collection, undefined);
  }

  /** The kind that a URL names. */
  find(group: string, version: string, plural: string): KnownKind | undefined {
    return this.#known.get(urlKey(group, version, plural));
  }

  /** The kind that an object's apiVersion and kind name. */
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

  /** All families, in the order they were first added. */
  families(): IterableIterator<KindFamily> {
    return this.#families.values();
  }

  /** All served kinds; those of one collection stand together. */
  *kinds(): IterableIterator<Kind> {
    for (const family of this.#families.values()) yield* family.served;
  }

  /** True when something is served under `/apis/<group>/<version>` (`/api/<version>` for ""). */
  hasVersion(group: string, version: string): boolean {
    for (const { kind } of this.#known.values()) {
      if (kind.group === group && kind.version === version) return true;
    }
    return false;
  }

  /** Calls `listener` after each change. Dispose the result to stop that. */
  onChange(listener: KindListener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  #forget(collection: string): boolean {
    const family = this.#families.get(collection);
    if (family === undefined) return false;
    for (const kind of family.served) this.#known.delete(urlKey(kind.group, kind.version, kind.plural));
    // A replaced family keeps its place in the order: Map.set on a present key does not move it.
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

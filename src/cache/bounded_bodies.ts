/**
 * BoundedBodies: which objects of a bounded cache have their bodies, and which of them are evicted when there are too many.
 * The one that was written or read longest ago is evicted first; what a running reconcile holds is never evicted, so that
 * the limit can be exceeded for as long as it runs.
 */
import type { KubeObject, ObjectKey } from "../api/mod.ts";
import { isEvicted } from "./evicted_body.ts";

/** How many bodies a cache keeps. At least one of the two is given; both must hold. */
export interface CacheLimit {
  /** The most objects with a body. @default any number */
  readonly maxObjects?: number;
  /** The most bytes of bodies, measured as JSON text; in memory a body needs about as much again. @default any number */
  readonly maxBytes?: number;
}

/** The bodies of one cache, the ones used longest ago first. */
export class BoundedBodies {
  readonly #maxObjects: number;
  readonly #maxBytes: number;
  /** Bytes by key. */
  readonly #kept = new Map<ObjectKey, number>();
  readonly #holds = new Map<ObjectKey, number>();
  #bytes = 0;

  constructor({ maxObjects = Infinity, maxBytes = Infinity }: CacheLimit) {
    this.#maxObjects = maxObjects;
    this.#maxBytes = maxBytes;
  }

  /** Number of bodies. */
  get size(): number {
    return this.#kept.size;
  }

  /** Their bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The body of a key is new, or has changed. */
  put(key: ObjectKey, object: KubeObject): void {
    this.drop(key);
    if (isEvicted(object)) return;
    const bytes = sizeOf(object);
    this.#kept.set(key, bytes);
    this.#bytes += bytes;
  }

  /** The key has no body any more. */
  drop(key: ObjectKey): void {
    const bytes = this.#kept.get(key);
    if (bytes === undefined) return;
    this.#kept.delete(key);
    this.#bytes -= bytes;
  }

  /** All objects were replaced. The order of those that were kept before stays. */
  reset(objects: ReadonlyMap<ObjectKey, KubeObject>): void {
    for (const key of [...this.#kept.keys()]) {
      if (!objects.has(key)) this.drop(key);
    }
    for (const [key, object] of objects) this.put(key, object);
  }

  /** Keeps the body of a key, if it has one now or gets one, until it is disposed. */
  hold(key: ObjectKey): Disposable {
    this.#holds.set(key, (this.#holds.get(key) ?? 0) + 1);
    const bytes = this.#kept.get(key);
    if (bytes !== undefined) {
      this.#kept.delete(key);
      this.#kept.set(key, bytes);
    }
    return {
      [Symbol.dispose]: () => {
        const others = (this.#holds.get(key) ?? 0) - 1;
        if (others > 0) this.#holds.set(key, others);
        else this.#holds.delete(key);
      },
    };
  }

  /** The keys whose bodies must go, until the limit holds again. They have none any more. */
  takeExcess(): readonly ObjectKey[] {
    const taken: ObjectKey[] = [];
    for (const key of this.#kept.keys()) {
      if (this.#kept.size <= this.#maxObjects && this.#bytes <= this.#maxBytes) break;
      if (this.#holds.has(key)) continue;
      this.drop(key);
      taken.push(key);
    }
    return taken;
  }
}

/** About the length of the object as JSON, without making the text. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length + 3;
  if (typeof value !== "object" || value === null) return 5;
  let size = 2;
  if (Array.isArray(value)) { for (const item of value) size += sizeOf(item); }
  else for (const [name, inner] of Object.entries(value)) size += name.length + 4 + sizeOf(inner);
  return size;
}

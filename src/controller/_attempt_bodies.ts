/**
 * AttemptBodies: the bodies of bounded kinds that one attempt has read. They stay in the cache until the attempt ends, so
 * that a second read is synchronous and costs nothing.
 */
import { keyOf, type KubeObject, type ObjectKey, type Resource, resourceId } from "../api/mod.ts";
import { isEvicted, type LoadedBodies, type SharedInformer } from "../cache/mod.ts";

/** The informer of a kind, as far as bodies are concerned. */
export type BodySource = Pick<SharedInformer<never>, "loadBodies">;

/** The bodies that one attempt holds. */
export class AttemptBodies implements Disposable {
  readonly #informerOf: (resource: Resource) => BodySource | undefined;
  readonly #loaded: LoadedBodies[] = [];
  readonly #held = new Set<string>();
  readonly #gone = new Set<string>();

  constructor(informerOf: (resource: Resource) => BodySource | undefined) {
    this.#informerOf = informerOf;
  }

  /** Loads the bodies that were evicted. @throws ApiError, or the signal's reason */
  async load(resource: Resource, keys: readonly ObjectKey[], signal: AbortSignal): Promise<void> {
    const missing = keys.filter((key) => !this.#held.has(idOf(resource, key)));
    const informer = this.#informerOf(resource);
    if (missing.length === 0 || informer === undefined) return;
    const loaded = await informer.loadBodies(missing, signal);
    this.#loaded.push(loaded);
    for (const key of missing) this.#held.add(idOf(resource, key));
    for (const key of loaded.gone) this.#gone.add(idOf(resource, key));
  }

  /** Loads the bodies of all listed objects, until a list has no evicted one that the API server still has. */
  async loadAll(resource: Resource, list: () => readonly KubeObject[], signal: AbortSignal): Promise<void> {
    for (let objects = list(); objects.some(isEvicted); objects = list()) {
      await this.load(resource, objects.map(keyOf), signal);
    }
  }

  /** True for an evicted object that the API server did not have when its body was to be loaded. */
  isGone(resource: Resource, object: KubeObject): boolean {
    return this.#gone.size > 0 && isEvicted(object) && this.#gone.has(idOf(resource, keyOf(object)));
  }

  [Symbol.dispose](): void {
    for (const loaded of this.#loaded) loaded[Symbol.dispose]();
  }
}

function idOf(resource: Resource, key: string): string {
  return `${resourceId(resource)} ${key}`;
}

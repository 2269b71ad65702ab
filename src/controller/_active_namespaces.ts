/**
 * ActiveNamespaces: the namespaces whose keys a controller reconciles, when the namespaces of its caches change while it runs.
 * It also ends what runs when a kind is no longer watched.
 *
 * Guarantees: a key is reconciled only while the cache of the primary kind contains its namespace, and no cache is still
 * being filled with it, so an object that they do not show does not exist. A reconcile that runs when its namespace leaves is aborted.
 * Caveats: what a reconciler reads in other namespaces than that of its key may be outside of the caches.
 */
import { type KubeObject, type ObjectKey, splitKey } from "../api/mod.ts";
import type { CachedNamespaces, SharedInformer } from "../cache/mod.ts";

/** A reconcile in a namespace. Dispose it at its end. */
export interface NamespaceStay extends Disposable {
  /** Aborts when the namespace leaves. */
  readonly signal: AbortSignal;
}

const stays: NamespaceStay = { signal: new AbortController().signal, [Symbol.dispose]() {} };

/** What decides of the caches of a controller. */
interface Parts {
  /** Those of the primary kind; undefined when its cache is of one scope. */
  readonly primary: CachedNamespaces | undefined;
  readonly others: readonly CachedNamespaces[];
}

export class ActiveNamespaces {
  readonly #informers: () => readonly SharedInformer<KubeObject>[];
  /** Known when the controller runs. */
  #parts: Parts | undefined;
  /** What runs, by namespace. */
  readonly #running = new Map<string, Map<AbortController, ObjectKey>>();
  readonly #hasActivations: boolean;

  /**
   * @param informers The caches of the controller, when it runs; that of its primary kind first.
   * @param options.hasActivations True when some kinds are watched under a condition.
   */
  constructor(
    informers: () => readonly SharedInformer<KubeObject>[],
    { hasActivations }: { readonly hasActivations: boolean },
  ) {
    this.#informers = informers;
    this.#hasActivations = hasActivations;
  }

  /** True when the keys of a namespace are reconciled; undefined is that of cluster-scoped objects. */
  isActive(namespace: string | undefined): boolean {
    if (namespace === undefined) return true;
    const { primary, others } = this.#knownParts;
    if (primary !== undefined && primary.stateOf(namespace) !== "synced") return false;
    return others.every((cached) => cached.stateOf(namespace) !== "syncing");
  }

  /** True when a key is reconciled. */
  has(key: ObjectKey): boolean {
    return this.#isUnlimited || this.isActive(splitKey(key).namespace);
  }

  /** Begins a reconcile. @returns undefined when the namespace of the key is not active */
  begin(key: ObjectKey): NamespaceStay | undefined {
    if (!this.has(key)) return undefined;
    const { namespace = "" } = splitKey(key);
    if (!this.#hasActivations && (namespace === "" || this.#isUnlimited)) return stays;
    const end = new AbortController();
    const running = this.#running.get(namespace) ?? new Map<AbortController, ObjectKey>();
    this.#running.set(namespace, running.set(end, key));
    return {
      signal: end.signal,
      [Symbol.dispose]: () => {
        running.delete(end);
        if (running.size === 0 && this.#running.get(namespace) === running) this.#running.delete(namespace);
      },
    };
  }

  /** A namespace has left one of the caches: aborts what runs in it. */
  leave(namespace: string): void {
    const running = this.#running.get(namespace) ?? new Map<AbortController, ObjectKey>();
    this.#running.delete(namespace);
    for (const end of running.keys()) {
      end.abort(new DOMException(`Namespace ${namespace} is no longer selected`, "AbortError"));
    }
  }

  /** A kind is no longer watched: aborts what runs, because it may have read objects of the kind. @returns the keys */
  endAll(kind: string): readonly ObjectKey[] {
    const running = [...this.#running.values()].flatMap((attempts) => [...attempts]);
    this.#running.clear();
    for (const [end] of running) end.abort(new DOMException(`${kind} is no longer active`, "AbortError"));
    return running.map(([, key]) => key);
  }

  get #isUnlimited(): boolean {
    const { primary, others } = this.#knownParts;
    return primary === undefined && others.length === 0;
  }

  get #knownParts(): Parts {
    if (this.#parts !== undefined) return this.#parts;
    const [primary, ...others] = this.#informers().map(({ cachedNamespaces }) => cachedNamespaces);
    return this.#parts = { primary, others: others.filter((cached) => cached !== undefined) };
  }
}

/**
 * BodyLoader: reads evicted bodies of a bounded cache from the API server, when a reconcile needs them.
 *
 * Guarantees: a key is read once at a time, however many reconciles wait for it; at most ten reads run at a time. Many bodies
 * are read by one list, page by page. A read that shows a newer state puts it into the cache like any live read, so that
 * handlers are notified of it once. What was loaded stays until the result is disposed.
 */
import { keyOf, type KubeObject, type ListOptions, type ListWatch, type ObjectKey, PageTokens } from "../api/mod.ts";
import { untilAborted } from "../async/mod.ts";
import type { BoundedBodies } from "./bounded_bodies.ts";
import { isEvicted } from "./evicted_body.ts";
import type { StoreReader } from "./store.ts";

/** Reads of single objects that run at a time. */
const maxReads = 10;

/** Number of evicted bodies from which on a list is cheaper than single reads. */
const listedFrom = 20;

/** Bodies that stay in the cache until this is disposed. */
export interface LoadedBodies extends Disposable {
  /** The keys that the API server does not have any more, although the watch has not shown it yet. */
  readonly gone: ReadonlySet<ObjectKey>;
}

/** Of a cache that keeps all bodies. */
export const nothingLoaded: LoadedBodies = { gone: new Set(), [Symbol.dispose]() {} };

/** Options of a {@link BodyLoader}. */
export interface BodyLoaderOptions<T extends KubeObject> {
  /** The name of the cache, for errors. */
  readonly name: string;
  readonly store: StoreReader<T>;
  readonly bodies: BoundedBodies;
  readonly listWatch: ListWatch<T>;
  readonly pageSize: number;
  /** Reads one object; undefined when the server has none. */
  readonly read: (key: ObjectKey, signal: AbortSignal) => Promise<T | undefined>;
  /** Puts a state that was read into the cache. */
  readonly onRead: (object: T) => void;
  /** Called for each request. */
  readonly onRequest: () => void;
  /** Called when bodies are held no longer, so that the limit can be applied. */
  readonly onReleased: () => void;
}

type Outcome = "read" | "gone";

export class BodyLoader<T extends KubeObject> {
  readonly #options: BodyLoaderOptions<T>;
  readonly #stop = new AbortController();
  readonly #reads = new Map<ObjectKey, Promise<Outcome>>();
  /** Reads that wait for one of the others to end. */
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  /** The last list; the next one begins after it, and may find that nothing is missing any more. */
  #lists: Promise<void> = Promise.resolve();

  constructor(options: BodyLoaderOptions<T>) {
    this.#options = options;
  }

  /**
   * Loads the bodies that were evicted, and holds all of them.
   *
   * @throws what the ListWatch and the read throw, `signal.reason` when aborted first
   */
  async load(keys: Iterable<ObjectKey>, signal: AbortSignal): Promise<LoadedBodies> {
    const { bodies, onReleased } = this.#options;
    const wanted = [...keys];
    const holds = wanted.map((key) => bodies.hold(key));
    const release = () => {
      for (const hold of holds) hold[Symbol.dispose]();
      onReleased();
    };
    try {
      return { gone: await this.#readAll(wanted, signal), [Symbol.dispose]: release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** @returns the keys that the server does not have */
  async #readAll(keys: readonly ObjectKey[], signal: AbortSignal): Promise<ReadonlySet<ObjectKey>> {
    if (this.#evictedOf(keys).length >= listedFrom) await untilAborted(this.#listOnce(keys), signal);
    const gone = new Set<ObjectKey>();
    await Promise.all(
      this.#evictedOf(keys).map(async (key) => {
        if (await untilAborted(this.#readOnce(key), signal) === "gone") gone.add(key);
      }),
    );
    return gone;
  }

  /** Ends all reads. */
  stop(reason: unknown): void {
    this.#stop.abort(reason);
  }

  #evictedOf(keys: readonly ObjectKey[]): readonly ObjectKey[] {
    return keys.filter((key) => {
      const cached = this.#options.store.get(key);
      return cached !== undefined && isEvicted(cached);
    });
  }

  #readOnce(key: ObjectKey): Promise<Outcome> {
    const running = this.#reads.get(key);
    if (running !== undefined) return running;
    const read = this.#read(key).finally(() => this.#reads.delete(key));
    this.#reads.set(key, read);
    return read;
  }

  async #read(key: ObjectKey): Promise<Outcome> {
    const { name, read, onRead, onRequest } = this.#options;
    while (this.#running >= maxReads) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running++;
    try {
      onRequest();
      const object = await read(key, this.#stop.signal);
      if (object === undefined) return "gone";
      onRead(object);
      if (this.#evictedOf([key]).length === 0) return "read";
      throw new Error(
        `Cannot read ${name} "${key}": the API server has version ${object.metadata.resourceVersion}, ` +
          `which is not the cached one or a newer one. The key is retried`,
      );
    } finally {
      this.#running--;
      this.#waiting.shift()?.();
    }
  }

  #listOnce(keys: readonly ObjectKey[]): Promise<void> {
    const list = this.#lists.catch(() => {}).then(async () => {
      if (this.#evictedOf(keys).length >= listedFrom) await this.#list(new Set(keys));
    });
    this.#lists = list;
    list.catch(() => {});
    return list;
  }

  /** Reads all objects once, in pages, and keeps those with the given keys. */
  async #list(keys: ReadonlySet<ObjectKey>): Promise<void> {
    const { listWatch, pageSize, onRead, onRequest } = this.#options;
    const tokens = new PageTokens();
    let options: ListOptions = { limit: pageSize };
    while (true) {
      onRequest();
      const page = await listWatch.list(options, this.#stop.signal);
      for (const object of page.items) {
        if (keys.has(keyOf(object))) onRead(object);
      }
      const next = tokens.after(page);
      if (next === undefined) return;
      options = { limit: pageSize, continue: next };
    }
  }
}

/**
 * changes(): what happens to the objects of a collection, as one endless stream. It lists, watches from that version,
 * resumes when the server or the network ends the watch, and lists again when the version has expired; what changed in
 * between becomes events. For scripts: a controller has caches (`/cache`), which also serve reads.
 *
 * Guarantees: the stream begins with one ADDED for each object; after it, each event differs from the last state that the
 * stream has delivered, so none is lost or repeated, but several changes may arrive as one. What cannot heal by itself
 * (401, 403, an unknown kind) is thrown; everything else is retried with backoff until the signal ends it.
 */
import {
  InvalidResponseError,
  keyOf,
  type KubeObject,
  type ListOptions,
  type ListPage,
  type ObjectKey,
  type Resource,
  type ResourceVersion,
  type WatchEvent,
  type WatchOptions,
} from "../api/mod.ts";
import { Backoff, type Clock, type Random, scope, systemClock, systemRandom } from "../async/mod.ts";
import { ApiError, isGone } from "./api_error.ts";
import type { CollectionOptions } from "./client_options.ts";
import { isTemporary } from "./retry.ts";
import { collectionText } from "./encoder.ts";

/** Options of `Client.changes`. */
export interface ChangesOptions extends CollectionOptions {
  /** Measures the delays before a watch is resumed. @default that of the client */
  readonly clock?: Clock;
  /** Varies the delays. @default systemRandom */
  readonly random?: Random;
}

/** One change of an object. */
export interface ObjectChange<T> {
  /** `DELETED` has the last known state of the object. */
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** The object after the change. */
  readonly object: T;
}

/** What lists and watches: a Client. */
export interface ChangesSource {
  listAll(resource: Resource, options: CollectionOptions & ListOptions): Promise<ListPage<KubeObject>>;
  watch(
    resource: Resource,
    options: CollectionOptions & WatchOptions & { readonly signal: AbortSignal },
  ): AsyncIterable<readonly WatchEvent<KubeObject>[]>;
}

const never = new AbortController().signal;

/** Yields the changes until the signal aborts. @throws ApiError for what cannot heal, the reason of the signal */
export async function* changes(
  source: ChangesSource,
  resource: Resource,
  options: ChangesOptions,
): AsyncGenerator<ObjectChange<KubeObject>> {
  for await (const change of changesAndLists(source, resource, options)) {
    if (change.type !== "LISTED") yield change;
  }
}

/** The changes, and a `LISTED` after each list: the stream has delivered all that exists. */
export async function* changesAndLists(
  source: ChangesSource,
  resource: Resource,
  options: ChangesOptions,
): AsyncGenerator<ObjectChange<KubeObject> | { readonly type: "LISTED" }> {
  const { clock = systemClock, random = systemRandom, signal = never, ...selection } = options;
  const backoff = new Backoff({ initialMs: 800, maxMs: 30_000, resetAfterMs: 120_000, jitter: 1, clock, random });
  const collection = new Collection(source, resource, { selection, clock, random });
  // Leaving the loop ends the request that is under way.
  using child = scope(signal);
  try {
    while (true) {
      const startedAt = clock.monotonic();
      try {
        if (!collection.isFollowed) {
          yield* collection.list(child.signal);
          yield { type: "LISTED" };
        }
        yield* collection.watch(child.signal);
        if (clock.monotonic() - startedAt >= minWatchMs) continue;
      } catch (error) {
        signal.throwIfAborted();
        if (isGone(error)) collection.forgetVersion();
        else if (!isTemporaryForWatch(error)) throw error;
      }
      await clock.sleep(backoff.next(), signal);
    }
  } finally {
    child.abort();
  }
}

/** A watch that ends sooner counts as failed. */
const minWatchMs = 1_000;

/** True for what a later watch may not meet: besides failures of requests, an answer that cannot be read, and a timeout. */
function isTemporaryForWatch(error: unknown): boolean {
  return isTemporary(error) || error instanceof InvalidResponseError ||
    (error instanceof ApiError && error.code === 408);
}

interface CollectionSettings {
  readonly selection: CollectionOptions;
  readonly clock: Clock;
  readonly random: Random;
}

/** A collection as the stream has delivered it, and the version from which a watch goes on. */
class Collection {
  readonly #source: ChangesSource;
  readonly #resource: Resource;
  readonly #settings: CollectionSettings;
  readonly #known = new Map<ObjectKey, KubeObject>();
  #version: ResourceVersion | undefined;

  constructor(source: ChangesSource, resource: Resource, settings: CollectionSettings) {
    this.#source = source;
    this.#resource = resource;
    this.#settings = settings;
  }

  /** The version has expired: the next round begins with a list. */
  forgetVersion(): void {
    this.#version = undefined;
  }

  /** True when a watch can go on where the last one ended. */
  get isFollowed(): boolean {
    return this.#version !== undefined;
  }

  /** Lists, and compares the list with what was delivered. */
  async *list(signal: AbortSignal): AsyncGenerator<ObjectChange<KubeObject>> {
    const page = await this.#source.listAll(this.#resource, { ...this.#settings.selection, signal });
    this.#version = page.resourceVersion;
    const listed = new Map(page.items.map((object) => [keyOf(object), object]));
    for (const [key, object] of [...this.#known]) {
      // An object with a new UID is another one.
      if (uidOf(listed.get(key)) === uidOf(object)) continue;
      this.#known.delete(key);
      yield { type: "DELETED", object };
    }
    for (const object of listed.values()) yield* this.#take("ADDED", object);
  }

  /** Reads one watch to its end. */
  async *watch(signal: AbortSignal): AsyncGenerator<ObjectChange<KubeObject>> {
    const { selection, clock, random } = this.#settings;
    // Each watch has an end, and is left when a server does not end it: a dead connection is noticed by that at the latest.
    const timeoutSeconds = Math.floor(300 * (1 + random.next()));
    using limited = scope(signal, { timeoutMs: timeoutSeconds * 1000 + 5_000, clock });
    const options = { ...selection, resourceVersion: this.#version, timeoutSeconds, allowWatchBookmarks: true };
    try {
      for await (const batch of this.#source.watch(this.#resource, { ...options, signal: limited.signal })) {
        for (const event of batch) yield* this.#read(event);
      }
    } catch (error) {
      if (signal.aborted || !limited.signal.aborted) throw error;
    }
  }

  *#read(event: WatchEvent<KubeObject>): Generator<ObjectChange<KubeObject>> {
    switch (event.type) {
      case "ADDED":
      case "MODIFIED":
      case "DELETED":
        yield* this.#take(event.type, event.object);
        this.#version = event.object.metadata.resourceVersion ?? this.#version;
        return;
      case "BOOKMARK":
        this.#version = event.object.metadata.resourceVersion ?? this.#version;
        return;
      case "ERROR": {
        const { namespace } = this.#settings.selection;
        throw new ApiError(event.object, { action: `watch ${collectionText(this.#resource, namespace)}` });
      }
      case "MALFORMED":
        // Which object the line was about is unknown.
        this.#version = undefined;
        throw new InvalidResponseError("Cannot read a line of the watch: it is not an event", { cause: event.cause });
      default:
        event satisfies never;
    }
  }

  /** Compares a state with the one that was delivered. */
  *#take(type: ObjectChange<unknown>["type"], object: KubeObject): Generator<ObjectChange<KubeObject>> {
    const key = keyOf(object);
    const before = this.#known.get(key);
    if (type === "DELETED") {
      if (!this.#known.delete(key)) return;
      return yield { type, object };
    }
    this.#known.set(key, object);
    if (before === undefined) yield { type: "ADDED", object };
    else if (before.metadata.resourceVersion !== object.metadata.resourceVersion) yield { type: "MODIFIED", object };
  }
}

function uidOf(object: KubeObject | undefined): string | undefined {
  return object?.metadata.uid;
}

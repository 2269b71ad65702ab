/**
 * CachePart: a part of a kind that changes while its cache runs, such as the objects in the slots of one replica. The objects
 * outside of it are dropped before anything is kept of them. A server that knows shard selectors (KEP-5866) does not send
 * them at all; any other server ignores the selector. When the part grows, only what it has gained is read.
 *
 * Guarantees: what is dropped here is never in the cache, whatever the server sends. An object that leaves the part because
 * it has changed leaves the cache like a deleted one.
 */
import type { KubeObject, ListPage, ListWatch, WatchEvent } from "../api/mod.ts";

/** Some of the objects of a kind. Which ones may change at any time. */
export interface PartSelection {
  /** True for an object of the selection, as it is now. */
  includes(object: KubeObject): boolean;
  /** The selection as a shard selector. Undefined when the server cannot select it, and when it is everything. */
  shardSelector(): string | undefined;
}

/** A part of a kind, which can grow and shrink. */
export interface CachePart extends PartSelection {
  /** Equal for caches that have the same part. */
  readonly id: string;
  /** Increases when the part grows: then what was read before is incomplete. 0 while it has never had anything. */
  readonly generation: number;
  /** What the part has gained after `generation` until now and still has; also what it had lost before. */
  gainedSince(generation: number): PartSelection;
  /** Resolves when the part has something for the first time. @throws `signal.reason` when aborted */
  started(signal: AbortSignal): Promise<void>;
}

/** A proxy may refuse the long URL of a selector; a server may refuse the selector. */
const refusals: ReadonlySet<unknown> = new Set([400, 414, 431]);

/** How a reflector reads a part. */
export interface PartReads<T> {
  /** Lists and watches the part. */
  readonly whole: ListWatch<T>;
  /** See {@link CachePart.generation}. */
  readonly generation: number;
  /** What was gained after `generation`, and how it is listed. */
  gainedSince(generation: number): GainedPart<T>;
}

/** What a part has gained. */
export interface GainedPart<T> {
  readonly listWatch: ListWatch<T>;
  /** True for an object of it, as it is now. */
  readonly includes: (object: T) => boolean;
}

/** Reads the part with `listWatch`, which shows the other objects too. */
export function readsOf<T extends KubeObject>(listWatch: ListWatch<T>, part: CachePart): PartReads<T> {
  const selecting: Selecting = { isSupported: true };
  return {
    whole: selectedListWatch(listWatch, part, selecting),
    get generation() {
      return part.generation;
    },
    gainedSince(generation) {
      const gained = part.gainedSince(generation);
      return {
        listWatch: selectedListWatch(listWatch, gained, selecting),
        includes: (object) => gained.includes(object),
      };
    },
  };
}

/** Whether requests have a selector. All reads of a part share it. */
interface Selecting {
  isSupported: boolean;
}

function selectedListWatch<T extends KubeObject>(
  listWatch: ListWatch<T>,
  selection: PartSelection,
  selecting: Selecting,
): ListWatch<T> {
  const selector = () => {
    const shardSelector = selecting.isSupported ? selection.shardSelector() : undefined;
    return shardSelector === undefined ? {} : { shardSelector };
  };
  /** @returns whether the request is to be sent again without a selector */
  const isRefused = (error: unknown, selected: { readonly shardSelector?: string }) => {
    const code: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;
    if (selected.shardSelector === undefined || !refusals.has(code)) return false;
    selecting.isSupported = false;
    return true;
  };
  return {
    announcesOpen: listWatch.announcesOpen,
    async list(options, signal) {
      const selected = selector();
      try {
        return included(await listWatch.list({ ...options, ...selected }, signal), selection);
      } catch (error) {
        if (!isRefused(error, selected)) throw error;
        return included(await listWatch.list(options, signal), selection);
      }
    },
    async *watch(options, signal) {
      const selected = selector();
      try {
        for await (const batch of listWatch.watch({ ...options, ...selected }, signal)) {
          yield includedEvents(batch, selection);
        }
      } catch (error) {
        if (!isRefused(error, selected)) throw error;
        for await (const batch of listWatch.watch(options, signal)) yield includedEvents(batch, selection);
      }
    },
  };
}

function included<T extends KubeObject>(page: ListPage<T>, selection: PartSelection): ListPage<T> {
  return { ...page, items: page.items.filter((item) => selection.includes(item)) };
}

function includedEvents<T extends KubeObject>(
  batch: readonly WatchEvent<T>[],
  selection: PartSelection,
): readonly WatchEvent<T>[] {
  return batch.map((event): WatchEvent<T> => {
    if (event.type !== "ADDED" && event.type !== "MODIFIED") return event;
    // It may be in the cache, and its version shows how far the stream has come.
    return selection.includes(event.object) ? event : { ...event, type: "DELETED" };
  });
}

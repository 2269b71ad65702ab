/**
 * CachePart: a part of a kind that changes while its cache runs, such as the objects in the slots of one replica. The objects
 * outside of it are dropped before anything is kept of them. A server that knows shard selectors (KEP-5866) does not send
 * them at all; any other server ignores the selector.
 *
 * Guarantees: what is dropped here is never in the cache, whatever the server sends. An object that leaves the part because
 * it has changed leaves the cache like a deleted one.
 */
import type { KubeObject, ListPage, ListWatch, WatchEvent } from "../api/mod.ts";

/** A part of a kind, which can grow and shrink. */
export interface CachePart {
  /** Equal for caches that have the same part. */
  readonly id: string;
  /** Increases when the part grows: then what was read before is incomplete. 0 while it has never had anything. */
  readonly generation: number;
  /** True for an object of the part, as it is now. */
  includes(object: KubeObject): boolean;
  /** The part as a shard selector. Undefined when the server cannot select it, and when it is everything. */
  shardSelector(): string | undefined;
  /** Resolves when the part has something for the first time. @throws `signal.reason` when aborted */
  started(signal: AbortSignal): Promise<void>;
}

/** A proxy may refuse the long URL of a selector; a server may refuse the selector. */
const refusals: ReadonlySet<unknown> = new Set([400, 414, 431]);

/** Lists and watches only the part. */
export function partListWatch<T extends KubeObject>(listWatch: ListWatch<T>, part: CachePart): ListWatch<T> {
  let isSelecting = true;
  const selector = () => {
    const shardSelector = isSelecting ? part.shardSelector() : undefined;
    return shardSelector === undefined ? {} : { shardSelector };
  };
  /** @returns whether the request is to be sent again without a selector */
  const isRefused = (error: unknown, selected: { readonly shardSelector?: string }) => {
    const code: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;
    if (selected.shardSelector === undefined || !refusals.has(code)) return false;
    isSelecting = false;
    return true;
  };
  return {
    announcesOpen: listWatch.announcesOpen,
    async list(options, signal) {
      const selected = selector();
      try {
        return included(await listWatch.list({ ...options, ...selected }, signal), part);
      } catch (error) {
        if (!isRefused(error, selected)) throw error;
        return included(await listWatch.list(options, signal), part);
      }
    },
    async *watch(options, signal) {
      const selected = selector();
      try {
        for await (const batch of listWatch.watch({ ...options, ...selected }, signal)) {
          yield includedEvents(batch, part);
        }
      } catch (error) {
        if (!isRefused(error, selected)) throw error;
        for await (const batch of listWatch.watch(options, signal)) yield includedEvents(batch, part);
      }
    },
  };
}

function included<T extends KubeObject>(page: ListPage<T>, part: CachePart): ListPage<T> {
  return { ...page, items: page.items.filter((item) => part.includes(item)) };
}

function includedEvents<T extends KubeObject>(
  batch: readonly WatchEvent<T>[],
  part: CachePart,
): readonly WatchEvent<T>[] {
  return batch.map((event): WatchEvent<T> => {
    if (event.type !== "ADDED" && event.type !== "MODIFIED") return event;
    // It may be in the cache, and its version shows how far the stream has come.
    return part.includes(event.object) ? event : { ...event, type: "DELETED" };
  });
}

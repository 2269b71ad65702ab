/**
 * QueueItem: a key in the hands of a worker. While it is not disposed the queue gives its key to nobody else.
 *
 * `using item = await queue.take(signal)` makes leaving the block the Done of client-go, on every path. Disposing
 * twice is harmless: the second time does not end somebody else's run of the same key.
 */
import type { Clock } from "../async/mod.ts";
import type { Entry } from "./_entry.ts";

/** One run of a key, from take to dispose. */
export interface QueueItem<K, C = unknown> extends Disposable {
  readonly key: K;
  /** The highest priority it was added with. Pass it on when adding the key again to keep it. */
  readonly priority: number;
  /** Why it runs, oldest first, bounded: the first cause and the latest ones. */
  readonly causes: readonly C[];
  /** How many causes were dropped from `causes` to keep it bounded. */
  readonly causesDropped: number;
  /** When it was first added, wall time in milliseconds since the epoch. */
  readonly addedAt: number;
  /** How long it was ready before a worker took it, in milliseconds. */
  readonly waitedMs: number;
}

const none: readonly never[] = Object.freeze([]);

/** What an item needs of its queue. */
export interface ItemOwner<K, C> {
  readonly clock: Clock;
  readonly finish: (entry: Entry<K, C>, item: RunningItem<K, C>) => void;
}

/** The queue's own QueueItem. It copies what it needs: the entry lives on, and may run again. */
export class RunningItem<K, C> implements QueueItem<K, C> {
  readonly key: K;
  readonly priority: number;
  readonly causes: readonly C[];
  readonly causesDropped: number;
  readonly waitedMs: number;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  readonly #owner: ItemOwner<K, C>;
  #entry: Entry<K, C> | undefined;

  constructor(owner: ItemOwner<K, C>, entry: Entry<K, C>, startedAt: number) {
    this.key = entry.key;
    this.priority = entry.priority;
    this.causes = entry.causes ?? none;
    this.causesDropped = entry.causesDropped;
    this.waitedMs = startedAt - entry.addedAt;
    this.startedAt = startedAt;
    this.#owner = owner;
    this.#entry = entry;
  }

  get addedAt(): number {
    const { clock } = this.#owner;
    return clock.now() - clock.monotonic() + this.startedAt - this.waitedMs;
  }

  [Symbol.dispose](): void {
    const entry = this.#entry;
    if (entry === undefined) return;
    this.#entry = undefined;
    this.#owner.finish(entry, this);
  }
}

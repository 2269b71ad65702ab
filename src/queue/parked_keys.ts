/**
 * ParkedKeys: keys that must not run until they are unparked, with the reason, and the run that was requested
 * meanwhile. The detector of hot loops parks the keys that it finds.
 */
import type { CauseHolder } from "./queue_item.ts";

/** A parked key. `parkedAt` is monotonic milliseconds. */
export class ParkedKey<K, C> implements CauseHolder<C> {
  readonly key: K;
  reason: string;
  readonly parkedAt: number;
  /** A run was requested. */
  isPending = false;
  priority = 0;
  causes: C[] | undefined = undefined;
  causesDropped = 0;

  constructor(key: K, reason: string, parkedAt: number) {
    this.key = key;
    this.reason = reason;
    this.parkedAt = parkedAt;
  }

  /** Remembers that a run was requested. */
  request(priority: number): void {
    this.priority = this.isPending ? Math.max(this.priority, priority) : priority;
    this.isPending = true;
  }
}

/** All parked keys of one queue. */
export class ParkedKeys<K, C> {
  readonly #byKey = new Map<K, ParkedKey<K, C>>();

  get size(): number {
    return this.#byKey.size;
  }

  find(key: K): ParkedKey<K, C> | undefined {
    return this.#byKey.size === 0 ? undefined : this.#byKey.get(key);
  }

  values(): Iterable<ParkedKey<K, C>> {
    return this.#byKey.values();
  }

  park(key: K, reason: string, now: number): ParkedKey<K, C> {
    let parked = this.#byKey.get(key);
    if (parked === undefined) this.#byKey.set(key, parked = new ParkedKey(key, reason, now));
    else parked.reason = reason;
    return parked;
  }

  unpark(key: K): ParkedKey<K, C> | undefined {
    const parked = this.#byKey.get(key);
    this.#byKey.delete(key);
    return parked;
  }
}

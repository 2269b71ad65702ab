/**
 * Parking: keys that were taken out of circulation, with the reason, and what was asked of them since.
 */
import type { CauseHolder } from "./_causes.ts";

/** A parked key. `parkedAt` is monotonic milliseconds. */
export class Parked<K, C> implements CauseHolder<C> {
  readonly key: K;
  reason: string;
  readonly parkedAt: number;
  /** Somebody has asked for a run. */
  pending = false;
  priority = 0;
  causes: C[] | undefined = undefined;
  causesDropped = 0;

  constructor(key: K, reason: string, parkedAt: number) {
    this.key = key;
    this.reason = reason;
    this.parkedAt = parkedAt;
  }

  /** Remembers that a run was asked for. */
  hold(priority: number): void {
    this.priority = this.pending ? Math.max(this.priority, priority) : priority;
    this.pending = true;
  }
}

/** All parked keys of one queue. */
export class Parking<K, C> {
  readonly #byKey = new Map<K, Parked<K, C>>();

  get size(): number {
    return this.#byKey.size;
  }

  find(key: K): Parked<K, C> | undefined {
    return this.#byKey.size === 0 ? undefined : this.#byKey.get(key);
  }

  values(): Iterable<Parked<K, C>> {
    return this.#byKey.values();
  }

  park(key: K, reason: string, now: number): Parked<K, C> {
    let parked = this.#byKey.get(key);
    if (parked === undefined) this.#byKey.set(key, parked = new Parked(key, reason, now));
    else parked.reason = reason;
    return parked;
  }

  unpark(key: K): Parked<K, C> | undefined {
    const parked = this.#byKey.get(key);
    this.#byKey.delete(key);
    return parked;
  }
}

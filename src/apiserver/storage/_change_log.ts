/**
 * ChangeLog: the kept changes of one collection, oldest first, each with the state it left, so that the collection can be
 * read as it was at any kept revision. Indices count from the first change ever and stay when old ones are dropped.
 */
import type { Change } from "./change.ts";
import type { OrderedMap } from "./_ordered_map.ts";
import type { StoredObject } from "./stored_object.ts";

type Items = OrderedMap<StoredObject>;

interface Entry {
  readonly change: Change;
  readonly after: Items;
}

/** Dropped entries are cut off the array when so many have gathered and they are half of it. */
const cutAt = 1024;

/** The kept changes of one collection. */
export class ChangeLog {
  #entries: (Entry | undefined)[] = [];
  /** Index of `#entries[0]`. */
  #offset = 0;
  /** Index of the oldest kept change. */
  #start = 0;
  /** The state before the oldest kept change. */
  #base: Items;
  #droppedRevision = 0;

  constructor(base: Items) {
    this.#base = base;
  }

  /** Another log of the same changes; the two go on apart. */
  copy(): ChangeLog {
    const copy = new ChangeLog(this.#base);
    copy.#entries = [...this.#entries];
    copy.#offset = this.#offset;
    copy.#start = this.#start;
    copy.#droppedRevision = this.#droppedRevision;
    return copy;
  }

  /** Index that the next change will have. */
  get end(): number {
    return this.#offset + this.#entries.length;
  }

  /** Revision of the last change that is not kept; the history is complete after it. */
  get droppedRevision(): number {
    return this.#droppedRevision;
  }

  /** Revision of the oldest kept change. */
  get oldestRevision(): number {
    return this.#entries[this.#start - this.#offset]?.change.revision ?? Infinity;
  }

  /** @returns undefined when it is no longer kept */
  at(index: number): Change | undefined {
    return index < this.#start ? undefined : this.#entries[index - this.#offset]?.change;
  }

  append(change: Change, after: Items): void {
    this.#entries.push({ change, after });
  }

  /** Drops the oldest change. */
  dropOldest(): Change | undefined {
    const slot = this.#start - this.#offset;
    const entry = this.#entries[slot];
    if (entry === undefined) return undefined;
    this.#entries[slot] = undefined;
    this.#start++;
    this.#base = entry.after;
    this.#droppedRevision = entry.change.revision;
    if (slot + 1 >= cutAt && (slot + 1) * 2 >= this.#entries.length) {
      this.#entries = this.#entries.slice(slot + 1);
      this.#offset = this.#start;
    }
    return entry.change;
  }

  /** Index of the first change after `revision`. One that is not kept when the history does not go back so far. */
  indexAfter(revision: number): number {
    if (revision < this.#droppedRevision) return this.#start - 1;
    let low = this.#start;
    let high = this.end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const entry = this.#entries[middle - this.#offset];
      if (entry !== undefined && entry.change.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The state at `revision`; undefined when the history does not go back so far. */
  stateAt(revision: number): Items | undefined {
    if (revision < this.#droppedRevision) return undefined;
    const index = this.indexAfter(revision) - 1;
    return index < this.#start ? this.#base : this.#entries[index - this.#offset]?.after;
  }
}

/**
 * Entry: what the queue knows about one key that is queued, running or both, and EntryList, the lists such keys
 * stand in.
 *
 * The links are in the entry, so that moving a key costs no allocation, any entry leaves its list in constant time,
 * and a list holds no memory for keys that have left it (behaviours.md 43).
 */
import type { Lane } from "./_lanes.ts";
import type { RunningItem } from "./queue_item.ts";

/**
 * One key. It is queued while `lane` is set, running while `item` is. Instants are monotonic milliseconds.
 *
 * All fields are set in the constructor's body: JavaScriptCore sizes objects by what it finds there.
 */
export class Entry<K, C> {
  readonly key: K;
  /** Of the run to come; of the running one when `dirty` is false. */
  priority: number;
  addedAt: number;
  causes: C[] | undefined;
  causesDropped: number;
  /** Where it stands in line. */
  lane: Lane<K, C> | undefined;
  /** The run that is in progress. */
  item: RunningItem<K, C> | undefined;
  /** Added again while running. */
  dirty: boolean;
  previous: Entry<K, C> | undefined;
  next: Entry<K, C> | undefined;

  constructor(key: K, priority: number, addedAt: number) {
    this.key = key;
    this.priority = priority;
    this.addedAt = addedAt;
    this.causes = undefined;
    this.causesDropped = 0;
    this.lane = undefined;
    this.item = undefined;
    this.dirty = false;
    this.previous = undefined;
    this.next = undefined;
  }
}

/** A doubly linked list of entries. An entry stands in one list at most. */
export class EntryList<K, C> {
  first: Entry<K, C> | undefined = undefined;
  last: Entry<K, C> | undefined = undefined;

  append(entry: Entry<K, C>): void {
    const { last } = this;
    entry.previous = last;
    if (last === undefined) this.first = entry;
    else last.next = entry;
    this.last = entry;
  }

  remove(entry: Entry<K, C>): void {
    const { previous, next } = entry;
    if (previous === undefined) this.first = next;
    else previous.next = next;
    if (next === undefined) this.last = previous;
    else next.previous = previous;
    entry.previous = undefined;
    entry.next = undefined;
  }

  *[Symbol.iterator](): Generator<Entry<K, C>> {
    for (let entry = this.first; entry !== undefined; entry = entry.next) yield entry;
  }
}

/**
 * The history of one collection: ChangeLog stores its newest changes, and a Cursor reads them for one watch.
 *
 * Guarantees: a cursor returns every change after its start revision once, in order, or "expired" when the log has dropped
 * one of them. The collection can be read as it was at each stored revision. Indices count from the first change ever, and
 * do not move when old changes are dropped.
 */
import type { OrderedMap } from "./ordered_map.ts";
import type { StoredObject } from "./stored_object.ts";

/** All objects of a collection at one revision, sorted by key. It never changes. */
export type Snapshot = Pick<OrderedMap<StoredObject>, "get" | "rank" | "scan" | "size">;

/** One write. */
export interface Change {
  readonly kind: "added" | "modified" | "deleted";
  /** The revision of the write; unique over all collections. */
  readonly revision: number;
  /** The state after the write; for a deletion the last state, with the revision of the deletion. */
  readonly current: StoredObject;
  /** The state before the write; undefined for `added`. */
  readonly previous: StoredObject | undefined;
}

type Items = OrderedMap<StoredObject>;

interface Entry {
  readonly change: Change;
  /** The state after the change; kept after each {@link checkpointEvery}th only, see there. */
  readonly after: Items | undefined;
}

/**
 * Each state keeps about a kilobyte of tree nodes of its own, so not every one is stored: the others are computed from the
 * nearest earlier one, which takes a microsecond for each change in between.
 */
const checkpointEvery = 64;
/** Characters of JSON in the dropped changes that are not applied yet. */
const maxCharactersAfterBase = 1024 * 1024;

/** The array is cut when at least so many entries are dropped, and they are half of it. */
const minDroppedEntries = 1024;

/** The stored changes of one collection, oldest first, and the states of the collection after them. */
export class ChangeLog {
  #entries: (Entry | undefined)[] = [];
  /** Index of `#entries[0]`. */
  #offset = 0;
  /** Index of the oldest stored change. */
  #start = 0;
  /** A state before the oldest stored change, and the dropped changes between the two. */
  #base: Items;
  #afterBase: Entry[] = [];
  #charactersAfterBase = 0;
  #droppedRevision: number;

  /** @param droppedRevision of the last change that led to `base` */
  constructor(base: Items, droppedRevision = 0) {
    this.#base = base;
    this.#droppedRevision = droppedRevision;
  }

  /** Another log with the same changes; the two are independent from now on. */
  copy(): ChangeLog {
    const copy = new ChangeLog(this.#base, this.#droppedRevision);
    copy.#entries = [...this.#entries];
    copy.#offset = this.#offset;
    copy.#start = this.#start;
    copy.#afterBase = [...this.#afterBase];
    copy.#charactersAfterBase = this.#charactersAfterBase;
    return copy;
  }

  /** The index of the next change. */
  get end(): number {
    return this.#offset + this.#entries.length;
  }

  /** Revision of the newest dropped change; the history is complete after it. */
  get droppedRevision(): number {
    return this.#droppedRevision;
  }

  /** Revision of the oldest stored change. */
  get oldestRevision(): number {
    return this.#entries[this.#start - this.#offset]?.change.revision ?? Infinity;
  }

  /** @returns undefined when the change was dropped */
  at(index: number): Change | undefined {
    return index < this.#start ? undefined : this.#entries[index - this.#offset]?.change;
  }

  append(change: Change, after: Items): void {
    this.#entries.push({ change, after: this.end % checkpointEvery === 0 ? after : undefined });
  }

  /** Drops the oldest change. */
  dropOldest(): Change | undefined {
    const slot = this.#start - this.#offset;
    const entry = this.#entries[slot];
    if (entry === undefined) return undefined;
    this.#entries[slot] = undefined;
    this.#start++;
    this.#moveBase(entry);
    this.#droppedRevision = entry.change.revision;
    if (slot + 1 >= minDroppedEntries && (slot + 1) * 2 >= this.#entries.length) {
      this.#entries = this.#entries.slice(slot + 1);
      this.#offset = this.#start;
    }
    return entry.change;
  }

  /** A put into the base for each dropped change would double the tree nodes of a write, so they are applied together. */
  #moveBase(entry: Entry): void {
    this.#afterBase.push(entry);
    this.#charactersAfterBase += entry.change.current.json.length;
    if (entry.after === undefined && this.#charactersAfterBase < maxCharactersAfterBase) return;
    this.#base = entry.after ?? this.#afterBase.reduce(stateAfter, this.#base);
    this.#afterBase = [];
    this.#charactersAfterBase = 0;
  }

  /** Index of the first change after `revision`; the index of a dropped change when the history starts later. */
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

  /** The state at `revision`; undefined when the history starts later. */
  stateAt(revision: number): Items | undefined {
    if (revision < this.#droppedRevision) return undefined;
    const end = this.indexAfter(revision);
    let from = end;
    while (from > this.#start && this.#entries[from - 1 - this.#offset]?.after === undefined) from--;
    const checkpoint = from > this.#start ? this.#entries[from - 1 - this.#offset]?.after : undefined;
    let state = checkpoint ?? this.#afterBase.reduce(stateAfter, this.#base);
    for (const entry of this.#entries.slice(from - this.#offset, end - this.#offset)) {
      if (entry !== undefined) state = stateAfter(state, entry);
    }
    return state;
  }
}

function stateAfter(before: Items, { change: { kind, current }, after }: Entry): Items {
  return after ?? (kind === "deleted" ? before.remove(current.key) : before.put(current));
}

/** The changes that a cursor reads. */
export interface CursorOptions {
  /** "": all namespaces. */
  readonly namespace: string;
  /** A single object. @default all */
  readonly name?: string;
  /** Reads changes after this revision. */
  readonly after: number;
  /** Called when there is a change to read after `read` returned "none". It must not throw. */
  onChange(): void;
}

/** The result of a read: a change, "none" at the moment, or "expired" when the next change was dropped. */
export type Reading = Change | "none" | "expired";

/** A position in the history of a collection. Dispose it to stop `onChange`. */
export class Cursor implements Disposable {
  readonly namespace: string;
  readonly #name: string | undefined;
  readonly #log: ChangeLog;
  readonly #after: number;
  readonly #onChange: () => void;
  readonly #onDispose: (cursor: Cursor) => void;
  /** Index of the next change to read. */
  #next: number;
  /** True after `read` returned "none": no change before the next wake() is for this cursor. */
  #isWaiting = false;

  constructor(log: ChangeLog, options: CursorOptions, onDispose: (cursor: Cursor) => void) {
    this.namespace = options.namespace;
    this.#name = options.name;
    this.#after = options.after;
    this.#onChange = () => options.onChange();
    this.#log = log;
    this.#onDispose = onDispose;
    this.#next = log.indexAfter(options.after);
  }

  /** The next change, if there is one. */
  read(): Reading {
    while (this.#next < this.#log.end) {
      const change = this.#log.at(this.#next);
      if (change === undefined) return "expired";
      this.#next++;
      if (this.#concerns(change)) return change;
    }
    this.#isWaiting = true;
    return "none";
  }

  /** True while there is nothing to read. */
  get isUpToDate(): boolean {
    return this.#isWaiting || this.#next >= this.#log.end;
  }

  /** The collection calls this for each change in the namespace of the cursor. */
  wake(index: number): void {
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    // The changes in between were in other namespaces, and may be dropped already.
    this.#next = index;
    this.#onChange();
  }

  [Symbol.dispose](): void {
    this.#isWaiting = false;
    this.#onDispose(this);
  }

  #concerns(change: Change): boolean {
    const { current } = change;
    return (this.namespace === "" || current.namespace === this.namespace) &&
      (this.#name === undefined || current.name === this.#name) && change.revision > this.#after;
  }
}

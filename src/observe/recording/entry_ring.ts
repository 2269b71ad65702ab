/**
 * EntryRing: the newest entries of a process, in memory, bounded in bytes. The oldest are dropped first.
 *
 * Guarantees: the estimated bytes of the entries never exceed the bound; adding takes constant time on average, finding an
 * entry by its id logarithmic time.
 */
import type { EntryId, FieldChange, NewEntry, RequestEntry, WriteEntry } from "./entries.ts";
import type { StoredEntry } from "./sealed_entry.ts";

/** Dropped entries stay in the array until there are so many of them, and as many as the others. */
const minCompaction = 1_024;

/** One entry in memory, as the engine handed it over. */
interface Slot {
  readonly id: EntryId;
  readonly at: number;
  readonly entry: NewEntry;
  readonly bytes: number;
}

export class EntryRing {
  readonly maxBytes: number;
  #slots: Slot[] = [];
  /** Index of the oldest entry. */
  #head = 0;
  #bytes = 0;
  #dropped = 0;

  /** @param maxBytes above 0 */
  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Estimated bytes of all entries. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Number of entries. */
  get size(): number {
    return this.#slots.length - this.#head;
  }

  /** Entries that were dropped because of the bound. */
  get dropped(): number {
    return this.#dropped;
  }

  /** @param id higher than those before */
  add(entry: NewEntry, id: EntryId, at: number): void {
    const bytes = sizeOf(entry);
    if (bytes > this.maxBytes) {
      this.#dropped++;
      return;
    }
    this.#slots.push({ id, at, entry, bytes });
    this.#bytes += bytes;
    while (this.#bytes > this.maxBytes) this.#dropOldest();
  }

  find(id: EntryId): StoredEntry | undefined {
    const slot = this.#slots[this.#indexAfter(id - 1)];
    return slot?.id === id ? stored(slot) : undefined;
  }

  /** At most `limit` entries with a higher id than `after`, oldest first, as they are at the moment of the call. */
  after(after: EntryId, limit: number): readonly StoredEntry[] {
    const start = this.#indexAfter(after);
    return this.#slots.slice(start, start + limit).map(stored);
  }

  /** The index of the first entry with a higher id. */
  #indexAfter(id: EntryId): number {
    let [low, high] = [this.#head, this.#slots.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#slots[middle]?.id ?? 0) <= id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #dropOldest(): void {
    this.#bytes -= this.#slots[this.#head]?.bytes ?? 0;
    this.#head++;
    this.#dropped++;
    if (this.#head < minCompaction || this.#head * 2 < this.#slots.length) return;
    this.#slots = this.#slots.slice(this.#head);
    this.#head = 0;
  }
}

function stored({ id, at, entry }: Slot): StoredEntry {
  return { ...entry, id, at };
}

/** A slot, and an entry with its key and the reference of its object. */
const entryBytes = 384;
const objectBytes = 56;
const fieldBytes = 8;
const textBytes = 24;

/**
 * The estimated bytes of an entry on the heap. Only what varies is looked at, because each entry of the process passes
 * through here: names of kinds and controllers are shared.
 */
export function sizeOf(entry: NewEntry): number {
  const bytes = entryBytes + entry.causes.length * fieldBytes;
  switch (entry.kind) {
    case "change":
      return bytes + (entry.fields === undefined ? 0 : sizeOfFields(entry.fields));
    case "write":
    case "request":
      return bytes + objectBytes + sizeOfText(entry.bodyText) + sizeOfText(entry.path) + sizeOfFailure(entry.answer);
    case "event":
      return bytes + entry.note.length;
    case "reconcile-end":
    case "cache":
    case "error":
    case "lease":
      return bytes + sizeOfText(entry.error);
    case "review":
      return bytes + sizeOfText(entry.message) + sizeOfValue(entry.patch);
    case "note":
      return bytes + entry.what.length + sizeOfText(entry.detail) + sizeOfValue(entry.changes);
    case "queue":
    case "activation":
      return bytes + sizeOfText(entry.reason);
    case "read":
      return bytes + sizeOfText(entry.path) + sizeOfFailure(entry.failure);
    case "list":
    case "enqueue":
    case "reconcile-start":
      return bytes;
    default:
      return entry satisfies never;
  }
}

function sizeOfFields(fields: readonly FieldChange[]): number {
  let bytes = objectBytes;
  for (const { path, from, to } of fields) {
    bytes += objectBytes + textBytes + path.length + sizeOfValue(from) + sizeOfValue(to);
  }
  return bytes;
}

function sizeOfFailure(answer: WriteEntry["answer"] | RequestEntry["answer"] | undefined): number {
  return answer?.kind === "failed" ? objectBytes + sizeOfText(answer.message) : 0;
}

function sizeOfText(text: string | undefined): number {
  return text === undefined ? 0 : textBytes + text.length;
}

function sizeOfValue(value: unknown): number {
  if (typeof value === "string") return textBytes + value.length;
  if (typeof value !== "object" || value === null) return fieldBytes;
  let bytes = objectBytes;
  for (const inner of Object.values(value)) bytes += fieldBytes + sizeOfValue(inner);
  return bytes;
}

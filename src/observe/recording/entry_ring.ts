/**
 * EntryRing: the newest entries of a process, in memory, bounded in bytes. The oldest are dropped first.
 *
 * Guarantees: the estimated bytes of the entries never exceed the bound; adding takes constant time on average, finding an
 * entry by its id logarithmic time.
 */
import type { EntryId } from "./entries.ts";
import type { StoredEntry } from "./sealed_entry.ts";

/** Dropped entries stay in the array until there are so many of them, and as many as the others. */
const minCompaction = 1_024;

export class EntryRing {
  readonly maxBytes: number;
  #entries: StoredEntry[] = [];
  #sizes: number[] = [];
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
    return this.#entries.length - this.#head;
  }

  /** Entries that were dropped because of the bound. */
  get dropped(): number {
    return this.#dropped;
  }

  add(entry: StoredEntry): void {
    const bytes = sizeOf(entry);
    if (bytes > this.maxBytes) {
      this.#dropped++;
      return;
    }
    this.#entries.push(entry);
    this.#sizes.push(bytes);
    this.#bytes += bytes;
    while (this.#bytes > this.maxBytes) this.#dropOldest();
  }

  find(id: EntryId): StoredEntry | undefined {
    const entry = this.#entries[this.#indexAfter(id - 1)];
    return entry?.id === id ? entry : undefined;
  }

  /** The entries with a higher id than `after`, oldest first, as they are at the moment of the call. */
  after(after: EntryId): readonly StoredEntry[] {
    return this.#entries.slice(this.#indexAfter(after));
  }

  /** The index of the first entry with a higher id. */
  #indexAfter(id: EntryId): number {
    let [low, high] = [this.#head, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle]?.id ?? 0) <= id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #dropOldest(): void {
    this.#bytes -= this.#sizes[this.#head] ?? 0;
    this.#head++;
    this.#dropped++;
    if (this.#head < minCompaction || this.#head * 2 < this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#head);
    this.#sizes = this.#sizes.slice(this.#head);
    this.#head = 0;
  }
}

const objectBytes = 56;
const fieldBytes = 8;
const textBytes = 24;

/** The estimated bytes of a value on the heap. Texts are counted as if no other entry shared them. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return textBytes + value.length;
  if (typeof value !== "object" || value === null) return fieldBytes;
  let bytes = objectBytes;
  if (Array.isArray(value)) {
    for (const element of value) bytes += fieldBytes + (typeof element === "number" ? 0 : sizeOf(element));
    return bytes;
  }
  const fields: readonly unknown[] = Object.values(value);
  for (const inner of fields) bytes += fieldBytes + (typeof inner === "number" ? fieldBytes : sizeOf(inner));
  return bytes;
}

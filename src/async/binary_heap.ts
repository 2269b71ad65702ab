/**
 * BinaryHeap: a set of items of which the first in order is always at hand: timers, delayed keys, awaited versions.
 *
 * Guarantees: `first` costs nothing; push, pop, remove and `moveUp` take O(log n) comparisons; a removed item leaves
 * no memory behind. Items that are equal in order come out in any order: give them a sequence number where that
 * matters. Each item carries its own place, so an item may be in one heap only.
 */

/** What an item of a {@link BinaryHeap} must have. The heap writes it; create items with -1. */
export interface HeapItem {
  /** The item's place in its heap; -1 while it is in none. */
  heapIndex: number;
}

/**
 * A binary min-heap in an array.
 *
 * @example
 * ```ts
 * import { BinaryHeap } from "./mod.ts";
 *
 * const heap = new BinaryHeap<{ dueAt: number; heapIndex: number }>((one, other) => one.dueAt < other.dueAt);
 * for (const dueAt of [30, 10, 20]) heap.push({ dueAt, heapIndex: -1 });
 * console.assert(heap.pop()?.dueAt === 10 && heap.first?.dueAt === 20 && heap.size === 2);
 * ```
 */
export class BinaryHeap<T extends HeapItem> {
  readonly #items: T[] = [];
  readonly #isBefore: (one: T, other: T) => boolean;

  /** @param isBefore True when the first argument must come out before the second. */
  constructor(isBefore: (one: T, other: T) => boolean) {
    this.#isBefore = isBefore;
  }

  /** How many items there are. */
  get size(): number {
    return this.#items.length;
  }

  /** The item that comes out next. */
  get first(): T | undefined {
    return this.#items[0];
  }

  /** Adds an item that is in no heap. */
  push(item: T): void {
    this.#items.push(item);
    this.#rise(item, this.#items.length - 1);
  }

  /** Takes out the first item. */
  pop(): T | undefined {
    const first = this.#items[0];
    if (first !== undefined) this.remove(first);
    return first;
  }

  /** Takes out `item`. @returns false when it is not in this heap */
  remove(item: T): boolean {
    const items = this.#items;
    const at = item.heapIndex;
    if (items[at] !== item) return false;
    item.heapIndex = -1;
    const last = items.pop();
    if (last === undefined || last === item) return true;
    const parent = items[(at - 1) >> 1];
    if (at > 0 && parent !== undefined && this.#isBefore(last, parent)) this.#rise(last, at);
    else this.#sink(last, at);
    return true;
  }

  /** Restores the order after `item` of this heap has changed so that it must come out earlier than before. */
  moveUp(item: T): void {
    this.#rise(item, item.heapIndex);
  }

  /** Takes out all items. */
  clear(): void {
    for (const item of this.#items) item.heapIndex = -1;
    this.#items.length = 0;
  }

  /** All items, in no particular order. */
  [Symbol.iterator](): Iterator<T> {
    return this.#items[Symbol.iterator]();
  }

  #rise(item: T, from: number): void {
    const items = this.#items;
    const isBefore = this.#isBefore;
    let at = from;
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = items[parentAt];
      if (parent === undefined || !isBefore(item, parent)) break;
      items[at] = parent;
      parent.heapIndex = at;
      at = parentAt;
    }
    items[at] = item;
    item.heapIndex = at;
  }

  #sink(item: T, from: number): void {
    const items = this.#items;
    const isBefore = this.#isBefore;
    let at = from;
    for (let childAt = 2 * at + 1; childAt < items.length; childAt = 2 * at + 1) {
      let child = items[childAt];
      const right = items[childAt + 1];
      if (child !== undefined && right !== undefined && isBefore(right, child)) {
        child = right;
        childAt++;
      }
      if (child === undefined || !isBefore(child, item)) break;
      items[at] = child;
      child.heapIndex = at;
      at = childAt;
    }
    items[at] = item;
    item.heapIndex = at;
  }
}

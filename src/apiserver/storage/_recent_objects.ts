/**
 * RecentObjects: the states whose objects are kept besides their text, the newest few thousand. First in, first out: what
 * is needed again comes in again.
 */

/** What holds an object that it can let go. */
interface Holder {
  release(): void;
}

/** A ring of holders. */
export class RecentObjects {
  readonly #size: number;
  /** Grows to its size: most storages of tests hold a handful. */
  readonly #ring: Holder[] = [];
  #next = 0;

  /** @param size how many objects are kept */
  constructor(size: number) {
    this.#size = Math.max(1, size);
  }

  /** Takes note of an object that was made; the one that has been here longest goes. */
  add(holder: Holder): void {
    this.#ring[this.#next]?.release();
    this.#ring[this.#next] = holder;
    this.#next = (this.#next + 1) % this.#size;
  }
}

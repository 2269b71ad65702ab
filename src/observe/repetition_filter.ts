/**
 * RepetitionFilter: writes the first of several identical items at once and counts the others, so that a failure that is
 * retried, or that lasts, does not bury the rest of a log.
 *
 * Guarantees: the first item of an identity is written at once; no count is lost: it is written with the next identical item
 * after the quiet period, or with the last one when any item comes after it, or by `flush`. Memory is bounded.
 * Caveats: without a timer, the last count waits for the next item. The time is a parameter of each call.
 */

/** Milliseconds after a written item during which identical ones are only counted. */
const quietMs = 30_000;

/** The identity that was written first is forgotten first. */
const maxIdentities = 1_000;

interface Repetition<Item> {
  readonly writtenAt: number;
  /** The last item that was counted and not written. */
  last: Item | undefined;
  count: number;
}

export class RepetitionFilter<Item> {
  readonly #write: (item: Item, repeated: number) => void;
  /** In the order of `writtenAt`. */
  readonly #repetitions = new Map<string, Repetition<Item>>();

  /** @param write Called with an item to write, and how many identical ones it stands for, itself included */
  constructor(write: (item: Item, repeated: number) => void) {
    this.#write = write;
  }

  /** Writes or counts an item. */
  add(identity: string, item: Item, at: number): void {
    const known = this.#repetitions.get(identity);
    if (known !== undefined && !isOver(known, at)) {
      known.last = item;
      known.count += 1;
      return this.expire(at);
    }
    this.#repetitions.delete(identity);
    this.expire(at);
    this.#write(item, (known?.count ?? 0) + 1);
    this.#repetitions.set(identity, { writtenAt: at, last: undefined, count: 0 });
    if (this.#repetitions.size > maxIdentities) this.#removeOldest();
  }

  /** Writes what was counted in quiet periods that are over. */
  expire(at: number): void {
    for (const repetition of this.#repetitions.values()) {
      if (!isOver(repetition, at)) return;
      this.#removeOldest();
    }
  }

  /** Writes everything that was counted. */
  flush(): void {
    while (this.#repetitions.size > 0) this.#removeOldest();
  }

  #removeOldest(): void {
    for (const [identity, { last, count }] of this.#repetitions) {
      this.#repetitions.delete(identity);
      if (last !== undefined) this.#write(last, count);
      return;
    }
  }
}

/** Also true when the clock was set back. */
function isOver({ writtenAt }: Repetition<unknown>, at: number): boolean {
  return at - writtenAt >= quietMs || at < writtenAt;
}

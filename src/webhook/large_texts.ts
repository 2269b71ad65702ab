/**
 * LargeTexts: the turns of large request bodies. A body of 6 MB becomes up to 100 MB of objects, and the collector of the
 * runtime lets several times of that pile up before it runs.
 *
 * Guarantees: the large texts that are held at once have at most `maxHeldBytes` together, except that one alone may always
 * be held. They take turns in the order in which they came, and other work of the process runs between two of them. After
 * every `collectEveryBytes` the garbage is collected when a turn ends: bodies that arrive before the next one would come on
 * top of it. It is collected before the turn of a text of that size, too.
 */
import { aborted } from "../async/mod.ts";
import { collectGarbage, nextTurn } from "../runtime/mod.ts";

/** Options of {@link LargeTexts}. */
export interface LargeTextsOptions {
  /** Bytes of the large texts that are held at once. @default 2097152 (2 MiB) */
  readonly maxHeldBytes?: number;
  /** Bytes of large texts between two collections. @default 2097152 (2 MiB) */
  readonly collectEveryBytes?: number;
  /** @default collectGarbage */
  readonly collect?: () => void;
}

/** A smaller text needs no turn. Bytes. Objects of a cluster are nearly always smaller. */
export const minLargeBytes = 256 * 1024;

/** The turn of one text. */
export interface LargeTextTurn extends Disposable {
  /** For a text of unknown length that has become larger. */
  add(bytes: number): void;
}

/** A text that waits for its turn. */
interface WaitingText {
  readonly bytes: number;
  readonly start: () => void;
}

/** Limits how many large texts are in memory. */
export class LargeTexts {
  readonly #maxHeldBytes: number;
  readonly #collectEveryBytes: number;
  readonly #collect: () => void;
  readonly #waiting = new Set<WaitingText>();
  #heldBytes = 0;
  #uncollectedBytes = 0;

  constructor(options: LargeTextsOptions = {}) {
    const { maxHeldBytes = 2 * 1024 * 1024, collectEveryBytes = 2 * 1024 * 1024, collect = collectGarbage } = options;
    this.#maxHeldBytes = maxHeldBytes;
    this.#collectEveryBytes = collectEveryBytes;
    this.#collect = collect;
  }

  /**
   * Waits for the turn of a text. Dispose the result when neither the text nor its objects are needed.
   *
   * @throws the reason of `signal` when it aborts before
   */
  async take(bytes: number, signal: AbortSignal): Promise<LargeTextTurn> {
    if (this.#waiting.size > 0 || !this.#hasRoom(bytes)) await this.#wait(bytes, signal);
    else this.#heldBytes += bytes;
    // What was received meanwhile, refused bodies included, left garbage as well.
    if (bytes >= this.#collectEveryBytes) this.#collect();
    this.#uncollectedBytes += bytes;
    return this.#turn(bytes);
  }

  #turn(bytes: number): LargeTextTurn {
    let heldBytes = bytes;
    return {
      add: (bytes) => {
        heldBytes += bytes;
        this.#heldBytes += bytes;
        this.#uncollectedBytes += bytes;
      },
      [Symbol.dispose]: () => {
        if (heldBytes > 0) void this.#end(heldBytes);
        heldBytes = 0;
      },
    };
  }

  async #end(bytes: number): Promise<void> {
    if (this.#uncollectedBytes >= this.#collectEveryBytes) {
      this.#uncollectedBytes = 0;
      // The functions that used the objects have returned then, and no further body has been received.
      await undefined;
      this.#collect();
    }
    this.#release(bytes);
  }

  #hasRoom(bytes: number): boolean {
    return this.#heldBytes === 0 || this.#heldBytes + bytes <= this.#maxHeldBytes;
  }

  /** When it resolves, the bytes are held. */
  async #wait(bytes: number, signal: AbortSignal): Promise<void> {
    using end = aborted(signal);
    const { promise, resolve } = Promise.withResolvers<void>();
    const text: WaitingText = { bytes, start: resolve };
    this.#waiting.add(text);
    await Promise.race([promise, end]);
    if (this.#waiting.delete(text)) {
      this.#release(0);
      throw signal.reason;
    }
    await nextTurn();
    if (!signal.aborted) return;
    this.#release(bytes);
    throw signal.reason;
  }

  /** Gives back bytes, and starts the texts that have room now. */
  #release(bytes: number): void {
    this.#heldBytes -= bytes;
    for (const text of this.#waiting) {
      if (!this.#hasRoom(text.bytes)) return;
      this.#waiting.delete(text);
      this.#heldBytes += text.bytes;
      text.start();
    }
  }
}

/**
 * UnreadBytes: the bytes of one stream that have arrived and that nothing has read yet. The receiver of a connection pushes
 * them, the program of the stream reads them.
 *
 * Guarantees: a push waits while too many bytes are unread, so a slow reader slows the client; what has arrived before the end
 * can still be read.
 */
export class UnreadBytes {
  readonly #maxBytes: number;
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;
  #hasEnded = false;
  #isBounded = true;
  #onInput: () => void = () => {};
  #onRoom: () => void = () => {};

  /** @param maxBytes above which a push waits */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** True after {@link end}, also while bytes are unread. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Adds bytes, and waits while too many are unread. */
  async push(chunk: Uint8Array): Promise<void> {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    this.#onInput();
    while (this.#bytes > this.#maxBytes && this.#isBounded) {
      await new Promise<void>((resolve) => this.#onRoom = resolve);
    }
  }

  /** The next bytes; undefined when no more come. One caller at a time. */
  async read(): Promise<Uint8Array | undefined> {
    while (true) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        this.#bytes -= chunk.length;
        this.#onRoom();
        return chunk;
      }
      if (this.#hasEnded) return undefined;
      await new Promise<void>((resolve) => this.#onInput = resolve);
    }
  }

  /** No more bytes come. */
  end(): void {
    this.#hasEnded = true;
    this.#onInput();
  }

  /** From now on a push does not wait for a reader. */
  lift(): void {
    this.#isBounded = false;
    this.#onRoom();
  }
}

/**
 * LineSplitter: from chunks of bytes to lines of text.
 *
 * Guarantees: linear in the bytes, also for one line in many chunks: a chunk is decoded once and searched once, and the
 * pieces of an unfinished line are kept apart until it is whole. A character cut by a chunk border is put together; a
 * carriage return before the line feed stays, JSON.parse takes it for white space. Empty lines are left out.
 */
export class LineSplitter {
  readonly #decoder = new TextDecoder();
  readonly #maxLength: number;
  /** The beginning of a line whose end has not come. */
  #pieces: string[] = [];
  #piecesLength = 0;

  /** @param maxLength Longest line in UTF-16 code units. */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** Takes in a chunk and calls `emit` for each line it completes. @throws RangeError when a line is too long. */
  push(chunk: Uint8Array, emit: (line: string) => void): void {
    const text = this.#decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      const line = this.#pieces.length === 0 ? text.slice(start, end) : this.#complete(text.slice(start, end));
      start = end + 1;
      if (line.length > this.#maxLength) throw this.#tooLong();
      if (line.length > 1 || (line !== "" && line !== "\r")) emit(line);
    }
    if (start < text.length) this.#keep(start === 0 ? text : text.slice(start));
  }

  /** What remains after the last line feed, "" when nothing does. */
  end(): string {
    this.#keep(this.#decoder.decode());
    return this.#complete("");
  }

  #keep(piece: string): void {
    this.#pieces.push(piece);
    this.#piecesLength += piece.length;
    if (this.#piecesLength > this.#maxLength) throw this.#tooLong();
  }

  #complete(last: string): string {
    this.#pieces.push(last);
    const line = this.#pieces.join("");
    this.#pieces = [];
    this.#piecesLength = 0;
    return line;
  }

  #tooLong(): RangeError {
    return new RangeError(`Cannot read watch: a line is longer than ${this.#maxLength} characters`);
  }
}

/**
 * The body of an HTTP/1.1 answer, freed from what frames it: so many bytes, chunks, or all there is (RFC 9112, 7.1).
 *
 * Guarantees: works in the memory that it is given, so that a stream of 50 MB costs no copy; no byte behind the end is
 * handed out; extensions and trailers are dropped, and a peer that sends a lot of them is refused.
 */
import { malformed, type ResponseFraming } from "./_response_head.ts";

/** Reads one body, piece by piece. */
export interface ResponseBodyReader {
  /**
   * Takes what was received and returns the part of it that is body, moved together in the same memory.
   *
   * @throws Error when the framing is broken
   */
  take(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>;
  readonly isComplete: boolean;
  /** Bytes came that belong to nothing: the connection is out of step. */
  readonly hasExcess: boolean;
}

/** The reader that fits. */
export function responseBodyReader(framing: ResponseFraming): ResponseBodyReader {
  switch (framing.kind) {
    case "none":
      return new CountedBody(0);
    case "length":
      return new CountedBody(framing.bytes);
    case "chunked":
      return new ChunkedBody();
    case "rest":
      return { take: (bytes) => bytes, isComplete: false, hasExcess: false };
    default:
      return framing satisfies never;
  }
}

class CountedBody implements ResponseBodyReader {
  hasExcess = false;
  #leftBytes: number;

  constructor(bytes: number) {
    this.#leftBytes = bytes;
  }

  get isComplete(): boolean {
    return this.#leftBytes === 0;
  }

  take(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    if (bytes.length > this.#leftBytes) this.hasExcess = true;
    const part = bytes.subarray(0, this.#leftBytes);
    this.#leftBytes -= part.length;
    return part;
  }
}

type ChunkState = "size" | "extension" | "size end" | "data" | "data end" | "data line end" | Trailer | "complete";
type Trailer = "trailer start" | "trailer" | "trailer end" | "last line end";

const carriageReturn = 13, lineFeed = 10, tab = 9, space = 32, semicolon = 59;
/** Largest chunk; Go's servers send at most 4 KiB at a time. */
const mostChunkBytes = 2 ** 31;
/** Most bytes of extensions and trailers in one piece of them. */
const mostExtraBytes = 4096;

class ChunkedBody implements ResponseBodyReader {
  hasExcess = false;
  #state: ChunkState = "size";
  #sizeDigits = 0;
  #leftBytes = 0;
  #extraBytes = 0;

  get isComplete(): boolean {
    return this.#state === "complete";
  }

  take(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    let from = 0, to = 0;
    while (from < bytes.length && this.#state !== "complete") {
      if (this.#state !== "data") {
        this.#frame(bytes[from++] ?? 0);
        continue;
      }
      const count = Math.min(this.#leftBytes, bytes.length - from);
      if (from !== to) bytes.copyWithin(to, from, from + count);
      from += count;
      to += count;
      this.#leftBytes -= count;
      if (this.#leftBytes === 0) this.#state = "data end";
    }
    if (from < bytes.length) this.hasExcess = true;
    return bytes.subarray(0, to);
  }

  /** Takes one byte of what stands around the data. */
  #frame(byte: number): void {
    switch (this.#state) {
      case "size":
        return this.#size(byte);
      case "extension":
        if (byte === carriageReturn) this.#state = "size end";
        return this.#extra(byte);
      case "size end":
        this.#state = this.#leftBytes === 0 ? "trailer start" : "data";
        return expect(byte, lineFeed);
      case "data end":
        this.#state = "data line end";
        return expect(byte, carriageReturn);
      case "data line end":
        this.#startSize();
        return expect(byte, lineFeed);
      case "trailer start":
        this.#state = byte === carriageReturn ? "last line end" : "trailer";
        return this.#extra(byte);
      case "trailer":
        if (byte === carriageReturn) this.#state = "trailer end";
        return this.#extra(byte);
      case "trailer end":
        this.#state = "trailer start";
        return expect(byte, lineFeed);
      case "last line end":
        this.#state = "complete";
        return expect(byte, lineFeed);
      case "data":
      case "complete":
        return;
      default:
        return this.#state satisfies never;
    }
  }

  #startSize(): void {
    this.#state = "size";
    this.#sizeDigits = 0;
    this.#extraBytes = 0;
  }

  #size(byte: number): void {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      this.#sizeDigits++;
      this.#leftBytes = this.#leftBytes * 16 + digit;
      if (this.#sizeDigits > 16 || this.#leftBytes > mostChunkBytes) throw malformed("one of its chunks is too large");
      return;
    }
    if (this.#sizeDigits === 0) throw malformed("one of its chunks has no size");
    if (byte === carriageReturn) this.#state = "size end";
    else if (byte === semicolon || byte === space || byte === tab) this.#state = "extension";
    else throw malformed("the size of one of its chunks is not a number");
  }

  #extra(byte: number): void {
    if (byte === lineFeed) throw malformed("a line of its chunks has no carriage return");
    if (++this.#extraBytes > mostExtraBytes) throw malformed("the extensions of its chunks are too long");
  }
}

function expect(byte: number, wanted: number): void {
  if (byte !== wanted) throw malformed("one of its chunks does not end where it should");
}

/** The value of a hexadecimal digit, or -1. */
function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

/**
 * Bodies of HTTP/1.1 messages: one decoder for the requests of the server and the responses of the client. A body has a
 * known length, consists of chunks (RFC 9112, 7.1), or ends with the connection.
 *
 * Guarantees: works in the memory of the received bytes, so that a stream of 50 MB costs no copy; never takes bytes
 * behind the end of the body; drops chunk extensions and trailers, and refuses a peer that sends many (CVE-2024-22019).
 * A request is read more strictly than a response: see {@link BodyRules}.
 */
import { fieldLine, RequestError, responseError, type ResponseFraming } from "./http_head.ts";

/** Decodes one body, piece by piece. */
export interface BodyDecoder {
  /**
   * Takes received bytes and returns those of the body, moved together in the same memory.
   *
   * @throws what the rules make, when the framing is broken
   */
  take(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>;
  readonly isComplete: boolean;
  /** The number of bytes of the last `take` that are behind the end of the body. */
  readonly excessBytes: number;
}

/** How strictly chunks are read. */
export interface BodyRules {
  /**
   * True for requests: a size has at most 8 digits and no space behind it, a line at most 256 bytes, extensions are
   * printable, trailers are well formed, and the limit of extensions and trailers is for the whole body.
   */
  readonly isStrict: boolean;
  /** Returns the error for a chunk of `bytes`, if it is too large. `takenBytes` is the size of the chunks before. */
  refuseSize(bytes: number, takenBytes: number): Error | undefined;
  makeError(state: string): Error;
}

/** Largest chunk of a response; the servers of Go send at most 4 KiB at a time. */
const maxResponseChunkBytes = 2 ** 31;

/** The rules for responses. */
export const responseRules: BodyRules = {
  isStrict: false,
  refuseSize: (bytes) => bytes > maxResponseChunkBytes ? responseError("one of its chunks is too large") : undefined,
  makeError: responseError,
};

/** The rules for requests with at most `maxBytes` of body. */
export function requestRules(maxBytes: number): BodyRules {
  return {
    isStrict: true,
    refuseSize: (bytes, takenBytes) => bytes > maxBytes - takenBytes ? bodyTooLarge(maxBytes) : undefined,
    makeError: (state) => new RequestError(400, state),
  };
}

/** The error of a request whose body is above the limit. */
export function bodyTooLarge(maxBytes: number): RequestError {
  return new RequestError(413, `the body is larger than ${maxBytes} bytes`);
}

/** The decoder for a framing. */
export function bodyDecoder(framing: ResponseFraming, rules: BodyRules): BodyDecoder {
  switch (framing.kind) {
    case "none":
      return new LengthDecoder(0);
    case "length":
      return new LengthDecoder(framing.bytes);
    case "chunked":
      return new ChunkDecoder(rules);
    case "untilClose":
      return { take: (bytes) => bytes, isComplete: false, excessBytes: 0 };
    default:
      return framing satisfies never;
  }
}

class LengthDecoder implements BodyDecoder {
  excessBytes = 0;
  #leftBytes: number;

  constructor(bytes: number) {
    this.#leftBytes = bytes;
  }

  get isComplete(): boolean {
    return this.#leftBytes === 0;
  }

  take(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    const part = bytes.subarray(0, this.#leftBytes);
    this.#leftBytes -= part.length;
    this.excessBytes = bytes.length - part.length;
    return part;
  }
}

type ChunkState = "size" | "extension" | "size end" | "data" | "data end" | "data line end" | TrailerState | "complete";
type TrailerState = "trailer start" | "trailer" | "trailer end" | "last line end";

const carriageReturn = 13, lineFeed = 10, tab = 9, space = 32, semicolon = 59, tilde = 126;
/** The most bytes of extensions and trailers. */
const maxExtraBytes = 4096;
/** The most bytes of a line under strict rules, line end included. Every real client needs less than 20. */
const maxLineBytes = 256;

class ChunkDecoder implements BodyDecoder {
  excessBytes = 0;
  readonly #rules: BodyRules;
  #state: ChunkState = "size";
  #sizeDigits = 0;
  #leftBytes = 0;
  #takenBytes = 0;
  #lineBytes = 0;
  #extraBytes = 0;
  /** The current line of the trailers; collected under strict rules only. */
  #trailer = "";

  constructor(rules: BodyRules) {
    this.#rules = rules;
  }

  get isComplete(): boolean {
    return this.#state === "complete";
  }

  take(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    let from = 0, to = 0;
    while (from < bytes.length && this.#state !== "complete") {
      if (this.#state !== "data") {
        this.#takeFramingByte(bytes[from++] ?? 0);
        continue;
      }
      const count = Math.min(this.#leftBytes, bytes.length - from);
      if (from !== to) bytes.copyWithin(to, from, from + count);
      from += count;
      to += count;
      this.#leftBytes -= count;
      this.#takenBytes += count;
      if (this.#leftBytes === 0) this.#state = "data end";
    }
    this.excessBytes = bytes.length - from;
    return bytes.subarray(0, to);
  }

  #takeFramingByte(byte: number): void {
    if (this.#rules.isStrict && ++this.#lineBytes > maxLineBytes) throw this.#error("a line of a chunk is too long");
    switch (this.#state) {
      case "size":
        return this.#takeSize(byte);
      case "extension":
        return this.#takeExtension(byte);
      case "size end":
        this.#expect(byte, lineFeed);
        return this.#startData();
      case "data end":
        this.#state = "data line end";
        return this.#expect(byte, carriageReturn);
      case "data line end":
        this.#expect(byte, lineFeed);
        return this.#startSize();
      case "trailer start":
      case "trailer":
        return this.#takeTrailer(byte);
      case "trailer end":
        this.#expect(byte, lineFeed);
        return this.#endTrailer();
      case "last line end":
        this.#expect(byte, lineFeed);
        this.#state = "complete";
        return;
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
    this.#lineBytes = 0;
    if (!this.#rules.isStrict) this.#extraBytes = 0;
  }

  #takeSize(byte: number): void {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      this.#leftBytes = this.#leftBytes * 16 + digit;
      if (++this.#sizeDigits > (this.#rules.isStrict ? 8 : 16)) throw this.#error("the size of a chunk is too long");
      return;
    }
    if (this.#sizeDigits === 0) throw this.#error("a chunk has no size");
    if (byte === carriageReturn) this.#state = "size end";
    else if (byte === semicolon || (!this.#rules.isStrict && isBlank(byte))) this.#state = "extension";
    else throw this.#error("the size of a chunk is not a number");
  }

  #takeExtension(byte: number): void {
    const isPrintable = byte === tab || (byte >= space && byte <= tilde);
    if (byte === carriageReturn) this.#state = "size end";
    else if (this.#rules.isStrict && !isPrintable) throw this.#error("a chunk extension is malformed");
    this.#countExtra(byte);
  }

  #startData(): void {
    const error = this.#rules.refuseSize(this.#leftBytes, this.#takenBytes);
    if (error !== undefined) throw error;
    this.#state = this.#leftBytes === 0 ? "trailer start" : "data";
    this.#lineBytes = 0;
  }

  #takeTrailer(byte: number): void {
    const isFirst = this.#state === "trailer start";
    if (byte === carriageReturn) this.#state = isFirst ? "last line end" : "trailer end";
    else {
      this.#state = "trailer";
      if (this.#rules.isStrict) this.#trailer += String.fromCharCode(byte);
    }
    this.#countExtra(byte);
  }

  #endTrailer(): void {
    if (this.#rules.isStrict && !fieldLine.test(this.#trailer)) throw this.#error("a trailer is malformed");
    this.#trailer = "";
    this.#lineBytes = 0;
    this.#state = "trailer start";
  }

  #countExtra(byte: number): void {
    if (byte === lineFeed) throw this.#error("a line of its chunks has no carriage return");
    if (++this.#extraBytes > maxExtraBytes) throw this.#error("its chunk extensions and trailers are too long");
  }

  #expect(byte: number, expected: number): void {
    if (byte !== expected) throw this.#error("a chunk does not end where it should");
  }

  #error(state: string): Error {
    return this.#rules.makeError(state);
  }
}

function isBlank(byte: number): boolean {
  return byte === space || byte === tab;
}

/** The value of a hexadecimal digit, or -1. */
function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

/**
 * The body of an HTTP/1.1 request, put together from what the socket brings: so many bytes, or chunks (RFC 9112, 7.1).
 *
 * Guarantees: no byte of the next request is taken; memory grows with what was received, never with what was announced;
 * chunk extensions and trailers are dropped, and a peer that sends a lot of them is refused (CVE-2024-22019).
 */
import { Refusal } from "./_http_refusal.ts";

/** Takes bytes until the body is whole. */
export interface BodyReader {
  /** Takes what belongs to the body and returns how many bytes that were. @throws Refusal when it is malformed */
  take(bytes: Uint8Array): number;
  readonly isComplete: boolean;
  /** The whole body; call it once complete. */
  body(): Uint8Array<ArrayBuffer>;
}

/** Reads a body of known length. */
export function lengthBody(totalBytes: number): BodyReader {
  const collected = new Collector(totalBytes);
  return {
    take(bytes) {
      const part = bytes.subarray(0, totalBytes - collected.sizeBytes);
      collected.add(part);
      return part.length;
    },
    get isComplete() {
      return collected.sizeBytes === totalBytes;
    },
    body: () => collected.bytes(),
  };
}

/** Longest line of a chunk: its size, its extensions. Every real sender needs less than 20 bytes. */
const chunkLineBytes = 256;
/** Most bytes of extensions and trailers in one body. */
const overheadBytes = 4096;

type ChunkState = "size" | "data" | "data end" | "trailer" | "complete";

/** Reads a body of chunks, at most `maxBytes` of data. */
export function chunkedBody(maxBytes: number): BodyReader {
  return new ChunkedBody(maxBytes);
}

class ChunkedBody implements BodyReader {
  readonly #collected: Collector;
  #state: ChunkState = "size";
  /** Of the chunk being read. */
  #leftBytes = 0;
  /** What there is of the line being read. */
  #line = "";
  #overheadBytes = 0;

  constructor(maxBytes: number) {
    this.#collected = new Collector(maxBytes);
  }

  get isComplete(): boolean {
    return this.#state === "complete";
  }

  body(): Uint8Array<ArrayBuffer> {
    return this.#collected.bytes();
  }

  take(bytes: Uint8Array): number {
    let at = 0;
    while (at < bytes.length && this.#state !== "complete") {
      at += this.#state === "data" ? this.#takeData(bytes.subarray(at)) : this.#takeLine(bytes, at);
    }
    return at;
  }

  #takeData(bytes: Uint8Array): number {
    const part = bytes.subarray(0, this.#leftBytes);
    this.#collected.add(part);
    this.#leftBytes -= part.length;
    if (this.#leftBytes === 0) this.#state = "data end";
    return part.length;
  }

  #takeLine(bytes: Uint8Array, from: number): number {
    const end = bytes.indexOf(10, from);
    const until = end < 0 ? bytes.length : end + 1;
    if (this.#line.length + until - from > chunkLineBytes) throw new Refusal(400, "a line of a chunk is too long");
    for (let at = from; at < until; at++) this.#line += String.fromCharCode(bytes[at] ?? 0);
    if (end >= 0) {
      const line = this.#line;
      this.#line = "";
      if (!line.endsWith("\r\n")) throw new Refusal(400, "a line of a chunk ends without a carriage return");
      this.#understand(line.slice(0, -2));
    }
    return until - from;
  }

  #understand(line: string): void {
    switch (this.#state) {
      case "size":
        return this.#startChunk(line);
      case "data end":
        if (line !== "") throw new Refusal(400, "a chunk is longer than its size");
        this.#state = "size";
        return;
      case "trailer":
        if (line === "") this.#state = "complete";
        else if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t -~\x80-\xff]*$/.test(line)) {
          throw new Refusal(400, "a trailer is malformed");
        }
        return this.#count(line.length);
      default:
        return;
    }
  }

  #startChunk(line: string): void {
    const [, digits, extension] = /^([0-9A-Fa-f]{1,8})((?:;[\t -~]*)?)$/.exec(line) ?? [];
    if (digits === undefined) throw new Refusal(400, "the size of a chunk is malformed");
    this.#count(extension?.length ?? 0);
    this.#leftBytes = parseInt(digits, 16);
    if (this.#leftBytes > this.#collected.roomBytes) throw tooLarge(this.#collected.maxBytes);
    this.#state = this.#leftBytes === 0 ? "trailer" : "data";
  }

  #count(bytes: number): void {
    this.#overheadBytes += bytes;
    if (this.#overheadBytes > overheadBytes) throw new Refusal(400, "extensions and trailers are too long");
  }
}

/** The refusal of a body above the limit. */
export function tooLarge(maxBytes: number): Refusal {
  return new Refusal(413, `the body is larger than ${maxBytes} bytes`);
}

/** Bytes that grow by doubling. */
class Collector {
  readonly maxBytes: number;
  sizeBytes = 0;
  #bytes = new Uint8Array(0);

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  get roomBytes(): number {
    return this.maxBytes - this.sizeBytes;
  }

  add(part: Uint8Array): void {
    const wanted = this.sizeBytes + part.length;
    if (wanted > this.#bytes.length) {
      const grown = new Uint8Array(Math.min(this.maxBytes, Math.max(wanted, this.#bytes.length * 2, 4096)));
      grown.set(this.#bytes.subarray(0, this.sizeBytes));
      this.#bytes = grown;
    }
    this.#bytes.set(part, this.sizeBytes);
    this.sizeBytes = wanted;
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.sizeBytes);
  }
}

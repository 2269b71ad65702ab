/**
 * HPACK (RFC 7541): the compressed fields of HTTP/2. The decoder reads what clients send. The encoder keeps no table: it
 * writes names by their index in the static table and all else as it is, so no setting of a client costs memory here.
 *
 * Guarantees: the decoder holds at most 4096 bytes of entries; a number above 2^28, a string that is longer than its block
 * and an index without an entry end the connection, because the tables of both sides would differ from then on.
 */
import { Buffer } from "node:buffer";
import { ConnectionError, errorCodes } from "./errors.ts";
import { huffmanDecoded } from "./huffman.ts";

/** A field. The name is one of HTTP/2: lower case, or a pseudo field that begins with a colon. */
export type Field = readonly [name: string, value: string];

/** Appendix A: entries in their order, `name` or `name=value`. */
const staticEntries: readonly Field[] = [
  ":authority :method=GET :method=POST :path=/ :path=/index.html :scheme=http :scheme=https",
  ":status=200 :status=204 :status=206 :status=304 :status=400 :status=404 :status=500 accept-charset",
  "accept-encoding=gzip,_deflate accept-language accept-ranges accept access-control-allow-origin age allow",
  "authorization cache-control content-disposition content-encoding content-language content-length",
  "content-location content-range content-type cookie date etag expect expires from host if-match",
  "if-modified-since if-none-match if-range if-unmodified-since last-modified link location max-forwards",
  "proxy-authenticate proxy-authorization range referer refresh retry-after server set-cookie",
  "strict-transport-security transfer-encoding user-agent vary via www-authenticate",
].join(" ").split(" ").map((entry) => {
  const [name = "", value = ""] = entry.split("=");
  return [name, value.replace("_", " ")] as const;
});

/** The bytes of the table of the decoder, as long as SETTINGS says nothing else. */
const maxTableBytes = 4096;
/** What an entry counts beside its characters. */
const entryBytes = 32;

/** Bytes that a field counts in limits, as in SETTINGS_MAX_HEADER_LIST_SIZE. */
export function fieldBytes([name, value]: Field): number {
  return name.length + value.length + entryBytes;
}

/** Decodes the header blocks of one connection, each completely and in their order. */
export class HpackDecoder {
  /** The newest entry comes last. */
  readonly #entries: Field[] = [];
  #sizeBytes = 0;
  #maxBytes = maxTableBytes;

  /** Calls `onField` for each field of a block. @throws ConnectionError */
  decode(block: Uint8Array, onField: (field: Field) => void): void {
    const reader = new BlockReader(block);
    let isStart = true;
    while (reader.hasMore) {
      const first = reader.peek();
      if ((first & 0xe0) === 0x20) {
        if (!isStart) throw compressionError("a table size is not at the start of its block");
        this.#resize(reader.number(5));
        continue;
      }
      isStart = false;
      if ((first & 0x80) !== 0) {
        onField(this.#entry(reader.number(7)));
        continue;
      }
      const isIndexed = (first & 0x40) !== 0;
      const index = reader.number(isIndexed ? 6 : 4);
      const field: Field = [index === 0 ? reader.string() : this.#entry(index)[0], reader.string()];
      if (isIndexed) this.#add(field);
      onField(field);
    }
  }

  #entry(index: number): Field {
    const entry = index <= staticEntries.length
      ? staticEntries[index - 1]
      : this.#entries[this.#entries.length - (index - staticEntries.length)];
    if (entry === undefined) throw compressionError("an index has no entry");
    return entry;
  }

  #add(field: Field): void {
    const bytes = fieldBytes(field);
    this.#evict(this.#maxBytes - bytes);
    if (bytes > this.#maxBytes) return;
    this.#entries.push(field);
    this.#sizeBytes += bytes;
  }

  #resize(bytes: number): void {
    if (bytes > maxTableBytes) throw compressionError("a table size is above the limit");
    this.#maxBytes = bytes;
    this.#evict(bytes);
  }

  #evict(maxBytes: number): void {
    while (this.#sizeBytes > maxBytes) {
      const oldest = this.#entries.shift();
      if (oldest === undefined) return;
      this.#sizeBytes -= fieldBytes(oldest);
    }
  }
}

/** Reads numbers and strings of one block. */
class BlockReader {
  readonly #block: Uint8Array;
  #at = 0;

  constructor(block: Uint8Array) {
    this.#block = block;
  }

  get hasMore(): boolean {
    return this.#at < this.#block.length;
  }

  peek(): number {
    return this.#block[this.#at] ?? 0;
  }

  /** A number whose first `bits` bits are in the current byte. */
  number(bits: number): number {
    const max = (1 << bits) - 1;
    let value = this.#byte() & max;
    if (value < max) return value;
    for (let shift = 0;; shift += 7) {
      if (shift > 21) throw compressionError("a number is too large");
      const byte = this.#byte();
      value += (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  string(): string {
    const isHuffman = (this.peek() & 0x80) !== 0;
    const length = this.number(7);
    const end = this.#at + length;
    if (end > this.#block.length) throw compressionError("a string is longer than its block");
    const bytes = this.#block.subarray(this.#at, end);
    this.#at = end;
    if (isHuffman) return huffmanDecoded(bytes);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  }

  #byte(): number {
    const byte = this.#block[this.#at++];
    if (byte === undefined) throw compressionError("a block ends in the middle of a field");
    return byte;
  }
}

function compressionError(state: string): ConnectionError {
  return new ConnectionError(errorCodes.compressionError, state);
}

/** The first index of each name in the static table. */
const nameIndices = new Map(staticEntries.map(([name], index) => [name, index + 1] as const).toReversed());
/** The entries of the static table with a value. */
const entryIndices = new Map(
  staticEntries.flatMap(([name, value], index) => value === "" ? [] : [[`${name}=${value}`, index + 1] as const]),
);
/** Sets the size of the table of the peer to 0. */
const emptyTable = 0x20;

/** Options of {@link encodedFields}. */
export interface EncodingOptions {
  /** True for the first block after the peer has set the size of its table: it must then learn that it is not used. */
  readonly tellsTableSize: boolean;
}

/** Encodes the fields of a response. Values are one character for each byte. */
export function encodedFields(fields: readonly Field[], { tellsTableSize }: EncodingOptions): Uint8Array {
  // A number takes at most 5 bytes, and a field has three.
  const bytes = Buffer.alloc(fields.reduce((sum, [name, value]) => sum + name.length + value.length + 15, 1));
  let at = tellsTableSize ? bytes.writeUInt8(emptyTable) : 0;
  for (const [name, value] of fields) {
    const entry = entryIndices.get(`${name}=${value}`);
    if (entry !== undefined) {
      at = writeNumber(bytes, at, { value: entry, bits: 7, prefix: 0x80 });
      continue;
    }
    const index = nameIndices.get(name) ?? 0;
    at = writeNumber(bytes, at, { value: index, bits: 4, prefix: 0 });
    if (index === 0) at = writeString(bytes, at, name);
    at = writeString(bytes, at, value);
  }
  return bytes.subarray(0, at);
}

interface NumberParts {
  readonly value: number;
  readonly bits: number;
  readonly prefix: number;
}

function writeNumber(bytes: Buffer, at: number, { value, bits, prefix }: NumberParts): number {
  const max = (1 << bits) - 1;
  if (value < max) return bytes.writeUInt8(prefix | value, at);
  let next = bytes.writeUInt8(prefix | max, at), rest = value - max;
  for (; rest >= 128; rest = Math.floor(rest / 128)) next = bytes.writeUInt8(rest % 128 | 0x80, next);
  return bytes.writeUInt8(rest, next);
}

function writeString(bytes: Buffer, at: number, text: string): number {
  const start = writeNumber(bytes, at, { value: text.length, bits: 7, prefix: 0 });
  return start + bytes.write(text, start, "latin1");
}

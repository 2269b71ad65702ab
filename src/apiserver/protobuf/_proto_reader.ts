/** ProtoReader: the wire format of protobuf: tags, varints, lengths. Knows no message. */
import { badRequest } from "../model/mod.ts";

/** A tag: which field comes, and in which of the four encodings. */
export interface ProtoTag {
  readonly field: number;
  /** 0 varint, 1 eight bytes, 2 length and bytes, 5 four bytes. */
  readonly wire: number;
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Reads one message from its bytes. */
export class ProtoReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** The next tag; undefined at the end. @throws Refusal 400 where the bytes are no protobuf, as all methods */
  tag(): ProtoTag | undefined {
    if (this.#at >= this.#bytes.length) return undefined;
    const value = Number(this.#varint());
    return { field: Math.floor(value / 8), wire: value % 8 };
  }

  /** A signed number of 64 bits. */
  integer(): number {
    return Number(BigInt.asIntN(64, this.#varint()));
  }

  double(): number {
    const at = this.#take(8);
    return this.#view.getFloat64(at, true);
  }

  bytes(): Uint8Array {
    const length = Number(this.#varint());
    const at = this.#take(length);
    return this.#bytes.subarray(at, at + length);
  }

  text(): string {
    try {
      return decoder.decode(this.bytes());
    } catch {
      throw malformed("a text that is not UTF-8");
    }
  }

  /** Passes over a value that nobody wants. */
  skip({ wire }: ProtoTag): void {
    if (wire === 0) this.#varint();
    else if (wire === 1) this.#take(8);
    else if (wire === 2) this.bytes();
    else if (wire === 5) this.#take(4);
    else throw malformed(`wire type ${wire}`);
  }

  #varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw malformed("an unexpected end");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw malformed("a number of more than 64 bits");
  }

  #take(length: number): number {
    const at = this.#at;
    if (!(length >= 0) || at + length > this.#bytes.length) throw malformed("an unexpected end");
    this.#at = at + length;
    return at;
  }
}

function malformed(what: string) {
  return badRequest(`the body of the request is no protobuf: ${what}`);
}

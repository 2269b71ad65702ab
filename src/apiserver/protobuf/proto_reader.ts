/**
 * ProtoReader: reads the protobuf wire format. It has no knowledge of message types.
 */
import { badRequest, StatusError } from "../model/mod.ts";

/** A tag: the number and the wire type of the next field. */
export interface ProtoTag {
  readonly field: number;
  /** 0: varint, 1: eight bytes, 2: length and bytes, 5: four bytes. */
  readonly wire: number;
}

/** Messages that become an object or a list. An empty one has two bytes, and its defaults and rules cost microseconds. */
const maxMessages = 120_000;

/** Messages in messages: a schema of properties with properties. Other bodies have the same limit. */
export const maxDepth = 1000;

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Reads one message in the protobuf wire format. It has no knowledge of message types. */
export class ProtoReader {
  readonly #bytes: Uint8Array;
  /** Shared by the readers of all messages of a body. */
  readonly #messages: { count: number };
  readonly #depth: number;
  #at = 0;

  constructor(bytes: Uint8Array, messages = { count: 0 }, depth = 0) {
    this.#bytes = bytes;
    this.#messages = messages;
    this.#depth = depth;
  }

  /** The next tag; undefined at the end. @throws StatusError 400 for malformed bytes, as all methods */
  tag(): ProtoTag | undefined {
    if (this.#at >= this.#bytes.length) return undefined;
    const value = Number(this.#varint());
    return { field: Math.floor(value / 8), wire: value % 8 };
  }

  /** A signed 64-bit integer; a bigint when a number cannot represent it. */
  integer(): number | bigint {
    const exact = this.#varint();
    if (typeof exact === "number") return exact;
    const signed = BigInt.asIntN(64, exact);
    const value = Number(signed);
    return Number.isSafeInteger(value) ? value : signed;
  }

  double(): number {
    const at = this.#take(8);
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset + at, 8).getFloat64(0, true);
  }

  bytes(): Uint8Array {
    const length = Number(this.#varint());
    const at = this.#take(length);
    return this.#bytes.subarray(at, at + length);
  }

  /** A reader of the message at this place. @throws StatusError 400 when it is too deep */
  inner(): ProtoReader {
    if (this.#depth >= maxDepth) throw malformed(`messages are deeper than ${maxDepth}`);
    return new ProtoReader(this.bytes(), this.#messages, this.#depth + 1);
  }

  /** As {@link inner}, for a message that becomes an object or a list. @throws StatusError 413 when there are too many */
  message(): ProtoReader {
    if (++this.#messages.count > maxMessages) {
      const text = `Request entity too large: it has more than ${maxMessages} objects and lists`;
      throw new StatusError(413, "RequestEntityTooLarge", text);
    }
    return this.inner();
  }

  text(): string {
    try {
      return decoder.decode(this.bytes());
    } catch {
      throw malformed("a text that is not UTF-8");
    }
  }

  /** Skips the value of an unknown field. */
  skip({ wire }: ProtoTag): void {
    if (wire === 0) this.#varint();
    else if (wire === 1) this.#take(8);
    else if (wire === 2) this.bytes();
    else if (wire === 5) this.#take(4);
    else throw malformed(`wire type ${wire}`);
  }

  /** An unsigned integer: a number below 2^28, a bigint above. */
  #varint(): number | bigint {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    let large = BigInt(value);
    for (let shift = 28n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      large |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return large;
    }
    throw malformed("a number of more than 64 bits");
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw malformed("an unexpected end");
    return byte;
  }

  #take(length: number): number {
    const at = this.#at;
    if (!(length >= 0) || at + length > this.#bytes.length) throw malformed("an unexpected end");
    this.#at = at + length;
    return at;
  }
}

export function malformed(what: string) {
  return badRequest(`the body of the request is not protobuf: ${what}`);
}

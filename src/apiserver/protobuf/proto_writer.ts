/**
 * ProtoWriter: writes the protobuf wire format from its end to its start, as the code of gogo/protobuf does: the length of a
 * message is known when its fields are written, so nothing is measured beforehand. It has no knowledge of message types.
 */

const encoder = new TextEncoder();
const startBytes = 64 * 1024;
/** A buffer that grew above this is not kept for the next message. */
const maxKeptBytes = 4 * 1024 * 1024;
/** Up to this length, a loop over the characters is faster than a call of the encoder. */
const maxLoopLength = 48;

/** Writes one message backwards: the last field first, and of each field its value, its length and its tag. */
export class ProtoWriter {
  #bytes = new Uint8Array(startBytes);
  /** The index of the first written byte. */
  #at = startBytes;

  /** The number of bytes that were written. */
  get length(): number {
    return this.#bytes.length - this.#at;
  }

  /** The written bytes. The writer is empty afterwards. */
  take(): Uint8Array {
    const taken = this.#bytes.slice(this.#at);
    if (this.#bytes.length > maxKeptBytes) this.#bytes = new Uint8Array(startBytes);
    this.#at = this.#bytes.length;
    return taken;
  }

  /** Discards what was written. */
  clear(): void {
    this.#at = this.#bytes.length;
  }

  /** An unsigned integer below 2^53, or a signed one as its 64-bit complement. */
  varint(value: number | bigint): void {
    if (typeof value === "number" && value >= 0 && value < 128) {
      this.#reserve(1);
      this.#bytes[--this.#at] = value;
      return;
    }
    let size = 0;
    if (typeof value === "number" && value >= 0 && value <= 0x7fffffff) {
      size = varintSize(value);
      this.#reserve(size);
      let rest = value;
      for (let index = this.#at - size; index < this.#at - 1; index++) {
        this.#bytes[index] = (rest & 0x7f) | 0x80;
        rest >>>= 7;
      }
      this.#bytes[this.#at - 1] = rest;
    } else {
      let rest = BigInt.asUintN(64, BigInt(value));
      const bytes: number[] = [];
      for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
      bytes.push(Number(rest));
      size = bytes.length;
      this.#reserve(size);
      this.#bytes.set(bytes, this.#at - size);
    }
    this.#at -= size;
  }

  double(value: number): void {
    this.#reserve(8);
    this.#at -= 8;
    new DataView(this.#bytes.buffer, this.#at, 8).setFloat64(0, value, true);
  }

  bytes(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#at -= value.length;
    this.#bytes.set(value, this.#at);
  }

  /** A text and its length. */
  text(value: string): void {
    const { length } = value;
    if (length > maxLoopLength || !this.#ascii(value)) {
      const encoded = encoder.encode(value);
      this.bytes(encoded);
      this.varint(encoded.length);
    } else this.varint(length);
  }

  /** The length of what was written since, and the tag of its field. */
  close(tag: number, lengthBefore: number): void {
    this.varint(this.length - lengthBefore);
    this.varint(tag);
  }

  /** @returns false, and writes nothing, when there is another character */
  #ascii(value: string): boolean {
    const { length } = value;
    this.#reserve(length);
    const start = this.#at - length;
    for (let index = 0; index < length; index++) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) return false;
      this.#bytes[start + index] = code;
    }
    this.#at = start;
    return true;
  }

  #reserve(count: number): void {
    if (this.#at >= count) return;
    const { length } = this;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, length + count));
    larger.set(this.#bytes.subarray(this.#at), larger.length - length);
    this.#at = larger.length - length;
    this.#bytes = larger;
  }
}

/** The bytes of a varint below 2^31. */
export function varintSize(value: number): number {
  let size = 1;
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) size++;
  return size;
}

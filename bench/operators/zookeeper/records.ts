/**
 * The records of ZooKeeper's protocol (jute): numbers are big-endian, texts and bytes have a length of 32 bits before them, and
 * a frame is a record with its length.
 */
const emptyLength = -1;

/** Cuts a stream of bytes into frames. */
export class FrameReader {
  #pending: Uint8Array = new Uint8Array(0);

  /** Adds what has arrived. @returns The frames that are complete, without their lengths */
  add(chunk: Uint8Array): readonly Uint8Array[] {
    const frames: Uint8Array[] = [];
    this.#pending = Uint8Array.from([...this.#pending, ...chunk]);
    while (this.#pending.length >= 4) {
      const end = 4 + viewOf(this.#pending).getInt32(0);
      if (this.#pending.length < end) break;
      frames.push(this.#pending.slice(4, end));
      this.#pending = this.#pending.slice(end);
    }
    return frames;
  }
}

/** Reads the fields of a record in their order. @throws RangeError at its end */
export class RecordReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  int(): number {
    return viewOf(this.#bytes).getInt32(this.#forward(4));
  }

  long(): bigint {
    return viewOf(this.#bytes).getBigInt64(this.#forward(8));
  }

  bytes(): Uint8Array {
    const length = this.int();
    const start = this.#forward(Math.max(length, 0));
    return this.#bytes.slice(start, this.#at);
  }

  text(): string {
    return new TextDecoder().decode(this.bytes());
  }

  #forward(length: number): number {
    const start = this.#at;
    this.#at += length;
    if (this.#at > this.#bytes.length) throw new RangeError("Cannot read a record: it ends too early");
    return start;
  }
}

/** Writes the fields of a record in their order. */
export class RecordWriter {
  readonly #parts: Uint8Array[] = [];

  int(value: number): void {
    const part = new Uint8Array(4);
    viewOf(part).setInt32(0, value);
    this.#parts.push(part);
  }

  long(value: bigint): void {
    const part = new Uint8Array(8);
    viewOf(part).setBigInt64(0, value);
    this.#parts.push(part);
  }

  /** @param value undefined is written as no bytes, which is not the same as zero bytes */
  bytes(value: Uint8Array | undefined): void {
    this.int(value?.length ?? emptyLength);
    if (value !== undefined) this.#parts.push(value);
  }

  text(value: string): void {
    this.bytes(new TextEncoder().encode(value));
  }

  /** The record with its length. */
  frame(): Uint8Array {
    const record = this.#parts.flatMap((part) => [...part]);
    const length = new RecordWriter();
    length.int(record.length);
    return Uint8Array.from([...length.#parts.flatMap((part) => [...part]), ...record]);
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

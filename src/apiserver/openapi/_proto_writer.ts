/** ProtoWriter: one message in the wire format of protobuf. Zero values are left out, as proto3 has it. */
const encoder = new TextEncoder();

/** Writes the fields of one message; {@link ProtoWriter.bytes} is the message. */
export class ProtoWriter {
  readonly #parts: Uint8Array[] = [];
  #length = 0;

  text(field: number, value: string): void {
    if (value !== "") this.message(field, encoder.encode(value));
  }

  flag(field: number, value: boolean): void {
    if (!value) return;
    this.#push(varint(field * 8));
    this.#push(varint(1));
  }

  /** A whole number from 0 up. */
  count(field: number, value: number): void {
    if (value === 0) return;
    this.#push(varint(field * 8));
    this.#push(varint(value));
  }

  double(field: number, value: number): void {
    if (value === 0) return;
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setFloat64(0, value, true);
    this.#push(varint(field * 8 + 1));
    this.#push(bytes);
  }

  /** A message within, even an empty one. */
  message(field: number, bytes: Uint8Array): void {
    this.#push(varint(field * 8 + 2));
    this.#push(varint(bytes.length));
    this.#push(bytes);
  }

  bytes(): Uint8Array<ArrayBuffer> {
    const all = new Uint8Array(this.#length);
    let at = 0;
    for (const part of this.#parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }

  #push(part: Uint8Array): void {
    this.#parts.push(part);
    this.#length += part.length;
  }
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push(rest % 128 + 128);
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

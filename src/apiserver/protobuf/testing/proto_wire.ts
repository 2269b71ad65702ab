/** Writes the protobuf wire format for tests, independently of the tested code. */

/** A field: a number, a text, bytes, eight bytes of a double, or a message of fields. */
export type TestValue = number | bigint | string | Uint8Array | { readonly double: number } | readonly TestField[];

/** A field and its number. */
export type TestField = readonly [number: number, value: TestValue];

/** A message with these fields, in this order. */
export function wire(...fields: readonly TestField[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(fields.flatMap(([number, value]) => fieldBytes(number, value)));
}

function fieldBytes(number: number, value: TestValue): number[] {
  if (typeof value === "number" || typeof value === "bigint") {
    return [...varint(BigInt(number) * 8n), ...varint(BigInt.asUintN(64, BigInt(value)))];
  }
  if (typeof value === "object" && "double" in value) {
    return [...varint(BigInt(number) * 8n + 1n), ...new Uint8Array(new Float64Array([value.double]).buffer)];
  }
  const bytes = typeof value === "string"
    ? new TextEncoder().encode(value)
    : value instanceof Uint8Array
    ? value
    : wire(...value);
  return [...varint(BigInt(number) * 8n + 2n), ...varint(BigInt(bytes.length)), ...bytes];
}

function varint(value: bigint): number[] {
  return value < 128n ? [Number(value)] : [Number(value % 128n) + 128, ...varint(value / 128n)];
}

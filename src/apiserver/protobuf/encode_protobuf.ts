/**
 * encodeProtobuf(): encodes an object of a built-in kind as the Go types of Kubernetes do (gogo/protobuf `Marshal`), from the
 * same data as decodeProtobuf(). Source: apimachinery `runtime/serializer/protobuf` of Kubernetes 1.36.
 *
 * Guarantees: fields in the order of their numbers, keys of maps sorted, and every field that is no pointer in Go, also one
 * with its zero value. So the bytes are those of kube-apiserver for the same JSON.
 *
 * Caveats: JSON inside of an object (RawExtension, FieldsV1) is written compactly; kube-apiserver keeps the spaces of clients.
 * It also writes an empty list of bytes that JSON leaves out, such as a caBundle of "".
 */
import { printExactJson } from "../../api/mod.ts";
import { fromBase64 } from "../../runtime/mod.ts";
import { unionFieldOf, unionFields, type WireScalarName, type WireStruct, type WireType } from "../kinds/mod.ts";
import { isJsonArray, isJsonObject, type Json, type JsonObject, read, StatusError } from "../model/mod.ts";
import { type ProtoField, protoMessage, protoStruct, writtenMessageOf } from "./messages.ts";
import { ProtoWriter } from "./proto_writer.ts";

type Value = Json | undefined;

/** Writes a value without its tag, with its length where it has one. Absent is the zero value. */
type WriteValue = (writer: ProtoWriter, value: Value) => void;

/** Writes a field of an object, with its tag. */
type WriteField = (writer: ProtoWriter, object: JsonObject) => void;

const writer = new ProtoWriter();

/** Encodes the message of an object, without the envelope. @throws StatusError 406 for a kind without a message */
export function encodeMessage(apiVersion: string, kind: string, object: JsonObject): Uint8Array {
  const name = writtenMessageOf(apiVersion, kind);
  if (name === undefined) throw notMarshalable(kind);
  writer.clear();
  fieldsOf(name).write(writer, object);
  return writer.take();
}

/** 406, as the serializer responds. */
function notMarshalable(kind: string): StatusError {
  const message = `object ${kind} does not implement the protobuf marshalling interface and cannot be encoded to a ` +
    "protobuf message";
  return new StatusError(406, "NotAcceptable", message);
}

/** The fields of a message, from the last to the first. */
class MessageFields {
  readonly #message: string;
  readonly #struct: WireStruct;
  #writers: readonly WriteField[] | undefined;
  #empty: Uint8Array | undefined;

  constructor(message: string, struct: WireStruct) {
    this.#message = message;
    this.#struct = struct;
  }

  write(writer: ProtoWriter, object: JsonObject): void {
    const writers = this.#writers ??= this.#compile();
    for (let index = writers.length - 1; index >= 0; index--) writers[index]?.(writer, object);
  }

  /** Writes the message of an absent struct. */
  writeEmpty(writer: ProtoWriter): void {
    if (this.#empty === undefined) {
      const own = new ProtoWriter();
      this.write(own, {});
      this.#empty = own.take();
    }
    writer.bytes(this.#empty);
  }

  #compile(): readonly WriteField[] {
    const fields = [...protoMessage(this.#message) ?? []].sort(([left], [right]) => left - right);
    return fields.map(([number, field]) => fieldWriter(number, field, this.#struct));
  }
}

const messages = new Map<string, MessageFields>();

function fieldsOf(name: string): MessageFields {
  let fields = messages.get(name);
  if (fields === undefined) messages.set(name, fields = new MessageFields(name, protoStruct(name)));
  return fields;
}

/** @param struct the type of the fields; the fields of a nested message belong to the outer struct */
function fieldWriter(number: number, field: ProtoField, struct: WireStruct): WriteField {
  if (field.kind === "nested") {
    const inner = new MessageFields(field.message, struct);
    return (writer, object) => {
      const before = writer.length;
      inner.write(writer, object);
      writer.close(number * 8 + 2, before);
    };
  }
  const { name } = field;
  const known = struct.fields.get(name);
  if (known === undefined) return () => {};
  const { type, isPointer } = known;
  if (type.kind === "list" && !field.isOwnMessage) return listWriter(number, name, type.items);
  if (type.kind === "map") return mapWriter(number, name, type.values);
  const tag = number * 8 + wireTypeOf(type);
  const write = valueWriter(type);
  const isLeftOut = isPointer || type.kind === "list" || (type.kind === "scalar" && type.scalar === "bytes");
  return (writer, object) => {
    const value = read(object, name) ?? undefined;
    if (value === undefined && isLeftOut) return;
    write(writer, value);
    writer.varint(tag);
  };
}

function listWriter(number: number, name: string, items: WireType): WriteField {
  const tag = number * 8 + wireTypeOf(items);
  const write = valueWriter(items);
  return (writer, object) => {
    const list = read(object, name);
    if (!isJsonArray(list)) return;
    for (let index = list.length - 1; index >= 0; index--) {
      write(writer, list[index] ?? undefined);
      writer.varint(tag);
    }
  };
}

function mapWriter(number: number, name: string, values: WireType): WriteField {
  const valueTag = 16 + wireTypeOf(values);
  const write = valueWriter(values);
  return (writer, object) => {
    const map = read(object, name);
    if (!isJsonObject(map)) return;
    const keys = sortedKeys(map);
    for (let index = keys.length - 1; index >= 0; index--) {
      const key = keys[index] ?? "";
      const before = writer.length;
      write(writer, read(map, key) ?? undefined);
      writer.varint(valueTag);
      writer.text(key);
      writer.varint(10);
      writer.close(number * 8 + 2, before);
    }
  };
}

/** The keys in the order of their bytes. JavaScript sorts by UTF-16, which differs for characters of two units. */
function sortedKeys(map: JsonObject): readonly string[] {
  const keys = Object.keys(map);
  if (keys.length < 2) return keys;
  keys.sort();
  return keys.some((key) => /[\ud800-\udfff]/.test(key)) ? keys.sort(compareCodePoints) : keys;
}

function compareCodePoints(left: string, right: string): number {
  const [ours, theirs] = [[...left], [...right]];
  for (let index = 0; index < ours.length && index < theirs.length; index++) {
    const difference = (ours[index]?.codePointAt(0) ?? 0) - (theirs[index]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return ours.length - theirs.length;
}

/** 0: varint, 1: eight bytes, 2: length and bytes. */
function wireTypeOf(type: WireType): 0 | 1 | 2 {
  if (type.kind !== "scalar") return 2;
  switch (type.scalar) {
    case "int32":
    case "int64":
    case "boolean":
      return 0;
    case "float64":
      return 1;
    default:
      return 2;
  }
}

function valueWriter(type: WireType): WriteValue {
  switch (type.kind) {
    case "scalar":
      return scalarWriters[type.scalar];
    case "struct": {
      const union = unionFields(type.name);
      return union === undefined ? structWriter(type.name) : unionWriter(type.name, union);
    }
    // A list in a list or a map is a separate message with its items in field 1.
    case "list": {
      const write = listWriter(1, "items", type.items);
      return (writer, value) => {
        const before = writer.length;
        write(writer, { items: value ?? null });
        writer.varint(writer.length - before);
      };
    }
    case "map":
      throw new TypeError(`Cannot encode ${type.goName}: protobuf has no map in a list or a map`);
    default:
      return type satisfies never;
  }
}

function structWriter(name: string): WriteValue {
  // Types refer to themselves, so the fields are found on first use.
  let fields: MessageFields | undefined;
  return (writer, value) => {
    fields ??= fieldsOf(name);
    const before = writer.length;
    if (isJsonObject(value)) fields.write(writer, value);
    else fields.writeEmpty(writer);
    writer.varint(writer.length - before);
  };
}

/** The message has a field for each type. A schema, of the types schema or boolean, also sets the boolean. */
function unionWriter(name: string, union: ReadonlyMap<string, WireType>): WriteValue {
  let fields: readonly (readonly [number: number, name: string])[] | undefined;
  return (writer, value) => {
    fields ??= [...protoMessage(name) ?? []]
      .flatMap(([number, field]) => field.kind === "field" ? [[number, field.name] as const] : [])
      .sort(([left], [right]) => right - left);
    const found = unionFieldOf(union, value);
    const before = writer.length;
    for (const [number, field] of fields) {
      if (field === "allows") {
        writer.varint(value === true || isJsonObject(value) ? 1 : 0);
        writer.varint(number * 8);
      } else if (found?.[0] === field) writeUnionField(writer, number, found[1], value);
    }
    writer.varint(writer.length - before);
  };
}

function writeUnionField(writer: ProtoWriter, number: number, type: WireType, value: Value): void {
  if (type.kind === "list") return listWriter(number, "value", type.items)(writer, { value: value ?? null });
  valueWriter(type)(writer, value);
  writer.varint(number * 8 + wireTypeOf(type));
}

/** A message with one field that is always written. */
function writeWrapped(writer: ProtoWriter, text: string): void {
  const before = writer.length;
  writer.text(text);
  writer.varint(10);
  writer.varint(writer.length - before);
}

const writeText: WriteValue = (writer, value) => writer.text(typeof value === "string" ? value : "");
const writeInteger: WriteValue = (writer, value) =>
  writer.varint(typeof value === "number" || typeof value === "bigint" ? value : 0);

const scalarWriters: Readonly<Record<WireScalarName, WriteValue>> = {
  string: writeText,
  int32: writeInteger,
  int64: writeInteger,
  float64: (writer, value) => writer.double(typeof value === "number" ? value : 0),
  boolean: (writer, value) => writer.varint(value === true ? 1 : 0),
  bytes: (writer, value) => {
    const bytes = typeof value === "string" ? fromBase64(value) : new Uint8Array();
    writer.bytes(bytes);
    writer.varint(bytes.length);
  },
  time: (writer, value) => writeTime(writer, value, false),
  microTime: (writer, value) => writeTime(writer, value, true),
  quantity: (writer, value) => writeWrapped(writer, typeof value === "string" ? value : "0"),
  intOrString: (writer, value) => {
    const before = writer.length;
    writer.text(typeof value === "string" ? value : "");
    writer.varint(3 * 8 + 2);
    writer.varint(typeof value === "number" ? value : 0);
    writer.varint(2 * 8);
    writer.varint(typeof value === "string" ? 1 : 0);
    writer.varint(8);
    writer.varint(writer.length - before);
  },
  raw: writeJson,
  fields: writeJson,
  json: writeJson,
};

/** JSON in a message; an empty message for an absent value. */
function writeJson(writer: ProtoWriter, value: Value): void {
  if (value === undefined) writer.varint(0);
  else writeWrapped(writer, printExactJson(value));
}

/** Seconds and nanoseconds; an empty message for an absent time. */
function writeTime(writer: ProtoWriter, value: Value, hasMicros: boolean): void {
  const ms = typeof value === "string" ? Date.parse(value) : NaN;
  if (Number.isNaN(ms)) return writer.varint(0);
  const before = writer.length;
  const digits = hasMicros && typeof value === "string" ? value.match(/\.(\d{1,6})/)?.[1] ?? "" : "";
  writer.varint(Number(digits.padEnd(6, "0")) * 1000);
  writer.varint(16);
  writer.varint(Math.floor(ms / 1000));
  writer.varint(8);
  writer.varint(writer.length - before);
}

/**
 * decodeProtobuf(): decodes a body in the protobuf encoding of Kubernetes to the equivalent JSON. kubectl and Go programs send
 * it for built-in kinds. Source: apimachinery `runtime/serializer/protobuf` of Kubernetes 1.36.
 *
 * Below the main function: the envelope, structs, unions, and the leaf types.
 *
 * Caveats: Go writes zero values of fields; the decoder of the kind drops those that have no meaning.
 */
import { parseFiniteJson } from "../../api/mod.ts";
import { toBase64 } from "../../runtime/mod.ts";
import { hasWireStruct, unionFields, type WireScalarName, wireStruct } from "../kinds/mod.ts";
import type { WireStruct, WireType } from "../kinds/mod.ts";
import { badRequest, type Draft, type DraftValue, isDraft, put, read, StatusError } from "../model/mod.ts";
import { magic } from "./envelope.ts";
import { messageOf, protoMessage, writtenMessageOf } from "./messages.ts";
import { maxDepth, ProtoReader } from "./proto_reader.ts";

/** The media type of the encoding. */
export const protobufType = "application/vnd.kubernetes.protobuf";

/** Decodes a whole body. @throws StatusError 400 when it is malformed, 415 when its type is unknown */
export function decodeProtobuf(bytes: Uint8Array): Draft {
  if (!magic.every((byte, index) => bytes[index] === byte)) {
    throw badRequest("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
  }
  const { apiVersion, kind, raw } = envelope(bytes.subarray(magic.length));
  const name = writtenMessageOf(apiVersion, kind) ?? messageOf(apiVersion, kind);
  const draft: Draft = { kind, apiVersion };
  readInto(draft, name, structOf(name), new ProtoReader(raw));
  return draft;
}

interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Uint8Array;
}

function envelope(bytes: Uint8Array): Envelope {
  const reader = new ProtoReader(bytes);
  let [apiVersion, kind, raw] = ["", "", new Uint8Array()];
  for (let tag = reader.tag(); tag !== undefined; tag = reader.tag()) {
    if (tag.wire === 2 && tag.field === 1) [apiVersion, kind] = typeMeta(reader.bytes());
    else if (tag.wire === 2 && tag.field === 2) raw = Uint8Array.from(reader.bytes());
    else reader.skip(tag);
  }
  return { apiVersion, kind, raw };
}

function typeMeta(bytes: Uint8Array): [apiVersion: string, kind: string] {
  const reader = new ProtoReader(bytes);
  let [apiVersion, kind] = ["", ""];
  for (let tag = reader.tag(); tag !== undefined; tag = reader.tag()) {
    if (tag.wire === 2 && tag.field === 1) apiVersion = reader.text();
    else if (tag.wire === 2 && tag.field === 2) kind = reader.text();
    else reader.skip(tag);
  }
  return [apiVersion, kind];
}

/** Custom resources have no protobuf encoding; the error lists the accepted types. */
function structOf(name: string): WireStruct {
  if (protoMessage(name) !== undefined && hasWireStruct(name)) return wireStruct(name);
  const accepted = "application/json, application/yaml";
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
  throw new StatusError(415, "UnsupportedMediaType", message);
}

/** @param struct the type of the fields; the fields of a nested message belong to the outer struct */
function readInto(draft: Draft, message: string, struct: WireStruct, reader: ProtoReader): void {
  const fields = protoMessage(message);
  for (let tag = reader.tag(); tag !== undefined; tag = reader.tag()) {
    const field = fields?.get(tag.field);
    if (field?.kind === "nested" && tag.wire === 2) {
      readInto(draft, field.message, struct, reader.inner());
      continue;
    }
    const type = field?.kind === "field" ? struct.fields.get(field.name)?.type : undefined;
    if (field?.kind !== "field" || type === undefined) reader.skip(tag);
    else if (field.isOwnMessage) put(draft, field.name, readValue(type, reader));
    else add(draft, field.name, type, reader);
  }
}

/** A list wins over a schema, and a schema over a boolean, as in Go. */
function readUnion(message: string, types: ReadonlyMap<string, WireType>, reader: ProtoReader): DraftValue {
  const fields = protoMessage(message);
  const found: Draft = types.has("allows") ? { allows: false } : {};
  for (let tag = reader.tag(); tag !== undefined; tag = reader.tag()) {
    const field = fields?.get(tag.field);
    const type = field?.kind === "field" ? types.get(field.name) : undefined;
    if (field?.kind !== "field" || type === undefined) reader.skip(tag);
    else add(found, field.name, type, reader);
  }
  return found["jSONSchemas"] ?? found["property"] ?? found["schema"] ?? found["allows"] ?? null;
}

function add(draft: Draft, name: string, type: WireType, reader: ProtoReader): void {
  if (type.kind === "list") {
    const list = read(draft, name);
    const item = readValue(type.items, reader);
    if (Array.isArray(list)) list.push(item);
    else put(draft, name, [item]);
  } else if (type.kind === "map") {
    const existing = read(draft, name);
    const map: Draft = isDraft(existing) ? existing : {};
    if (!isDraft(existing)) put(draft, name, map);
    readEntry(map, type.values, reader.inner());
  } else put(draft, name, readValue(type, reader));
}

function readEntry(map: Draft, values: WireType, reader: ProtoReader): void {
  let key = "";
  let value: DraftValue = emptyOf(values);
  for (let tag = reader.tag(); tag !== undefined; tag = reader.tag()) {
    if (tag.field === 1 && tag.wire === 2) key = reader.text();
    else if (tag.field === 2) value = readValue(values, reader);
    else reader.skip(tag);
  }
  put(map, key, value);
}

function readValue(type: WireType, reader: ProtoReader): DraftValue {
  switch (type.kind) {
    case "scalar":
      return readLeaf(type.scalar, reader);
    case "struct": {
      const union = unionFields(type.name);
      if (union !== undefined) return readUnion(type.name, union, reader.message());
      const draft: Draft = {};
      readInto(draft, type.name, wireStruct(type.name), reader.message());
      return draft;
    }
    // A list in a list or a map is a separate message with its items in field 1.
    case "list": {
      const inner = reader.message();
      const items: DraftValue[] = [];
      for (let tag = inner.tag(); tag !== undefined; tag = inner.tag()) {
        if (tag.field === 1) items.push(readValue(type.items, inner));
        else inner.skip(tag);
      }
      return items;
    }
    case "map": {
      const map: Draft = {};
      readEntry(map, type.values, reader.inner());
      return map;
    }
    default:
      return type satisfies never;
  }
}

/** The value of an entry without one. */
function emptyOf(type: WireType): DraftValue {
  if (type.kind === "list") return [];
  if (type.kind !== "scalar") return {};
  return type.scalar === "boolean" ? false : type.scalar.startsWith("int") || type.scalar === "float64" ? 0 : "";
}

/** Reads one leaf value. */
function readLeaf(scalar: WireScalarName, reader: ProtoReader): DraftValue {
  switch (scalar) {
    case "string":
      return reader.text();
    case "int32":
    case "int64":
      return reader.integer();
    case "float64":
      return reader.double();
    case "boolean":
      return Number(reader.integer()) !== 0;
    case "bytes":
      return toBase64(reader.bytes());
    case "time":
      return timeOf(reader.bytes(), "seconds");
    case "microTime":
      return timeOf(reader.bytes(), "microseconds");
    case "quantity":
      return partsOf(reader.bytes()).texts.get(1) ?? "0";
    case "intOrString":
      return intOrString(reader.bytes());
    case "raw":
    case "fields":
    case "json":
      return embedded(reader.bytes());
    default:
      return scalar satisfies never;
  }
}

interface Parts {
  readonly numbers: ReadonlyMap<number, number>;
  readonly texts: ReadonlyMap<number, string>;
}

function partsOf(bytes: Uint8Array): Parts {
  const reader = new ProtoReader(bytes);
  const numbers = new Map<number, number>();
  const texts = new Map<number, string>();
  for (let tag = reader.tag(); tag !== undefined; tag = reader.tag()) {
    if (tag.wire === 0) numbers.set(tag.field, Number(reader.integer()));
    else if (tag.wire === 2) texts.set(tag.field, reader.text());
    else reader.skip(tag);
  }
  return { numbers, texts };
}

/** A time; null for an empty message. */
function timeOf(bytes: Uint8Array, precision: "seconds" | "microseconds"): DraftValue {
  const { numbers } = partsOf(bytes);
  const seconds = numbers.get(1);
  if (seconds === undefined) return null;
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) {
    throw badRequest(`the body of the request is not protobuf: ${seconds} s is not a time`);
  }
  const text = date.toISOString().replace(/\.\d+Z$/, "");
  if (precision === "seconds") return `${text}Z`;
  const micros = Math.floor((numbers.get(2) ?? 0) / 1000);
  return `${text}.${`${micros}`.padStart(6, "0")}Z`;
}

function intOrString(bytes: Uint8Array): DraftValue {
  const { numbers, texts } = partsOf(bytes);
  return numbers.get(1) === 1 ? texts.get(3) ?? "" : numbers.get(2) ?? 0;
}

/** JSON in a protobuf message. */
function embedded(bytes: Uint8Array): DraftValue {
  const text = partsOf(bytes).texts.get(1) ?? "";
  if (text === "") return null;
  let value: DraftValue;
  try {
    value = parseFiniteJson(text) as DraftValue;
  } catch {
    throw badRequest("the body of the request is not protobuf: its JSON cannot be parsed");
  }
  if (isDeep(value)) throw badRequest(`the body of the request is not protobuf: its JSON is deeper than ${maxDepth}`);
  return value;
}

function isDeep(value: DraftValue): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return true;
    level = level.flatMap((part) => typeof part === "object" && part !== null ? Object.values(part) : []);
  }
  return false;
}

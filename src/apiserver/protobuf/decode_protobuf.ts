/**
 * decodeProtobuf(): a body in Kubernetes' protobuf encoding as the JSON that says the same. kubectl and Go programs send it
 * for built-in kinds. Source: apimachinery `runtime/serializer/protobuf` of Kubernetes 1.36.
 *
 * Go writes zero values of plain fields; which of them mean nothing is decided where JSON is decoded, by the kind.
 */
import { wireStruct } from "../kinds/mod.ts";
import type { WireStruct, WireType } from "../kinds/mod.ts";
import { badRequest, type Draft, type DraftValue, isDraft, put, read, Refusal } from "../model/mod.ts";
import { protoMessage } from "./_proto_messages.ts";
import { ProtoReader } from "./_proto_reader.ts";
import { readLeaf } from "./_proto_leaves.ts";

/** The media type. */
export const protobufType = "application/vnd.kubernetes.protobuf";

const magic = [0x6b, 0x38, 0x73, 0x00];

/** Decodes a whole body. @throws Refusal 400 when it is no such thing, or of a type that is not known */
export function decodeProtobuf(bytes: Uint8Array): Draft {
  if (!magic.every((byte, index) => bytes[index] === byte)) {
    throw badRequest("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
  }
  const { apiVersion, kind, raw } = envelope(bytes.subarray(magic.length));
  const name = messageOf(apiVersion, kind);
  const draft: Draft = { kind, apiVersion };
  readInto(draft, name, structOf(name), raw);
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

/** `apps/v1.Deployment`; options are of one package whatever their group says. */
function messageOf(apiVersion: string, kind: string): string {
  if (/^(Create|Update|Patch|Delete|Get|List)Options$/.test(kind)) return `meta/v1.${kind}`;
  const slash = apiVersion.indexOf("/");
  if (slash < 0) return `core/${apiVersion}.${kind}`;
  const [group = ""] = apiVersion.slice(0, slash).split(".");
  return `${group}/${apiVersion.slice(slash + 1)}.${kind}`;
}

/** Kinds of CRDs have no such encoding: what the server then accepts is what it says. */
function structOf(name: string): WireStruct {
  if (protoMessage(name) !== undefined) return wireStruct(name);
  const accepted = "application/json, application/yaml";
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
  throw new Refusal(415, "UnsupportedMediaType", message);
}

/** @param struct whose fields they are; a nested message's are those of the struct it is nested in */
function readInto(draft: Draft, message: string, struct: WireStruct, bytes: Uint8Array): void {
  const fields = protoMessage(message);
  const reader = new ProtoReader(bytes);
  for (let tag = reader.tag(); tag !== undefined; tag = reader.tag()) {
    const field = fields?.get(tag.field);
    if (field?.kind === "nested" && tag.wire === 2) {
      readInto(draft, field.message, struct, reader.bytes());
      continue;
    }
    const type = field?.kind === "field" ? struct.fields.get(field.name)?.type : undefined;
    if (field?.kind !== "field" || type === undefined) reader.skip(tag);
    else add(draft, field.name, type, reader);
  }
}

function add(draft: Draft, name: string, type: WireType, reader: ProtoReader): void {
  if (type.kind === "list") {
    const held = read(draft, name);
    const item = readValue(type.items, reader);
    if (Array.isArray(held)) held.push(item);
    else put(draft, name, [item]);
  } else if (type.kind === "map") {
    const held = read(draft, name);
    const map: Draft = isDraft(held) ? held : {};
    if (!isDraft(held)) put(draft, name, map);
    readEntry(map, type.values, reader.bytes());
  } else put(draft, name, readValue(type, reader));
}

function readEntry(map: Draft, values: WireType, bytes: Uint8Array): void {
  const reader = new ProtoReader(bytes);
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
      const draft: Draft = {};
      readInto(draft, type.name, wireStruct(type.name), reader.bytes());
      return draft;
    }
    // A list within a list or a map is a message of its own, with its items as field 1.
    case "list": {
      const inner = new ProtoReader(reader.bytes());
      const items: DraftValue[] = [];
      for (let tag = inner.tag(); tag !== undefined; tag = inner.tag()) {
        if (tag.field === 1) items.push(readValue(type.items, inner));
        else inner.skip(tag);
      }
      return items;
    }
    case "map": {
      const map: Draft = {};
      readEntry(map, type.values, reader.bytes());
      return map;
    }
    default:
      return type satisfies never;
  }
}

/** What an entry without a value means. */
function emptyOf(type: WireType): DraftValue {
  if (type.kind === "list") return [];
  if (type.kind !== "scalar") return {};
  return type.scalar === "boolean" ? false : type.scalar.startsWith("int") || type.scalar === "float64" ? 0 : "";
}

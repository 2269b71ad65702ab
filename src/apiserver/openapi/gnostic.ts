/**
 * encodeSwagger(): encodes an OpenAPI v2 document in the protobuf encoding of gnostic (`openapi.v2.Document`), the only format
 * that OpenAPISchema() of client-go reads. The field numbers are those of gnostic-models v0.7.0 OpenAPIv2.proto.
 *
 * A message is a table from JSON keys to field numbers. Keys with the prefix "x-" are extensions with their value as text;
 * other unknown keys are left out.
 */
import { printExactJson } from "../../api/mod.ts";
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../model/mod.ts";
type Encode = (value: Json) => Uint8Array;

/** The encoding of the value of a key. */
type Form =
  | { readonly kind: "text" | "texts" | "flag" | "count" | "double" | "anything" | "anythings" }
  | { readonly kind: "message" | "messages"; readonly encode: Encode };

type Fields = ReadonlyMap<string, readonly [number: number, form: Form]>;

const text: Form = { kind: "text" };
const texts: Form = { kind: "texts" };
const flag: Form = { kind: "flag" };
const count: Form = { kind: "count" };
const double: Form = { kind: "double" };
const one = (encode: Encode): Form => ({ kind: "message", encode });
const many = (encode: Encode): Form => ({ kind: "messages", encode });

/** Encodes a document. */
export function encodeSwagger(document: JsonObject): Uint8Array<ArrayBuffer> {
  return message(document, documentFields, 16);
}

const numbers: readonly (readonly [string, Form])[] = [
  ["maximum", double],
  ["exclusiveMaximum", flag],
  ["minimum", double],
  ["exclusiveMinimum", flag],
  ["maxLength", count],
  ["minLength", count],
  ["pattern", text],
  ["maxItems", count],
  ["minItems", count],
  ["uniqueItems", flag],
];

/** The keys that several messages have in common, from a number on. */
function numbered(from: number): readonly (readonly [string, readonly [number, Form]])[] {
  return numbers.map(([key, form], index) => [key, [from + index, form]]);
}

const schemaFields: Fields = new Map<string, readonly [number, Form]>([
  ["$ref", [1, text]],
  ["format", [2, text]],
  ["title", [3, text]],
  ["description", [4, text]],
  ["default", [5, { kind: "anything" }]],
  ["multipleOf", [6, double]],
  ...numbered(7),
  ["maxProperties", [17, count]],
  ["minProperties", [18, count]],
  ["required", [19, texts]],
  ["enum", [20, { kind: "anythings" }]],
  ["additionalProperties", [21, one(additionalProperties)]],
  ["type", [22, one((value) => listOf(1, [value]))]],
  ["items", [23, one((value) => wrapped(1, schema(value)))]],
  ["properties", [25, one((value) => named(1, value, schema))]],
  ["example", [30, { kind: "anything" }]],
]);

/** Path parameters have no allowEmptyValue, so their numbers from `type` on are one lower. */
function parameterFields(from: number): Fields {
  return new Map<string, readonly [number, Form]>([
    ["required", [1, flag]],
    ["in", [2, text]],
    ["description", [3, text]],
    ["name", [4, text]],
    ["type", [from, text]],
    ["format", [from + 1, text]],
    ...numbered(from + 5),
  ]);
}

const pathParameterFields = parameterFields(5);
const queryParameterFields = parameterFields(6);

const bodyFields: Fields = new Map<string, readonly [number, Form]>([
  ["description", [1, text]],
  ["name", [2, text]],
  ["in", [3, text]],
  ["required", [4, flag]],
  ["schema", [5, one(schema)]],
]);

const responseFields: Fields = new Map<string, readonly [number, Form]>([
  ["description", [1, text]],
  ["schema", [2, one((value) => wrapped(1, schema(value)))]],
]);

const operationFields: Fields = new Map<string, readonly [number, Form]>([
  ["tags", [1, texts]],
  ["description", [3, text]],
  ["operationId", [5, text]],
  ["produces", [6, texts]],
  ["consumes", [7, texts]],
  ["parameters", [8, many(parameter)]],
  ["responses", [9, one((value) => named(1, value, response))]],
  ["schemes", [10, texts]],
]);

const pathItemFields: Fields = new Map<string, readonly [number, Form]>([
  ["get", [2, one(operation)]],
  ["put", [3, one(operation)]],
  ["post", [4, one(operation)]],
  ["delete", [5, one(operation)]],
  ["patch", [8, one(operation)]],
  ["parameters", [9, many(parameter)]],
]);

const infoFields: Fields = new Map<string, readonly [number, Form]>([["title", [1, text]], ["version", [2, text]]]);

const apiKeyFields: Fields = new Map<string, readonly [number, Form]>([
  ["type", [1, text]],
  ["name", [2, text]],
  ["in", [3, text]],
  ["description", [4, text]],
]);

const documentFields: Fields = new Map<string, readonly [number, Form]>([
  ["swagger", [1, text]],
  ["info", [2, one((value) => message(value, infoFields, 7))]],
  ["paths", [8, one((value) => named(2, value, (item) => message(item, pathItemFields, 10)))]],
  ["definitions", [9, one((value) => named(1, value, schema))]],
  ["security", [12, many((value) => named(1, value, (scopes) => listOf(1, isJsonArray(scopes) ? scopes : [])))]],
  ["securityDefinitions", [13, one((value) => named(1, value, (key) => wrapped(2, message(key, apiKeyFields, 5))))]],
]);

function schema(value: Json): Uint8Array<ArrayBuffer> {
  return message(value, schemaFields, 31);
}

function operation(value: Json): Uint8Array {
  return message(value, operationFields, 13);
}

function response(value: Json): Uint8Array {
  return wrapped(1, message(value, responseFields, 5));
}

function parameter(value: Json): Uint8Array {
  const location = isJsonObject(value) ? value["in"] : undefined;
  if (location === "body") return wrapped(1, wrapped(1, message(value, bodyFields, 6)));
  const inner = location === "path"
    ? wrapped(4, message(value, pathParameterFields, 22))
    : wrapped(3, message(value, queryParameterFields, 23));
  return wrapped(1, wrapped(2, inner));
}

function additionalProperties(value: Json): Uint8Array {
  if (isJsonObject(value)) return wrapped(1, schema(value));
  const writer = new ProtoWriter();
  writer.flag(2, value === true);
  return writer.bytes();
}

/** One message. @param extensions the number of its `vendor_extension` */
function message(value: Json, fields: Fields, extensions: number): Uint8Array<ArrayBuffer> {
  const writer = new ProtoWriter();
  for (const [key, item] of Object.entries(isJsonObject(value) ? value : {})) {
    const field = fields.get(key);
    if (field !== undefined) write(writer, field, item);
    else if (key.startsWith("x-")) writer.message(extensions, namedMessage(key, anything(item)));
  }
  return writer.bytes();
}

function write(writer: ProtoWriter, [number, form]: readonly [number, Form], value: Json): void {
  switch (form.kind) {
    case "text":
      return writer.text(number, String(value));
    case "texts":
      return itemsOf(value).forEach((item) => writer.text(number, String(item)));
    case "flag":
      return writer.flag(number, value === true);
    case "count":
      return writer.count(number, Number(value));
    case "double":
      return writer.double(number, Number(value));
    case "anything":
      return writer.message(number, anything(value));
    case "anythings":
      return itemsOf(value).forEach((item) => writer.message(number, anything(item)));
    case "message":
      return writer.message(number, form.encode(value));
    case "messages":
      return itemsOf(value).forEach((item) => writer.message(number, form.encode(item)));
    default:
      return form satisfies never;
  }
}

function itemsOf(value: Json): readonly Json[] {
  return isJsonArray(value) ? value : [];
}

/** A map, as messages of a name and a value each. */
function named(number: number, value: Json, encode: Encode): Uint8Array {
  const writer = new ProtoWriter();
  for (const [name, item] of Object.entries(isJsonObject(value) ? value : {})) {
    writer.message(number, namedMessage(name, encode(item)));
  }
  return writer.bytes();
}

function namedMessage(name: string, value: Uint8Array): Uint8Array {
  const writer = new ProtoWriter();
  writer.text(1, name);
  writer.message(2, value);
  return writer.bytes();
}

/** Any value, as YAML; JSON is valid YAML. */
function anything(value: Json): Uint8Array {
  const writer = new ProtoWriter();
  writer.text(2, printExactJson(value));
  return writer.bytes();
}

function listOf(number: number, values: readonly Json[]): Uint8Array {
  const writer = new ProtoWriter();
  for (const value of values) writer.text(number, String(value));
  return writer.bytes();
}

function wrapped(number: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const writer = new ProtoWriter();
  writer.message(number, bytes);
  return writer.bytes();
}

const encoder = new TextEncoder();

/** Writes one message in the protobuf wire format. Zero values are left out, as in proto3. */
class ProtoWriter {
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

  /** A non-negative integer. */
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

  /** A nested message, which may be empty. */
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

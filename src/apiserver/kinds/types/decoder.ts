/**
 * Decoding: turns the JSON that a client sent into the JSON that the Go types of Kubernetes would write. Unknown fields are
 * dropped, null and empty values are dropped where Go's `omitempty` drops them, times and quantities get their canonical form,
 * and a value of the wrong type is rejected with the message of Go's decoder.
 *
 * Caveats: the draft is changed in place.
 */
import { printExactJson } from "../../../api/mod.ts";
import {
  canonicalMicroTime,
  canonicalTime,
  type Draft,
  type DraftValue,
  isDraft,
  type JsonObject,
  numberLiteral,
  type NumberRule,
  put,
  read,
  TimeError,
  withPlainNumbers,
} from "../../model/mod.ts";
import { canonicalQuantity, QuantityError } from "./quantity.ts";
import { unionFieldOf, unionFields } from "./unions.ts";
import type { WireField, WireScalar, WireStruct, WireType } from "./wire_type.ts";
import { wireStruct } from "./wire_types.ts";

/** A body that does not match the types. The message is that of Go's decoder. */
export class DecodeError extends Error {
  override readonly name = "DecodeError";
}

/** Go's decoder stops collecting at this number. */
const maxUnknownFields = 100;
const minInt64 = -(2n ** 63n);

/**
 * Decodes a draft in place.
 *
 * @returns `unknown field "spec.foo"` for each dropped field
 * @throws DecodeError
 */
export function decodeStruct(struct: WireStruct, draft: Draft, numbers: NumberRule = "json"): readonly string[] {
  const decoder = new Decoder(numbers);
  decoder.struct(struct, draft);
  return decoder.unknown;
}

/** The names of empty lists and maps that clients have sent, by the drafts that they were in. */
const sentEmpty = new WeakMap<object, Set<string>>();

function noteEmpty(draft: Draft, name: string): void {
  const known = sentEmpty.get(draft);
  if (known === undefined) sentEmpty.set(draft, new Set([name]));
  else known.add(name);
}

/** True when the client has sent an empty list or map, which is dropped from the draft: Go knows it from an absent one. */
export function wasSentEmpty(draft: JsonObject, name: string): boolean {
  return read(draft, name) === undefined && sentEmpty.get(draft)?.has(name) === true;
}

/** One step of the path to a value: the name of a field, an index, or the key of a map. */
type Step = string | number | { readonly key: string };

class Decoder {
  readonly unknown: string[] = [];
  readonly #steps: Step[] = [];
  /** The struct of the innermost field. */
  #owner = "";
  readonly #numbers: NumberRule;

  constructor(numbers: NumberRule) {
    this.#numbers = numbers;
  }

  struct(struct: WireStruct, draft: Draft): void {
    // Unions like JSONSchemaPropsOrBool have no fields.
    if (struct.fields.size === 0) return;
    const owner = this.#owner;
    for (const key of Object.keys(draft)) {
      const field = struct.fields.get(key);
      if (field === undefined) {
        this.#reportUnknown(key);
        delete draft[key];
        continue;
      }
      this.#owner = struct.goName;
      this.#steps.push(key);
      this.#field(field, draft);
      this.#steps.pop();
    }
    this.#owner = owner;
  }

  #field(field: WireField, draft: Draft): void {
    const { name } = field;
    const value = draft[name];
    if (value === undefined) return;
    if (value === null) {
      delete draft[name];
      return;
    }
    const decoded = this.value(field.type, value);
    // An empty list of managed fields is a request to drop all of them, so it differs from an absent list.
    const mustStay = field.isPointer || field.isAlwaysWritten || name === "managedFields";
    if (!mustStay && isEmpty(decoded, field.type)) {
      delete draft[name];
      if (field.type.kind === "list" || field.type.kind === "map") noteEmpty(draft, name);
    } else if (decoded !== value) draft[name] = decoded;
  }

  value(type: WireType, value: DraftValue): DraftValue {
    const literal = typeof value === "string" ? numberLiteral(value) : undefined;
    return literal === undefined ? this.#value(type, value) : this.#literal(type, value, literal);
  }

  /** A number that is not written in digits only. */
  #literal(type: WireType, value: DraftValue, literal: string): DraftValue {
    const scalar = type.kind === "scalar" ? type.scalar : undefined;
    switch (scalar) {
      case "int32":
      case "int64":
      case "intOrString":
        throw this.#mismatchOf(`number ${literal}`, scalar === "intOrString" ? "int32" : type.goName);
      case "float64":
        if (Number.isFinite(Number(literal))) return Number(literal);
        throw this.#mismatchOf(`number ${literal}`, type.goName);
      case "quantity":
        return this.#quantity(literal);
      case "raw":
      case "fields":
      case "json":
        return withPlainNumbers(value);
      default:
        return this.#value(type, Number(literal));
    }
  }

  #value(type: WireType, value: DraftValue): DraftValue {
    switch (type.kind) {
      case "scalar":
        return this.#scalar(type, value);
      case "struct": {
        const struct = wireStruct(type.name);
        if (struct.fields.size === 0) return decodeUnion(type.name, value, this.#numbers);
        if (!isDraft(value)) throw this.#mismatch(value, type.goName);
        this.struct(struct, value);
        return value;
      }
      case "list":
        return this.#list(type.items, value, type.goName);
      case "map":
        return this.#map(type.values, value, type.goName);
      default:
        return type satisfies never;
    }
  }

  #list(items: WireType, value: DraftValue, goName: string): DraftValue {
    if (!Array.isArray(value)) throw this.#mismatch(value, goName);
    for (let index = 0; index < value.length; index++) {
      this.#steps.push(index);
      const item = value[index] ?? null;
      value[index] = item === null ? zeroOf(items) : this.value(items, item);
      this.#steps.pop();
    }
    return value;
  }

  #map(values: WireType, value: DraftValue, goName: string): DraftValue {
    if (!isDraft(value)) throw this.#mismatch(value, goName);
    for (const key of Object.keys(value)) {
      this.#steps.push({ key });
      const item = value[key] ?? null;
      const decoded = item === null ? zeroOf(values) : this.value(values, item);
      if (decoded !== item) put(value, key, decoded);
      this.#steps.pop();
    }
    return value;
  }

  #scalar(type: WireScalar, value: DraftValue): DraftValue {
    switch (type.scalar) {
      case "string":
        if (typeof value === "string") return value;
        throw this.#mismatch(value, type.goName);
      case "boolean":
        if (typeof value === "boolean") return value;
        throw this.#mismatch(value, type.goName);
      case "int32":
      case "int64":
        return this.#integer(value, type);
      case "float64":
        if (typeof value === "number" || typeof value === "bigint") return Number(value);
        throw this.#mismatch(value, type.goName);
      case "bytes":
        return this.#bytes(value, type.goName);
      case "time":
        return this.#formatted(value, canonicalTime);
      case "microTime":
        return this.#formatted(value, canonicalMicroTime);
      case "quantity":
        return this.#quantity(value);
      case "intOrString":
        return this.#intOrString(value);
      case "raw":
      case "fields":
      case "json":
        return withPlainNumbers(value);
      default:
        return type.scalar satisfies never;
    }
  }

  #integer(value: DraftValue, type: WireScalar): number | bigint {
    if (typeof value !== "number" && typeof value !== "bigint") throw this.#mismatch(value, type.goName);
    const is32 = type.scalar === "int32";
    if (this.#numbers === "converted") return this.#converted(value, is32, type);
    const fits = typeof value === "bigint"
      ? !is32
      : Number.isInteger(value) && (is32 ? value === (value | 0) : Math.abs(value) < 2 ** 63);
    if (!fits) throw this.#mismatchOf(`number ${value}`, type.goName);
    return value;
  }

  /** As reflect.Value.Convert: a double beyond int64 becomes the smallest int64. */
  #converted(value: number | bigint, is32: boolean, type: WireScalar): number | bigint {
    if (typeof value === "number") {
      if (!Number.isInteger(value)) throw this.#mismatchOf(`number ${value}`, type.goName);
      if (is32 ? value === (value | 0) : Number.isSafeInteger(value)) return value;
    }
    const whole = typeof value === "bigint" ? value : Math.abs(value) < 2 ** 63 ? BigInt(value) : minInt64;
    const kept = is32 ? BigInt.asIntN(32, whole) : whole;
    return Number.isSafeInteger(Number(kept)) ? Number(kept) : kept;
  }

  /** It has its own decoder, which reads JSON in a converted map as well. */
  #intOrString(value: DraftValue): DraftValue {
    if (typeof value === "string") return value;
    if (typeof value !== "number" && typeof value !== "bigint") throw this.#intOrStringMismatch(jsonTypeOf(value));
    if (typeof value === "number" && value === (value | 0)) return value;
    throw this.#intOrStringMismatch(`number ${value}`);
  }

  #intOrStringMismatch(found: string): DecodeError {
    if (this.#numbers === "json") return this.#mismatchOf(found, "int32");
    return new DecodeError(`json: cannot unmarshal ${found} into Go value of type int32`);
  }

  #formatted(value: DraftValue, canonical: (text: string) => string): string {
    if (typeof value !== "string") throw this.#mismatch(value, "string");
    try {
      return canonical(value);
    } catch (error) {
      if (error instanceof TimeError) throw new DecodeError(error.message, { cause: error });
      throw error;
    }
  }

  #quantity(value: DraftValue): string {
    const text = typeof value === "string" ? value.trim() : printExactJson(value);
    try {
      return canonicalQuantity(text);
    } catch (error) {
      if (error instanceof QuantityError) throw new DecodeError(error.message, { cause: error });
      throw error;
    }
  }

  #bytes(value: DraftValue, goName: string): string {
    if (typeof value !== "string") throw this.#mismatch(value, goName);
    const bare = value.includes("\n") || value.includes("\r") ? value.replaceAll(/[\r\n]/g, "") : value;
    const wrongAt = base64ErrorIndex(bare);
    if (wrongAt >= 0) throw new DecodeError(`illegal base64 data at input byte ${wrongAt}`);
    return bare;
  }

  #reportUnknown(key: string): void {
    if (this.unknown.length >= maxUnknownFields) return;
    this.#steps.push(key);
    this.unknown.push(`unknown field ${JSON.stringify(pathOf(this.#steps))}`);
    this.#steps.pop();
  }

  #mismatch(value: DraftValue, goName: string): DecodeError {
    return this.#mismatchOf(jsonTypeOf(value), goName);
  }

  #mismatchOf(found: string, goName: string): DecodeError {
    const path = this.#steps.filter((step) => typeof step === "string").join(".");
    const place = path === "" ? "Go value" : `Go struct field ${this.#owner}.${path}`;
    return new DecodeError(`json: cannot unmarshal ${found} into ${place} of type ${goName}`);
  }
}

/** The value of a type without fields. As in Go, a union has its own decoder, so its unknown fields are not reported. */
function decodeUnion(name: string, value: DraftValue, numbers: NumberRule): DraftValue {
  const union = unionFields(name);
  if (union === undefined) return withPlainNumbers(value);
  const field = unionFieldOf(union, value);
  if (field !== undefined) return new Decoder(numbers).value(field[1], value);
  if (union.has("allows")) throw new DecodeError("boolean or JSON schema expected");
  return null;
}

/** The path in errors of strict decoding, with indexes and keys. */
function pathOf(steps: readonly Step[]): string {
  let path = "";
  for (const step of steps) {
    if (typeof step === "number") path += `[${step}]`;
    else {
      const name = typeof step === "string" ? step : step.key;
      path += path === "" ? name : `.${name}`;
    }
  }
  return path;
}

function jsonTypeOf(value: DraftValue): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return typeof value;
}

/** True for a value that Go's omitempty drops. */
function isEmpty(value: DraftValue, type: WireType): boolean {
  switch (type.kind) {
    case "list":
      return Array.isArray(value) && value.length === 0;
    case "map":
      return isDraft(value) && Object.keys(value).length === 0;
    case "struct":
      return false;
    case "scalar":
      return value === "" || value === false || (value === 0 && type.scalar !== "intOrString");
    default:
      return type satisfies never;
  }
}

/** The value of null in a list or a map. */
function zeroOf(type: WireType): DraftValue {
  if (type.kind === "struct") return {};
  if (type.kind !== "scalar") return null;
  switch (type.scalar) {
    case "string":
    case "bytes":
      return "";
    case "boolean":
      return false;
    case "quantity":
      return "0";
    case "time":
    case "microTime":
    case "raw":
    case "fields":
    case "json":
      return null;
    case "int32":
    case "int64":
    case "float64":
    case "intOrString":
      return 0;
    default:
      return type.scalar satisfies never;
  }
}

const base64Text = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The index of the first byte that is not base64, as Go counts it; -1 for valid base64. */
function base64ErrorIndex(text: string): number {
  if (base64Text.test(text)) return -1;
  const illegal = text.search(/[^A-Za-z0-9+/=]/);
  const padding = text.indexOf("=");
  if (illegal >= 0 && (padding < 0 || illegal < padding)) return illegal;
  if (padding < 0) return text.length - (text.length % 4);
  const inGroup = padding % 4;
  if (inGroup < 2) return padding;
  if (inGroup === 3) return padding + 1;
  return text[padding + 1] === "=" ? padding + 2 : padding + 1;
}

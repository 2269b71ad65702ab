/**
 * celValueOf(): the CEL value of a JSON value and its schema. Values are converted when a rule reads them. Lists of type set
 * and map compare and concatenate as such; null in a nullable field counts as absent.
 */
import { printExactJson } from "../../api/mod.ts";
import {
  CelDuration,
  CelError,
  CelList,
  CelMap,
  CelTimestamp,
  equal,
  itemsOf,
  noSuchOverload,
  parseLooseDuration,
  parseRfc3339,
  type Value,
} from "../language/mod.ts";
import { isJsonArray, isJsonNumber, isJsonObject, isSameJson, type Json, type JsonObject, read } from "../model/mod.ts";
import { escapeName, unescapeName, withResourceFields } from "./cel_types.ts";
import { goTypeOf, isInt64, type SchemaProps, valueSchema } from "../schema/mod.ts";

/** The CEL value of `json`. */
export function celValueOf(json: Json, schema: SchemaProps): Value {
  if (json === null) {
    return schema.nullable ? null : new CelError("invalid data, got null for schema with nullable=false");
  }
  if (schema.isIntOrString) return intOrString(json);
  switch (schema.type) {
    case "object":
      return objectValue(json, schema);
    case "array":
      return listValue(json, schema);
    case "string":
      return textValue(json, schema);
    case "number":
      return isJsonNumber(json) ? Number(json) : mistyped("float", json);
    case "integer":
      return isJsonNumber(json) && isInt64(json) ? BigInt(json) : mistyped("int", json);
    case "boolean":
      return typeof json === "boolean" ? json : mistyped("bool", json);
    default:
      if (schema.preservesUnknownFields === true) return new UnknownValue(json);
      return new CelError(
        "invalid type, expected object, array, number, integer, boolean or string, or no type with " +
          `x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got ${schema.type}`,
      );
  }
}

function mistyped(type: string, json: Json): CelError {
  return new CelError(`invalid data, expected ${type}, got ${goTypeOf(json)}`);
}

function intOrString(json: Json): Value {
  if (typeof json === "string") return json;
  if (isJsonNumber(json) && isInt64(json)) return BigInt(json);
  return new CelError("invalid data, expected XIntOrString value to be either a string or integer");
}

function objectValue(json: Json, schema: SchemaProps): Value {
  if (isJsonObject(json)) return new JsonMap(json, schema.isEmbeddedResource ? withResourceFields(schema) : schema);
  return new CelError("invalid data, expected a map for the provided schema with type=object");
}

function listValue(json: Json, schema: SchemaProps): Value {
  if (!isJsonArray(json)) {
    return new CelError("invalid data, expected an array for the provided schema with type=array");
  }
  const { items, listType, listMapKeys } = schema;
  if (items === undefined) return new CelError("invalid array type, expected Items with a non-empty Schema");
  if (listType === "set") return new JsonSet(json, items);
  return listType === "map" ? new JsonMapList(json, items, listMapKeys) : new JsonList(json, items);
}

function textValue(json: Json, { format }: SchemaProps): Value {
  if (typeof json !== "string") return mistyped("string", json);
  switch (format) {
    case "duration": {
      const ns = parseLooseDuration(json);
      if (ns !== undefined) return new CelDuration(ns);
      return new CelError(`Invalid duration ${json}: unable to parse ${json} as duration`);
    }
    case "date":
      return parseRfc3339(`${json}T00:00:00Z`) ?? new CelError(`Invalid date formatted string ${json}`);
    case "date-time":
      return dateTimeValue(json);
    case "byte":
      return bytesOf(json) ?? new CelError(`Invalid byte formatted string ${json}`);
    default:
      return json;
  }
}

function dateTimeValue(text: string): Value {
  if (text === "") return new CelTimestamp(0n);
  const hasZone = /(?:[zZ]|[+-]\d{2}:\d{2})$/.test(text);
  const found = parseRfc3339(hasZone ? text : `${text}Z`);
  return found ?? new CelError(`Invalid date-time formatted string ${text}`);
}

function bytesOf(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** A value without a schema. Rules can compare it and nothing else. */
export class UnknownValue extends CelMap {
  override readonly size = 0;
  readonly json: Json;

  constructor(json: Json) {
    super();
    this.json = json;
  }

  override keys(): Iterable<Value> {
    return [];
  }

  override find(): Value | undefined {
    return undefined;
  }

  override equals(other: CelMap): Value {
    return other instanceof UnknownValue && isSameJson(this.json, other.json);
  }
}

/** An object or map. */
export class JsonMap extends CelMap {
  override readonly size: number;
  readonly json: JsonObject;
  readonly #schema: SchemaProps;
  readonly #values: SchemaProps | undefined;
  /** True when keys are names of properties, which CEL escapes. */
  readonly #isObject: boolean;

  constructor(json: JsonObject, schema: SchemaProps) {
    super();
    this.json = json;
    this.size = Object.keys(json).length;
    this.#schema = schema;
    this.#isObject = schema.properties.size > 0;
    this.#values = this.#isObject || schema.isEmbeddedResource ? undefined : valueSchema(schema);
  }

  override *keys(): Iterable<Value> {
    for (const key of Object.keys(this.json)) {
      if (this.#schemaOf(key) !== undefined) yield this.#isObject ? escapeName(key) ?? key : key;
    }
  }

  override find(key: Value): Value | undefined {
    if (typeof key !== "string") return noSuchOverload(key);
    const name = this.#isObject ? unescapeName(key) : key;
    const json = name === undefined ? undefined : read(this.json, name);
    if (name === undefined || json === undefined || (json === null && this.#isObject)) return undefined;
    const schema = this.#schemaOf(name);
    return schema === undefined ? undefined : celValueOf(json, schema);
  }

  override equals(other: CelMap): Value {
    if (this.size !== other.size) return false;
    for (const key of Object.keys(this.json)) {
      const schema = this.#schemaOf(key);
      if (schema === undefined) {
        if (!(other instanceof JsonMap)) return noSuchOverload();
        const theirs = read(other.json, key);
        if (theirs !== undefined && !isSameJson(read(this.json, key), theirs)) return false;
        continue;
      }
      const [mine, theirs] = [this.find(key), other.find(key)];
      if ((mine === undefined) !== (theirs === undefined)) return false;
      const isEqual = mine === undefined || theirs === undefined ? true : equal(mine, theirs);
      if (isEqual !== true) return isEqual;
    }
    return true;
  }

  #schemaOf(key: string): SchemaProps | undefined {
    return this.#schema.properties.get(key) ?? this.#values;
  }
}

/** An atomic list. */
export class JsonList extends CelList {
  override readonly size: number;
  readonly json: readonly Json[];
  protected readonly items: SchemaProps;

  constructor(json: readonly Json[], items: SchemaProps) {
    super();
    this.json = json;
    this.size = json.length;
    this.items = items;
  }

  override at(index: number): Value {
    return celValueOf(this.json[index] ?? null, this.items);
  }

  override equals(other: CelList): Value {
    if (this.size !== other.size) return false;
    for (let index = 0; index < this.size; index++) {
      const isEqual = equal(this.at(index), other.at(index));
      if (isEqual !== true) return isEqual;
    }
    return true;
  }
}

/** A list of type set: the order does not matter. */
class JsonSet extends JsonList {
  override equals(other: CelList): Value {
    if (this.size !== other.size) return false;
    const mine = new Set(this.json.map((item) => printExactJson(item)));
    if (other instanceof JsonList) return other.json.every((item) => mine.has(printExactJson(item)));
    for (const item of itemsOf(other)) if (!this.#holds(item)) return false;
    return true;
  }

  override plus(other: CelList): CelList {
    if (other instanceof JsonList) {
      const mine = new Set(this.json.map((item) => printExactJson(item)));
      return new JsonSet([...this.json, ...other.json.filter((item) => !mine.has(printExactJson(item)))], this.items);
    }
    const added = [...itemsOf(other)].filter((item) => !this.#holds(item));
    return new ExtendedList(this, added);
  }

  #holds(value: Value): boolean {
    for (const item of itemsOf(this)) if (equal(item, value) === true) return true;
    return false;
  }
}

/** A list of type map: items are identified by their keys and the order does not matter. */
class JsonMapList extends JsonList {
  readonly #keys: readonly string[];

  constructor(json: readonly Json[], items: SchemaProps, keys: readonly string[]) {
    super(json, items);
    this.#keys = keys;
  }

  override equals(other: CelList): Value {
    if (this.size !== other.size) return false;
    if (!(other instanceof JsonList)) return super.equals(other);
    const mine = new Map(this.json.map((item) => [this.#keyOf(item), item]));
    for (const item of other.json) {
      const match = mine.get(this.#keyOf(item));
      if (match === undefined) return false;
      const isEqual = equal(celValueOf(match, this.items), celValueOf(item, this.items));
      if (isEqual !== true) return isEqual;
    }
    return true;
  }

  /** Items of the other list replace those with the same keys; the rest is appended. */
  override plus(other: CelList): CelList {
    if (!(other instanceof JsonList)) return new ExtendedList(this, [...itemsOf(other)]);
    const merged = new Map(this.json.map((item) => [this.#keyOf(item), item]));
    for (const item of other.json) merged.set(this.#keyOf(item), item);
    return new JsonMapList([...merged.values()], this.items, this.#keys);
  }

  #keyOf(item: Json): string {
    if (!isJsonObject(item)) return printExactJson(item);
    return printExactJson(this.#keys.map((key) => read(item, key) ?? null));
  }
}

/** A list from a schema with further CEL values after it. */
class ExtendedList extends CelList {
  override readonly size: number;
  readonly #first: CelList;
  readonly #more: readonly Value[];

  constructor(first: CelList, more: readonly Value[]) {
    super();
    this.size = first.size + more.length;
    this.#first = first;
    this.#more = more;
  }

  override at(index: number): Value {
    return index < this.#first.size ? this.#first.at(index) : this.#more[index - this.#first.size] ?? null;
  }
}

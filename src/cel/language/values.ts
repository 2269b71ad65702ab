/**
 * Run-time values of the Common Expression Language. An `int` is a bigint and a `double` a number, so they cannot be mixed up;
 * values without a JavaScript counterpart are small classes.
 *
 * An error is also a value, because `&&` and `||` may ignore it. Values are immutable.
 */
import type { CelType } from "./types.ts";

/** The value of an expression or of a part of it. */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | CelUint
  | CelDuration
  | CelTimestamp
  | CelList
  | CelMap
  | CelOptional
  | CelTypeValue
  | CelOpaque
  | CelError;

/** An error as the value of a part of an expression. */
export class CelError {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** An unsigned integer of 64 bits. */
export class CelUint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

/** A duration. */
export class CelDuration {
  /** Nanoseconds. */
  readonly ns: bigint;

  constructor(ns: bigint) {
    this.ns = ns;
  }
}

/** A timestamp. */
export class CelTimestamp {
  /** Nanoseconds since 1970. */
  readonly ns: bigint;
  /** Minutes east of UTC as it was written; `string()` shows it. */
  readonly offsetMinutes: number;

  constructor(ns: bigint, offsetMinutes = 0) {
    this.ns = ns;
    this.offsetMinutes = offsetMinutes;
  }
}

/** A list. Subclasses provide the items. */
export abstract class CelList {
  abstract readonly size: number;
  /** @param index from 0 to size - 1 */
  abstract at(index: number): Value;
  /** Compares with another list. Lists of type set and map ignore the order. */
  equals?(other: CelList): Value;
  /** The concatenation with another list, when it is not a plain one. */
  plus?(other: CelList): Value;
  /** True when the list contains the value. */
  contains?(value: Value): Value;
}

/** A map or object. Subclasses provide the entries. */
export abstract class CelMap {
  abstract readonly size: number;
  /** The keys, for loops. */
  abstract keys(): Iterable<Value>;
  /** The value of a key; undefined when the map does not have it. */
  abstract find(key: Value): Value | undefined;
  /** True for a key of the map. @default find() finds it */
  contains?(key: Value): boolean;
  /** Compares with another map. */
  equals?(other: CelMap): Value;
}

/** An optional value: `self.?field`. */
export class CelOptional {
  /** Undefined when it is absent. */
  readonly value: Value | undefined;

  constructor(value: Value | undefined) {
    this.value = value;
  }
}

/** `optional.none()`. */
export const noneOptional = new CelOptional(undefined);

/** A type as a value: the result of `type(x)`. */
export class CelTypeValue {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** A value of a library: a quantity, an IP address, ... */
export abstract class CelOpaque {
  /** Its type name in messages, e.g. `kubernetes.Quantity`. */
  abstract readonly type: CelType;
  abstract equals(other: CelOpaque): boolean;
  /** Its text in messages. */
  abstract toText(): string;
}

/** A list of existing values. */
export class ValueList extends CelList {
  readonly items: readonly Value[];

  constructor(items: readonly Value[]) {
    super();
    this.items = items;
  }

  override get size(): number {
    return this.items.length;
  }

  override at(index: number): Value {
    return this.items[index] ?? null;
  }
}

/** A map of existing values. Keys with the same number are one key, regardless of their type. */
export class ValueMap extends CelMap {
  readonly #entries: ReadonlyMap<string, readonly [key: Value, value: Value]>;

  /** @param entries keyed by {@link mapKeyOf} */
  constructor(entries: ReadonlyMap<string, readonly [key: Value, value: Value]>) {
    super();
    this.#entries = entries;
  }

  override get size(): number {
    return this.#entries.size;
  }

  override *keys(): Iterable<Value> {
    for (const [key] of this.#entries.values()) yield key;
  }

  override find(key: Value): Value | undefined {
    const mapKey = mapKeyOf(key);
    return mapKey === undefined ? undefined : this.#entries.get(mapKey)?.[1];
  }
}

/** A value of a type that expressions can create: the fields that were set. It is no map, except for the selection of fields. */
export class CelStruct extends CelMap {
  readonly typeName: string;
  readonly fields: ReadonlyMap<string, Value>;

  constructor(typeName: string, fields: ReadonlyMap<string, Value>) {
    super();
    this.typeName = typeName;
    this.fields = fields;
  }

  override get size(): number {
    return this.fields.size;
  }

  override keys(): Iterable<Value> {
    return this.fields.keys();
  }

  override find(key: Value): Value | undefined {
    return typeof key === "string" ? this.fields.get(key) : undefined;
  }
}

/** The identity of a map key; undefined for values that cannot be keys. */
export function mapKeyOf(key: Value): string | undefined {
  switch (typeof key) {
    case "string":
      return `s${key}`;
    case "boolean":
      return `b${key}`;
    case "bigint":
      return `n${key}`;
    case "number":
      return Number.isInteger(key) ? `n${BigInt(key)}` : `d${key}`;
    default:
      return key instanceof CelUint ? `n${key.value}` : undefined;
  }
}

/** The items of a list. */
export function* itemsOf(list: CelList): IterableIterator<Value> {
  for (let index = 0; index < list.size; index++) yield list.at(index);
}

/** Calls `turn` for each item of a list or key of a map until it returns false. @returns the error of other containers */
export function forEachElement(
  container: Value,
  hasTwo: boolean,
  turn: (one: Value, two: Value) => boolean,
): CelError | undefined {
  if (container instanceof CelList) {
    for (let index = 0; index < container.size; index++) {
      const item = container.at(index);
      if (!(hasTwo ? turn(BigInt(index), item) : turn(item, null))) break;
    }
    return undefined;
  }
  if (!(container instanceof CelMap) || container instanceof CelStruct) return noSuchOverload(container);
  for (const key of container.keys()) {
    if (!turn(key, hasTwo ? container.find(key) ?? null : null)) break;
  }
  return undefined;
}

/** The type name of a value, as `type(x)` and messages show it. */
export function typeNameOf(value: Value): string {
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "bigint":
      return "int";
    case "number":
      return "double";
    case "string":
      return "string";
    default:
      return objectTypeName(value);
  }
}

function objectTypeName(value: Value): string {
  if (value === null) return "null_type";
  if (value instanceof CelList) return "list";
  if (value instanceof CelStruct) return value.typeName;
  if (value instanceof CelMap) return "map";
  if (value instanceof CelUint) return "uint";
  if (value instanceof Uint8Array) return "bytes";
  if (value instanceof CelDuration) return "google.protobuf.Duration";
  if (value instanceof CelTimestamp) return "google.protobuf.Timestamp";
  if (value instanceof CelOptional) return "optional_type";
  if (value instanceof CelTypeValue) return "type";
  if (value instanceof CelOpaque) return "name" in value.type ? value.type.name : value.type.kind;
  return "error";
}

/** The error of a function or operator that does not support its arguments. */
export function noSuchOverload(...values: readonly Value[]): CelError {
  for (const value of values) if (value instanceof CelError) return value;
  return new CelError("no such overload");
}

/** The size of a value for costs: code points, bytes, items or entries; 1 for all other values. */
export function sizeOf(value: Value): number {
  if (typeof value === "string") return codePointLength(value);
  if (value instanceof CelList || value instanceof CelMap) return value.size;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof CelOptional && value.value !== undefined) return sizeOf(value.value);
  return 1;
}

/** The number of code points of a string. */
export function codePointLength(text: string): number {
  let length = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    const code = text.charCodeAt(index);
    if (code < 0xd800 || code >= 0xdc00) continue;
    const next = text.charCodeAt(index + 1);
    if (next >= 0xdc00 && next < 0xe000) {
      length--;
      index++;
    }
  }
  return length;
}

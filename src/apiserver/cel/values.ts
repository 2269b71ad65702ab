/**
 * Values of the Common Expression Language while an expression runs. `int` is a bigint and `double` a number, so the two
 * never mix by accident; what has no JavaScript counterpart is a small class.
 *
 * An error is a value too, since `&&` and `||` may not mind it. Nobody changes a value.
 */
import type { CelType } from "./types.ts";

/** What an expression, or a part of it, comes to. */
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

/** Why a part of an expression has no value. */
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

/** A span of time. */
export class CelDuration {
  /** Nanoseconds. */
  readonly ns: bigint;

  constructor(ns: bigint) {
    this.ns = ns;
  }
}

/** An instant. */
export class CelTimestamp {
  /** Nanoseconds since 1970. */
  readonly ns: bigint;
  /** Minutes east of UTC that it was written with; shown again by `string()`. */
  readonly offsetMinutes: number;

  constructor(ns: bigint, offsetMinutes = 0) {
    this.ns = ns;
    this.offsetMinutes = offsetMinutes;
  }
}

/** A list. Subclasses say where the items come from. */
export abstract class CelList {
  abstract readonly size: number;
  /** @param index from 0 to below size */
  abstract at(index: number): Value;
  /** Whether it is the same as another list; lists that are sets or maps do not mind the order. */
  equals?(other: CelList): Value;
  /** This list and another behind it, where that is more than putting them in a row. */
  plus?(other: CelList): Value;
  /** Whether a value is among the items. */
  contains?(value: Value): Value;
}

/** A map, or an object. Subclasses say where the entries come from. */
export abstract class CelMap {
  abstract readonly size: number;
  /** The keys to go through. */
  abstract keys(): Iterable<Value>;
  /** The value of a key, undefined where it has none. */
  abstract find(key: Value): Value | undefined;
  /** Whether it is the same as another map. */
  equals?(other: CelMap): Value;
}

/** A value that may be missing: `self.?field`. */
export class CelOptional {
  /** Undefined where there is none. */
  readonly value: Value | undefined;

  constructor(value: Value | undefined) {
    this.value = value;
  }
}

/** `optional.none()`. */
export const noneOptional = new CelOptional(undefined);

/** A type as a value: what `type(x)` gives. */
export class CelTypeValue {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** A value of a library: a quantity, an IP address, ... */
export abstract class CelOpaque {
  /** As messages name it, e.g. `kubernetes.Quantity`. */
  abstract readonly type: CelType;
  abstract equals(other: CelOpaque): boolean;
  /** As messages show it. */
  abstract toText(): string;
}

/** A list of values that are there already. */
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

/** A map of values that are there already. Keys that are the same number are one key, whatever their type. */
export class ValueMap extends CelMap {
  readonly #entries: ReadonlyMap<string, readonly [key: Value, value: Value]>;

  /** @param entries by {@link mapKeyOf} */
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

/** What tells keys of a map apart; undefined for a value that cannot be a key. */
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

/** The name of a value's type, as `type(x)` and messages have it. */
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

/** The error of a function or operator that is not made for its arguments. */
export function noSuchOverload(...values: readonly Value[]): CelError {
  for (const value of values) if (value instanceof CelError) return value;
  return new CelError("no such overload");
}

/** How many characters (code points), bytes, items or entries a value has; 1 for all others. Counts for costs. */
export function sizeOf(value: Value): number {
  if (typeof value === "string") return codePointLength(value);
  if (value instanceof CelList || value instanceof CelMap) return value.size;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof CelOptional && value.value !== undefined) return sizeOf(value.value);
  return 1;
}

/** Code points of a text. */
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

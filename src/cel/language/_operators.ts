/**
 * The operators: arithmetic, equality, order, `in` and the concatenation of lists; and the lists and maps that loops build.
 * Integers and durations have 64 bits, an overflow is an error.
 */
import {
  CelDuration,
  CelError,
  CelList,
  CelMap,
  CelOpaque,
  CelOptional,
  CelStruct,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  itemsOf,
  mapKeyOf,
  noSuchOverload,
  typeNameOf,
  type Value,
  ValueList,
  ValueMap,
} from "./values.ts";

const minInt = -(2n ** 63n);
const maxInt = 2n ** 63n - 1n;
const maxUint = 2n ** 64n - 1n;
/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z, in seconds. */
const minUnixSeconds = -62_135_596_800n;
const maxUnixSeconds = 253_402_300_799n;

/** `left + right`. */
export function add(left: Value, right: Value): Value {
  if (typeof left === "bigint" && typeof right === "bigint") return int(left + right);
  if (typeof left === "number" && typeof right === "number") return left + right;
  if (typeof left === "string" && typeof right === "string") return left + right;
  if (left instanceof CelList && right instanceof CelList) return joined(left, right);
  if (left instanceof CelUint && right instanceof CelUint) return uint(left.value + right.value);
  if (left instanceof Uint8Array && right instanceof Uint8Array) return new Uint8Array([...left, ...right]);
  if (left instanceof CelDuration) {
    if (right instanceof CelDuration) return duration(left.ns + right.ns);
    if (right instanceof CelTimestamp) return timestamp(right.ns + left.ns, right.offsetMinutes);
  }
  if (left instanceof CelTimestamp && right instanceof CelDuration) {
    return timestamp(left.ns + right.ns, left.offsetMinutes);
  }
  return noSuchOverload(left, right);
}

/** `left - right`. */
export function subtract(left: Value, right: Value): Value {
  if (typeof left === "bigint" && typeof right === "bigint") return int(left - right);
  if (typeof left === "number" && typeof right === "number") return left - right;
  if (left instanceof CelUint && right instanceof CelUint) return uint(left.value - right.value);
  if (left instanceof CelDuration && right instanceof CelDuration) return duration(left.ns - right.ns);
  if (left instanceof CelTimestamp) {
    if (right instanceof CelDuration) return timestamp(left.ns - right.ns, left.offsetMinutes);
    if (right instanceof CelTimestamp) return duration(left.ns - right.ns);
  }
  return noSuchOverload(left, right);
}

/** `left * right`. */
export function multiply(left: Value, right: Value): Value {
  if (typeof left === "bigint" && typeof right === "bigint") return int(left * right);
  if (typeof left === "number" && typeof right === "number") return left * right;
  if (left instanceof CelUint && right instanceof CelUint) return uint(left.value * right.value);
  return noSuchOverload(left, right);
}

/** `left / right`. */
export function divide(left: Value, right: Value): Value {
  if (typeof left === "number" && typeof right === "number") return left / right;
  if (typeof left === "bigint" && typeof right === "bigint") {
    return right === 0n ? new CelError("division by zero") : int(left / right);
  }
  if (left instanceof CelUint && right instanceof CelUint) {
    return right.value === 0n ? new CelError("division by zero") : uint(left.value / right.value);
  }
  return noSuchOverload(left, right);
}

/** `left % right`. */
export function modulo(left: Value, right: Value): Value {
  if (typeof left === "bigint" && typeof right === "bigint") {
    return right === 0n ? new CelError("modulus by zero") : int(left % right);
  }
  if (left instanceof CelUint && right instanceof CelUint) {
    return right.value === 0n ? new CelError("modulus by zero") : uint(left.value % right.value);
  }
  return noSuchOverload(left, right);
}

/** `-value`. */
export function negate(value: Value): Value {
  if (typeof value === "bigint") return int(-value);
  if (typeof value === "number") return -value;
  if (value instanceof CelDuration) return duration(-value.ns);
  return noSuchOverload(value);
}

/** An int, or an error when it needs more than 64 bits. */
export function int(value: bigint): Value {
  return value >= minInt && value <= maxInt ? value : new CelError("integer overflow");
}

/** A uint, or an error when it needs more than 64 bits. */
export function uint(value: bigint): Value {
  return value >= 0n && value <= maxUint ? new CelUint(value) : new CelError("unsigned integer overflow");
}

/** A duration, or an error when its nanoseconds need more than 64 bits. */
export function duration(ns: bigint): Value {
  return ns >= minInt && ns <= maxInt ? new CelDuration(ns) : new CelError("duration overflow");
}

/** A timestamp, or an error when it is before the year 1 or after 9999. */
export function timestamp(ns: bigint, offsetMinutes = 0): Value {
  const seconds = ns / 1_000_000_000n;
  if (seconds < minUnixSeconds || seconds > maxUnixSeconds) return new CelError("timestamp overflow");
  return new CelTimestamp(ns, offsetMinutes);
}

/** `left == right`. Numbers of different types compare by value; NaN equals nothing. An error if a schema's list or map cannot compare. */
export function equal(left: Value, right: Value): Value {
  if (left === right) return !Number.isNaN(left);
  if (left === null || right === null) return false;
  if (left instanceof CelError) return left;
  if (right instanceof CelError) return right;
  if (isNumber(left)) return isNumber(right) && compareNumbers(left, right) === 0;
  if (typeof left !== "object") return false;
  if (left instanceof CelList) return listsEqual(left, right);
  if (left instanceof CelMap) return mapsEqual(left, right);
  return objectsEqual(left, right);
}

/** `left != right`. Values that cannot be compared are different. */
export function notEqual(left: Value, right: Value): Value {
  return equal(left, right) !== true;
}

function listsEqual(left: CelList, right: Value): Value {
  if (!(right instanceof CelList)) return left.equals === undefined ? false : noSuchOverload(right);
  if (left.equals !== undefined) return left.equals(right);
  if (left.size !== right.size) return false;
  for (let index = 0; index < left.size; index++) {
    const isEqual = equal(left.at(index), right.at(index));
    if (isEqual !== true) return isEqual;
  }
  return true;
}

function mapsEqual(left: CelMap, right: Value): Value {
  // Structs of different types differ, also those with the same fields.
  if (left instanceof CelStruct || right instanceof CelStruct) {
    if (typeNameOf(left) !== typeNameOf(right)) return false;
  }
  if (!(right instanceof CelMap)) return left.equals === undefined ? false : noSuchOverload(right);
  if (left.equals !== undefined) return left.equals(right);
  if (left.size !== right.size) return false;
  for (const key of left.keys()) {
    const other = right.find(key);
    if (other === undefined) return false;
    const isEqual = equal(left.find(key) ?? null, other);
    if (isEqual !== true) return isEqual;
  }
  return true;
}

function objectsEqual(left: Value, right: Value): Value {
  if (left instanceof CelDuration) return right instanceof CelDuration && left.ns === right.ns;
  if (left instanceof CelTimestamp) return right instanceof CelTimestamp && left.ns === right.ns;
  if (left instanceof CelTypeValue) return right instanceof CelTypeValue && left.name === right.name;
  if (left instanceof CelOpaque) return right instanceof CelOpaque && left.equals(right);
  if (left instanceof Uint8Array) return right instanceof Uint8Array && compareBytes(left, right) === 0;
  if (left instanceof CelOptional) {
    if (!(right instanceof CelOptional)) return false;
    if (left.value === undefined || right.value === undefined) return left.value === right.value;
    return equal(left.value, right.value);
  }
  return false;
}

/** Negative, zero or positive when `left` is before, equal to or after `right`; an error for types without an order. */
export function compare(left: Value, right: Value): number | CelError {
  if (isNumber(left) && isNumber(right)) {
    const order = compareNumbers(left, right);
    return Number.isNaN(order) ? new CelError("NaN values cannot be ordered") : order;
  }
  if (typeof left === "string" && typeof right === "string") return compareTexts(left, right);
  if (typeof left === "boolean" && typeof right === "boolean") return Number(left) - Number(right);
  if (left instanceof CelDuration && right instanceof CelDuration) return orderOf(left.ns, right.ns);
  if (left instanceof CelTimestamp && right instanceof CelTimestamp) return orderOf(left.ns, right.ns);
  if (left instanceof Uint8Array && right instanceof Uint8Array) return compareBytes(left, right);
  return noSuchOverload(left, right);
}

/** `value in container`. */
export function isIn(value: Value, container: Value): Value {
  if (container instanceof CelMap) {
    if (container.contains !== undefined) return container.contains(value);
    const found = container.find(value);
    return found instanceof CelError ? found : found !== undefined;
  }
  if (!(container instanceof CelList)) return noSuchOverload(value, container);
  return contains(container, value);
}

/** True when the list contains the value. */
export function contains(list: CelList, value: Value): Value {
  if (list.contains !== undefined) return list.contains(value);
  for (const item of itemsOf(list)) if (equal(item, value) === true) return true;
  return false;
}

function isNumber(value: Value): value is bigint | number | CelUint {
  return typeof value === "bigint" || typeof value === "number" || value instanceof CelUint;
}

/** NaN when one of them is NaN. */
function compareNumbers(left: bigint | number | CelUint, right: bigint | number | CelUint): number {
  const [first, second] = [left instanceof CelUint ? left.value : left, right instanceof CelUint ? right.value : right];
  if (Number.isNaN(first) || Number.isNaN(second)) return NaN;
  return first < second ? -1 : first > second ? 1 : 0;
}

function orderOf(left: bigint, right: bigint): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Compares by code points, which is the order of the UTF-8 bytes. */
function compareTexts(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    if (left.charCodeAt(index) === right.charCodeAt(index)) continue;
    return (left.codePointAt(index) ?? 0) - (right.codePointAt(index) ?? 0);
  }
  return left.length - right.length;
}

function compareBytes(left: Uint8Array, right: Uint8Array): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const order = (left[index] ?? 0) - (right[index] ?? 0);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** The concatenation of two lists. It copies nothing, because an expression may repeat it many times. */
class JoinedList extends CelList {
  override readonly size: number;
  readonly #left: CelList;
  readonly #right: CelList;

  constructor(left: CelList, right: CelList) {
    super();
    this.size = left.size + right.size;
    this.#left = left;
    this.#right = right;
  }

  override at(index: number): Value {
    return index < this.#left.size ? this.#left.at(index) : this.#right.at(index - this.#left.size);
  }
}

/** The list that a loop builds. Only that loop uses it, so it may grow. */
export class ListBuilder extends CelList {
  readonly #items: Value[] = [];

  override get size(): number {
    return this.#items.length;
  }

  override at(index: number): Value {
    return this.#items[index] ?? null;
  }

  append(list: CelList): this {
    for (const item of itemsOf(list)) this.#items.push(item);
    return this;
  }

  finish(): CelList {
    return new ValueList(this.#items);
  }
}

/** The map that a loop builds. */
export class MapBuilder extends CelMap {
  readonly #entries = new Map<string, readonly [key: Value, value: Value]>();

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

  insert(key: Value, value: Value): this | CelError {
    const mapKey = mapKeyOf(key);
    if (mapKey === undefined) return new CelError("unsupported key type");
    if (this.#entries.has(mapKey)) return new CelError(`insert failed: key ${shown(key)} already exists`);
    this.#entries.set(mapKey, [key, value]);
    return this;
  }

  finish(): CelMap {
    return new ValueMap(this.#entries);
  }
}

/** Concatenates two lists. A list with a schema may do it differently (a set keeps each item once). */
function joined(left: CelList, right: CelList): Value {
  if (left instanceof ListBuilder) return left.append(right);
  if (left.plus !== undefined) return left.plus(right);
  if (right.size === 0) return left;
  return left.size === 0 ? right : new JoinedList(left, right);
}

/** Adds one entry, or all entries of a map, to the map of a loop. */
export function inserted(map: Value, keyOrMap: Value, value?: Value): Value {
  if (!(map instanceof MapBuilder)) return new CelError("no such overload");
  if (value !== undefined) return map.insert(keyOrMap, value);
  if (!(keyOrMap instanceof CelMap)) return new CelError("no such overload");
  for (const key of keyOrMap.keys()) {
    const done = map.insert(key, keyOrMap.find(key) ?? null);
    if (done instanceof CelError) return done;
  }
  return map;
}

function shown(key: Value): string {
  return typeof key === "object" ? "" : String(key);
}

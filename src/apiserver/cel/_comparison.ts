/** Equality and order. Numbers of different types compare by what they are worth; NaN is equal to nothing. */
import {
  CelDuration,
  CelError,
  CelList,
  CelMap,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  itemsOf,
  noSuchOverload,
  type Value,
} from "./values.ts";

/** `left == right`: a boolean, or an error where a list or map of a schema cannot tell. */
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

/** `left != right`: what is not equal, even where that cannot be told, is different. */
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

/** Below, at or above zero as `left` comes before, with or after `right`; an error for what has no order. */
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
    const found = container.find(value);
    return found instanceof CelError ? found : found !== undefined;
  }
  if (!(container instanceof CelList)) return noSuchOverload(value, container);
  return contains(container, value);
}

/** True when a list holds a value. */
export function contains(list: CelList, value: Value): Value {
  if (list.contains !== undefined) return list.contains(value);
  for (const item of itemsOf(list)) if (equal(item, value) === true) return true;
  return false;
}

function isNumber(value: Value): value is bigint | number | CelUint {
  return typeof value === "bigint" || typeof value === "number" || value instanceof CelUint;
}

/** NaN where one of them is no number. */
function compareNumbers(left: bigint | number | CelUint, right: bigint | number | CelUint): number {
  const [first, second] = [left instanceof CelUint ? left.value : left, right instanceof CelUint ? right.value : right];
  if (Number.isNaN(first) || Number.isNaN(second)) return NaN;
  return first < second ? -1 : first > second ? 1 : 0;
}

function orderOf(left: bigint, right: bigint): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** By code points, as bytes of UTF-8 would. */
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

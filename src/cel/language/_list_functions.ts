/** The functions of lists (Kubernetes, and version 3 of cel-go's library), of sets, and of optional values. */
import { add, compare, contains, equal } from "./_operators.ts";
import {
  binary,
  type FunctionDecl,
  type Guard,
  type Implementation,
  isAny,
  isInt,
  isList,
  method,
  type Overload,
  overload,
  ternary,
  unary,
} from "./functions.ts";
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  optionalOf,
  paramOf,
  stringType,
  timestampType,
  uintType,
} from "./types.ts";
import {
  CelDuration,
  CelError,
  CelList,
  CelMap,
  CelOptional,
  CelUint,
  itemsOf,
  noneOptional,
  type Value,
  ValueList,
} from "./values.ts";

const [a, k, v] = [paramOf("T"), paramOf("K"), paramOf("V")];
const listOfA = listOf(a);
const isOptional: Guard<CelOptional> = (value) => value instanceof CelOptional;

const comparable: readonly (readonly [string, CelType])[] = [
  ["int", intType],
  ["uint", uintType],
  ["double", doubleType],
  ["bool", boolType],
  ["duration", durationType],
  ["timestamp", timestampType],
  ["string", stringType],
  ["bytes", bytesType],
];
const zeros: readonly (readonly [string, CelType, Value])[] = [
  ["int", intType, 0n],
  ["uint", uintType, new CelUint(0n)],
  ["double", doubleType, 0],
  ["duration", durationType, new CelDuration(0n)],
];

/** The functions of lists and sets. */
export const listFunctions: readonly FunctionDecl[] = [
  forEach(
    "isSorted",
    ([name, type]) => method(`list_${name}_is_sorted_bool`, [listOf(type)], boolType, unary(isList, isSorted)),
  ),
  {
    name: "sum",
    overloads: zeros.map(([name, type, zero]) =>
      method(`list_${name}_sum_${name}`, [listOf(type)], type, unary(isList, (list) => sum(list, zero)))
    ),
  },
  forEach("max", ([name, type]) => method(`list_${name}_max_${name}`, [listOf(type)], type, extreme("max", -1))),
  forEach("min", ([name, type]) => method(`list_${name}_min_${name}`, [listOf(type)], type, extreme("min", 1))),
  one("indexOf", method("list_a_index_of_int", [listOfA, a], intType, binary(isList, isAny, indexOf))),
  one("lastIndexOf", method("list_a_last_index_of_int", [listOfA, a], intType, binary(isList, isAny, lastIndexOf))),
  one("slice", method("list_slice", [listOfA, intType, intType], listOfA, ternary([isList, isInt, isInt], slice))),
  {
    name: "flatten",
    isGeneric: true,
    overloads: [
      method("list_flatten", [listOf(listOfA)], listOfA, unary(isList, (list) => flatten(list, 1n))),
      method("list_flatten_int", [listOf(dynType), intType], listOf(dynType), binary(isList, isInt, flatten)),
    ],
  },
  forEach(
    "sort",
    ([name, type]) =>
      method(`list_${name}_sort`, [listOf(type)], listOf(type), unary(isList, (list) => sortedBy(list, list))),
  ),
  forEach(
    "@sortByAssociatedKeys",
    ([name, type]) =>
      method(`list_${name}_sortByAssociatedKeys`, [listOfA, listOf(type)], listOfA, binary(isList, isList, sortedBy)),
  ),
  one("lists.range", overload("lists_range", [intType], listOf(intType), unary(isInt, range))),
  one("reverse", method("list_reverse", [listOfA], listOfA, unary(isList, reverse))),
  one("distinct", method("list_distinct", [listOfA], listOfA, unary(isList, distinct))),
  one("first", method("list_first", [listOf(v)], optionalOf(v), unary(isList, (list) => optionalAt(list, 0)))),
  one(
    "last",
    method("list_last", [listOf(v)], optionalOf(v), unary(isList, (list) => optionalAt(list, list.size - 1))),
  ),
  one(
    "sets.contains",
    overload("list_sets_contains_list", [listOfA, listOfA], boolType, binary(isList, isList, holdsAll)),
  ),
  one(
    "sets.equivalent",
    overload("list_sets_equivalent_list", [listOfA, listOfA], boolType, binary(isList, isList, isEquivalent)),
  ),
  one(
    "sets.intersects",
    overload("list_sets_intersects_list", [listOfA, listOfA], boolType, binary(isList, isList, intersects)),
  ),
];

/** The functions of optional values. The planner evaluates `or` and `orValue`. */
export const optionalFunctions: readonly FunctionDecl[] = [
  one("optional.of", overload("optional_of", [v], optionalOf(v), (value = null) => new CelOptional(value))),
  one("optional.ofNonZeroValue", overload("optional_ofNonZeroValue", [v], optionalOf(v), ofNonZero)),
  one("optional.none", overload("optional_none", [], optionalOf(v), () => noneOptional)),
  one("value", method("optional_value", [optionalOf(v)], v, unary(isOptional, contentOf))),
  one(
    "hasValue",
    method("optional_hasValue", [optionalOf(v)], boolType, unary(isOptional, (x) => x.value !== undefined)),
  ),
  one("or", method("optional_or_optional", [optionalOf(v), optionalOf(v)], optionalOf(v), (x = null) => x)),
  one("orValue", method("optional_orValue_value", [optionalOf(v), v], v, (x = null) => x)),
  {
    name: "_[?_]",
    isGeneric: true,
    overloads: [
      overload("list_optindex_optional_int", [listOf(v), intType], optionalOf(v), (x = null) => x),
      overload("optional_list_optindex_optional_int", [optionalOf(listOf(v)), intType], optionalOf(v), (x = null) => x),
      overload("map_optindex_optional_value", [mapOf(k, v), k], optionalOf(v), (x = null) => x),
      overload("optional_map_optindex_optional_value", [optionalOf(mapOf(k, v)), k], optionalOf(v), (x = null) => x),
    ],
  },
  {
    name: "_[_]",
    isGeneric: true,
    overloads: [
      overload("optional_list_index_int", [optionalOf(listOf(v)), intType], optionalOf(v), (x = null) => x),
      overload("optional_map_index_value", [optionalOf(mapOf(k, v)), k], optionalOf(v), (x = null) => x),
    ],
  },
  one("optional.unwrap", overload("optional_unwrap", [listOf(optionalOf(v))], listOf(v), unary(isList, unwrapped))),
  one("unwrapOpt", method("optional_unwrapOpt", [listOf(optionalOf(v))], listOf(v), unary(isList, unwrapped))),
];

function one(name: string, only: Overload): FunctionDecl {
  return { name, overloads: [only] };
}

function forEach(name: string, make: (type: readonly [string, CelType]) => Overload): FunctionDecl {
  return { name, overloads: comparable.map(make) };
}

function isSorted(list: CelList): Value {
  for (let index = 1; index < list.size; index++) {
    const order = compare(list.at(index - 1), list.at(index));
    if (order instanceof CelError) return order;
    if (order > 0) return false;
  }
  return true;
}

function sum(list: CelList, zero: Value): Value {
  let total = zero;
  for (const item of itemsOf(list)) {
    total = add(total, item);
    if (total instanceof CelError) return total;
  }
  return total;
}

/** @param worse the result of comparing the current best item with a better one */
function extreme(name: string, worse: 1 | -1): Implementation {
  return unary(isList, (list) => {
    if (list.size === 0) return new CelError(`${name} called on empty list`);
    let best = list.at(0);
    for (let index = 1; index < list.size; index++) {
      const item = list.at(index);
      const order = compare(best, item);
      if (order instanceof CelError) return order;
      if (Math.sign(order) === worse) best = item;
    }
    return best;
  });
}

function indexOf(list: CelList, item: Value): Value {
  for (let index = 0; index < list.size; index++) if (equal(list.at(index), item) === true) return BigInt(index);
  return -1n;
}

function lastIndexOf(list: CelList, item: Value): Value {
  for (let index = list.size - 1; index >= 0; index--) if (equal(list.at(index), item) === true) return BigInt(index);
  return -1n;
}

function slice(list: CelList, start: bigint, end: bigint): Value {
  const what = `cannot slice(${start}, ${end})`;
  if (start < 0n || end < 0n) return new CelError(`${what}, negative indexes not supported`);
  if (start > end) return new CelError(`${what}, start index must be less than or equal to end index`);
  if (BigInt(list.size) < end) return new CelError(`${what}, list is length ${list.size}`);
  return new ValueList([...itemsOf(list)].slice(Number(start), Number(end)));
}

function flatten(list: CelList, depth: bigint): Value {
  if (depth < 0n) return new CelError("level must be non-negative");
  const items: Value[] = [];
  const collect = (inside: CelList, left: bigint): void => {
    for (const item of itemsOf(inside)) {
      if (left > 0n && item instanceof CelList) collect(item, left - 1n);
      else items.push(item);
    }
  };
  collect(list, depth);
  return new ValueList(items);
}

function sortedBy(list: CelList, keys: CelList): Value {
  if (list.size !== keys.size) {
    const what = "@sortByAssociatedKeys() expected a list of the same size as the associated keys list";
    return new CelError(`${what}, but got ${list.size} and ${keys.size} elements respectively`);
  }
  const order = Array.from({ length: list.size }, (_, index) => index);
  let problem: CelError | undefined;
  order.sort((left, right) => {
    const found = compare(keys.at(left), keys.at(right));
    if (!(found instanceof CelError)) return found;
    problem = new CelError("list elements must have the same type");
    return 0;
  });
  return problem ?? new ValueList(order.map((index) => list.at(index)));
}

/** More numbers than any list in a request can have. */
const maxRange = 10_000_000n;

function range(count: bigint): Value {
  if (count > maxRange) return new CelError(`range of ${count} is too long`);
  return new ValueList(Array.from({ length: Math.max(0, Number(count)) }, (_, index) => BigInt(index)));
}

function reverse(list: CelList): Value {
  return new ValueList([...itemsOf(list)].reverse());
}

function distinct(list: CelList): Value {
  const unique: Value[] = [];
  for (const item of itemsOf(list)) if (!unique.some((other) => equal(item, other) === true)) unique.push(item);
  return new ValueList(unique);
}

function optionalAt(list: CelList, index: number): Value {
  return list.size === 0 ? noneOptional : new CelOptional(list.at(index));
}

function holdsAll(list: CelList, others: CelList): Value {
  for (const item of itemsOf(others)) {
    const isHeld = contains(list, item);
    if (isHeld !== true) return isHeld;
  }
  return true;
}

function isEquivalent(left: CelList, right: CelList): Value {
  const isHeld = holdsAll(left, right);
  return isHeld === true ? holdsAll(right, left) : isHeld;
}

function intersects(left: CelList, right: CelList): Value {
  for (const item of itemsOf(left)) if (contains(right, item) === true) return true;
  return false;
}

function ofNonZero(value: Value = null): Value {
  return isZero(value) ? noneOptional : new CelOptional(value);
}

function isZero(value: Value): boolean {
  if (value === null || value === "" || value === 0n || value === 0 || value === false) return true;
  if (value instanceof CelList || value instanceof CelMap) return value.size === 0;
  if (value instanceof CelUint) return value.value === 0n;
  if (value instanceof CelDuration) return value.ns === 0n;
  if (value instanceof CelOptional) return value.value === undefined;
  return value instanceof Uint8Array && value.length === 0;
}

function contentOf(optional: CelOptional): Value {
  return optional.value ?? new CelError("optional.none() dereference");
}

function unwrapped(list: CelList): Value {
  const items: Value[] = [];
  for (const item of itemsOf(list)) {
    if (!isOptional(item)) return new CelError(`value is not optional`);
    if (item.value !== undefined) items.push(item.value);
  }
  return new ValueList(items);
}

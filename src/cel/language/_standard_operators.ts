/** The declarations of the operators and of `size` and `type`. Their implementations check the types of their arguments. */
import {
  add,
  compare,
  divide,
  equal,
  inserted,
  isIn,
  modulo,
  multiply,
  negate,
  notEqual,
  subtract,
} from "./_operators.ts";
import { type FunctionDecl, type Implementation, method, type Overload, overload } from "./functions.ts";
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
  paramOf,
  stringType,
  timestampType,
  uintType,
} from "./types.ts";
import {
  CelError,
  CelList,
  CelMap,
  CelTypeValue,
  CelUint,
  codePointLength,
  noSuchOverload,
  typeNameOf,
  type Value,
} from "./values.ts";

const [a, b] = [paramOf("A"), paramOf("B")];
const listOfA = listOf(a);
const mapOfAB = mapOf(a, b);

/** The operators. The planner evaluates `_?_:_`, `_&&_`, `_||_` and `@not_strictly_false`. */
export const operatorFunctions: readonly FunctionDecl[] = [
  generic("_?_:_", noSuchOverload, [["conditional", [boolType, a, a], a]]),
  generic("_&&_", noSuchOverload, [["logical_and", [boolType, boolType], boolType]]),
  generic("_||_", noSuchOverload, [["logical_or", [boolType, boolType], boolType]]),
  generic("@not_strictly_false", noSuchOverload, [["not_strictly_false", [boolType], boolType]]),
  generic("!_", not, [["logical_not", [boolType], boolType]]),
  generic("_==_", (x = null, y = null) => equal(x, y), [["equals", [a, a], boolType]]),
  generic("_!=_", (x = null, y = null) => notEqual(x, y), [["not_equals", [a, a], boolType]]),
  generic("_+_", (x = null, y = null) => add(x, y), [
    ["add_bytes", [bytesType, bytesType], bytesType],
    ["add_double", [doubleType, doubleType], doubleType],
    ["add_duration_duration", [durationType, durationType], durationType],
    ["add_duration_timestamp", [durationType, timestampType], timestampType],
    ["add_timestamp_duration", [timestampType, durationType], timestampType],
    ["add_int64", [intType, intType], intType],
    ["add_list", [listOfA, listOfA], listOfA],
    ["add_string", [stringType, stringType], stringType],
    ["add_uint64", [uintType, uintType], uintType],
  ]),
  generic("_-_", (x = null, y = null) => subtract(x, y), [
    ["subtract_double", [doubleType, doubleType], doubleType],
    ["subtract_duration_duration", [durationType, durationType], durationType],
    ["subtract_int64", [intType, intType], intType],
    ["subtract_timestamp_duration", [timestampType, durationType], timestampType],
    ["subtract_timestamp_timestamp", [timestampType, timestampType], durationType],
    ["subtract_uint64", [uintType, uintType], uintType],
  ]),
  generic("_*_", (x = null, y = null) => multiply(x, y), numbers("multiply", true)),
  generic("_/_", (x = null, y = null) => divide(x, y), numbers("divide", true)),
  generic("_%_", (x = null, y = null) => modulo(x, y), numbers("modulo", false)),
  generic("-_", (x = null) => negate(x), [
    ["negate_double", [doubleType], doubleType],
    ["negate_int64", [intType], intType],
    ["negate_duration", [durationType], durationType],
  ]),
  ordering("_<_", "less", (order) => order < 0),
  ordering("_<=_", "less_equals", (order) => order <= 0),
  ordering("_>_", "greater", (order) => order > 0),
  ordering("_>=_", "greater_equals", (order) => order >= 0),
  generic("@in", (x = null, y = null) => isIn(x, y), [
    ["in_list", [a, listOfA], boolType],
    ["in_map", [a, mapOfAB], boolType],
  ]),
  generic("_[_]", (x = null, y = null) => indexed(x, y), [
    ["index_list", [listOfA, intType], a],
    ["index_map", [mapOfAB, a], b],
  ]),
  sizes(),
  generic("type", (x = null) => new CelTypeValue(typeNameOf(x)), [["type", [a], { kind: "type", of: a }]]),
  generic("dyn", (x = null) => x, [["to_dyn", [a], dynType]]),
  generic("cel.@mapInsert", (x = null, y = null, z?: Value) => inserted(x, y, z), [
    ["@mapInsert_map_key_value", [mapOf(a, b), a, b], mapOf(a, b)],
    ["@mapInsert_map_map", [mapOf(a, b), mapOf(a, b)], mapOf(a, b)],
  ]),
];

type Row = readonly [id: string, args: readonly CelType[], result: CelType];

function generic(name: string, run: Implementation, rows: readonly Row[]): FunctionDecl {
  return { name, isGeneric: true, overloads: rows.map(([id, args, result]) => overload(id, args, result, run)) };
}

function numbers(id: string, hasDouble: boolean): readonly Row[] {
  const rows: Row[] = [[`${id}_int64`, [intType, intType], intType], [`${id}_uint64`, [uintType, uintType], uintType]];
  return hasDouble ? [[`${id}_double`, [doubleType, doubleType], doubleType], ...rows] : rows;
}

function ordering(name: string, id: string, isSo: (order: number) => boolean): FunctionDecl {
  const run: Implementation = (x = null, y = null) => {
    const order = compare(x, y);
    return order instanceof CelError ? order : isSo(order);
  };
  const same: readonly (readonly [string, CelType])[] = [
    ["bool", boolType],
    ["int64", intType],
    ["uint64", uintType],
    ["double", doubleType],
    ["string", stringType],
    ["bytes", bytesType],
    ["timestamp", timestampType],
    ["duration", durationType],
  ];
  const rows: Row[] = same.map(([suffix, type]) => [`${id}_${suffix}`, [type, type], boolType]);
  const kinds: readonly (readonly [string, CelType])[] = [["int64", intType], ["uint64", uintType], [
    "double",
    doubleType,
  ]];
  for (const [left, leftType] of kinds) {
    for (const [right, rightType] of kinds) {
      if (left !== right) rows.push([`${id}_${left}_${right}`, [leftType, rightType], boolType]);
    }
  }
  return generic(name, run, rows);
}

function sizes(): FunctionDecl {
  const run: Implementation = (x = null) => {
    if (typeof x === "string") return BigInt(codePointLength(x));
    if (x instanceof CelList || x instanceof CelMap) return BigInt(x.size);
    return x instanceof Uint8Array ? BigInt(x.length) : new CelError("no such overload: size");
  };
  const rows: readonly (readonly [string, CelType])[] = [
    ["bytes", bytesType],
    ["list", listOfA],
    ["map", mapOfAB],
    ["string", stringType],
  ];
  const overloads: Overload[] = [];
  for (const [suffix, type] of rows) {
    overloads.push(overload(`size_${suffix}`, [type], intType, run), method(`${suffix}_size`, [type], intType, run));
  }
  return { name: "size", isGeneric: true, overloads };
}

function not(x: Value = null): Value {
  return typeof x === "boolean" ? !x : noSuchOverload(x);
}

/** `container[index]`. */
export function indexed(container: Value, index: Value): Value {
  const found = findAt(container, index);
  if (found !== undefined) return found;
  if (container instanceof CelList) return new CelError(`index out of bounds: ${shownKey(index)}`);
  return new CelError(`no such key: ${shownKey(index)}`);
}

/**
 * The item or entry at an index; undefined when it does not exist. A value that contains nothing, such as the null of
 * `object` in a DELETE, is like an empty map, as in refQualify of cel-go.
 */
export function findAt(container: Value, index: Value): Value | undefined {
  if (container instanceof CelMap) return container.find(index);
  if (!(container instanceof CelList)) return undefined;
  const position = index instanceof CelUint ? index.value : index;
  if (typeof position !== "bigint" && !(typeof position === "number" && Number.isInteger(position))) {
    return new CelError(`unsupported index type '${typeNameOf(index)}' in list`);
  }
  const at = Number(position);
  return at >= 0 && at < container.size ? container.at(at) : undefined;
}

function shownKey(key: Value): string {
  if (key instanceof CelUint) return String(key.value);
  return typeof key === "object" ? typeNameOf(key) : String(key);
}

/**
 * Declarations of functions: their types for the checker and their implementations. A library is a list of declarations.
 */
import { type CelType, optionalContent } from "./types.ts";
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
  typeNameOf,
  type Value,
} from "./values.ts";

/** An implementation. Arguments are never errors; the target of a method comes first. */
export type Implementation = (...args: Value[]) => Value;

/** One way to call a function. */
export interface Overload {
  readonly id: string;
  /** True for a method: `target.name(args)`; the target is the first of `args`. */
  readonly isMember: boolean;
  readonly args: readonly CelType[];
  readonly result: CelType;
  readonly run: Implementation;
}

/** A function with all of its overloads. */
export interface FunctionDecl {
  readonly name: string;
  readonly overloads: readonly Overload[];
  /** True when the implementation checks the types of its arguments itself, as operators do. */
  readonly isGeneric?: boolean;
}

/** A global function. */
export function overload(id: string, args: readonly CelType[], result: CelType, run: Implementation): Overload {
  return { id, isMember: false, args, result, run };
}

/** A method. */
export function method(id: string, args: readonly CelType[], result: CelType, run: Implementation): Overload {
  return { id, isMember: true, args, result, run };
}

/** Tests whether a value has a type. */
export type Guard<Type extends Value> = (value: Value) => value is Type;

export const isText: Guard<string> = (value) => typeof value === "string";
export const isInt: Guard<bigint> = (value) => typeof value === "bigint";
export const isList: Guard<CelList> = (value) => value instanceof CelList;
export const isAny: Guard<Value> = (value): value is Value => value !== undefined;

/** An implementation with one typed argument. */
export function unary<A extends Value>(isA: Guard<A>, run: (a: A) => Value): Implementation {
  return (a = null) => isA(a) ? run(a) : mismatch(a);
}

/** An implementation with two typed arguments. */
export function binary<A extends Value, B extends Value>(
  isA: Guard<A>,
  isB: Guard<B>,
  run: (a: A, b: B) => Value,
): Implementation {
  return (a = null, b = null) => isA(a) && isB(b) ? run(a, b) : mismatch(a, b);
}

/** An implementation with three typed arguments. */
export function ternary<A extends Value, B extends Value, C extends Value>(
  guards: readonly [Guard<A>, Guard<B>, Guard<C>],
  run: (a: A, b: B, c: C) => Value,
): Implementation {
  const [isA, isB, isC] = guards;
  return (a = null, b = null, c = null) => isA(a) && isB(b) && isC(c) ? run(a, b, c) : mismatch(a, b, c);
}

/** Turns a function that throws a RangeError into one that returns an error value. */
export function attempt(run: () => Value): Value {
  try {
    return run();
  } catch (error) {
    if (error instanceof RangeError) return new CelError(error.message);
    throw error;
  }
}

/** True when a value may be passed for a declared type. */
export function isOfType(type: CelType, value: Value): boolean {
  switch (type.kind) {
    case "dyn":
    case "param":
    case "error":
      return true;
    case "null":
      return value === null;
    case "list":
      return value instanceof CelList;
    case "map":
    case "object":
      return value instanceof CelMap;
    case "uint":
      return value instanceof CelUint;
    case "bytes":
      return value instanceof Uint8Array;
    case "duration":
      return value instanceof CelDuration;
    case "timestamp":
      return value instanceof CelTimestamp;
    case "type":
      return value instanceof CelTypeValue;
    case "opaque":
      if (optionalContent(type) !== undefined) return value instanceof CelOptional;
      return value instanceof CelOpaque && "name" in value.type && value.type.name === type.name;
    default:
      return typeNameOf(value) === type.kind;
  }
}

/** The error of a function without an overload for its arguments. */
export function noOverloadFor(name: string, args: readonly Value[]): CelError {
  return new CelError(`no such overload: ${name}(${args.map(typeNameOf).join(", ")})`);
}

function mismatch(...args: readonly Value[]): CelError {
  for (const argument of args) if (argument instanceof CelError) return argument;
  return new CelError("no such overload");
}

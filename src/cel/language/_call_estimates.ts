/**
 * Estimates the maximum cost of a call and the maximum size of its result, before values are known. They decide which rules
 * a CustomResourceDefinition may have, so the numbers are those of the estimators of Kubernetes and cel-go. Also the
 * arithmetic of estimates: ranges whose numbers stay below 2^64.
 */
import type { Expr } from "./ast.ts";
import type { CelType } from "./types.ts";

/** An argument of a call, as its estimate needs it. */
export interface Part {
  readonly expr: Expr;
  readonly type: CelType;
  readonly size: Range | undefined;
  /** Size of the items of a list. */
  itemSize(): Range | undefined;
}

/** The cost without that of the arguments, and the size of the result if it has one. */
export interface CallEstimate {
  readonly cost: Range;
  readonly resultSize?: Range;
}

type Estimate = (target: Part | undefined, args: readonly Part[], overloadId: string) => CallEstimate | undefined;

const perCharacter = 0.1;
const perPatternCharacter = 0.25;
const maxNamedPattern = 128;
const maxFormatName = 64;
const one: CallEstimate = { cost: exactly(1) };

const byName: ReadonlyMap<string, Estimate> = new Map<string, Estimate>([
  ...each("isSorted sum max min indexOf lastIndexOf", throughItems),
  ...each("lowerAscii upperAscii substring trim", (target) => target && text(sizeOf(target))),
  ["url", (_target, args) => args.length === 1 ? text(sizeOf(args[0])) : undefined],
  ["replace", replaced],
  ["split", split],
  ["join", joined],
  ...each("find findAll", found),
  ...each(
    "cidr isIP isCIDR quantity isQuantity semver isSemver",
    (_target, args) => ({ cost: through(sizeOf(args[0])) }),
  ),
  ["ip", (_target, args, id) => id === "cidr_ip" ? one : { cost: through(sizeOf(args[0])) }],
  ["ip.isCanonical", (_target, args) => ({ cost: scaled(sizeOf(args[0]), 2 * perCharacter) })],
  ["containsIP", (_target, args, id) => ({ cost: held(args, id === "cidr_contains_ip_string", false) })],
  ["containsCIDR", (_target, args, id) => ({ cost: held(args, id === "cidr_contains_cidr_string", true) })],
  [
    "validate",
    (_target, args) => ({ cost: scaled(through(sizeOf(args[0])), maxNamedPattern * perPatternCharacter) }),
  ],
  ["_==_", (_target, args) => opaqueEquality(args)],
  ["slice", (target, args) => sliced(target, args)],
  ["lists.range", (_target, args) => allocating(1, exactly(literalInt(args[0], maxEstimate)))],
  ["reverse", (target) => target && allocating(1, sizeOf(target))],
  [
    "flatten",
    (target, args) => target && allocating(literalInt(args[0], args.length === 0 ? 1 : maxEstimate), sizeOf(target)),
  ],
  ["distinct", (target) => target && allocating(2, times(sizeOf(target), sizeOf(target)))],
  ["sort", (target, _args, id) => target && sorted(target, id)],
  ["@sortByAssociatedKeys", (_target, args, id) => args[0] && sorted(args[0], id)],
  ["sets.contains", (_target, args) => setCost(args, 1)],
  ["sets.intersects", (_target, args) => setCost(args, 1)],
  ["sets.equivalent", (_target, args) => setCost(args, 2)],
]);

const byOverload: ReadonlyMap<string, Estimate> = new Map<string, Estimate>([
  ["string_format", (target) => target && { cost: through(sizeOf(target)) }],
  [
    "string_to_bytes",
    (_target, args) => ({
      cost: through(sizeOf(args[0])),
      resultSize: { min: sizeOf(args[0]).min, max: sizeOf(args[0]).max * 4 },
    }),
  ],
  [
    "bytes_to_string",
    (_target, args) => ({
      cost: through(sizeOf(args[0])),
      resultSize: { min: Math.floor(sizeOf(args[0]).min / 4), max: sizeOf(args[0]).max },
    }),
  ],
  [
    "strings_quote",
    (_target, args) => ({
      cost: through(sizeOf(args[0])),
      resultSize: { min: sizeOf(args[0]).min + 2, max: sizeOf(args[0]).max * 2 + 2 },
    }),
  ],
  ...each("starts_with_string ends_with_string", (_target, args) => ({ cost: through(sizeOf(args[0])) })),
  ["in_list", (_target, args) => ({ cost: scaled(sizeOf(args[1]), 1) })],
  ["matches_string", (target, args) => target && { cost: patternCost(target, args[0]) }],
  [
    "contains_string",
    (target, args) => target && { cost: times(through(sizeOf(target)), through(sizeOf(args[0]))) },
  ],
  ...each(
    "less_string greater_string less_equals_string greater_equals_string less_bytes greater_bytes " +
      "less_equals_bytes greater_equals_bytes equals not_equals",
    compared,
  ),
]);

/** The estimate of a call of one overload, without the cost of its arguments. */
export function estimateCall(
  name: string,
  overloadId: string,
  target: Part | undefined,
  args: readonly Part[],
): CallEstimate {
  return byName.get(name)?.(target, args, overloadId) ?? byOverload.get(overloadId)?.(target, args, overloadId) ?? one;
}

function each(names: string, estimate: Estimate): (readonly [string, Estimate])[] {
  return names.split(" ").map((name) => [name, estimate] as const);
}

function sizeOf(part: Part | undefined): Range {
  return part?.size ?? unknownSize;
}

/** The cost of reading a string. */
function through(size: Range): Range {
  return scaled(size, perCharacter);
}

function text(size: Range): CallEstimate {
  return { cost: through(size), resultSize: size };
}

function throughItems(target: Part | undefined): CallEstimate | undefined {
  if (target === undefined) return undefined;
  if (target.type.kind !== "list") return { cost: through(sizeOf(target)) };
  const isText = target.type.item.kind === "string" || target.type.item.kind === "bytes";
  const perItem = isText ? plus(exactly(1), through(target.itemSize() ?? unknownSize)) : exactly(1);
  return { cost: times(sizeOf(target), perItem) };
}

function replaced(target: Part | undefined, args: readonly Part[]): CallEstimate | undefined {
  if (target === undefined) return undefined;
  const [size, old, by] = [sizeOf(target), sizeOf(args[0]), sizeOf(args[1])];
  let [countMax, keptMax] = [0, 0];
  if (old.min === 0) [countMax, keptMax] = [size.max + 1, size.max];
  else if (by.max <= old.min) keptMax = size.max;
  else countMax = Math.ceil(size.max / old.min);
  let [countMin, keptMin] = [0, 0];
  if (old.max === 0) [countMin, keptMin] = [size.min + 1, size.min];
  else if (old.max <= by.min) keptMin = size.min;
  else countMin = Math.ceil(size.min / old.max);
  const resultSize = plus(times({ min: countMin, max: countMax }, by), { min: keptMin, max: keptMax });
  return { cost: scaled(size, 2 * perCharacter), resultSize };
}

function split(target: Part | undefined, args: readonly Part[]): CallEstimate | undefined {
  if (target === undefined) return undefined;
  const size = sizeOf(target);
  const limit = args[1]?.expr.kind === "literal" ? args[1].expr.value : undefined;
  // A negative limit, which means none, is a very large one to kube-apiserver, which wraps it to a uint64.
  const max = typeof limit === "bigint" ? Number(BigInt.asUintN(64, limit)) : size.max;
  return { cost: scaled(size, 2 * perCharacter), resultSize: { min: 0, max } };
}

function joined(target: Part | undefined, args: readonly Part[]): CallEstimate | undefined {
  if (target === undefined) return undefined;
  const count = sizeOf(target);
  let size = target.type.kind === "list" ? times(count, target.itemSize() ?? unknownSize) : exactly(0);
  if (args.length > 0) {
    size = plus(size, times(sizeOf(args[0]), { min: Math.max(0, count.min - 1), max: Math.max(0, count.max - 1) }));
  }
  return { cost: through(size), resultSize: size };
}

function found(target: Part | undefined, args: readonly Part[]): CallEstimate | undefined {
  if (target === undefined) return undefined;
  return { cost: patternCost(target, args[0]), resultSize: { min: 0, max: sizeOf(target).max } };
}

function patternCost(target: Part, pattern: Part | undefined): Range {
  return times(through(plus(sizeOf(target), exactly(1))), scaled(sizeOf(pattern), perPatternCharacter));
}

/** The cost of comparing the bytes of two addresses. */
function held(args: readonly Part[], isText: boolean, isNetwork: boolean): Range {
  const bytes: Range = { min: 4, max: 16 };
  let cost = through(plus(bytes, bytes));
  if (isNetwork) cost = plus(plus(cost, through(bytes)), exactly(1));
  return isText ? plus(cost, through(sizeOf(args[0]))) : cost;
}

function opaqueEquality(args: readonly Part[]): CallEstimate | undefined {
  const [left, right] = args;
  if (left?.type.kind !== "opaque" || right?.type.kind !== "opaque" || left.type.name !== right.type.name) {
    return undefined;
  }
  switch (left.type.name) {
    case "kubernetes.NamedFormat":
      return { cost: through({ min: 1, max: maxFormatName }) };
    case "kubernetes.URL":
      return { cost: through({ min: 1, max: right.size?.max ?? 1 }) };
    case "optional_type":
      return undefined;
    default:
      return one;
  }
}

function compared(_target: Part | undefined, args: readonly Part[]): CallEstimate {
  const smallest = Math.min(sizeOf(args[0]).max, sizeOf(args[1]).max);
  return { cost: through({ min: smallest > 0 ? 1 : 0, max: smallest }) };
}

function allocating(factor: number, size: Range): CallEstimate {
  return { cost: plus(plus(scaled(size, factor), exactly(1)), exactly(10)), resultSize: size };
}

function sliced(target: Part | undefined, args: readonly Part[]): CallEstimate | undefined {
  if (target === undefined) return undefined;
  const size = literalInt(args[1], sizeOf(target).max) - literalInt(args[0], 0);
  return allocating(1, exactly(Math.max(0, size)));
}

function sorted(part: Part, overloadId: string): CallEstimate {
  const factor = /^list_(string|bytes)_/.test(overloadId) ? 2 + perCharacter : 2;
  return allocating(factor, times(sizeOf(part), sizeOf(part)));
}

function setCost(args: readonly Part[], factor: number): CallEstimate {
  return { cost: plus(scaled(times(sizeOf(args[0]), sizeOf(args[1])), factor), exactly(1)) };
}

function literalInt(part: Part | undefined, other: number): number {
  const value = part?.expr.kind === "literal" ? part.expr.value : undefined;
  return typeof value === "bigint" ? Math.max(0, Number(value)) : other;
}

/** The range of an expression with two possible results. */
export function either(left: CallEstimate, right: CallEstimate): CallEstimate {
  const cost = union(left.cost, right.cost);
  if (right.resultSize === undefined) return { cost, resultSize: left.resultSize };
  return {
    cost,
    resultSize: left.resultSize === undefined ? right.resultSize : union(left.resultSize, right.resultSize),
  };
}

/** A minimum and a maximum. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** The largest number, which stands for unbounded. */
export const maxEstimate = 2 ** 64;

export const unknownSize: Range = { min: 0, max: maxEstimate };

/** A range of one number. */
export function exactly(value: number): Range {
  return { min: value, max: value };
}

export function plus(left: Range, right: Range): Range {
  return { min: capped(left.min + right.min), max: capped(left.max + right.max) };
}

export function times(left: Range, right: Range): Range {
  return { min: capped(left.min * right.min), max: capped(left.max * right.max) };
}

/** The range times a factor, rounded up. */
function scaled(range: Range, factor: number): Range {
  return { min: capped(Math.ceil(range.min * factor)), max: capped(Math.ceil(range.max * factor)) };
}

/** The smallest range that contains both. */
export function union(left: Range, right: Range): Range {
  return { min: Math.min(left.min, right.min), max: Math.max(left.max, right.max) };
}

/** A product of two numbers with the same cap. */
export function cappedProduct(left: number, right: number): number {
  return left === 0 || right === 0 ? 0 : capped(left * right);
}

function capped(value: number): number {
  return Math.min(value, maxEstimate);
}

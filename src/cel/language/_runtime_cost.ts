/**
 * The cost of calls at run time, by their arguments: the numbers of cel-go and of Kubernetes' cost estimator. One unit is
 * about one comparison. The limit on their sum is the protection against hostile rules.
 */
import { patternSize } from "../model/mod.ts";
import { CelFormat } from "./string_formats.ts";
import { CelList, CelMap, CelOpaque, itemsOf, sizeOf, type Value } from "./values.ts";

/** The cost of a call. @param result undefined before it is known */
export type CallCost = (args: readonly Value[], result: Value | undefined) => number;

/** The cost of one character of a string that is read. */
const perCharacter = 0.1;
const perPatternCharacter = 0.25;
const listCost = 10;
/** The cost of an authorization check: 350,000, as in apiserver `cel/library/cost.go`. */
const authorizationCost = 350_000;

const fixed: CallCost = () => 1;
const throughTarget: CallCost = ([target = null]) => Math.ceil(sizeOf(target) * perCharacter);
const throughTargetTwice: CallCost = ([target = null]) => Math.ceil(sizeOf(target) * 2 * perCharacter);
const throughItems: CallCost = ([target = null]) => traversal(target);
const pattern: CallCost = ([text = null, expression = null]) => {
  const source = typeof expression === "string" ? expression : "";
  const cost = patternCost(sizeOf(text), sizeOf(expression));
  return cost + repetitionCost(sizeOf(text), source);
};
/** Not of the cache of patterns: a rule must have the same cost each time. */
const computedPattern: CallCost = (args, result) => {
  const [, expression] = args;
  return pattern(args, result) + (typeof expression === "string" ? compileCost(expression) : 0);
};
/** The named zones of a calendar take longer than the call. */
const zoned: CallCost = (args) => args.length > 1 ? zoneCost : 1;
const zoneCost = 50;
const smaller: CallCost = ([left = null, right = null]) =>
  left instanceof CelOpaque ? 1 : Math.ceil(Math.min(sizeOf(left), sizeOf(right)) * perCharacter);

const byName: ReadonlyMap<string, CallCost> = new Map<string, CallCost>([
  ...named(throughItems, "isSorted sum max min indexOf lastIndexOf"),
  ...named(
    throughTarget,
    "url lowerAscii upperAscii substring trim cidr isIP isCIDR ip quantity isQuantity semver isSemver jsonpatch.escapeKey",
  ),
  ...named(throughTargetTwice, "split ip.isCanonical"),
  ["replace", (args, result = null) => Math.max(throughTargetTwice(args, result), throughText(result))],
  ["format", (args, result = null) => Math.max(throughTarget(args, result), throughText(result))],
  ...named(pattern, "find findAll matches"),
  ...named(zoned, "getFullYear getMonth getDate getDayOfMonth getDayOfWeek getDayOfYear"),
  ...named(zoned, "getHours getMinutes getSeconds getMilliseconds"),
  ...named(smaller, "_==_ _!=_"),
  ["join", (_args, result = null) => Math.ceil(sizeOf(result) * 2 * perCharacter)],
  ["containsIP", ([cidr = null, other = null]) => holdsCost(cidr, other, 0)],
  ["containsCIDR", ([cidr = null, other = null]) => holdsCost(cidr, other, 1)],
  [
    "validate",
    ([format = null, text = null]) =>
      patternCost(sizeOf(text), format instanceof CelFormat ? format.patternLength : 100),
  ],
  ["check", () => authorizationCost],
  ["@in", ([, container = null]) => container instanceof CelList ? container.size : 1],
  ["_+_", ([left = null, right = null]) => sumCost(left, right)],
  ["contains", ([text = null, part = null]) => Math.ceil(sizeOf(text) / 10) * Math.ceil(sizeOf(part) / 10)],
  ...named(throughTarget, "startsWith endsWith bytes strings.quote"),
  ...named(compared, "_<_ _<=_ _>_ _>=_"),
  ["string", ([value = null]) => value instanceof Uint8Array ? Math.ceil(value.length * perCharacter) : 1],
  ["slice", (_args, result = null) => sizeOf(result) + 1 + listCost],
  ["lists.range", (_args, result = null) => sizeOf(result) + 1 + listCost],
  ["reverse", ([list = null]) => sizeOf(list) + 1 + listCost],
  [
    "flatten",
    ([list = null, depth = 1n]) => sizeOf(list) * (typeof depth === "bigint" ? Number(depth) : 1) + 1 + listCost,
  ],
  ["distinct", ([list = null]) => selfCompareCost(list)],
  ["sort", ([list = null]) => selfCompareCost(list)],
  ["@sortByAssociatedKeys", ([, keys = null]) => selfCompareCost(keys)],
  ["sets.contains", ([left = null, right = null]) => 1 + sizeOf(left) * sizeOf(right)],
  ["sets.intersects", ([left = null, right = null]) => 1 + sizeOf(left) * sizeOf(right)],
  ["sets.equivalent", ([left = null, right = null]) => 1 + 2 * sizeOf(left) * sizeOf(right)],
]);

const byResult: ReadonlySet<string> = new Set(["join", "slice", "lists.range", "replace", "format"]);

/** The cost of a function. @param isCompiled false for a pattern that the expression computes */
export function callCostOf(name: string, isCompiled = true): CallCost {
  const cost = byName.get(name) ?? fixed;
  return cost === pattern && !isCompiled ? computedPattern : cost;
}

/** True when the cost depends on the result of the call. */
export function needsResult(name: string): boolean {
  return byResult.has(name);
}

function named(cost: CallCost, names: string): (readonly [string, CallCost])[] {
  return names.split(" ").map((name) => [name, cost] as const);
}

function compared(args: readonly Value[]): number {
  const [left = null, right = null] = args;
  const isLong = (value: Value) => typeof value === "string" || value instanceof Uint8Array;
  return isLong(left) && isLong(right) ? smaller(args, undefined) : 1;
}

function sumCost(left: Value, right: Value): number {
  if (typeof left !== "string" && !(left instanceof Uint8Array)) return 1;
  return Math.ceil((sizeOf(left) + sizeOf(right)) * perCharacter);
}

function patternCost(text: number, expression: number): number {
  return Math.ceil((1 + text) * perCharacter) * Math.ceil(expression * perPatternCharacter);
}

/** The cost of a new text, which may be much longer than those that it is made of. */
function throughText(text: Value): number {
  return typeof text === "string" ? Math.ceil(text.length * perCharacter) : 1;
}

/** Steps of a match that cost one unit. */
const stepsPerUnit = 8;

/** What counted repetitions add to a match: kube-apiserver counts the characters of the pattern only. */
function repetitionCost(text: number, source: string): number {
  return Math.ceil(Math.max(0, patternSize(source) - source.length) * text / stepsPerUnit);
}

/** The cost of compiling a pattern that an expression has computed. */
function compileCost(source: string): number {
  return 4 * patternSize(source);
}

function holdsCost(cidr: Value, other: Value, base: number): number {
  const size = sizeOf(cidr);
  const parsing = typeof other === "string" ? Math.ceil(sizeOf(other) * perCharacter) : 0;
  return Math.ceil(2 * size * perCharacter) + parsing + (base === 0 ? 0 : Math.ceil(size * perCharacter) + 1);
}

function selfCompareCost(list: Value): number {
  const size = sizeOf(list);
  const first = list instanceof CelList && size > 0 ? list.at(0) : null;
  const factor = typeof first === "string" || first instanceof Uint8Array ? 2 + perCharacter : 2;
  return Math.floor(size * size * factor) + 1 + listCost;
}

/** The cost of reading a whole value. */
function traversal(value: Value): number {
  if (typeof value === "string") return Math.floor(value.length * perCharacter);
  if (value instanceof Uint8Array) return Math.floor(value.length * perCharacter);
  let cost = 0;
  if (value instanceof CelList) {
    for (const item of itemsOf(value)) cost += traversal(item);
    return cost;
  }
  if (!(value instanceof CelMap)) return 1;
  for (const key of value.keys()) cost += traversal(key) + traversal(value.find(key) ?? null);
  return cost;
}

/**
 * plan(): turns a checked expression into a program: one closure per node, created once, so that a run looks up no names and
 * no types.
 *
 * Guarantees: a run adds up its cost and ends when it exceeds the limit; the numbers are those of the real server.
 */
import { accumulatorName, type Call, type Comprehension, type Expr, type Literal, type StructExpr } from "./ast.ts";
import type { Checked, Declarations } from "./_checker.ts";
import { type FunctionDecl, type Implementation, isOfType, noOverloadFor } from "./functions.ts";
import { ListBuilder, MapBuilder } from "./_operators.ts";
import { callCostOf, needsResult } from "./_runtime_cost.ts";
import { findAt, indexed } from "./_standard_operators.ts";
import type { FindStruct } from "./structs.ts";
import type { CelType } from "./types.ts";
import {
  CelError,
  CelMap,
  CelOptional,
  CelTypeValue,
  CelUint,
  forEachElement,
  mapKeyOf,
  noneOptional,
  noSuchOverload,
  type Value,
  ValueList,
  ValueMap,
} from "./values.ts";

/** The result of a run. */
export type CelOutcome =
  | { readonly kind: "value"; readonly value: Value; readonly cost: number }
  | { readonly kind: "error"; readonly message: string; readonly cost: number }
  /** The cost exceeded the limit. */
  | { readonly kind: "exceeded"; readonly cost: number };

/** A compiled expression. */
export interface CelProgram {
  /** Names of variables that the expression uses. */
  readonly used: ReadonlySet<string>;
  /**
   * Runs it.
   *
   * @param values the variables of the environment, in their order
   * @param costLimit in units of the real server, whose limit for one expression is 1,000,000
   * @default costLimit 1,000,000
   */
  run(values: readonly Value[], costLimit?: number): CelOutcome;
}

/** The cost limit of one expression on the real server. */
export const perCallLimit = 1_000_000;

/** Plans a checked expression. */
export function planCel(
  checked: Checked,
  variables: ReadonlyMap<string, CelType>,
  { functions, findStruct }: Declarations,
): CelProgram {
  const planner = new Planner(checked, variables, functions, findStruct);
  const evaluate = planner.plan(checked.expr);
  const { used } = checked;
  return { used, run: (values, costLimit = perCallLimit) => runPlan(evaluate, values, costLimit) };
}

function runPlan(evaluate: Evaluate, values: readonly Value[], limit: number): CelOutcome {
  const frame: Frame = { slots: [...values], cost: 0, limit };
  try {
    const value = evaluate(frame);
    const { cost } = frame;
    return value instanceof CelError ? { kind: "error", message: value.message, cost } : { kind: "value", value, cost };
  } catch (error) {
    if (error instanceof CostExceeded) return { kind: "exceeded", cost: frame.cost };
    throw error;
  }
}

const listCost = 10;
const mapCost = 30;
const structCost = 40;

class Planner {
  readonly #checked: Checked;
  readonly #functions: ReadonlyMap<string, FunctionDecl>;
  readonly #findStruct: FindStruct;
  /** Slots of variables by name, the innermost last. */
  readonly #scopes: (readonly [name: string, slot: number])[];
  #slots: number;

  constructor(
    checked: Checked,
    variables: ReadonlyMap<string, CelType>,
    functions: ReadonlyMap<string, FunctionDecl>,
    findStruct: FindStruct,
  ) {
    this.#checked = checked;
    this.#functions = functions;
    this.#findStruct = findStruct;
    this.#scopes = Array.from(variables.keys(), (name, slot) => [name, slot] as const);
    this.#slots = variables.size;
  }

  plan(expr: Expr): Evaluate {
    const typeName = this.#checked.typeNames.get(expr);
    if (typeName !== undefined) {
      const value = new CelTypeValue(typeName);
      return () => value;
    }
    const dotted = this.#checked.dotted.get(expr);
    if (dotted !== undefined) return this.#variable(dotted);
    switch (expr.kind) {
      case "literal": {
        const value = literalValue(expr.value);
        return () => value;
      }
      case "ident":
        return this.#variable(expr.name.replace(/^\./, ""));
      case "select":
        return expr.isTest ? this.#presence(expr.operand, expr.field) : this.#selected(expr.operand, expr.field);
      case "call":
        return this.#call(expr);
      case "list":
        return this.#list(expr);
      case "map":
        return this.#map(expr);
      case "comprehension":
        return this.#loop(expr);
      case "struct":
        return this.#struct(expr);
      default:
        return expr satisfies never;
    }
  }

  #variable(name: string): Evaluate {
    const slot = this.#slotOf(name);
    return (frame) => {
      charge(frame, 1);
      return frame.slots[slot] ?? null;
    };
  }

  #slotOf(name: string): number {
    for (let index = this.#scopes.length - 1; index >= 0; index--) {
      const scope = this.#scopes[index];
      if (scope?.[0] === name) return scope[1];
    }
    throw new Error(`Cannot plan the variable ${name}: not declared`);
  }

  #selected(operand: Expr, field: string): Evaluate {
    const evaluate = this.plan(operand);
    const cost = isAttribute(operand) ? 1 : 2;
    return (frame) => {
      const target = evaluate(frame);
      if (target instanceof CelError) return target;
      charge(frame, cost);
      return target instanceof CelOptional
        ? mapOptional(target, (inside) => findAt(inside, field))
        : indexed(target, field);
    };
  }

  #presence(operand: Expr, field: string): Evaluate {
    const evaluate = this.plan(operand);
    return (frame) => {
      const target = evaluate(frame);
      if (target instanceof CelError) return target;
      const inside = target instanceof CelOptional ? target.value : target;
      if (inside === undefined) return false;
      const found = findAt(inside, field);
      return found instanceof CelError ? !(inside instanceof CelMap) && found : found !== undefined;
    };
  }

  #call(expr: Call): Evaluate {
    const { args } = expr;
    switch (expr.name) {
      case "_&&_":
        return combineLogical(args.map((argument) => this.plan(argument)), false);
      case "_||_":
        return combineLogical(args.map((argument) => this.plan(argument)), true);
      case "_?_:_":
        return this.#conditional(args);
      case "@not_strictly_false":
        return this.#notStrictlyFalse(args);
      case "_[_]":
      case "_[?_]":
        return this.#indexed(args, expr.name === "_[?_]");
      case "_?._":
        return this.#optionalSelect(args);
      default:
        return this.#function(expr);
    }
  }

  #conditional(args: readonly Expr[]): Evaluate {
    const [condition, yes, no] = args.map((argument) => this.plan(argument));
    return (frame) => {
      const isSo = condition?.(frame) ?? null;
      if (typeof isSo !== "boolean") return noSuchOverload(isSo);
      return (isSo ? yes?.(frame) : no?.(frame)) ?? null;
    };
  }

  #notStrictlyFalse(args: readonly Expr[]): Evaluate {
    const [argument] = args.map((each) => this.plan(each));
    return (frame) => {
      const value = argument?.(frame);
      charge(frame, 1);
      return value !== false;
    };
  }

  #indexed(args: readonly Expr[], isOptional: boolean): Evaluate {
    const [container, index] = args.map((argument) => this.plan(argument));
    const cost = args[0] !== undefined && isAttribute(args[0]) ? 1 : 2;
    return (frame) => {
      const target = container?.(frame) ?? null;
      if (target instanceof CelError) return target;
      const at = index?.(frame) ?? null;
      if (at instanceof CelError) return at;
      charge(frame, cost);
      if (target instanceof CelOptional) return mapOptional(target, (inside) => findAt(inside, at));
      return isOptional ? mapOptional(new CelOptional(target), (inside) => findAt(inside, at)) : indexed(target, at);
    };
  }

  #optionalSelect([operand, field]: readonly Expr[]): Evaluate {
    const evaluate = operand === undefined ? () => null : this.plan(operand);
    const name = field?.kind === "literal" && typeof field.value === "string" ? field.value : "";
    return (frame) => {
      const target = evaluate(frame);
      if (target instanceof CelError) return target;
      charge(frame, 1);
      const optional = target instanceof CelOptional ? target : new CelOptional(target);
      return mapOptional(optional, (inside) => findAt(inside, name));
    };
  }

  #function(expr: Call): Evaluate {
    const found = this.#checked.calls.get(expr);
    const name = found?.name ?? expr.name;
    const parts = found?.target === undefined ? expr.args : [found.target, ...expr.args];
    const evaluates = parts.map((part) => this.plan(part));
    if (name === "or" || name === "orValue") return orElse(evaluates, name === "orValue");
    const run = this.#implementation(name, found?.overloadIds ?? [], parts);
    const costOf = callCostOf(name, parts[1]?.kind === "literal");
    if (needsResult(name)) return callWithResultCost(evaluates, run, costOf);
    const [first, second, third] = evaluates;
    if (first !== undefined && second === undefined) {
      return (frame) => {
        const a = first(frame);
        if (a instanceof CelError) return a;
        charge(frame, costOf([a], undefined));
        return run(a);
      };
    }
    if (first !== undefined && second !== undefined && third === undefined) {
      return (frame) => {
        const a = first(frame);
        if (a instanceof CelError) return a;
        const b = second(frame);
        if (b instanceof CelError) return b;
        charge(frame, costOf([a, b], undefined));
        return run(a, b);
      };
    }
    return callWithCost(evaluates, run, costOf);
  }

  /** The implementation of the overloads that the checker found. If types are unknown, it is chosen at run time. */
  #implementation(name: string, ids: readonly string[], parts: readonly Expr[]): Implementation {
    const declaration = this.#functions.get(name);
    const overloads = declaration?.overloads.filter((overload) => ids.includes(overload.id)) ?? [];
    const [first] = overloads;
    if (declaration === undefined || first === undefined) return () => new CelError(`no such overload: ${name}`);
    const isKnown = parts.every((part) => isConcrete(this.#checked.types.get(part)));
    if (declaration.isGeneric === true || (overloads.length === 1 && isKnown)) return first.run;
    return (...args) => {
      const matching = overloads.find((overload) =>
        overload.args.every((type, index) => isOfType(type, args[index] ?? null))
      );
      return matching === undefined ? noOverloadFor(name, args) : matching.run(...args);
    };
  }

  #list(expr: Expr & { readonly kind: "list" }): Evaluate {
    const items = expr.items.map(({ value, isOptional }) => ({ evaluate: this.plan(value), isOptional }));
    return (frame) => {
      const values: Value[] = [];
      for (const { evaluate, isOptional } of items) {
        const value = evaluate(frame);
        if (value instanceof CelError) return value;
        if (!isOptional) values.push(value);
        else if (!(value instanceof CelOptional)) return noSuchOverload(value);
        else if (value.value !== undefined) values.push(value.value);
      }
      charge(frame, listCost);
      return new ValueList(values);
    };
  }

  #map(expr: Expr & { readonly kind: "map" }): Evaluate {
    const entries = expr.entries.map(({ key, value, isOptional }) => ({
      key: this.plan(key),
      value: this.plan(value),
      isOptional,
    }));
    return (frame) => {
      const made = new Map<string, readonly [Value, Value]>();
      for (const entry of entries) {
        const key = entry.key(frame);
        if (key instanceof CelError) return key;
        const value = entry.value(frame);
        if (value instanceof CelError) return value;
        const mapKey = mapKeyOf(key);
        if (mapKey === undefined) return new CelError("unsupported key type");
        if (!entry.isOptional) made.set(mapKey, [key, value]);
        else if (value instanceof CelOptional && value.value !== undefined) made.set(mapKey, [key, value.value]);
      }
      charge(frame, mapCost);
      return new ValueMap(made);
    };
  }

  #struct(expr: StructExpr): Evaluate {
    const type = this.#findStruct(expr.typeName.replace(/^\./, ""));
    const fields = expr.fields.map((field) => ({ ...field, evaluate: this.plan(field.value) }));
    return (frame) => {
      const made = new Map<string, Value>();
      for (const { name, evaluate, isOptional } of fields) {
        const value = evaluate(frame);
        if (value instanceof CelError) return value;
        if (!isOptional) made.set(name, value);
        else if (!(value instanceof CelOptional)) return noSuchOverload(value);
        else if (value.value !== undefined) made.set(name, value.value);
      }
      charge(frame, structCost);
      return type?.create(made) ?? new CelError(`unknown type: ${expr.typeName}`);
    };
  }

  #loop(expr: Comprehension): Evaluate {
    const range = this.plan(expr.range);
    const initial = this.plan(expr.initial);
    const depth = this.#scopes.length;
    const accumulator = this.#enter(expr.accumulator);
    const isBinding = expr.accumulator !== accumulatorName;
    const inner = this.#scopes.length;
    const first = this.#enter(expr.variable);
    const second = expr.variable2 === undefined ? undefined : this.#enter(expr.variable2);
    const condition = this.plan(expr.condition);
    const step = this.plan(expr.step);
    this.#scopes.length = inner;
    const result = this.plan(expr.result);
    this.#scopes.length = depth;
    const isList = !isBinding && expr.initial.kind === "list" && expr.initial.items.length === 0;
    const isMap = !isBinding && expr.initial.kind === "map" && expr.initial.entries.length === 0;
    return (frame) => {
      const container = range(frame);
      if (container instanceof CelError) return container;
      const start = initial(frame);
      if (isBinding && start instanceof CelError) return start;
      frame.slots[accumulator] = isList ? new ListBuilder() : isMap ? new MapBuilder() : start;
      const turn = (one: Value, two: Value): boolean => {
        frame.slots[first] = one;
        if (second !== undefined) frame.slots[second] = two;
        if (condition(frame) === false) return false;
        frame.slots[accumulator] = step(frame);
        return true;
      };
      const problem = forEachElement(container, second !== undefined, turn);
      if (problem !== undefined) return problem;
      const value = result(frame);
      return value instanceof ListBuilder || value instanceof MapBuilder ? value.finish() : value;
    };
  }

  #enter(name: string): number {
    const slot = this.#slots++;
    this.#scopes.push([name, slot]);
    return slot;
  }
}

/** True for a chain of names, fields and indexes, which the real server evaluates in one step. */
function isAttribute(expr: Expr): boolean {
  if (expr.kind === "ident") return true;
  if (expr.kind === "select") return !expr.isTest;
  return expr.kind === "call" && (expr.name === "_[_]" || expr.name === "_?_:_" || expr.name === "_?._");
}

function isConcrete(type: CelType | undefined): boolean {
  return type !== undefined && type.kind !== "dyn" && type.kind !== "error" && type.kind !== "null";
}

function literalValue(value: Literal): Value {
  if (typeof value === "object" && value !== null && !(value instanceof Uint8Array)) return new CelUint(value.uint);
  return value;
}

/** A chain of `&&` (decided by false) or `||` (decided by true). An error counts only when no operand decides. */
function combineLogical(terms: readonly Evaluate[], decides: boolean): Evaluate {
  return (frame) => {
    let problem: CelError | undefined;
    for (const term of terms) {
      const value = term(frame);
      if (value === decides) return decides;
      if (typeof value !== "boolean") problem ??= noSuchOverload(value);
    }
    return problem ?? !decides;
  };
}

/** `a.or(b)`, and with `isValue` `a.orValue(b)`. */
function orElse([optional, other]: readonly Evaluate[], isValue: boolean): Evaluate {
  return (frame) => {
    const value = optional?.(frame) ?? null;
    if (!(value instanceof CelOptional)) return value instanceof CelError ? value : noSuchOverload(value);
    if (value.value !== undefined) return isValue ? value.value : value;
    return other?.(frame) ?? null;
  };
}

/** A function whose cost depends on its arguments. */
function callWithCost(
  evaluates: readonly Evaluate[],
  run: Implementation,
  costOf: ReturnType<typeof callCostOf>,
): Evaluate {
  return (frame) => {
    const args: Value[] = [];
    for (const evaluate of evaluates) {
      const value = evaluate(frame);
      if (value instanceof CelError) return value;
      args.push(value);
    }
    charge(frame, costOf(args, undefined));
    return run(...args);
  };
}

/** A function whose cost depends on its result. */
function callWithResultCost(
  evaluates: readonly Evaluate[],
  run: Implementation,
  costOf: ReturnType<typeof callCostOf>,
): Evaluate {
  const call = callWithCost(evaluates, run, () => 0);
  return (frame) => {
    const value = call(frame);
    charge(frame, costOf([], value));
    return value;
  };
}

/** The value inside an optional, as an optional. */
function mapOptional(optional: CelOptional, find: (inside: Value) => Value | undefined): Value {
  if (optional.value === undefined) return noneOptional;
  const found = find(optional.value);
  if (found === undefined) return noneOptional;
  return found instanceof CelError ? found : new CelOptional(found);
}

/** The state of one run: its variables and its cost so far. */
interface Frame {
  /** The variables of the environment, then those of loops. */
  readonly slots: Value[];
  cost: number;
  readonly limit: number;
}

/** One planned node. */
type Evaluate = (frame: Frame) => Value;

/** Ends a run at its cost limit. */
class CostExceeded extends Error {}

/** Adds to the cost of a run. @throws CostExceeded above the limit */
function charge(frame: Frame, cost: number): void {
  frame.cost += cost;
  if (frame.cost > frame.limit) throw new CostExceeded();
}

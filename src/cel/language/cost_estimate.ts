/**
 * estimateCost(): the maximum cost of an expression, computed from its syntax tree and the maximum sizes in the schema. The
 * real server rejects rules by this estimate, so it is computed in the same way, oddities included.
 */
import { accumulatorName, type Call, type Comprehension, type Expr, type Select } from "./ast.ts";
import {
  type CallEstimate,
  either,
  estimateCall,
  exactly,
  type Part,
  plus,
  type Range,
  times,
  union,
  unknownSize,
} from "./_call_estimates.ts";
import type { Checked } from "./_checker.ts";
import { type CelType, dynType, optionalContent } from "./types.ts";
import { codePointLength } from "./values.ts";

export { cappedProduct, maxEstimate, type Range } from "./_call_estimates.ts";

/**
 * The maximum size of the value at a path, e.g. `["self", "items", "@items"]`; undefined when it is unknown. Steps are field
 * names, `@items`, `@keys` and `@values`.
 */
export type SizeAtPath = (path: readonly string[]) => number | undefined;

/** The minimum and maximum cost of an expression. */
export function estimateCost(checked: Checked, sizeAtPath: SizeAtPath): Range {
  return new Estimator(checked, sizeAtPath).cost(checked.expr);
}

/** Sizes of the elements of a list or map. */
interface EntrySize {
  readonly kind: "list" | "map";
  readonly key: Range;
  readonly value: Range;
}

interface Local {
  readonly path: readonly string[];
  readonly size: Range | undefined;
  readonly entrySize: EntrySize | undefined;
}

const zero = exactly(0);

class Estimator {
  readonly #checked: Checked;
  readonly #sizeAtPath: SizeAtPath;
  readonly #paths = new Map<Expr, readonly string[]>();
  readonly #sizes = new Map<Expr, Range>();
  readonly #entrySizes = new Map<Expr, EntrySize>();
  readonly #locals = new Map<string, Local[]>();

  constructor(checked: Checked, sizeAtPath: SizeAtPath) {
    this.#checked = checked;
    this.#sizeAtPath = sizeAtPath;
  }

  cost(expr: Expr): Range {
    switch (expr.kind) {
      case "literal":
        return zero;
      case "ident":
        this.#paths.set(expr, this.#local(expr.name)?.path ?? [expr.name]);
        return exactly(1);
      case "select":
        return this.#selectCost(expr);
      case "call":
        return this.#callCost(expr);
      case "list": {
        const items = expr.items.map((item) => item.value);
        const cost = this.#sum(items);
        this.#entrySizes.set(expr, { kind: "list", key: exactly(1), value: this.#unionOfSizes(items) });
        return plus(cost, exactly(10));
      }
      case "map": {
        const [keys, values] = [expr.entries.map((entry) => entry.key), expr.entries.map((entry) => entry.value)];
        const cost = plus(this.#sum(keys), this.#sum(values));
        this.#entrySizes.set(expr, { kind: "map", key: this.#unionOfSizes(keys), value: this.#unionOfSizes(values) });
        return plus(cost, exactly(30));
      }
      case "struct":
        return exactly(40);
      case "comprehension":
        return isBinding(expr) ? this.#bindingCost(expr) : this.#loopCost(expr);
      default:
        return expr satisfies never;
    }
  }

  #sum(exprs: readonly Expr[]): Range {
    return exprs.reduce((sum, expr) => plus(sum, this.cost(expr)), zero);
  }

  #unionOfSizes(exprs: readonly Expr[]): Range {
    if (exprs.length === 0) return zero;
    return exprs.map((expr) => this.#size(expr) ?? unknownSize).reduce((left, right) => union(left, right));
  }

  #selectCost(expr: Select): Range {
    const cost = this.cost(expr.operand);
    if (expr.isTest) return cost;
    const { kind } = this.#type(expr.operand);
    this.#paths.set(expr, [...this.#path(expr.operand), expr.field]);
    return kind === "map" || kind === "object" || kind === "param" ? plus(cost, exactly(1)) : cost;
  }

  #callCost(expr: Call): Range {
    const found = this.#checked.calls.get(expr);
    const name = found?.name ?? expr.name;
    const [first] = expr.args;
    if (name === "dyn" && first !== undefined) {
      const cost = plus(exactly(1), this.cost(first));
      this.#copySizes(expr, first);
      return cost;
    }
    const argCosts = expr.args.map((argument) => this.cost(argument));
    const argSum = argCosts.reduce((sum, cost) => plus(sum, cost), zero);
    const args = expr.args.map((argument) => this.#part(argument));
    const target = found?.target;
    const targetCost = target === undefined ? zero : this.cost(target);
    const targetPart = target === undefined ? undefined : this.#part(target);
    if (found === undefined || found.overloadIds.length === 0) return zero;
    const estimates = found.overloadIds.map((id): CallEstimate => {
      const special = this.#special(expr, name, argCosts);
      if (special !== undefined) return special;
      const { cost, resultSize } = this.#estimate(expr, name, id, targetPart, args);
      return { cost: plus(cost, argSum), resultSize };
    });
    const estimate = estimates.reduce((left, right) => either(left, right));
    this.#setCallSize(expr, found.overloadIds, estimate.resultSize);
    return plus(targetCost, estimate.cost);
  }

  /** Operators that do not always evaluate all of their arguments. */
  #special(expr: Call, name: string, argCosts: readonly Range[]): CallEstimate | undefined {
    if (name === "_&&_" || name === "_||_") {
      const sum = argCosts.reduce((left, right) => plus(left, right), zero);
      return { cost: { min: argCosts[0]?.min ?? 0, max: sum.max } };
    }
    if (name !== "_?_:_") return undefined;
    const [condition, yes, no] = expr.args;
    if (condition === undefined || yes === undefined || no === undefined) return undefined;
    const [left, right] = [this.#entrySize(yes), this.#entrySize(no)];
    if (left !== undefined && right !== undefined) this.#entrySizes.set(expr, unionOfEntries(left, right));
    const [conditionCost = zero, yesCost = zero, noCost = zero] = argCosts;
    return {
      cost: plus(conditionCost, union(yesCost, noCost)),
      resultSize: union(this.#size(yes) ?? unknownSize, this.#size(no) ?? unknownSize),
    };
  }

  #estimate(expr: Call, name: string, id: string, target: Part | undefined, args: readonly Part[]): CallEstimate {
    if (id !== "add_string" && id !== "add_bytes" && id !== "add_list") return estimateCall(name, id, target, args);
    const [left, right] = args;
    const resultSize = plus(left?.size ?? unknownSize, right?.size ?? unknownSize);
    const entries = left === undefined ? undefined : this.#entrySize(left.expr);
    const others = right === undefined ? undefined : this.#entrySize(right.expr);
    if (entries !== undefined && others !== undefined) this.#entrySizes.set(expr, unionOfEntries(entries, others));
    if (id === "add_list") return { cost: exactly(1), resultSize };
    return {
      cost: { min: Math.ceil(resultSize.min * 0.1), max: Math.min(Math.ceil(resultSize.max * 0.1), resultSize.max) },
      resultSize,
    };
  }

  #setCallSize(expr: Call, overloadIds: readonly string[], estimated: Range | undefined): void {
    let size = estimated;
    const [container] = expr.args;
    for (const id of overloadIds) {
      const step = id === "index_list" ? "@items" : id === "index_map" ? "@values" : undefined;
      if (step !== undefined && container !== undefined) {
        size = this.#entrySize(container)?.value;
        this.#paths.set(expr, [...this.#path(container), step]);
      }
      size ??= this.#size(expr);
    }
    if (size !== undefined) this.#sizes.set(expr, size);
  }

  #bindingCost(expr: Comprehension): Range {
    const cost = plus(this.cost(expr.range), this.cost(expr.initial));
    this.#pushLocal(expr.accumulator, expr.initial);
    const result = this.cost(expr.result);
    this.#pop(expr.accumulator);
    this.#copySizes(expr, expr.result);
    return plus(cost, result);
  }

  #loopCost(expr: Comprehension): Range {
    let cost = plus(this.cost(expr.range), this.cost(expr.initial));
    this.#pushLocal(expr.accumulator, expr.initial);
    this.#pushIteration(expr);
    const turnCost = plus(this.cost(expr.condition), this.cost(expr.step));
    this.#pop(expr.variable);
    if (expr.variable2 !== undefined) this.#pop(expr.variable2);
    cost = plus(cost, this.cost(expr.result));
    this.#pop(expr.accumulator);
    const count = this.#size(expr.range) ?? unknownSize;
    cost = plus(cost, times(count, turnCost));
    if (expr.initial.kind === "literal") {
      const size = this.#size(expr.initial);
      if (size !== undefined) this.#sizes.set(expr, size);
    } else if (expr.initial.kind === "list" || expr.initial.kind === "map") {
      this.#sizes.set(expr, count);
      const entrySize = this.#entrySize(expr.step);
      if (entrySize !== undefined) this.#entrySizes.set(expr, entrySize);
    }
    return cost;
  }

  #pushIteration(expr: Comprehension): void {
    const entrySize = this.#entrySize(expr.range);
    const isList = (entrySize?.kind ?? this.#type(expr.range).kind) === "list";
    const path = this.#path(expr.range);
    if (expr.variable2 === undefined) {
      const size = isList ? entrySize?.value : entrySize?.key;
      this.#push(expr.variable, { path: [...path, isList ? "@items" : "@keys"], size, entrySize: undefined });
      return;
    }
    this.#push(expr.variable, {
      path: [...path, isList ? "@indices" : "@keys"],
      size: entrySize?.key,
      entrySize: undefined,
    });
    this.#push(expr.variable2, {
      path: [...path, isList ? "@items" : "@values"],
      size: entrySize?.value,
      entrySize: undefined,
    });
  }

  #pushLocal(name: string, expr: Expr): void {
    this.#push(name, { path: this.#path(expr), size: this.#size(expr), entrySize: this.#entrySize(expr) });
  }

  #push(name: string, local: Local): void {
    const stack = this.#locals.get(name);
    if (stack === undefined) this.#locals.set(name, [local]);
    else stack.push(local);
  }

  #pop(name: string): void {
    this.#locals.get(name)?.pop();
  }

  #local(name: string): Local | undefined {
    return this.#locals.get(name)?.at(-1);
  }

  #part(expr: Expr): Part {
    const path = this.#path(expr);
    const isOwn = path.length > 0 && path[0] !== accumulatorName;
    const type = this.#type(expr);
    const computed = this.#size(expr);
    return {
      expr,
      type,
      size: computed ?? (isOwn ? this.#pathSize(path) : undefined),
      itemSize: () => isOwn ? this.#pathSize([...path, "@items"]) : undefined,
    };
  }

  #type(expr: Expr): CelType {
    return this.#checked.types.get(expr) ?? dynType;
  }

  #path(expr: Expr): readonly string[] {
    if (expr.kind === "ident") {
      const local = this.#local(expr.name);
      if (local !== undefined) return local.path;
    }
    return this.#paths.get(expr) ?? [];
  }

  #pathSize(path: readonly string[]): Range | undefined {
    if (path.length === 0) return undefined;
    const max = this.#sizeAtPath(path);
    return max === undefined ? undefined : { min: 0, max };
  }

  #size(expr: Expr): Range | undefined {
    const known = this.#sizes.get(expr) ?? literalSize(expr);
    if (known !== undefined) return known;
    const atPath = this.#pathSize(this.#path(expr));
    if (atPath !== undefined) {
      this.#sizes.set(expr, atPath);
      return atPath;
    }
    if (isScalar(this.#type(expr))) return exactly(1);
    return expr.kind === "ident" ? this.#local(expr.name)?.size : undefined;
  }

  #entrySize(expr: Expr): EntrySize | undefined {
    return this.#entrySizes.get(expr) ?? (expr.kind === "ident" ? this.#local(expr.name)?.entrySize : undefined);
  }

  #copySizes(to: Expr, from: Expr): void {
    const [size, entrySize] = [this.#size(from), this.#entrySize(from)];
    if (size !== undefined) this.#sizes.set(to, size);
    if (entrySize !== undefined) this.#entrySizes.set(to, entrySize);
  }
}

function isBinding(expr: Comprehension): boolean {
  return expr.accumulator !== accumulatorName && expr.range.kind === "list" && expr.range.items.length === 0;
}

function unionOfEntries(left: EntrySize, right: EntrySize): EntrySize {
  return { kind: left.kind, key: union(left.key, right.key), value: union(left.value, right.value) };
}

function literalSize(expr: Expr): Range | undefined {
  if (expr.kind === "list") return exactly(expr.items.length);
  if (expr.kind === "map") return exactly(expr.entries.length);
  if (expr.kind !== "literal") return undefined;
  if (typeof expr.value === "string") return exactly(codePointLength(expr.value));
  return exactly(expr.value instanceof Uint8Array ? expr.value.length : 1);
}

function isScalar(type: CelType): boolean {
  switch (type.kind) {
    case "bool":
    case "double":
    case "duration":
    case "int":
    case "timestamp":
    case "uint":
      return true;
    default: {
      const content = optionalContent(type);
      return content !== undefined && isScalar(content);
    }
  }
}

/**
 * Macros: calls that are expanded to loops or tests while parsing, as cel-go and its optional and two-variable libraries do
 * it. A call with the name of a macro but another number of arguments is an ordinary call.
 */
import { accumulatorName, type Call, type Comprehension, type Expr } from "./ast.ts";
import type { Issue } from "./issues.ts";

/** The expansion; an issue when the arguments are invalid; undefined when the call is not a macro. */
export type Expansion = Expr | { readonly kind: "issue"; readonly issue: Issue };

/** Expands a call if it is a macro. @param hasBindings whether `cel.bind` is one */
export function expand(call: Call, hasBindings: boolean): Expansion | undefined {
  const { name, target, args } = call;
  if (hasBindings && name === "bind" && args.length === 3 && target?.kind === "ident" && target.name === "cel") {
    return bound(call);
  }
  if (target === undefined) return name === "has" && args.length === 1 ? has(call) : undefined;
  const macro = macros.get(`${name}/${args.length}`);
  return macro?.(call, target, args);
}

type Macro = (call: Call, target: Expr, args: readonly Expr[]) => Expansion;

const macros: ReadonlyMap<string, Macro> = new Map<string, Macro>([
  ["all/2", one(all)],
  ["exists/2", one(exists)],
  ["exists_one/2", one(existsOne)],
  ["existsOne/2", one(existsOne)],
  ["map/2", one(mapped, "argument is not an identifier")],
  ["map/3", one(mapped, "argument is not an identifier")],
  ["filter/2", one(filtered, "argument is not an identifier")],
  ["all/3", two(all)],
  ["exists/3", two(exists)],
  ["existsOne/3", two(existsOne)],
  ["exists_one/3", two(existsOne)],
  ["transformList/3", two(mapped)],
  ["transformList/4", two(mapped)],
  ["transformMap/3", two(inserted)],
  ["transformMap/4", two(inserted)],
  ["transformMapEntry/3", two(merged)],
  ["transformMapEntry/4", two(merged)],
  ["sortBy/2", sortBy],
  ["optMap/2", (call, target, args) => optional(call, target, args, true)],
  ["optFlatMap/2", (call, target, args) => optional(call, target, args, false)],
]);

/** The parts of a loop that differ between macros. */
type Loop = Pick<Comprehension, "initial" | "condition" | "step" | "result">;

/** Creates the parts of a loop. `args` are the arguments after the variables, `variable` is the first variable. */
type LoopMaker = (offset: number, args: readonly Expr[], variable: Expr) => Loop;

function one(make: LoopMaker, notIdent = "argument must be a simple name"): Macro {
  return ({ offset }, range, [variable, ...args]) => {
    if (variable?.kind !== "ident") return issueAt(variable, notIdent);
    if (isAccumulator(variable.name)) return issueAt(variable, overwrites);
    const loop = make(offset, args, variable);
    return { kind: "comprehension", offset, range, variable: variable.name, accumulator: accumulatorName, ...loop };
  };
}

function two(make: LoopMaker): Macro {
  return ({ offset }, range, [first, second, ...args]) => {
    if (first?.kind !== "ident") return issueAt(first, "argument must be a simple name");
    if (second?.kind !== "ident") return issueAt(second, "argument must be a simple name");
    if (first.name === second.name) return issueAt(second, `duplicate variable name: ${first.name}`);
    if (isAccumulator(first.name)) return issueAt(first, overwrites);
    if (isAccumulator(second.name)) return issueAt(second, overwrites);
    const loop = make(offset, args, first);
    const [variable, variable2] = [first.name, second.name];
    return { kind: "comprehension", offset, range, variable, variable2, accumulator: accumulatorName, ...loop };
  };
}

const overwrites = "iteration variable overwrites accumulator variable";

function isAccumulator(name: string): boolean {
  return name === accumulatorName || name === "__result__";
}

function all(offset: number, [predicate]: readonly Expr[]): Loop {
  return {
    initial: literal(offset, true),
    condition: callOf(offset, "@not_strictly_false", accumulator(offset)),
    step: callOf(offset, "_&&_", accumulator(offset), predicate),
    result: accumulator(offset),
  };
}

function exists(offset: number, [predicate]: readonly Expr[]): Loop {
  return {
    initial: literal(offset, false),
    condition: callOf(offset, "@not_strictly_false", callOf(offset, "!_", accumulator(offset))),
    step: callOf(offset, "_||_", accumulator(offset), predicate),
    result: accumulator(offset),
  };
}

function existsOne(offset: number, [predicate]: readonly Expr[]): Loop {
  const more = callOf(offset, "_+_", accumulator(offset), literal(offset, 1n));
  return {
    initial: literal(offset, 0n),
    condition: literal(offset, true),
    step: callOf(offset, "_?_:_", predicate, more, accumulator(offset)),
    result: callOf(offset, "_==_", accumulator(offset), literal(offset, 1n)),
  };
}

/** `map` and `transformList`: with two arguments the first one filters the items. */
function mapped(offset: number, args: readonly Expr[]): Loop {
  const value = args[args.length - 1];
  return collecting(offset, args.length === 2 ? args[0] : undefined, appended(offset, value));
}

function filtered(offset: number, [predicate]: readonly Expr[], variable: Expr): Loop {
  return collecting(offset, predicate, appended(offset, variable));
}

function appended(offset: number, value: Expr | undefined): Expr {
  const items = value === undefined ? [] : [{ value, isOptional: false }];
  return callOf(offset, "_+_", accumulator(offset), { kind: "list", offset, items });
}

function collecting(offset: number, predicate: Expr | undefined, step: Expr): Loop {
  return {
    initial: { kind: "list", offset, items: [] },
    condition: literal(offset, true),
    step: predicate === undefined ? step : callOf(offset, "_?_:_", predicate, step, accumulator(offset)),
    result: accumulator(offset),
  };
}

function inserted(offset: number, args: readonly Expr[], variable: Expr): Loop {
  const value = args[args.length - 1];
  const step = callOf(offset, "cel.@mapInsert", accumulator(offset), variable, value);
  return inserting(offset, args.length === 2 ? args[0] : undefined, step);
}

function merged(offset: number, args: readonly Expr[]): Loop {
  const step = callOf(offset, "cel.@mapInsert", accumulator(offset), args[args.length - 1]);
  return inserting(offset, args.length === 2 ? args[0] : undefined, step);
}

function inserting(offset: number, predicate: Expr | undefined, step: Expr): Loop {
  return { ...collecting(offset, predicate, step), initial: { kind: "map", offset, entries: [] } };
}

/** `optMap` and `optFlatMap`: a variable binding, written as a loop over an empty list. */
function optional(call: Call, target: Expr, [variable, body]: readonly Expr[], isWrapped: boolean): Expansion {
  const { offset } = call;
  if (variable?.kind !== "ident" || body === undefined) {
    return issueAt(variable, `${call.name}() variable name must be a simple identifier`);
  }
  const value: Expr = { kind: "call", offset, name: "value", target, args: [] };
  const binding = bindingOf(offset, variable.name, value, body);
  const isThere: Expr = { kind: "call", offset, name: "hasValue", target, args: [] };
  const found = isWrapped ? callOf(offset, "optional.of", binding) : binding;
  return callOf(offset, "_?_:_", isThere, found, callOf(offset, "optional.none"));
}

/** `cel.bind(name, value, body)`. */
function bound({ offset, args: [variable, value, body] }: Call): Expansion {
  if (variable?.kind !== "ident" || value === undefined || body === undefined) {
    return issueAt(variable, "cel.bind() variable names must be simple identifiers");
  }
  return bindingOf(offset, variable.name, value, body);
}

/** The value of `body` where `name` is `value`. */
function bindingOf(offset: number, name: string, value: Expr, body: Expr): Comprehension {
  return {
    kind: "comprehension",
    offset,
    range: { kind: "list", offset, items: [] },
    variable: "#unused",
    accumulator: name,
    initial: value,
    condition: literal(offset, false),
    step: { kind: "ident", offset, name },
    result: body,
  };
}

/** `sortBy`: binds the list to a name and its keys to a loop over that name. */
function sortBy(call: Call, target: Expr, args: readonly Expr[]): Expansion {
  const { offset } = call;
  const input: Expr = { kind: "ident", offset, name: "@__sortBy_input__" };
  const keys = one(mapped, "argument is not an identifier")(call, input, args);
  if (keys.kind === "issue") return keys;
  const sorted: Expr = { kind: "call", offset, name: "@sortByAssociatedKeys", target: input, args: [keys] };
  return bindingOf(offset, input.name, target, sorted);
}

function has(call: Call): Expansion {
  const argument = call.args[0];
  if (argument?.kind !== "select") return issueAt(argument, "invalid argument to has() macro");
  return { ...argument, offset: call.offset, isTest: true };
}

function callOf(offset: number, name: string, ...args: readonly (Expr | undefined)[]): Expr {
  return { kind: "call", offset, name, args: args.filter((argument) => argument !== undefined) };
}

function accumulator(offset: number): Expr {
  return { kind: "ident", offset, name: accumulatorName };
}

function literal(offset: number, value: boolean | bigint): Expr {
  return { kind: "literal", offset, value };
}

function issueAt(expr: Expr | undefined, message: string): Expansion {
  return { kind: "issue", issue: { offset: expr?.offset ?? -1, message } };
}

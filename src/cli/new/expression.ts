/**
 * Expression: a part of a written source file that can also be evaluated. `new --from-crd` evaluates the expressions that it
 * writes, and compares the definition that they make with the one that it has read: what differs is found before a file is
 * written. expression_text.ts prints them.
 */
import { embeddedResource, int64, integer, type Json, z } from "../../schema/mod.ts";

/** A part of a source file. */
export type Expression =
  | { readonly kind: "json"; readonly value: Json }
  | { readonly kind: "pattern"; readonly regexp: RegExp }
  | { readonly kind: "fields"; readonly fields: readonly (readonly [name: string, value: Expression])[] }
  | { readonly kind: "list"; readonly items: readonly Expression[] }
  | Chain;

/** A call and the calls of methods of its result: `z.string().min(1)`. */
export interface Chain {
  readonly kind: "chain";
  readonly calls: readonly FunctionCall[];
}

/** One call: the function and its arguments. */
export interface FunctionCall {
  readonly name: string;
  readonly args: readonly Expression[];
}

/** The functions that expressions begin with. */
const functions: Readonly<Record<string, unknown>> = {
  embeddedResource,
  int64,
  integer,
  "z.array": z.array,
  "z.boolean": z.boolean,
  "z.enum": z.enum,
  "z.float32": z.float32,
  "z.float64": z.float64,
  "z.int": z.int,
  "z.int32": z.int32,
  "z.literal": z.literal,
  "z.looseObject": z.looseObject,
  "z.number": z.number,
  "z.object": z.object,
  "z.record": z.record,
  "z.string": z.string,
  "z.union": z.union,
  "z.unknown": z.unknown,
};

/** A value as an expression. */
export function json(value: Json): Expression {
  return { kind: "json", value };
}

/** The first call of a chain. */
export function call(name: string, ...args: readonly Expression[]): Chain {
  return { kind: "chain", calls: [{ name, args }] };
}

/** The chain with a further call. */
export function then(chain: Chain, name: string, ...args: readonly Expression[]): Chain {
  return { kind: "chain", calls: [...chain.calls, { name, args }] };
}

/** An object with these fields. */
export function fields(entries: Iterable<readonly [name: string, value: Expression]>): Expression {
  return { kind: "fields", fields: [...entries] };
}

/** Returns the functions that an expression calls, such as `z.string`, each once. */
export function functionsIn(expression: Expression): ReadonlySet<string> {
  const found = new Set<string>();
  const seen = new Set<Expression>();
  const visit = (one: Expression) => {
    if (seen.has(one)) return;
    seen.add(one);
    if (one.kind === "fields") { for (const [, value] of one.fields) visit(value); }
    if (one.kind === "list") { for (const item of one.items) visit(item); }
    if (one.kind !== "chain") return;
    found.add(one.calls[0]?.name ?? "");
    for (const { args } of one.calls) for (const arg of args) visit(arg);
  };
  visit(expression);
  return found;
}

const values = new WeakMap<Expression, unknown>();

/** Returns the value of an expression. Equal objects are evaluated once. */
export function evaluate(expression: Expression): unknown {
  if (expression.kind === "json") return expression.value;
  if (!values.has(expression)) values.set(expression, valueOf(expression));
  return values.get(expression);
}

function valueOf(expression: Exclude<Expression, { kind: "json" }>): unknown {
  switch (expression.kind) {
    case "pattern":
      return expression.regexp;
    case "fields":
      // fromEntries() defines properties, so that a field named __proto__ stays a field.
      return Object.fromEntries(expression.fields.map(([name, value]) => [name, evaluate(value)]));
    case "list":
      return expression.items.map(evaluate);
    case "chain": {
      const [first, ...methods] = expression.calls;
      if (first === undefined) return undefined;
      return methods.reduce<unknown>(
        (holder, { name, args }) => applied(Reflect.get(Object(holder), name), holder, args),
        applied(functions[first.name], undefined, first.args),
      );
    }
    default:
      return expression satisfies never;
  }
}

function applied(target: unknown, holder: unknown, args: readonly Expression[]): unknown {
  if (typeof target !== "function") throw new TypeError("Cannot evaluate an expression: it calls no function");
  return Reflect.apply(target, holder, args.map(evaluate));
}

/**
 * The syntax tree of an expression, with its macros expanded: `list.all(x, p)` is a comprehension here. Operators are calls
 * with cel-go's names (`_+_`, `_?_:_`), which messages show.
 *
 * Guarantees: a tree is never changed; the checker keeps its results in maps by node.
 */

/** One node. `offset` is the UTF-16 index for messages about it. */
export type Expr =
  | { readonly kind: "literal"; readonly offset: number; readonly value: Literal }
  | { readonly kind: "ident"; readonly offset: number; readonly name: string }
  | Select
  | Call
  | ListExpr
  | MapExpr
  | StructExpr
  | Comprehension;

/** A constant: `int` as bigint, `double` as number. */
export type Literal = null | boolean | bigint | number | string | Uint8Array | { readonly uint: bigint };

/** `operand.field`; with `isTest`, `has(operand.field)`. */
export interface Select {
  readonly kind: "select";
  readonly offset: number;
  readonly operand: Expr;
  readonly field: string;
  readonly isTest: boolean;
}

/** A function, method or operator with its arguments. */
export interface Call {
  readonly kind: "call";
  readonly offset: number;
  readonly name: string;
  readonly target?: Expr;
  readonly args: readonly Expr[];
}

/** `[a, ?b]`. */
export interface ListExpr {
  readonly kind: "list";
  readonly offset: number;
  readonly items: readonly { readonly value: Expr; readonly isOptional: boolean }[];
}

/** `{k: v, ?k: v}`. */
export interface MapExpr {
  readonly kind: "map";
  readonly offset: number;
  readonly entries: readonly { readonly key: Expr; readonly value: Expr; readonly isOptional: boolean }[];
}

/** `Type{field: value}`, for the types of the environment. */
export interface StructExpr {
  readonly kind: "struct";
  readonly offset: number;
  readonly typeName: string;
  readonly fields: readonly StructField[];
}

/** `field: value`, or `?field: value`. */
export interface StructField {
  readonly name: string;
  /** Of the colon, for messages. */
  readonly offset: number;
  readonly value: Expr;
  readonly isOptional: boolean;
}

/** A loop over a list or over the keys of a map. */
export interface Comprehension {
  readonly kind: "comprehension";
  readonly offset: number;
  readonly range: Expr;
  /** The item of a list or the key of a map; with `variable2`, the index or key. */
  readonly variable: string;
  /** The item or the value. */
  readonly variable2?: string;
  readonly accumulator: string;
  readonly initial: Expr;
  /** The loop ends when this is false. */
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}

/** The accumulator of macros: a name that no expression can contain. */
export const accumulatorName = "@result";

/** `a.b.c` as one name; undefined when it is not a chain of plain names. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === "ident") return expr.name;
  if (expr.kind !== "select" || expr.isTest) return undefined;
  const prefix = qualifiedName(expr.operand);
  return prefix === undefined ? undefined : `${prefix}.${expr.field}`;
}

/** The children of a node. */
export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case "select":
      return [expr.operand];
    case "call":
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    case "list":
      return expr.items.map((item) => item.value);
    case "map":
      return expr.entries.flatMap((entry) => [entry.key, entry.value]);
    case "struct":
      return expr.fields.map((field) => field.value);
    case "comprehension":
      return [expr.range, expr.initial, expr.condition, expr.step, expr.result];
    default:
      return [];
  }
}

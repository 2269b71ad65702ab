/**
 * Expressions in texts: `${...}` is an expression of the Common Expression Language, the rest of a text is itself.
 *
 * Guarantees: an expression is compiled and type-checked when the graph is read; its errors have the line of the text.
 */
import { CelEnvironment, type CelType, formatType, type Value } from "../cel/mod.ts";
import { TerminalError } from "../controller/mod.ts";
import { GraphError, type Place } from "./graph_error.ts";

/** The variables of a graph and their types: `schema` and the ids of the resources. */
export type Variables = ReadonlyMap<string, CelType>;

/** The values of variables; those of resources that do not exist are missing. */
export type Values = ReadonlyMap<string, Value>;

/** The variable of the object that owns the resources. */
export const ownerName = "schema";

/** A compiled expression. */
export interface Expression {
  /** Without `${` and `}`. */
  readonly source: string;
  readonly type: CelType;
  /** The variables that it reads. */
  readonly used: ReadonlySet<string>;
  /**
   * @throws MissingValueError when a value of a resource does not exist yet, TerminalError for a problem of an expression that
   * reads only the owner, because only a change of the owner can help; Error for other problems
   */
  evaluate(values: Values): Value;
}

/** A value that an expression reads and that does not exist (yet), such as a field of a status. */
export class MissingValueError extends Error {
  override readonly name = "MissingValueError";
}

/** Compiles an expression. @throws GraphError when it is invalid */
export function compileExpression(source: string, variables: Variables, place: Place): Expression {
  const compiled = new CelEnvironment(variables).compile(source);
  if (compiled.kind === "failed") {
    const issues = compiled.issues.map(({ message }) => message).join("; ");
    throw new GraphError(place, `the expression \${${source}} is invalid: ${issues}`);
  }
  const { program, checked } = compiled;
  const names = [...variables.keys()];
  const used = new Set([...program.used].filter((name) => variables.has(name)));
  const readsResources = [...used].some((name) => name !== ownerName);
  return {
    source,
    type: checked.type,
    used,
    evaluate(values) {
      for (const name of used) if (!values.has(name)) throw new MissingValueError(`${name} does not exist`);
      const outcome = program.run(names.map((name) => values.get(name) ?? null));
      if (outcome.kind === "value") return outcome.value;
      const state = outcome.kind === "error" ? outcome.message : "it costs too much";
      if (readsResources && /^(no such key|index out of bounds)/.test(state)) {
        throw new MissingValueError(`\${${source}} has no value: ${state}`);
      }
      const message = `Cannot evaluate \${${source}}: ${state}`;
      throw readsResources ? new Error(message) : new TerminalError(message);
    },
  };
}

/** Compiles a condition: a text that is one expression of the type bool. @throws GraphError when it is not */
export function compileCondition(text: unknown, variables: Variables, place: Place): Expression {
  const parts = typeof text === "string" ? partsOf(text, place) : [];
  const [only] = parts;
  if (parts.length !== 1 || only?.kind !== "expression") {
    throw new GraphError(place, "a condition is one expression: ${...}");
  }
  const expression = compileExpression(only.source, variables, place);
  if (expression.type.kind === "bool" || expression.type.kind === "dyn") return expression;
  throw new GraphError(
    place,
    `\${${only.source}} is of the type ${formatType(expression.type)}, and a condition is a bool`,
  );
}

/** A part of a text. */
export type TextPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "expression"; readonly source: string };

/** Divides a text into expressions and what stands between them. @throws GraphError when an expression does not end */
export function partsOf(text: string, place: Place): readonly TextPart[] {
  const parts: TextPart[] = [];
  let rest = text;
  while (rest !== "") {
    const start = rest.indexOf("${");
    if (start !== 0) parts.push({ kind: "text", text: start < 0 ? rest : rest.slice(0, start) });
    if (start < 0) break;
    const end = endOfExpression(rest, start + 2);
    if (end === undefined) throw new GraphError(place, "an expression does not end. Close it with }");
    parts.push({ kind: "expression", source: rest.slice(start + 2, end).trim() });
    rest = rest.slice(end + 1);
  }
  return parts;
}

/** The index of the `}` that closes an expression: braces in texts of the expression do not count. */
function endOfExpression(text: string, from: number): number | undefined {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const character = text[at] ?? "";
    if (character === '"' || character === "'") {
      while (++at < text.length && text[at] !== character) if (text[at] === "\\") at++;
    } else if (character === "{") depth++;
    else if (character === "}" && depth-- === 0) return at;
  }
  return undefined;
}

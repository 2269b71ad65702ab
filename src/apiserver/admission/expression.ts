/**
 * Expressions of admission: compiled once, with what they must come to, and run one after the other on a budget that they
 * share. Texts are those of apiserver `admission/plugin/cel` of Kubernetes 1.36.
 */
import { type CelEnvironment, type CelProgram, type CelType, formatTypeName, type Value } from "../cel/mod.ts";
import type { VariableValues } from "./cel_variables.ts";

/** A compiled expression, or why there is none. */
export type Expression =
  | {
    readonly kind: "program";
    readonly source: string;
    readonly type: CelType;
    readonly program: CelProgram;
    /** Variables in the order in which the program takes their values. */
    readonly names: readonly string[];
  }
  | { readonly kind: "broken"; readonly source: string; readonly why: string };

/** What one expression came to. */
export type Result =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "error"; readonly message: string }
  /** There was no expression in this place. */
  | { readonly kind: "none" };

/** What a row of expressions came to, and what is left of the budget; or why none of it counts. */
export type Run =
  | { readonly kind: "done"; readonly results: readonly Result[]; readonly budget: number }
  | { readonly kind: "failed"; readonly message: string };

/** What all expressions of a policy may cost for one binding, and all conditions of a webhook: apiserver `apis/cel`. */
export const policyBudget = 10_000_000;
export const conditionsBudget = 2_500_000;

/** Compiles an expression. @param returns what it may come to, by the names that Go has for types; none for anything */
export function compileExpression(
  source: string,
  returns: readonly string[],
  environment: CelEnvironment,
): Expression {
  const compiled = environment.compile(source);
  if (compiled.kind === "failed") return { kind: "broken", source, why: `compilation failed: ${compiled.message}` };
  const { type } = compiled.checked;
  const found = formatTypeName(type);
  if (returns.length > 0 && !returns.includes(found)) {
    const wanted = returns.length === 1 ? `${returns[0]}` : `one of [${returns.join(" ")}]`;
    return { kind: "broken", source, why: `must evaluate to ${wanted} but got ${found}` };
  }
  return { kind: "program", source, type, program: compiled.program, names: [...environment.variables.keys()] };
}

/** Values that cost something to find: those of `variables`. */
export interface Spending {
  /** What was spent since it was asked last. */
  takeCost(): number;
}

const outOfBudget = "validation failed due to running out of cost budget, no further validation rules will be run";

/** Runs expressions in their order. */
export function runExpressions(
  expressions: readonly (Expression | undefined)[],
  values: VariableValues,
  budget: number,
  spending?: Spending,
): Run {
  const results: Result[] = [];
  let left = budget;
  for (const expression of expressions) {
    if (expression === undefined) {
      results.push({ kind: "none" });
    } else if (expression.kind === "broken") {
      results.push({ kind: "error", message: `compilation error: ${expression.why}` });
    } else {
      const outcome = expression.program.run(expression.names.map((name) => values.get(name) ?? null));
      left -= outcome.cost + (spending?.takeCost() ?? 0);
      if (left < 0) return { kind: "failed", message: outOfBudget };
      results.push(resultOf(expression.source, outcome));
    }
  }
  return { kind: "done", results, budget: left };
}

function resultOf(source: string, outcome: ReturnType<CelProgram["run"]>): Result {
  const failed = (why: string): Result => ({
    kind: "error",
    message: `expression '${source}' resulted in error: ${why}`,
  });
  switch (outcome.kind) {
    case "value":
      return { kind: "value", value: outcome.value };
    case "error":
      return failed(outcome.message);
    case "exceeded":
      return failed("operation cancelled: actual cost limit exceeded");
    default:
      return outcome satisfies never;
  }
}

/**
 * Expressions of admission: compiled once with their allowed result types, and evaluated in order with a shared cost budget;
 * and match conditions, expressions that must all be true before a webhook is called or a policy runs. Texts are those of
 * apiserver `admission/plugin/cel` of Kubernetes 1.36.
 */
import { type CelEnvironment, type CelProgram, type CelType, formatTypeName, type Value } from "../language/mod.ts";
import { type JsonObject, objectsAt } from "../model/mod.ts";
import { environmentOf, type VariableValues } from "./environment.ts";

/** A compiled expression, or its compilation error. */
export type Expression =
  | {
    readonly kind: "program";
    readonly source: string;
    readonly type: CelType;
    readonly program: CelProgram;
    /** Variables in the order in which the program takes their values. */
    readonly names: readonly string[];
  }
  | {
    readonly kind: "invalid";
    readonly source: string;
    readonly message: string;
    /** True for an error that kube-apiserver reports as an internal one. @default false */
    readonly isInternal?: boolean;
  };

/** The result of one expression. */
export type ExpressionResult =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "error"; readonly message: string }
  /** There is no expression at this index. */
  | { readonly kind: "none" };

/** The results of a list of expressions and the remaining budget; "failed" when the budget was exceeded. */
export type Evaluation =
  | { readonly kind: "done"; readonly results: readonly ExpressionResult[]; readonly budget: number }
  | { readonly kind: "failed"; readonly message: string };

/** Cost limits as in apiserver `apis/cel`: for all expressions of a policy and binding, and for the conditions of a webhook. */
export const policyBudget = 10_000_000;
export const conditionsBudget = 2_500_000;

/** Compiles an expression. @param returns the allowed result types, by their Go names; empty allows every type */
export function compileExpression(
  source: string,
  returns: readonly string[],
  environment: CelEnvironment,
): Expression {
  const compiled = environment.compile(source);
  if (compiled.kind === "failed") {
    return { kind: "invalid", source, message: `compilation failed: ${compiled.message}` };
  }
  const { type } = compiled.checked;
  const found = formatTypeName(type);
  if (returns.length > 0 && !returns.includes(found)) {
    const expected = returns.length === 1 ? `${returns[0]}` : `one of [${returns.join(" ")}]`;
    return { kind: "invalid", source, message: `must evaluate to ${expected} but got ${found}` };
  }
  if (compiled.constantError !== undefined) {
    const message = `program instantiation failed: ${compiled.constantError}`;
    return { kind: "invalid", source, message, isInternal: true };
  }
  return { kind: "program", source, type, program: compiled.program, names: [...environment.variables.keys()] };
}

/** Variables whose evaluation has a cost: `variables`. */
export interface CostCounter {
  /** The cost since the last call. */
  takeCost(): number;
}

const outOfBudget = "validation failed due to running out of cost budget, no further validation rules will be run";

/** Evaluates expressions in order. */
export function runExpressions(
  expressions: readonly (Expression | undefined)[],
  values: VariableValues,
  budget: number,
  counter?: CostCounter,
): Evaluation {
  const results: ExpressionResult[] = [];
  let left = budget;
  for (const expression of expressions) {
    if (expression === undefined) {
      results.push({ kind: "none" });
    } else if (expression.kind === "invalid") {
      results.push({ kind: "error", message: `compilation error: ${expression.message}` });
    } else {
      const outcome = expression.program.run(expression.names.map((name) => values.get(name) ?? null));
      left -= outcome.cost + (counter?.takeCost() ?? 0);
      if (left < 0) return { kind: "failed", message: outOfBudget };
      results.push(resultOf(expression.source, outcome));
    }
  }
  return { kind: "done", results, budget: left };
}

function resultOf(source: string, outcome: ReturnType<CelProgram["run"]>): ExpressionResult {
  const failed = (message: string): ExpressionResult => ({
    kind: "error",
    message: `expression '${source}' resulted in error: ${message}`,
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

/** The result of match conditions. */
export type ConditionsOutcome =
  | { readonly kind: "met" }
  | { readonly kind: "unmet" }
  | { readonly kind: "failed"; readonly message: string };

/** Compiles the match conditions of a webhook or policy. @param owner the object with the field `matchConditions` */
export function matchConditionsOf(owner: JsonObject, hasParams: boolean): readonly Expression[] {
  const conditions = objectsAt(owner, "matchConditions");
  if (conditions.length === 0) return [];
  const environment = environmentOf({ hasParams, hasAuthorizer: true });
  return conditions.map(({ expression }) => compileExpression(`${expression}`, ["bool"], environment));
}

/**
 * Evaluates match conditions. A false condition decides, even if others fail; errors count only when none is false.
 *
 * @param failsOpen errors count as a false condition
 */
export function meetsConditions(
  conditions: readonly Expression[],
  values: VariableValues,
  failsOpen: boolean,
): ConditionsOutcome {
  const run = runExpressions(conditions, values, conditionsBudget);
  if (run.kind === "failed") return failsOpen ? { kind: "unmet" } : run;
  const errors = new Set<string>();
  for (const result of run.results) {
    if (result.kind === "error") errors.add(result.message);
    else if (result.kind === "value" && result.value === false) return { kind: "unmet" };
  }
  if (errors.size === 0) return { kind: "met" };
  if (failsOpen) return { kind: "unmet" };
  const messages = [...errors];
  return { kind: "failed", message: messages.length === 1 ? messages.join("") : `[${messages.join(", ")}]` };
}

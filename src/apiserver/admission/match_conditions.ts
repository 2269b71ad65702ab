/**
 * Match conditions: expressions that all have to be true before a webhook or a policy has a say. One that is false decides,
 * whatever became of the others; errors count only where none is.
 */
import { type JsonObject, read } from "../model/mod.ts";
import { environmentOf, type VariableValues } from "./cel_variables.ts";
import { compileExpression, conditionsBudget, type Expression, runExpressions } from "./expression.ts";
import { listOf } from "./_hook.ts";

/** Whether all conditions are met. */
export type ConditionsOutcome =
  | { readonly kind: "met" }
  | { readonly kind: "unmet" }
  | { readonly kind: "failed"; readonly message: string };

/** The conditions of a webhook or a policy, compiled. @param owner what has the field `matchConditions` */
export function matchConditionsOf(owner: JsonObject, hasParams: boolean): readonly Expression[] {
  const conditions = listOf(read(owner, "matchConditions"));
  if (conditions.length === 0) return [];
  const environment = environmentOf({ hasParams, hasAuthorizer: true });
  return conditions.map(({ expression }) => compileExpression(`${expression}`, ["bool"], environment));
}

/** Evaluates them. @param failsOpen errors are as if a condition were not met */
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

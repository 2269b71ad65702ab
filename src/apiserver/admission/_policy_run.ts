/** One policy on one request with one set of params: its decisions. The order of steps is that of `validating/validator.go`. */
import type { Value } from "../cel/mod.ts";
import { utf8Length } from "../model/mod.ts";
import { ComposedVariables } from "./_composed_variables.ts";
import type { CompiledPolicy, Validation } from "./_compiled_policy.ts";
import type { VariableValues } from "./cel_variables.ts";
import { policyBudget, type Result, type Run, runExpressions } from "./expression.ts";
import { meetsConditions } from "./match_conditions.ts";

/** What is wrong. */
export interface Objection {
  readonly message: string;
  readonly reason: string;
  /** True where the binding's actions have no say: an audit annotation that fails. */
  readonly isUnconditional: boolean;
}

/** Bytes of a message that an expression made. */
const longestMessage = 5 * 1024;

/** Runs a policy. @param values with `params`, without `variables` */
export function objectionsOf(policy: CompiledPolicy, values: VariableValues): readonly Objection[] {
  const conditionValues = new Map(values).set("namespaceObject", null);
  const outcome = meetsConditions(policy.conditions, conditionValues, policy.failsOpen);
  if (outcome.kind === "unmet") return [];
  if (outcome.kind === "failed") return failure(policy, outcome.message);
  const checks = row(policy, policy.checks, values, policyBudget);
  if (checks.kind === "failed") return failure(policy, checks.message);
  const messages = row(policy, policy.messages, values, checks.budget);
  const objections = checks.results.flatMap((result, index) => {
    const validation = policy.validations[index];
    return validation === undefined ? [] : objection(policy, validation, result, messages, index);
  });
  const annotations = row(policy, policy.annotations, values, policyBudget);
  // What they say is for an audit log, which there is none of here; that they can be made is checked all the same.
  if (annotations.kind === "failed") return failure(policy, annotations.message);
  const failed = policy.failsOpen
    ? []
    : annotations.results.flatMap((result) =>
      result.kind === "error" ? [{ message: result.message, reason: "Invalid", isUnconditional: true }] : []
    );
  return [...objections, ...failed];
}

/** Each row has the variables for itself, as their costs count for it. */
function row(
  { composition }: CompiledPolicy,
  expressions: Parameters<typeof runExpressions>[0],
  values: VariableValues,
  budget: number,
): Run {
  if (composition.expressions.size === 0) return runExpressions(expressions, values, budget);
  const variables = new ComposedVariables(composition.expressions, values);
  return runExpressions(expressions, variables.values, budget, variables);
}

/** An error, which counts as the policy wants. */
function failure({ failsOpen }: CompiledPolicy, message: string): readonly Objection[] {
  return failsOpen ? [] : [{ message, reason: "Invalid", isUnconditional: false }];
}

function objection(
  policy: CompiledPolicy,
  validation: Validation,
  result: Result,
  messages: Run,
  index: number,
): readonly Objection[] {
  if (result.kind === "error") return failure(policy, result.message);
  if (messages.kind === "failed") return failure(policy, `failed messageExpression: ${messages.message}`);
  if (result.kind === "none" || result.value === true) return [];
  const said = messages.results[index];
  const message = (said?.kind === "value" ? usable(said.value) : "") || validation.message.trim() ||
    `failed expression: ${validation.expression.trim()}`;
  return [{ message, reason: validation.reason, isUnconditional: false }];
}

/** A message that an expression made; "" for one that is empty, too long or of several lines. */
function usable(value: Value): string {
  const text = typeof value === "string" ? value.trim() : "";
  return text.includes("\n") || utf8Length(text) > longestMessage ? "" : text;
}

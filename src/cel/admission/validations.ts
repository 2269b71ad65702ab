/**
 * Validations: rules that an object must satisfy, with the texts of their violations. ValidatingAdmissionPolicies of the API
 * server and the rules of webhooks have them, so that both say the same. Texts are those of apiserver `policy/validating` of
 * Kubernetes 1.36.
 */
import type { Value } from "../language/mod.ts";
import { utf8Length } from "../model/mod.ts";
import type { Evaluation, ExpressionResult } from "./expression.ts";

/** One validation, without its compiled expressions. */
export interface Validation {
  readonly expression: string;
  readonly message: string;
  readonly reason: string;
}

/** One failed validation. */
export interface Violation {
  readonly message: string;
  readonly reason: string;
  /** True for a failed audit annotation: it denies the request regardless of the binding's actions. */
  readonly isUnconditional: boolean;
}

/** The evaluated expressions of validations, in their order. */
export interface EvaluatedValidations {
  readonly checks: readonly ExpressionResult[];
  /** Of the messageExpressions. */
  readonly messages: Evaluation;
  /** True for the failurePolicy Ignore: errors deny nothing. */
  readonly failsOpen: boolean;
}

/** Largest size of a messageExpression's result. */
const maxMessageBytes = 5 * 1024;

/** Returns the violations, in the order of the validations. */
export function violationsOf(
  validations: readonly Validation[],
  evaluated: EvaluatedValidations,
): readonly Violation[] {
  return evaluated.checks.flatMap((result, index) => {
    const validation = validations[index];
    return validation === undefined ? [] : violationOf(validation, { result, index, ...evaluated });
  });
}

/** An error, which counts unless the failurePolicy is Ignore. */
export function failureOf(message: string, failsOpen: boolean): readonly Violation[] {
  return failsOpen ? [] : [{ message, reason: "Invalid", isUnconditional: false }];
}

function violationOf(
  validation: Validation,
  { result, index, messages, failsOpen }: EvaluatedValidations & {
    readonly result: ExpressionResult;
    readonly index: number;
  },
): readonly Violation[] {
  if (result.kind === "error") return failureOf(result.message, failsOpen);
  if (messages.kind === "failed") return failureOf(`failed messageExpression: ${messages.message}`, failsOpen);
  if (result.kind === "none" || result.value === true) return [];
  const evaluated = messages.results[index];
  const message = (evaluated?.kind === "value" ? usableMessage(evaluated.value) : "") || validation.message.trim() ||
    `failed expression: ${validation.expression.trim()}`;
  return [{ message, reason: validation.reason, isUnconditional: false }];
}

/** The text of a messageExpression; "" when it is empty, too long or has several lines. */
function usableMessage(value: Value): string {
  const text = typeof value === "string" ? value.trim() : "";
  return text.includes("\n") || utf8Length(text) > maxMessageBytes ? "" : text;
}

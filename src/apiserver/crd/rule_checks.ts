/**
 * What is wrong with the rules (x-kubernetes-validations) of one node of a schema: their texts, whether they compile, what
 * they may cost, whether they may ask for the old value. Texts of apiextensions `validation.go` of Kubernetes 1.36.
 */
import { Problems } from "../kinds/mod.ts";
import type { FieldPath } from "../kinds/mod.ts";
import { type CompiledRule, compileRules } from "./cel_rules.ts";
import type { DeclaredType } from "./cel_types.ts";
import { goRule } from "./_go_form.ts";
import { costMessage, expressionCostLimit, type RuleScope } from "./rule_scope.ts";
import type { SchemaProps, ValidationRule } from "./schema_props.ts";
import { parseFieldPath } from "./simple_paths.ts";

const key = "x-kubernetes-validations";
const reasons = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/** What can be seen without compiling. */
export function checkRuleTexts(schema: SchemaProps, path: FieldPath, problems: Problems): void {
  schema.rules.forEach((rule, index) => {
    const where = path.child(key).index(index);
    checkTexts(rule, where, problems);
    if (rule.messageExpression !== "" && rule.messageExpression.trim() === "") {
      problems.required(where.child("messageExpression"), "messageExpression must be non-empty if specified");
    }
    if (rule.reason !== undefined && !reasons.includes(rule.reason)) {
      problems.notSupported(where.child("reason"), rule.reason, reasons);
    }
    checkFieldPath(rule.fieldPath, schema, where.child("fieldPath"), problems);
  });
}

function checkTexts(rule: ValidationRule, path: FieldPath, problems: Problems): void {
  const [text, message] = [rule.rule.trim(), rule.message.trim()];
  const where = path.child("message");
  if (text === "") problems.required(path.child("rule"), "rule is not specified");
  else if (rule.message !== "" && message === "") {
    problems.invalid(where, rule.message, "must be non-empty if specified");
  } else if (hasLineBreak(message)) problems.invalid(where, rule.message, "must not contain line breaks");
  else if (hasLineBreak(text) && message === "") {
    problems.required(where, "message must be specified if rule contains line breaks");
  }
}

function checkFieldPath(text: string, schema: SchemaProps, path: FieldPath, problems: Problems): void {
  if (text === "") return;
  if (text.trim() === "") problems.invalid(path, text, "must be non-empty if specified");
  if (hasLineBreak(text)) problems.invalid(path, text, "must not contain line breaks");
  if (parseFieldPath(text, schema).kind === "failed") problems.invalid(path, text, "must be a valid path");
}

function hasLineBreak(text: string): boolean {
  return /[\n\r]/.test(text);
}

/** What compiling shows. @param uncorrelated what the rules stand in that has no old value; undefined where all has */
export function checkRules(
  schema: SchemaProps,
  path: FieldPath,
  scope: RuleScope,
  uncorrelated: FieldPath | undefined,
  problems: Problems,
): void {
  const declared = scope.declaredType();
  if (declared === undefined) {
    const why = "unable to convert structural schema to CEL declarations";
    const title = `internal error: failed to construct type information for ${key} rules`;
    return problems.internal(path.child(key), `${title}: ${why}`);
  }
  compileRules(schema, declared).forEach((compiled, index) => {
    const where = path.child(key).index(index);
    checkCosts(compiled, declared, where, scope, problems);
    checkOldSelf(compiled, where, uncorrelated, problems);
  });
}

function checkCosts(
  compiled: CompiledRule,
  declared: DeclaredType,
  path: FieldPath,
  scope: RuleScope,
  problems: Problems,
): void {
  const [rulePath, messagePath] = [path.child("rule"), path.child("messageExpression")];
  const cost = scope.totalCost(compiled.cost?.max ?? 0, declared);
  if (cost > expressionCostLimit) {
    problems.forbidden(rulePath, costMessage("estimated rule cost", cost, expressionCostLimit));
  }
  scope.costs.add(rulePath, cost);
  if (compiled.error !== "") invalidRule(compiled, rulePath, compiled.error, problems);
  if (compiled.messageError !== "") return invalidRule(compiled, messagePath, compiled.messageError, problems);
  if (compiled.message === undefined) return;
  const messageCost = compiled.messageCost?.max ?? 0;
  if (messageCost > expressionCostLimit) {
    const what = "estimated messageExpression cost";
    problems.forbidden(messagePath, costMessage(what, messageCost, expressionCostLimit));
  }
  scope.costs.add(messagePath, messageCost);
}

function invalidRule({ rule }: CompiledRule, path: FieldPath, detail: string, problems: Problems): void {
  problems.add([{ type: "Invalid", field: path.toString(), value: rule.json, shown: goRule(rule), detail }]);
}

function checkOldSelf(
  { rule, usesOldSelf }: CompiledRule,
  path: FieldPath,
  uncorrelated: FieldPath | undefined,
  problems: Problems,
): void {
  if (!usesOldSelf) {
    if (rule.optionalOldSelf === undefined) return;
    const detail = "may not be set if oldSelf is not used in rule";
    return problems.invalid(path.child("optionalOldSelf"), rule.optionalOldSelf, detail);
  }
  if (uncorrelated === undefined) return;
  const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`;
  problems.invalid(path.child("rule"), rule.rule, detail);
}

/**
 * Validates the rules (x-kubernetes-validations) of one node of a schema: their texts, compilation, estimated cost and use
 * of oldSelf. Texts and limits of apiextensions `validation.go` of Kubernetes 1.36.
 */
import { FieldPath, Problems } from "../../kinds/mod.ts";
import {
  type CompiledRule,
  compileRules,
  type DeclaredType,
  declaredTypeOf,
  maxRequestBytes,
} from "../../../cel/mod.ts";
import { goRule } from "./definition_form.ts";
import { parseFieldPath, type SchemaProps, type ValidationRule } from "../schema/mod.ts";
import { cappedProduct } from "../../../cel/mod.ts";

const key = "x-kubernetes-validations";
const reasons = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/** Checks everything that needs no compilation. */
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

/** Compiles the rules and checks them. @param uncorrelated the ancestor without old values; undefined when there is none */
export function checkRules(
  schema: SchemaProps,
  path: FieldPath,
  scope: RuleScope,
  uncorrelated: FieldPath | undefined,
  problems: Problems,
): void {
  const declared = scope.declaredType();
  if (declared === undefined) {
    const reason = "unable to convert structural schema to CEL declarations";
    const title = `internal error: failed to construct type information for ${key} rules`;
    return problems.internal(path.child(key), `${title}: ${reason}`);
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

/** Cost limit of one expression. */
const expressionCostLimit = 10_000_000;
/** Cost limit of all expressions of a schema. */
const schemaCostLimit = 100_000_000;

/** The message for a cost above a limit. */
function costMessage(what: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown = factor > 100 ? "more than 100x" : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${what} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and ` +
    "maxLength where arrays, maps, and strings are declared)";
}

interface ExpressionCost {
  readonly path: FieldPath;
  readonly cost: number;
}

/** Adds up the costs of the expressions of a schema. */
export class RuleCosts {
  #total = 0;
  #highest: ExpressionCost[] = [];

  add(path: FieldPath, cost: number): void {
    this.#total += cost;
    // A cost below one percent of the limit is not reported.
    if (cost < schemaCostLimit / 100) return;
    this.#highest.push({ path, cost });
    this.#highest = this.#highest.toSorted((left, right) => right.cost - left.cost).slice(0, 4);
  }

  /** @param path of the schema */
  report(path: FieldPath, problems: Problems): void {
    if (this.#total <= schemaCostLimit) return;
    for (const { path: rule } of this.#highest) {
      problems.forbidden(
        rule,
        "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
      );
    }
    const what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
    problems.forbidden(path, costMessage(what, this.#total, schemaCostLimit));
  }
}

/** The position of rules in a schema: how often their value can occur in one object multiplies their cost. */
export class RuleScope {
  readonly costs: RuleCosts;
  readonly #schema: SchemaProps;
  readonly #isRoot: boolean;
  /** Maximum number of occurrences of the value; undefined when it is unbounded. */
  readonly #cardinality: number | undefined;

  constructor(schema: SchemaProps, cardinality: number | undefined, costs: RuleCosts, isRoot = true) {
    this.#schema = schema;
    this.#cardinality = cardinality;
    this.costs = costs;
    this.#isRoot = isRoot;
  }

  /** The scope of a field, of items or of map values. */
  child(schema: SchemaProps): RuleScope {
    const maxChildren = childrenOf(this.#schema);
    const cardinality = this.#cardinality === undefined || maxChildren === undefined
      ? undefined
      : cappedProduct(this.#cardinality, maxChildren);
    return new RuleScope(schema, cardinality, this.costs, false);
  }

  /** The type of `self` in this scope. */
  declaredType(): DeclaredType | undefined {
    return declaredTypeOf(this.#schema, this.#isRoot || this.#schema.isEmbeddedResource, "selfType");
  }

  /** The cost of an expression for all values of one object. */
  totalCost(cost: number, { minSize }: DeclaredType): number {
    return cappedProduct(cost, this.#cardinality ?? Math.floor(maxRequestBytes / (minSize + 1)));
  }
}

/** Maximum number of children of a value of the schema; undefined when it is unbounded. */
function childrenOf(schema: SchemaProps): number | undefined {
  const limit = schema.type === "array"
    ? schema.maxItems
    : schema.type === "object" && schema.additionalProperties !== undefined
    ? schema.maxProperties
    : 1;
  return limit === undefined ? undefined : Math.max(0, limit);
}

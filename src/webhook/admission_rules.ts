/**
 * AdmissionRules: the checks of a validating webhook that are given as CEL. The webhook evaluates them, and
 * `admission_policies.ts` writes the same expressions into a ValidatingAdmissionPolicy.
 *
 * Guarantees: the webhook and the policy run the same expressions with the same code as the embedded API server, and deny with
 * the same message and code (behaviour of Kubernetes 1.36). A rule that does not compile is a TypeError at its definition; for
 * a kind of `defineResource()`, so is a rule with a field that the kind does not have.
 *
 * Caveats: a client may write a whole number as `1.0`. A policy sees a double then, and a webhook an int: the API server sends
 * it as `1`.
 */
import { apiVersionOf, type Resource } from "../api/mod.ts";
import {
  type CelType,
  compileExpression,
  declaredTypeOf,
  dynType,
  type Expression,
  type Json,
  jsonValueOf,
  policyBudget,
  readSchema,
  ruleEnvironmentOf,
  runExpressions,
  type Validation,
  type Value,
  type VariableValues,
  type Violation,
  violationsOf,
} from "../cel/mod.ts";
import { fieldOf, isBeingDeleted, jsonObject } from "./_decode.ts";
import type { AdmissionOperation, AdmissionRequest } from "./admission_review.ts";

/**
 * A check of a validating webhook as an expression of CEL. Without functions, `manifests --admission-policies` makes a
 * ValidatingAdmissionPolicy of it, which works while no replica of the operator responds.
 *
 * @example
 * ```ts
 * import { ConfigMap } from "@pintle/controller";
 * import { type AdmissionRule, validating } from "@pintle/controller/webhook";
 *
 * const sameOwner: AdmissionRule = {
 *   rule: "object.?data.owner == oldObject.?data.owner",
 *   message: "the owner cannot change",
 *   operations: ["UPDATE"],
 * };
 * console.assert(validating(ConfigMap, { rules: [sameOwner] }).operations.join() === "UPDATE");
 * ```
 */
export interface AdmissionRule {
  /**
   * True for what is allowed. The variables are `object`, `oldObject` (null on CREATE; `object` is null on DELETE) and
   * `request` with `operation`, `name`, `namespace`, `subResource`, `kind`, `resource`, `userInfo` and `dryRun`.
   */
  readonly rule: string;
  /** The sentence for the user when the rule is false; one line. */
  readonly message: string;
  /** An expression that makes the sentence, of the same variables. `message` is used if it fails. @default none */
  readonly messageExpression?: string;
  /** The reason of the denial, which decides its HTTP status: 422, 403, 401 or 413. @default "Invalid" */
  readonly reason?: "Invalid" | "Forbidden" | "Unauthorized" | "RequestEntityTooLarge";
  /** The operations that are checked. @default CREATE and UPDATE */
  readonly operations?: readonly ("CREATE" | "UPDATE" | "DELETE")[];
}

/** The operations of a rule. */
export function operationsOf({ operations = ["CREATE", "UPDATE"] }: AdmissionRule): readonly AdmissionOperation[] {
  return operations;
}

/** A rule as a validation of a policy. */
export interface PolicyValidation extends Validation {
  readonly messageExpression?: string;
}

/** The rules of a webhook as validations, which apply to all operations of the webhook. */
export function validationsOf(
  rules: readonly AdmissionRule[],
  operations: readonly AdmissionOperation[],
): readonly PolicyValidation[] {
  return rules.map((rule) => ({
    expression: expressionOf(rule, operations),
    message: rule.message,
    reason: rule.reason ?? "Invalid",
    ...(rule.messageExpression === undefined ? {} : { messageExpression: rule.messageExpression }),
  }));
}

function expressionOf(rule: AdmissionRule, operations: readonly AdmissionOperation[]): string {
  const own = operationsOf(rule);
  if (operations.every((operation) => own.includes(operation))) return rule.rule;
  return `!(request.operation in [${own.map((name) => `'${name}'`).join(", ")}]) || (${rule.rule})`;
}

/** What the rules of a webhook belong to. */
export interface AdmissionRulesOptions {
  readonly resource: Resource;
  readonly rules: readonly AdmissionRule[];
  /** The operations for which the API server calls the webhook. */
  readonly operations: readonly AdmissionOperation[];
  /** True for the failurePolicy Ignore: an expression that fails denies nothing. */
  readonly failsOpen: boolean;
}

/** The compiled rules of a webhook. */
export class AdmissionRules {
  readonly #options: AdmissionRulesOptions;
  readonly #validations: readonly PolicyValidation[];
  readonly #checks: readonly Expression[];
  readonly #messages: readonly (Expression | undefined)[];

  /** Compiles the rules. @throws TypeError when one does not compile, or its message is not one line */
  constructor(options: AdmissionRulesOptions) {
    const { rules, operations, resource } = options;
    this.#options = options;
    this.#validations = validationsOf(rules, operations);
    for (const rule of rules) assertRule(rule, resource);
    const environment = ruleEnvironmentOf();
    this.#checks = this.#validations.map(({ expression }) => compileExpression(expression, ["bool"], environment));
    this.#messages = this.#validations.map(({ messageExpression }) =>
      messageExpression === undefined ? undefined : compileExpression(messageExpression, ["string"], environment)
    );
    for (const expression of [...this.#checks, ...this.#messages]) {
      if (expression?.kind === "invalid") throw ruleError(resource, expression.source, expression.message);
    }
  }

  /** The first violation, which the API server would report; undefined when the request is allowed. */
  violation(request: AdmissionRequest): Violation | undefined {
    const { operation, object } = request;
    const { resource, operations, failsOpen } = this.#options;
    if (this.#checks.length === 0 || !operations.includes(operation)) return undefined;
    if (operation === "UPDATE" && isBeingDeleted(object)) return undefined;
    const values = valuesOf(request, resource);
    const checks = runExpressions(this.#checks, values, policyBudget);
    if (checks.kind === "failed") return failsOpen ? undefined : { ...invalid, message: checks.message };
    const messages = runExpressions(this.#messages, values, checks.budget);
    return violationsOf(this.#validations, { checks: checks.results, messages, failsOpen })[0];
  }
}

const invalid = { reason: "Invalid", isUnconditional: false } as const;

function assertRule({ rule, message, messageExpression }: AdmissionRule, resource: Resource): void {
  if (message.trim() === "" || message.includes("\n")) throw ruleError(resource, rule, "its message is not one line");
  const environment = ruleEnvironmentOf(objectTypeOf(resource));
  for (const expression of [rule, ...(messageExpression === undefined ? [] : [messageExpression])]) {
    const compiled = environment.compile(expression);
    if (compiled.kind === "failed") throw ruleError(resource, expression, compiled.message);
    if (compiled.constantError !== undefined) throw ruleError(resource, expression, compiled.constantError);
  }
}

function ruleError(resource: Resource, rule: string, state: string): TypeError {
  const what = `validating webhook of ${apiVersionOf(resource)} ${resource.kind}`;
  return new TypeError(`Cannot define ${what}: rule ${JSON.stringify(rule)}: ${state}`);
}

/** The type of the objects of a kind whose schema is known. Rules of schemas see less of the metadata than webhooks. */
function objectTypeOf(resource: Resource): CelType {
  const versions: unknown = fieldOf(fieldOf(fieldOf(resource, "crd"), "spec"), "versions");
  if (!Array.isArray(versions)) return dynType;
  const version: unknown = versions.find((each) => fieldOf(each, "name") === resource.version);
  const schema = fieldOf(fieldOf(version, "schema"), "openAPIV3Schema");
  const declared = declaredTypeOf(readSchema(jsonObject(schema)), true, "object")?.type;
  if (declared?.kind !== "object") return dynType;
  return { ...declared, fields: new Map(declared.fields).set("metadata", dynType) };
}

function valuesOf(request: AdmissionRequest, resource: Resource): VariableValues {
  return new Map([
    ["object", valueOf(request.object)],
    ["oldObject", valueOf(request.oldObject)],
    ["request", jsonValueOf(sentRequest(request, resource))],
  ]);
}

/** The fields that a webhook is sent. Go leaves out empty ones. */
function sentRequest(request: AdmissionRequest, { group, version, plural }: Resource): Json {
  const { kind, subResource = "", name = "", namespace = "", operation, userInfo, dryRun } = request;
  const { username = "", uid = "", groups = [] } = userInfo;
  return {
    kind: { group: kind.group, version: kind.version, kind: kind.kind },
    resource: { group, version, resource: plural },
    ...(subResource === "" ? {} : { subResource }),
    ...(name === "" ? {} : { name }),
    ...(namespace === "" ? {} : { namespace }),
    operation,
    userInfo: { username, ...(uid === "" ? {} : { uid }), groups },
    dryRun,
  };
}

function valueOf(object: unknown): Value {
  return object === undefined ? null : jsonValueOf(jsonObject(object));
}

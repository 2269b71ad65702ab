/** ValidatingAdmissionPolicies and their bindings, read and compiled once for as long as they are stored. */
import { isJsonObject, type Json, type JsonObject, read } from "../model/mod.ts";
import { type Composition, compositionOf } from "./_composed_variables.ts";
import { environmentOf } from "./cel_variables.ts";
import { compileExpression, type Expression } from "./expression.ts";
import { listOf, stringsOf } from "./_hook.ts";
import { matchConditionsOf } from "./match_conditions.ts";
import { type PolicyMatch, policyMatchOf } from "./_policy_match.ts";

/** One validation, without its expressions. */
export interface Validation {
  readonly expression: string;
  readonly message: string;
  readonly reason: string;
}

/** A policy that can be run. */
export interface CompiledPolicy {
  readonly name: string;
  readonly match: PolicyMatch | undefined;
  readonly failsOpen: boolean;
  /** `{apiVersion, kind}`. */
  readonly paramKind: JsonObject | undefined;
  readonly conditions: readonly Expression[];
  readonly composition: Composition;
  readonly validations: readonly Validation[];
  /** One for each validation. */
  readonly checks: readonly Expression[];
  /** One for each validation; undefined where the message is no expression. */
  readonly messages: readonly (Expression | undefined)[];
  readonly annotations: readonly Expression[];
}

/** A binding. */
export interface PolicyBinding {
  readonly name: string;
  readonly policyName: string;
  readonly match: PolicyMatch | undefined;
  readonly paramRef: Json | undefined;
  readonly actions: readonly string[];
}

const policies = new WeakMap<JsonObject, CompiledPolicy>();
const bindings = new WeakMap<JsonObject, PolicyBinding>();

/** Reads a stored policy. */
export function policyOf(object: JsonObject): CompiledPolicy {
  const policy = policies.get(object) ?? compilePolicy(object);
  policies.set(object, policy);
  return policy;
}

/** Reads a stored binding. */
export function bindingOf(object: JsonObject): PolicyBinding {
  const binding = bindings.get(object) ?? readBinding(object);
  bindings.set(object, binding);
  return binding;
}

/** The types that an audit annotation may have. */
export const annotationTypes = ["string", "null_type"];

function compilePolicy(object: JsonObject): CompiledPolicy {
  const spec = objectAt(object, "spec");
  const paramKind = read<Json>(spec, "paramKind");
  const hasParams = isJsonObject(paramKind);
  const [validations, variables] = [listOf(spec.validations), listOf(spec.variables)];
  const composition = compositionOf(variables, { hasParams, hasAuthorizer: true });
  const composed = composition.types;
  const environment = environmentOf({ hasParams, hasAuthorizer: true, composed });
  const speaking = environmentOf({ hasParams, hasAuthorizer: false, composed });
  return {
    name: nameOf(object),
    match: policyMatchOf(spec.matchConstraints),
    failsOpen: spec.failurePolicy === "Ignore",
    paramKind: hasParams ? paramKind : undefined,
    conditions: matchConditionsOf(spec, hasParams),
    composition,
    validations: validations.map((validation) => ({
      expression: textAt(validation, "expression"),
      message: textAt(validation, "message"),
      reason: textAt(validation, "reason") || "Invalid",
    })),
    checks: validations.map((one) => compileExpression(textAt(one, "expression"), ["bool"], environment)),
    messages: validations.map((one) => {
      const source = textAt(one, "messageExpression");
      return source === "" ? undefined : compileExpression(source, ["string"], speaking);
    }),
    annotations: listOf(spec.auditAnnotations).map((one) =>
      compileExpression(textAt(one, "valueExpression").trim(), annotationTypes, environment)
    ),
  };
}

function readBinding(object: JsonObject): PolicyBinding {
  const spec = objectAt(object, "spec");
  return {
    name: nameOf(object),
    policyName: textAt(spec, "policyName"),
    match: policyMatchOf(spec.matchResources),
    paramRef: spec.paramRef,
    actions: stringsOf(spec.validationActions),
  };
}

/** The name of an object. */
export function nameOf(object: JsonObject): string {
  return textAt(objectAt(object, "metadata"), "name");
}

/** A text of an object, "" where there is none. */
export function textAt(object: JsonObject, key: string): string {
  const value = read(object, key);
  return typeof value === "string" ? value : "";
}

/** An object of an object, empty where there is none. */
export function objectAt(object: JsonObject, key: string): JsonObject {
  const value = read<Json>(object, key);
  return isJsonObject(value) ? value : {};
}

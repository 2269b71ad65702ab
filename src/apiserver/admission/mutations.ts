/**
 * The mutations of a MutatingAdmissionPolicy: their expressions, compiled, and what they make of an object. Texts of apiserver
 * `policy/mutating/patch` of Kubernetes 1.36.
 *
 * Guarantees: the object that is given is not changed; the result is a new one, decoded and with its defaults.
 */
import {
  CelList,
  CelStruct,
  compileExpression,
  type DeclaredVariables,
  environmentOf,
  type Expression,
  itemsOf,
  policyBudget,
  type Value,
  type VariableValues,
} from "../../cel/mod.ts";
import { findObject, objectAt, objectsAt, textAt, UndecodableError } from "../kinds/mod.ts";
import { type Draft, draftOf, internalError, type Json, type JsonObject, type Kind } from "../model/mod.ts";
import { ConfigurationError, jsonPatch, mergeConfiguration, PatchApplyError } from "../patch/mod.ts";
import { evaluateWithVariables, type PolicyHead, policyHeadOf } from "./compiled_policy.ts";
import {
  misplacedTypes,
  NoJsonError,
  objectTypeName,
  patchListTypeName,
  patchTypes,
  structJson,
  valueJson,
} from "./patch_types.ts";

/** One mutation. */
export interface Mutation {
  readonly kind: "JSONPatch" | "ApplyConfiguration";
  readonly expression: Expression;
}

/** A MutatingAdmissionPolicy, ready to run. */
export interface CompiledMutatingPolicy extends PolicyHead {
  readonly mutations: readonly Mutation[];
  /** The reinvocationPolicy is IfNeeded. */
  readonly isReinvoked: boolean;
}

/** A mutation that failed: an error of the policy, which its failurePolicy may ignore. */
export class MutationError extends Error {
  override readonly name = "MutationError";
}

const policies = new WeakMap<JsonObject, CompiledMutatingPolicy>();

/** Reads a stored policy. */
export function mutatingPolicyOf(object: JsonObject): CompiledMutatingPolicy {
  const policy = policies.get(object) ?? compilePolicy(object);
  policies.set(object, policy);
  return policy;
}

function compilePolicy(object: JsonObject): CompiledMutatingPolicy {
  const spec = objectAt(object, "spec");
  const head = policyHeadOf(object);
  const declared = {
    hasParams: head.paramKind !== undefined,
    hasAuthorizer: true,
    composed: head.composition.types,
  };
  return {
    ...head,
    isReinvoked: textAt(spec, "reinvocationPolicy") === "IfNeeded",
    mutations: objectsAt(spec, "mutations").flatMap((mutation) => mutationOf(mutation, declared) ?? []),
  };
}

function mutationOf(mutation: JsonObject, declared: DeclaredVariables): Mutation | undefined {
  const [kind, field] = mutation["patchType"] === "JSONPatch"
    ? ["JSONPatch", "jsonPatch"] as const
    : ["ApplyConfiguration", "applyConfiguration"] as const;
  const patch = findObject(mutation, field);
  return patch && { kind, expression: compileMutation(kind, textAt(patch, "expression"), declared) };
}

/** Compiles the expression of a mutation, which must result in a patch. */
export function compileMutation(kind: Mutation["kind"], source: string, declared: DeclaredVariables): Expression {
  const returns = kind === "JSONPatch" ? patchListTypeName : objectTypeName;
  return compileExpression(source, [returns], environmentOf({ ...declared, extension: patchTypes }));
}

/**
 * The object after one mutation.
 *
 * @param kind of the object
 * @param values with `object` and `params`
 * @throws MutationError an error of the policy
 * @throws StatusError when the patched object cannot be decoded, whatever the failurePolicy
 */
export function mutatedBy(
  policy: PolicyHead,
  { kind: patchKind, expression }: Mutation,
  { object, kind, values }: {
    readonly object: JsonObject;
    readonly kind: Kind;
    readonly values: VariableValues;
  },
): Draft {
  if (expression.kind === "invalid") throw new MutationError(expression.message);
  const value = valueOf(policy, expression, values);
  const isPatch = patchKind === "JSONPatch";
  const changed = isPatch ? patched(object, value) : configured(object, value, kind);
  decode(kind, changed, isPatch);
  kind.setDefaults(changed);
  return changed;
}

function valueOf(policy: PolicyHead, expression: Expression, values: VariableValues): Value {
  const evaluation = evaluateWithVariables(policy, [expression], values, policyBudget);
  if (evaluation.kind === "failed") throw new MutationError(evaluation.message);
  const [result] = evaluation.results;
  if (result?.kind === "error") throw new MutationError(result.message);
  return result?.kind === "value" ? result.value : null;
}

function checkNames(value: Value): void {
  if (!(value instanceof CelStruct)) return;
  const misplaced = [...misplacedTypes(value, value.typeName)];
  if (misplaced.length > 0) throw new MutationError(`type mismatch: ${misplaced.join("\n")}`);
}

function configured(object: JsonObject, value: Value, { schema }: Kind): Draft {
  if (!(value instanceof CelStruct)) {
    throw new MutationError("unsupported return type from ApplyConfiguration expression");
  }
  checkNames(value);
  const { apiVersion = "", kind = "" } = object;
  try {
    return draftOf(mergeConfiguration(object, { ...structJson(value), apiVersion, kind }, schema));
  } catch (error) {
    if (error instanceof NoJsonError) throw new MutationError("invalid return type: *dynamic.ObjectVal");
    if (error instanceof ConfigurationError) throw new MutationError(`error applying patch: ${error.message}`);
    throw error;
  }
}

function patched(object: JsonObject, value: Value): Draft {
  const operations = value instanceof CelList ? Array.from(itemsOf(value), operationOf) : [];
  try {
    return jsonPatch(object, operations, "Ignore").object;
  } catch (error) {
    if (!(error instanceof PatchApplyError)) throw error;
    // A patch whose test fails is not applied, and that is no error.
    if (error.why.endsWith(": test failed")) return draftOf(object);
    throw new MutationError(`JSON Patch: ${error.why}`);
  }
}

function operationOf(value: Value): JsonObject {
  if (!(value instanceof CelStruct)) return {};
  const { fields } = value;
  const [op = "", path = "", from = "", content] = ["op", "path", "from", "value"].map((name) => fields.get(name));
  return {
    op: `${op}`,
    path: `${path}`,
    ...(from === "" ? {} : { from: `${from}` }),
    ...(content === undefined ? {} : { value: contentJson(content) }),
  };
}

function contentJson(value: Value): Json {
  checkNames(value);
  try {
    return valueJson(value);
  } catch (error) {
    if (!(error instanceof NoJsonError)) throw error;
    const what = "JSONPath valueExpression evaluated to a type that could not marshal to JSON";
    throw new MutationError(`${what}: ${error.message}`);
  }
}

/** Decodes an object of a built-in kind. @param isPatch a JSON patch may not set unknown fields */
function decode(kind: Kind, object: Draft, isPatch: boolean): void {
  if (!kind.hasStrategicMerge) return;
  try {
    const unknown = kind.decode(object);
    if (isPatch && unknown.length > 0) throw internalError(`strict decoding error: ${unknown.join(", ")}`);
  } catch (error) {
    if (!(error instanceof UndecodableError)) throw error;
    throw isPatch ? internalError(error.detail) : new MutationError(error.detail);
  }
}

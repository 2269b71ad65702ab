/**
 * Admission policies and their bindings: rules, defaults and table rows. The CEL in them is compiled by admission/, through
 * ExpressionChecks, so that its errors stand among the others in their order.
 */
import {
  type Draft,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonPathError,
  labelKeyErrors,
} from "../../model/mod.ts";
import {
  ageCell,
  checkConditions,
  checkSelector,
  countCell,
  type DefaultsByType,
  type ExpressionChecks,
  FieldPath,
  type KindRules,
  label1035Errors,
  nameCell,
  noExpressionChecks,
  pathSegmentName,
  type PolicyExpressionChecks,
  type Problems,
  type Row,
  rowOf,
  selectorStruct,
  subdomainErrors,
  textCell,
} from "../rules/mod.ts";
import { findObject, has, nameOf, objectAt, objectsAt, setIfAbsent, textAt, textsAt } from "../types/mod.ts";
import {
  checkKnown,
  checkMatchConditions,
  checkMatchResources,
  hasSameConditions,
  staticNameWarnings,
} from "./webhooks.ts";

const maxAnnotations = 20;
const maxValueExpressionLength = 5 * 1024;
const reasons = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
const actions = ["Audit", "Deny", "Warn"];
const mutatedOperations = ["*", "CONNECT", "CREATE", "UPDATE"];
const patchTypes = ["ApplyConfiguration", "JSONPatch"];

const common = {
  generationFields: ["spec"],
  allowsUnconditionalUpdate: false,
  allowsPlainFinalizers: true,
  warnings: (object: JsonObject) => staticNameWarnings(nameOf(object)),
} as const satisfies Partial<KindRules>;

/** Returns the rules of a ValidatingAdmissionPolicy. @param expressions compiles the CEL expressions in it */
export function policyRules(expressions: ExpressionChecks): KindRules {
  return {
    ...common,
    depth: "full",
    statusWarnings: common.warnings,
    statusMetadata: "none",
    validate: (object, problems) => checkPolicy(object, undefined, expressions, problems),
    validateUpdate: (object, old, problems) => checkPolicy(object, old, expressions, problems),
    validateStatus: (object, _old, problems) => checkPolicyStatus(objectAt(object, "status"), problems),
  };
}

function checkPolicyStatus(status: JsonObject, problems: Problems): void {
  const statusPath = FieldPath.of("status");
  objectsAt(objectAt(status, "typeChecking"), "expressionWarnings").forEach((warning, index) => {
    const place = statusPath.child("typeChecking", "expressionWarnings").index(index);
    const reference = textAt(warning, "fieldRef").trim();
    if (textAt(warning, "warning") === "") problems.required(place.child("warning"));
    if (reference === "") return problems.required(place.child("fieldRef"));
    // A path may begin with a name; what follows a closing brace is text.
    const [path = ""] = reference.split("}");
    const why = jsonPathError(/^[a-z]/i.test(path) ? `.${path}` : path);
    if (why !== undefined) problems.invalid(place.child("fieldRef"), reference, `invalid JSONPath: ${why}`);
  });
  checkConditions(status, statusPath, problems);
}

/** ValidatingAdmissionPolicy. */
export const validatingPolicyRules: KindRules = policyRules(noExpressionChecks);

function checkPolicy(
  object: JsonObject,
  old: JsonObject | undefined,
  expressions: ExpressionChecks,
  problems: Problems,
): void {
  const spec = objectAt(object, "spec");
  const checks = expressions.policy(spec);
  const path = FieldPath.of("spec");
  checkHead(spec, old, expressions, problems);
  checkVariables(spec, checks, problems);
  const [validations, annotations] = [objectsAt(spec, "validations"), objectsAt(spec, "auditAnnotations")];
  if (validations.length === 0 && annotations.length === 0) {
    const why = "validations or auditAnnotations must contain at least one item";
    problems.required(path.child("validations"), why);
    problems.required(path.child("auditAnnotations"), why);
    return;
  }
  validations.forEach((validation, index) =>
    checkValidation(validation, checks, path.child("validations").index(index), problems)
  );
  checkAuditAnnotations(object, annotations, checks, path.child("auditAnnotations"), problems);
}

/** What validating and mutating policies have in common, before the variables. @param afterConstraints checks them further */
function checkHead(
  spec: JsonObject,
  old: JsonObject | undefined,
  expressions: ExpressionChecks,
  problems: Problems,
  afterConstraints: () => void = () => {},
): void {
  const path = FieldPath.of("spec");
  if (!has(spec, "failurePolicy")) problems.required(path.child("failurePolicy"));
  checkKnown(spec, "failurePolicy", ["Fail", "Ignore"], path, problems);
  checkParamKind(spec, path.child("paramKind"), problems);
  checkConstraints(spec, path, problems);
  afterConstraints();
  if (old !== undefined && hasSameConditions(spec, objectAt(old, "spec"))) return;
  checkMatchConditions(
    spec,
    path.child("matchConditions"),
    problems,
    (expression, place) => expressions.condition(expression, has(spec, "paramKind"), place, problems),
  );
}

function checkVariables(spec: JsonObject, checks: PolicyExpressionChecks, problems: Problems): void {
  const path = FieldPath.of("spec").child("variables");
  objectsAt(spec, "variables").forEach((variable, index) => {
    checkVariable(variable, path.index(index), problems);
    if (textAt(variable, "expression").trim() === "") return;
    checks.variable(index, path.index(index).child("expression"), problems);
  });
}

function checkConstraints(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const constraints = findObject(spec, "matchConstraints");
  const place = path.child("matchConstraints");
  if (constraints === undefined) return problems.required(place);
  checkMatchResources(constraints, place, problems);
  if (objectsAt(constraints, "resourceRules").length === 0) problems.required(place.child("resourceRules"));
}

function checkParamKind(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const kind = findObject(spec, "paramKind");
  if (kind === undefined) return;
  const [apiVersion, name] = [textAt(kind, "apiVersion"), textAt(kind, "kind")];
  const place = path.child("apiVersion");
  const parts = apiVersion.split("/");
  if (apiVersion === "") problems.required(place);
  else if (parts.length > 2) problems.invalid(place, apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
  else {
    const [group, version] = parts.length === 2 ? [parts[0] ?? "", parts[1] ?? ""] : ["", apiVersion];
    const [groupErrors, versionErrors] = [group === "" ? [] : subdomainErrors(group), label1035Errors(version)];
    if (groupErrors.length > 0) problems.invalid(place, group, groupErrors.join(","));
    if (version === "") problems.invalid(place, apiVersion, "version must be specified");
    else if (versionErrors.length > 0) problems.invalid(place, version, versionErrors.join(","));
  }
  const errors = label1035Errors(name.toLowerCase());
  if (name === "") problems.required(path.child("kind"));
  else if (errors.length > 0) {
    problems.invalid(path.child("kind"), name, `may have mixed case, but should otherwise match: ${errors.join(",")}`);
  }
}

const reserved = new Set(
  ("true false null in as break const continue else for function if import let loop package namespace return var void " +
    "while").split(" "),
);

function checkVariable(variable: JsonObject, path: FieldPath, problems: Problems): void {
  const name = textAt(variable, "name");
  if (name.trim() === "") problems.required(path.child("name"), "name is not specified");
  else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) || reserved.has(name)) {
    problems.invalid(path.child("name"), name, "must be a valid CEL identifier");
  }
  if (textAt(variable, "expression").trim() === "") {
    problems.required(path.child("expression"), "expression is not specified");
  }
}

function checkValidation(
  validation: JsonObject,
  checks: PolicyExpressionChecks,
  path: FieldPath,
  problems: Problems,
): void {
  const expression = textAt(validation, "expression");
  if (expression.trim() === "") problems.required(path.child("expression"), "expression is not specified");
  else checks.validation(expression, path.child("expression"), problems);
  for (const key of ["messageExpression", "message"]) {
    const text = textAt(validation, key);
    if (text !== "" && text.trim() === "") problems.invalid(path.child(key), text, "must be non-empty if specified");
    else if (text !== "" && key === "messageExpression") checks.message(text, path.child(key), problems);
  }
  const message = textAt(validation, "message");
  if (/[\n\r]/.test(message.trim())) problems.invalid(path.child("message"), message, "must not contain line breaks");
  checkKnown(validation, "reason", reasons, path, problems);
}

function checkAuditAnnotations(
  object: JsonObject,
  annotations: readonly JsonObject[],
  checks: PolicyExpressionChecks,
  path: FieldPath,
  problems: Problems,
): void {
  if (annotations.length > maxAnnotations) {
    const shown = annotations.map((each) => ({
      Key: textAt(each, "key"),
      ValueExpression: textAt(each, "valueExpression"),
    }));
    problems.invalid(path, shown, `must not have more than ${maxAnnotations} auditAnnotations`);
  }
  const keys = new Set<string>();
  annotations.forEach((annotation, index) => {
    const place = path.index(index);
    const [key, written] = [textAt(annotation, "key"), textAt(annotation, "valueExpression")];
    const expression = written.trim();
    problems.invalidAll(place.child("key"), `${nameOf(object)}/${key}`, labelKeyErrors(`${nameOf(object)}/${key}`));
    if (expression === "") problems.required(place.child("valueExpression"), "valueExpression is not specified");
    else if (expression.length > maxValueExpressionLength) {
      problems.required(place.child("valueExpression"), `must not exceed ${maxValueExpressionLength} bytes in length`);
    } else checks.annotation(written, place.child("valueExpression"), problems);
    if (keys.has(key)) problems.duplicate(place.child("key"), key);
    keys.add(key);
  });
}

/** ValidatingAdmissionPolicyBinding. */
export const validatingBindingRules: KindRules = {
  ...common,
  depth: "full",
  validate(object, problems) {
    const spec = objectAt(object, "spec");
    const path = FieldPath.of("spec");
    checkBinding(spec, path, problems);
    checkActions(textsAt(spec, "validationActions"), path.child("validationActions"), problems);
  },
};

/** Returns the rules of a MutatingAdmissionPolicy. @param expressions compiles the CEL expressions in it */
export function mutatingRules(expressions: ExpressionChecks): KindRules {
  return {
    ...common,
    depth: "full",
    validate: (object, problems) => checkMutatingPolicy(object, undefined, expressions, problems),
    validateUpdate: (object, old, problems) => checkMutatingPolicy(object, old, expressions, problems),
  };
}

/** MutatingAdmissionPolicy. */
export const mutatingPolicyRules: KindRules = mutatingRules(noExpressionChecks);

function checkMutatingPolicy(
  object: JsonObject,
  old: JsonObject | undefined,
  expressions: ExpressionChecks,
  problems: Problems,
): void {
  const spec = objectAt(object, "spec");
  const checks = expressions.policy(spec);
  const path = FieldPath.of("spec");
  checkHead(spec, old, expressions, problems, () => checkMutatedOperations(spec, "matchConstraints", problems));
  checkVariables(spec, checks, problems);
  const mutations = objectsAt(spec, "mutations");
  if (mutations.length === 0) problems.required(path.child("mutations"), "mutations must contain at least one item");
  mutations.forEach((mutation, index) =>
    checkMutation(mutation, checks, path.child("mutations").index(index), problems)
  );
  if (textAt(spec, "reinvocationPolicy") === "") problems.required(path.child("reinvocationPolicy"));
  else checkKnown(spec, "reinvocationPolicy", ["IfNeeded", "Never"], path, problems);
}

/** A deleted object cannot be changed. */
function checkMutatedOperations(spec: JsonObject, match: string, problems: Problems): void {
  const path = FieldPath.of("spec").child(match).child("resourceRules").child("operations");
  for (const rule of objectsAt(objectAt(spec, match), "resourceRules")) {
    for (const operation of textsAt(rule, "operations")) {
      if (!mutatedOperations.includes(operation)) problems.notSupported(path, operation, mutatedOperations);
    }
  }
}

function checkMutation(
  mutation: JsonObject,
  checks: PolicyExpressionChecks,
  path: FieldPath,
  problems: Problems,
): void {
  const type = textAt(mutation, "patchType");
  if (type === "") return problems.required(path.child("patchType"));
  const [own, other] = type === "JSONPatch" ? ["jsonPatch", "applyConfiguration"] : ["applyConfiguration", "jsonPatch"];
  if (!patchTypes.includes(type)) return problems.notSupported(path.child("patchType"), type, patchTypes);
  const patch = findObject(mutation, own);
  const place = path.child(own).child("expression");
  const expression = textAt(patch ?? {}, "expression").trim();
  if (patch === undefined) problems.required(path.child(own), `must be specified when patchType is ${type}`);
  else if (expression === "") problems.required(place);
  else checks.mutation(expression, type, place, problems);
  if (findObject(mutation, other) === undefined) return;
  problems.invalid(path.child(other), `{${other}}`, `must not be specified when patchType is ${type}`);
}

/** MutatingAdmissionPolicyBinding. */
export const mutatingBindingRules: KindRules = {
  ...common,
  depth: "full",
  validate(object, problems) {
    const spec = objectAt(object, "spec");
    checkBinding(spec, FieldPath.of("spec"), problems);
    checkMutatedOperations(spec, "matchResources", problems);
  },
};

function checkBinding(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const policy = textAt(spec, "policyName");
  if (policy === "") problems.required(path.child("policyName"));
  else problems.invalidAll(path.child("policyName"), policy, subdomainErrors(policy));
  const param = findObject(spec, "paramRef");
  if (param !== undefined) checkParamRef(param, path.child("paramRef"), problems);
  const match = spec["matchResources"];
  if (isJsonObject(match)) checkMatchResources(match, path.child("matchResources"), problems);
}

function checkParamRef(param: JsonObject, path: FieldPath, problems: Problems): void {
  const name = textAt(param, "name");
  const selector = findObject(param, "selector");
  const exclusive = "name and selector are mutually exclusive";
  if (name !== "") {
    problems.invalidAll(path.child("name"), name, pathSegmentName(name, false));
    if (selector !== undefined) problems.forbidden(path.child("name"), exclusive);
  }
  checkSelector(selector, path.child("selector"), problems);
  if (selector !== undefined && name !== "") problems.forbidden(path.child("selector"), exclusive);
  if (selector === undefined && name === "") problems.required(path, "one of name or selector must be specified");
  if (textAt(param, "parameterNotFoundAction") === "") problems.required(path.child("parameterNotFoundAction"));
  else checkKnown(param, "parameterNotFoundAction", ["Deny", "Allow"], path, problems);
}

function checkActions(listed: readonly string[], path: FieldPath, problems: Problems): void {
  const seen = new Set<string>();
  listed.forEach((action, index) => {
    if (!actions.includes(action)) problems.notSupported(path.index(index), action, actions);
    if (seen.has(action)) problems.duplicate(path.index(index), action);
    seen.add(action);
  });
  if (seen.has("Deny") && seen.has("Warn")) {
    const why = "repeating the same validation failure information in the API response and headers serves no purpose";
    problems.invalid(path, listed, `must not contain both Deny and Warn (${why})`);
  }
  if (seen.size === 0) problems.required(path, "at least one validation action is required");
}

const setFailurePolicy = (draft: Draft) => setIfAbsent(draft, "failurePolicy", "Fail");

/** The defaults of admission policies. */
export const policyDefaults: DefaultsByType = {
  "admissionregistration/v1.ValidatingAdmissionPolicySpec": setFailurePolicy,
  "admissionregistration/v1.MutatingAdmissionPolicySpec": setFailurePolicy,
};

/** The cells of a MutatingAdmissionPolicy. */
export const mutatingPolicyRow: Row = rowOf(nameCell, countCell("spec.mutations"), parameterKind, ageCell);

/** The cells of a binding of an admission policy. */
export const policyBindingRow: Row = rowOf(nameCell, textCell("spec.policyName"), parameter, ageCell);

/** The cells of a ValidatingAdmissionPolicy. */
export const validatingPolicyRow: Row = rowOf(nameCell, countCell("spec.validations"), parameterKind, ageCell);

function parameterKind(object: JsonObject): Json {
  const kind = findObject(objectAt(object, "spec"), "paramKind");
  return kind === undefined ? "<unset>" : `${textAt(kind, "apiVersion")}/${textAt(kind, "kind")}`;
}

/** The namespace `*` means any namespace or none: the binding does not know whether its parameters are namespaced. */
function parameter(object: JsonObject): Json {
  const reference = findObject(objectAt(object, "spec"), "paramRef");
  if (reference === undefined) return "<unset>";
  const [named, namespace] = [textAt(reference, "name"), textAt(reference, "namespace")];
  if (named !== "") return `${namespace === "" ? "*" : namespace}/${named}`;
  const selector = findObject(reference, "selector");
  return selector === undefined ? "<unset>" : selectorStruct(selector);
}

/**
 * Rules of the fields that decide on which node a Pod runs: node selectors, affinity, topology spread constraints, taints and
 * tolerations, and the deprecated labels of nodes.
 */
import { isSameJson, type JsonObject, labelKeyErrors, labelValueErrors } from "../../model/mod.ts";
import { checkSelector, type FieldPath, labelErrors, type Problems, subdomainErrors } from "../rules/mod.ts";
import {
  findNumber,
  findObject,
  has,
  numberAt,
  objectAt,
  objectsAt,
  textAt,
  textMapAt,
  textsAt,
} from "../types/mod.ts";

const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";
const badOperator = "not a valid selector operator";
const badWeight = "must be in the range 1-100";
const unsatisfiableActions = ["DoNotSchedule", "ScheduleAnyway"];

/** Checks the affinity of a Pod. @param allowsInvalidValues true when the old selector has an invalid label value */
export function checkAffinity(
  affinity: JsonObject,
  allowsInvalidValues: boolean,
  path: FieldPath,
  problems: Problems,
): void {
  const node = findObject(affinity, "nodeAffinity");
  if (node !== undefined) checkNodeAffinity(node, path.child("nodeAffinity"), problems);
  for (const key of ["podAffinity", "podAntiAffinity"]) {
    const pods = objectAt(affinity, key);
    const place = path.child(key);
    objectsAt(pods, required).forEach((term, index) =>
      checkPodTerm(term, allowsInvalidValues, place.child(required).index(index), problems)
    );
    objectsAt(pods, preferred).forEach((weighted, index) => {
      const at = place.child(preferred).index(index);
      checkWeight(weighted, at, problems);
      checkPodTerm(objectAt(weighted, "podAffinityTerm"), allowsInvalidValues, at.child("podAffinityTerm"), problems);
    });
  }
}

function checkNodeAffinity(node: JsonObject, path: FieldPath, problems: Problems): void {
  const selector = findObject(node, required);
  if (selector !== undefined) checkNodeSelector(selector, path.child(required), problems);
  objectsAt(node, preferred).forEach((weighted, index) => {
    const place = path.child(preferred).index(index);
    checkWeight(weighted, place, problems);
    checkNodeTerm(objectAt(weighted, "preference"), true, place.child("preference"), problems);
  });
}

function checkWeight(weighted: JsonObject, path: FieldPath, problems: Problems): void {
  const weight = numberAt(weighted, "weight");
  if (weight <= 0 || weight > 100) problems.invalid(path.child("weight"), weight, badWeight);
}

/** True when a node selector has an invalid label value, which an update may keep. */
export function hasInvalidNodeValue(selector: JsonObject): boolean {
  return objectsAt(selector, "nodeSelectorTerms").some((term) =>
    objectsAt(term, "matchExpressions").some((each) =>
      textsAt(each, "values").some((value) => labelValueErrors(value).length > 0)
    )
  );
}

/** Checks a node selector. @param allowsInvalidValues true when the old selector has an invalid label value */
export function checkNodeSelector(
  selector: JsonObject,
  path: FieldPath,
  problems: Problems,
  allowsInvalidValues = false,
): void {
  const place = path.child("nodeSelectorTerms");
  const terms = objectsAt(selector, "nodeSelectorTerms");
  if (terms.length === 0) return problems.required(place, "must have at least one node selector term");
  terms.forEach((term, index) => checkNodeTerm(term, allowsInvalidValues, place.index(index), problems));
}

function checkNodeTerm(term: JsonObject, allowsInvalidValues: boolean, path: FieldPath, problems: Problems): void {
  objectsAt(term, "matchExpressions").forEach((each, index) =>
    checkNodeRequirement(each, allowsInvalidValues, path.child("matchExpressions").index(index), problems)
  );
  objectsAt(term, "matchFields").forEach((each, index) =>
    checkNodeField(each, path.child("matchFields").index(index), problems)
  );
}

function checkNodeRequirement(
  each: JsonObject,
  allowsInvalidValues: boolean,
  path: FieldPath,
  problems: Problems,
): void {
  const [key, operator, values] = [textAt(each, "key"), textAt(each, "operator"), textsAt(each, "values")];
  const place = path.child("values");
  switch (operator) {
    case "In":
    case "NotIn":
      if (values.length === 0) problems.required(place, "must be specified when `operator` is 'In' or 'NotIn'");
      break;
    case "Exists":
    case "DoesNotExist":
      if (values.length > 0) {
        problems.forbidden(place, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      }
      break;
    case "Gt":
    case "Lt":
      if (values.length !== 1) {
        problems.required(place, "must be specified single value when `operator` is 'Lt' or 'Gt'");
      }
      break;
    default:
      problems.invalid(path.child("operator"), operator, badOperator);
  }
  problems.invalidAll(path.child("key"), key, labelKeyErrors(key));
  if (allowsInvalidValues) return;
  values.forEach((value, index) => problems.invalidAll(place.index(index), value, labelValueErrors(value)));
}

function checkNodeField(each: JsonObject, path: FieldPath, problems: Problems): void {
  const [key, operator, values] = [textAt(each, "key"), textAt(each, "operator"), textsAt(each, "values")];
  if (operator !== "In" && operator !== "NotIn") problems.invalid(path.child("operator"), operator, badOperator);
  else if (values.length !== 1) {
    const why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    problems.required(path.child("values"), why);
  }
  if (key !== "metadata.name") return problems.invalid(path.child("key"), key, "not a valid field selector key");
  values.forEach((value, index) =>
    problems.invalidAll(path.child("values").index(index), value, subdomainErrors(value))
  );
}

function checkPodTerm(term: JsonObject, allowsInvalidValues: boolean, path: FieldPath, problems: Problems): void {
  for (const key of ["labelSelector", "namespaceSelector"]) {
    checkSelector(findObject(term, key), path.child(key), problems, allowsInvalidValues);
  }
  for (const name of textsAt(term, "namespaces")) problems.invalidAll(path.child("namespace"), name, labelErrors(name));
  checkLabelKeys(term, path, problems);
  const key = textAt(term, "topologyKey");
  if (key === "") problems.required(path.child("topologyKey"), "can not be empty");
  problems.invalidAll(path.child("topologyKey"), key, labelKeyErrors(key));
}

/** Checks `matchLabelKeys` and `mismatchLabelKeys`. */
function checkLabelKeys(term: JsonObject, path: FieldPath, problems: Problems): void {
  const selector = findObject(term, "labelSelector");
  const [match, mismatch] = [textsAt(term, "matchLabelKeys"), textsAt(term, "mismatchLabelKeys")];
  for (const [key, keys] of [["matchLabelKeys", match], ["mismatchLabelKeys", mismatch]] as const) {
    if (keys.length === 0) continue;
    if (selector === undefined) {
      problems.forbidden(path.child(key), "must not be specified when labelSelector is not set");
    } else keys.forEach((each, index) => problems.invalidAll(path.child(key).index(index), each, labelKeyErrors(each)));
  }
  const seen = new Set(textMapAt(selector ?? {}, "matchLabels").keys());
  for (const expression of objectsAt(selector ?? {}, "matchExpressions")) {
    const key = textAt(expression, "key");
    const at = match.lastIndexOf(key);
    if (at >= 0 && seen.has(key)) {
      problems.invalid(path.index(at), key, "exists in both matchLabelKeys and labelSelector");
    }
    seen.add(key);
  }
  match.forEach((key, index) => {
    if (!mismatch.includes(key)) return;
    problems.invalid(
      path.child("matchLabelKeys").index(index),
      key,
      "exists in both matchLabelKeys and mismatchLabelKeys",
    );
  });
}

/** Checks the topology spread constraints. */
export function checkSpreading(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const constraints = objectsAt(spec, "topologySpreadConstraints");
  constraints.forEach((constraint, index) => {
    const place = path.index(index);
    const [key, action] = [textAt(constraint, "topologyKey"), textAt(constraint, "whenUnsatisfiable")];
    const skew = numberAt(constraint, "maxSkew");
    if (skew <= 0) problems.invalid(place.child("maxSkew"), skew, "must be greater than zero");
    if (key === "") problems.required(place.child("topologyKey"), "can not be empty");
    if (!unsatisfiableActions.includes(action)) {
      problems.notSupported(place.child("whenUnsatisfiable"), action, unsatisfiableActions);
    }
    const isRepeated = constraints.slice(index + 1).some((other) =>
      textAt(other, "topologyKey") === key && textAt(other, "whenUnsatisfiable") === action
    );
    if (isRepeated) problems.duplicate(place.child("{topologyKey, whenUnsatisfiable}"), `{${key}, ${action}}`);
    checkDomains(constraint, action, place.child("minDomains"), problems);
    for (const policy of ["nodeAffinityPolicy", "nodeTaintsPolicy"]) {
      const value = textAt(constraint, policy);
      if (!has(constraint, policy) || value === "Honor" || value === "Ignore") continue;
      problems.notSupported(place.child(policy), value, ["Honor", "Ignore"]);
    }
    checkLabelKeys(constraint, place, problems);
    checkSelector(findObject(constraint, "labelSelector"), place.child("labelSelector"), problems);
  });
}

function checkDomains(constraint: JsonObject, action: string, path: FieldPath, problems: Problems): void {
  const domains = findNumber(constraint, "minDomains");
  if (domains === undefined) return;
  if (domains <= 0) problems.invalid(path, domains, "must be greater than zero");
  if (action === "DoNotSchedule") return;
  problems.invalid(path, domains, `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`);
}

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/** Checks tolerations. */
export function checkTolerations(tolerations: readonly JsonObject[], path: FieldPath, problems: Problems): void {
  tolerations.forEach((toleration, index) => checkToleration(toleration, path.index(index), problems));
}

function checkToleration(toleration: JsonObject, path: FieldPath, problems: Problems): void {
  const [key, operator, value] = [
    textAt(toleration, "key"),
    textAt(toleration, "operator"),
    textAt(toleration, "value"),
  ];
  const effect = textAt(toleration, "effect");
  if (key !== "") problems.invalidAll(path.child("key"), key, labelKeyErrors(key));
  else if (operator !== "Exists") {
    const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    problems.invalid(path.child("operator"), operator, why);
  }
  if (findNumber(toleration, "tolerationSeconds") !== undefined && effect !== "NoExecute") {
    problems.invalid(path.child("effect"), effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
  checkOperator(operator, value, path.child("operator"), problems);
  if (effect !== "" && !effects.includes(effect)) problems.notSupported(path.child("effect"), effect, effects);
}

function checkOperator(operator: string, value: string, path: FieldPath, problems: Problems): void {
  switch (operator) {
    case "":
    case "Equal": {
      const errors = labelValueErrors(value);
      if (errors.length > 0) problems.invalid(path, value, errors.join(";"));
      return;
    }
    case "Exists":
      if (value !== "") problems.invalid(path, value, "value must be empty when `operator` is 'Exists'");
      return;
    case "Lt":
    case "Gt":
      return problems.notSupported(path, operator, ["Equal", "Exists", "Lt", "Gt"]);
    default:
      return problems.notSupported(path, operator, ["Equal", "Exists"]);
  }
}

/** Checks the taints of a node. */
export function checkTaints(taints: readonly JsonObject[], path: FieldPath, problems: Problems): void {
  const seen = new Set<string>();
  taints.forEach((taint, index) => {
    const place = path.index(index);
    const [key, value, effect] = [textAt(taint, "key"), textAt(taint, "value"), textAt(taint, "effect")];
    problems.invalidAll(place.child("key"), key, labelKeyErrors(key));
    const errors = labelValueErrors(value);
    if (errors.length > 0) problems.invalid(place.child("value"), value, errors.join(";"));
    if (effect === "") problems.required(place.child("effect"));
    else if (!effects.includes(effect)) problems.notSupported(place.child("effect"), effect, effects);
    const id = `${effect}/${key}`;
    if (seen.has(id)) {
      const shown = { Key: key, Value: value, Effect: effect, TimeAdded: taint["timeAdded"] ?? null };
      problems.duplicate(place, shown, "taints must be unique by key and effect pair");
    }
    seen.add(id);
  });
}

/** Checks that an update only adds tolerations, or changes their `tolerationSeconds`. */
export function checkOnlyAdded(
  tolerations: readonly JsonObject[],
  before: readonly JsonObject[],
  path: FieldPath,
  problems: Problems,
): void {
  const isUnchanged = (old: JsonObject) => tolerations.some((now) => isSameJson(withoutTime(now), withoutTime(old)));
  if (!before.every(isUnchanged)) {
    problems.forbidden(path, "existing toleration can not be modified except its tolerationSeconds");
    return;
  }
  checkTolerations(tolerations, path, problems);
}

function withoutTime(toleration: JsonObject): JsonObject {
  const { tolerationSeconds: _, ...rest } = toleration;
  return rest;
}

/** The deprecated labels of nodes, and since when. */
const deprecated: ReadonlyMap<string, string> = new Map([
  ["beta.kubernetes.io/arch", 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ["beta.kubernetes.io/os", 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ["failure-domain.beta.kubernetes.io/region", 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ["failure-domain.beta.kubernetes.io/zone", 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  ["beta.kubernetes.io/instance-type", 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
  ["app.kubernetes.io/created-by", "deprecated since v1.9"],
  ["scheduler.alpha.kubernetes.io/preferAvoidPods", "deprecated since v1.22; use Taints and Tolerations instead"],
  ["node-role.kubernetes.io/master", 'use "node-role.kubernetes.io/control-plane" instead'],
]);

/** Returns the warning about a label of nodes, or undefined. */
export function nodeLabelWarning(label: string): string | undefined {
  return deprecated.get(label);
}

/** Returns the warnings about a node selector term. @param checksValues true to warn about invalid label values */
export function nodeTermWarnings(term: JsonObject, checksValues: boolean, path: FieldPath): readonly string[] {
  return objectsAt(term, "matchExpressions").flatMap((expression, index) => {
    const place = path.child("matchExpressions").index(index);
    const key = textAt(expression, "key");
    const warning = nodeLabelWarning(key);
    const values = textsAt(expression, "values").flatMap((value, at) =>
      labelValueErrors(value).map((why) => `${place.child("values").index(at)}: ${value} is invalid, ${why}`)
    );
    return [
      ...(warning === undefined ? [] : [`${place.child("key")}: ${key} is ${warning}`]),
      ...(checksValues ? values : []),
    ];
  });
}

/** Returns the warnings about a LabelSelector that selects nodes. */
export function nodeSelectorWarnings(selector: JsonObject, path: FieldPath): readonly string[] {
  const labels = Object.keys(objectAt(selector, "matchLabels")).flatMap((label) => {
    const warning = nodeLabelWarning(label);
    return warning === undefined ? [] : [`${path.child("matchLabels", label)}: ${warning}`];
  });
  return [...nodeTermWarnings(selector, false, path), ...labels];
}

/** Returns the warnings about the labels of a node selector. */
export function nodeLabelWarnings(selector: JsonObject, path: FieldPath): readonly string[] {
  return Object.keys(selector).flatMap((label) => {
    const warning = nodeLabelWarning(label);
    return warning === undefined ? [] : [`${path}: ${warning}`];
  });
}

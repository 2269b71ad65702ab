/** Rules of where Pods may and should run: node selectors, affinities, spreading. */
import { type JsonObject, labelKeyErrors, labelValueErrors } from "../../model/mod.ts";
import { checkSelector } from "../checks.ts";
import { findNumber, findObject, has, numberAt, objectAt, objectsAt, textAt, textMapAt, textsAt } from "../fields.ts";
import { labelErrors, subdomainErrors } from "../formats.ts";
import type { FieldPath, Problems } from "../problems.ts";

const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";
const badOperator = "not a valid selector operator";
const badWeight = "must be in the range 1-100";
const schedules = ["DoNotSchedule", "ScheduleAnyway"];

/** The affinity of a Pod. @param allowsAnyValue where an old selector with a bad value may stay */
export function checkAffinity(
  affinity: JsonObject,
  allowsAnyValue: boolean,
  path: FieldPath,
  problems: Problems,
): void {
  const node = findObject(affinity, "nodeAffinity");
  if (node !== undefined) checkNodeAffinity(node, path.child("nodeAffinity"), problems);
  for (const key of ["podAffinity", "podAntiAffinity"]) {
    const pods = objectAt(affinity, key);
    const place = path.child(key);
    objectsAt(pods, required).forEach((term, index) =>
      checkPodTerm(term, allowsAnyValue, place.child(required).index(index), problems)
    );
    objectsAt(pods, preferred).forEach((weighted, index) => {
      const at = place.child(preferred).index(index);
      checkWeight(weighted, at, problems);
      checkPodTerm(objectAt(weighted, "podAffinityTerm"), allowsAnyValue, at.child("podAffinityTerm"), problems);
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

/** Terms that select nodes. */
export function checkNodeSelector(selector: JsonObject, path: FieldPath, problems: Problems): void {
  const place = path.child("nodeSelectorTerms");
  const terms = objectsAt(selector, "nodeSelectorTerms");
  if (terms.length === 0) return problems.required(place, "must have at least one node selector term");
  terms.forEach((term, index) => checkNodeTerm(term, false, place.index(index), problems));
}

function checkNodeTerm(term: JsonObject, allowsAnyValue: boolean, path: FieldPath, problems: Problems): void {
  objectsAt(term, "matchExpressions").forEach((each, index) =>
    checkNodeRequirement(each, allowsAnyValue, path.child("matchExpressions").index(index), problems)
  );
  objectsAt(term, "matchFields").forEach((each, index) =>
    checkNodeField(each, path.child("matchFields").index(index), problems)
  );
}

function checkNodeRequirement(each: JsonObject, allowsAnyValue: boolean, path: FieldPath, problems: Problems): void {
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
  if (allowsAnyValue) return;
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

function checkPodTerm(term: JsonObject, allowsAnyValue: boolean, path: FieldPath, problems: Problems): void {
  for (const key of ["labelSelector", "namespaceSelector"]) {
    checkSelector(findObject(term, key), path.child(key), problems, allowsAnyValue);
  }
  for (const name of textsAt(term, "namespaces")) problems.invalidAll(path.child("namespace"), name, labelErrors(name));
  checkLabelKeys(term, path, problems);
  const key = textAt(term, "topologyKey");
  if (key === "") problems.required(path.child("topologyKey"), "can not be empty");
  problems.invalidAll(path.child("topologyKey"), key, labelKeyErrors(key));
}

/** Keys of labels that are taken from the Pod itself. */
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

/** How Pods are spread over the parts of a cluster. */
export function checkSpreading(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const constraints = objectsAt(spec, "topologySpreadConstraints");
  constraints.forEach((constraint, index) => {
    const place = path.index(index);
    const [key, action] = [textAt(constraint, "topologyKey"), textAt(constraint, "whenUnsatisfiable")];
    const skew = numberAt(constraint, "maxSkew");
    if (skew <= 0) problems.invalid(place.child("maxSkew"), skew, "must be greater than zero");
    if (key === "") problems.required(place.child("topologyKey"), "can not be empty");
    if (!schedules.includes(action)) problems.notSupported(place.child("whenUnsatisfiable"), action, schedules);
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

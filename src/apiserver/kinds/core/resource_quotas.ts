/** ResourceQuotas: rules, table row, and the scopes that decide which objects a quota counts. */
import { isSameJson, type JsonObject, read } from "../../model/mod.ts";
import { checkQuotaResourceName, checkResourceAmount, isStandardQuota, qosClassOf } from "../pods/mod.ts";
import {
  ageCell,
  asText,
  type Cell,
  fieldIsImmutable,
  FieldPath,
  type KindRules,
  nameCell,
  type Problems,
  type Row,
  rowOf,
} from "../rules/mod.ts";
import {
  canonicalQuantity,
  compareQuantities,
  findNumber,
  findObject,
  has,
  objectAt,
  objectsAt,
  textAt,
  textMapAt,
  textsAt,
  valuesAt,
} from "../types/mod.ts";

const specPath = FieldPath.of("spec");

const forPods = new Set([
  "pods",
  "cpu",
  "memory",
  "limits.cpu",
  "limits.memory",
  "requests.cpu",
  "requests.memory",
]);

const forClaims = new Set(["persistentvolumeclaims", "requests.storage"]);

/** The resources that a quota with a scope may count. */
const scopes: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["Terminating", forPods],
  ["NotTerminating", forPods],
  ["BestEffort", new Set(["pods"])],
  ["NotBestEffort", forPods],
  ["PriorityClass", forPods],
  ["CrossNamespacePodAffinity", forPods],
  ["VolumeAttributesClass", forClaims],
]);

const mustExist = ["BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity"];

const mustExistWhy =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, " +
  "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

const opposites = [["BestEffort", "NotBestEffort"], ["Terminating", "NotTerminating"]];

/** ResourceQuota. */
export const quotaRules: KindRules = {
  depth: "full",
  validate: (quota, problems) => checkSpec(objectAt(quota, "spec"), problems),
  validateUpdate(quota, old, problems) {
    const spec = objectAt(quota, "spec");
    checkSpec(spec, problems);
    const sorted = (object: JsonObject) => [...new Set(textsAt(objectAt(object, "spec"), "scopes"))].sort();
    if (!isSameJson(sorted(quota), sorted(old))) {
      problems.invalid(specPath.child("scopes"), read(spec, "scopes") ?? null, fieldIsImmutable);
    }
  },
  validateStatus(quota, _old, problems) {
    for (const key of ["hard", "used"]) {
      checkAmounts(objectAt(quota, "status"), key, FieldPath.of("status", key), problems);
    }
  },
  warnings: (quota, old) => old === undefined ? warningsOf(textMapAt(objectAt(quota, "spec"), "hard")) : [],
};

function checkSpec(spec: JsonObject, problems: Problems): void {
  checkAmounts(spec, "hard", specPath.child("hard"), problems);
  checkScopes(spec, problems);
  if (findObject(spec, "scopeSelector") !== undefined) checkScopeSelector(spec, problems);
}

function checkAmounts(holder: JsonObject, key: string, place: FieldPath, problems: Problems): void {
  for (const [name, amount] of textMapAt(holder, key)) {
    checkQuotaResourceName(name, place.key(name), problems);
    checkResourceAmount(name, amount, place.key(name), problems);
  }
}

/** The resources of a quota that this scope does not allow. */
function disallowedResources(scope: string, spec: JsonObject): readonly string[] {
  const counted = scopes.get(scope);
  const names = [...textMapAt(spec, "hard").keys()].filter(isStandardQuota);
  return counted === undefined ? [] : names.filter((name) => !counted.has(name));
}

function hasOpposites(named: readonly string[]): boolean[] {
  return opposites.map((pair) => pair.every((scope) => named.includes(scope))).filter(Boolean);
}

function checkScopes(spec: JsonObject, problems: Problems): void {
  const named = textsAt(spec, "scopes");
  const place = specPath.child("scopes");
  for (const scope of named) {
    if (!scopes.has(scope)) problems.invalid(place, [...named], "unsupported scope");
    for (const _ of disallowedResources(scope, spec)) {
      problems.invalid(place, [...named], "unsupported scope applied to resource");
    }
  }
  for (const _ of hasOpposites(named)) problems.invalid(place, [...named], "conflicting scopes");
}

function checkScopeSelector(spec: JsonObject, problems: Problems): void {
  const selector = objectAt(spec, "scopeSelector");
  const place = specPath.child("scopeSelector", "matchExpressions");
  const expressions = objectsAt(selector, "matchExpressions");
  for (const expression of expressions) {
    const scope = textAt(expression, "scopeName");
    if (!scopes.has(scope)) problems.invalid(place.child("scopeName"), scope, "unsupported scope");
    for (const _ of disallowedResources(scope, spec)) {
      problems.invalidStruct(place, shownSelector(expressions), "unsupported scope applied to resource");
    }
    checkOperator(expression, place, problems);
  }
  const named = expressions.map((expression) => textAt(expression, "scopeName"));
  for (const _ of hasOpposites(named)) {
    problems.invalid(place, read(spec, "scopes") ?? null, "conflicting scopes");
  }
}

function checkOperator(expression: JsonObject, place: FieldPath, problems: Problems): void {
  const [scope, operator] = [textAt(expression, "scopeName"), textAt(expression, "operator")];
  const values = valuesAt(expression, "values");
  if (mustExist.includes(scope) && operator !== "Exists") {
    problems.invalid(place.child("operator"), operator, mustExistWhy);
  }
  if (operator === "In" || operator === "NotIn") {
    const why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
    if (values.length === 0) problems.required(place.child("values"), why);
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    const why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
    if (values.length > 0) problems.invalid(place.child("values"), values, why);
  } else problems.invalid(place.child("operator"), operator, "not a valid selector operator");
}

/** A selector in the form of the Go type. */
function shownSelector(expressions: readonly JsonObject[]): JsonObject {
  return {
    MatchExpressions: expressions.map((expression) => ({
      ScopeName: textAt(expression, "scopeName"),
      Operator: textAt(expression, "operator"),
      Values: read(expression, "values") ?? null,
    })),
  };
}

function warningsOf(hard: ReadonlyMap<string, string>): readonly string[] {
  return ["cpu", "memory", "storage", "ephemeral-storage"].flatMap((name) => {
    const names = name === "cpu" || name === "memory" ? [`requests.${name}`, name] : [`requests.${name}`];
    const request = names.find((each) => hard.has(each)) ?? "";
    const [requested, limit] = [hard.get(request), hard.get(`limits.${name}`)];
    if (requested === undefined || limit === undefined || compareQuantities(requested, limit) <= 0) return [];
    const [left, right] = [canonicalQuantity(requested), canonicalQuantity(limit)];
    return [`ResourceQuota ${request} (${left}) should be less than limits.${name} (${right})`];
  });
}

/** One scope, with its condition. */
interface Scope {
  readonly name: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** True when the object matches all scopes of the quota. Only Pods and claims can match a scope. */
export function coversScopes(quota: JsonObject, collection: string, object: JsonObject): boolean {
  return scopesOf(objectAt(quota, "spec")).every((scope) => {
    if (collection === "pods") return coversPod(scope, objectAt(object, "spec"));
    if (collection !== "persistentvolumeclaims" || scope.name !== "VolumeAttributesClass") return false;
    return coversValue(scope, textAt(objectAt(object, "spec"), "volumeAttributesClassName"));
  });
}

function scopesOf(spec: JsonObject): readonly Scope[] {
  const plain = textsAt(spec, "scopes").map((name) => ({ name, operator: "Exists", values: [] }));
  const selected = objectsAt(objectAt(spec, "scopeSelector"), "matchExpressions").map((each) => ({
    name: textAt(each, "scopeName"),
    operator: textAt(each, "operator"),
    values: textsAt(each, "values"),
  }));
  return [...plain, ...selected];
}

function coversPod(scope: Scope, spec: JsonObject): boolean {
  const isTerminating = (findNumber(spec, "activeDeadlineSeconds") ?? -1) >= 0;
  switch (scope.name) {
    case "Terminating":
      return isTerminating;
    case "NotTerminating":
      return !isTerminating;
    case "BestEffort":
      return qosClassOf(spec) === "BestEffort";
    case "NotBestEffort":
      return qosClassOf(spec) !== "BestEffort";
    case "PriorityClass":
      return coversValue(scope, textAt(spec, "priorityClassName"));
    case "CrossNamespacePodAffinity":
      return usesOtherNamespaces(spec);
    default:
      return false;
  }
}

function coversValue({ operator, values }: Scope, value: string): boolean {
  switch (operator) {
    case "In":
      return value !== "" && values.includes(value);
    case "NotIn":
      return !values.includes(value);
    case "DoesNotExist":
      return value === "";
    default:
      return value !== "";
  }
}

/** True for a Pod whose affinity depends on Pods of other namespaces. */
function usesOtherNamespaces(spec: JsonObject): boolean {
  const affinity = objectAt(spec, "affinity");
  const terms = ["podAffinity", "podAntiAffinity"].flatMap((key) => {
    const each = findObject(affinity, key) ?? {};
    const preferred = objectsAt(each, "preferredDuringSchedulingIgnoredDuringExecution");
    return [
      ...objectsAt(each, "requiredDuringSchedulingIgnoredDuringExecution"),
      ...preferred.map((term) => objectAt(term, "podAffinityTerm")),
    ];
  });
  return terms.some((term) => textsAt(term, "namespaces").length > 0 || has(term, "namespaceSelector"));
}

/** The cells of a ResourceQuota. */
export const resourceQuotaRow: Row = rowOf(nameCell, usageCell(false), usageCell(true), ageCell);

/** A cell of used and allowed amounts. @param isOfLimits true for limits, false for all other resources */
function usageCell(isOfLimits: boolean): Cell {
  return (object) => {
    const status = objectAt(object, "status");
    const [hard, used] = [objectAt(status, "hard"), objectAt(status, "used")];
    const names = Object.keys(hard).filter((resource) => resource.startsWith("limits.") === isOfLimits).sort();
    const usedOf = (resource: string) => Object.hasOwn(used, resource) ? asText(used[resource]) : "0";
    return names.map((resource) => `${resource}: ${usedOf(resource)}/${asText(hard[resource])}`).join(", ");
  };
}

/** The scopes of a ResourceQuota: which Pods and claims it is about at all. */
import { findNumber, findObject, has, objectAt, objectsAt, serviceClassOf, textAt, textsAt } from "../kinds/mod.ts";
import type { JsonObject } from "../model/mod.ts";

/** One scope, with its condition. */
interface Scope {
  readonly name: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** True when all scopes of the quota are met by the object. A kind that has no scopes meets none. */
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
      return serviceClassOf(spec) === "BestEffort";
    case "NotBestEffort":
      return serviceClassOf(spec) !== "BestEffort";
    case "PriorityClass":
      return coversValue(scope, textAt(spec, "priorityClassName"));
    case "CrossNamespacePodAffinity":
      return reachesOut(spec);
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

/** True for a Pod whose place depends on Pods of other namespaces. */
function reachesOut(spec: JsonObject): boolean {
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

/** LimitRanges: rules, defaults and table row. The admission plugin that applies them is plugins/limit_ranges.ts. */
import { type Draft, type JsonObject, labelKeyErrors, put } from "../../model/mod.ts";
import { allowsOvercommit, checkContainerResourceName, checkResourceName } from "../pods/mod.ts";
import {
  createdAtCell,
  type DefaultsByType,
  FieldPath,
  type KindRules,
  nameCell,
  type Problems,
  type Row,
  rowOf,
} from "../rules/mod.ts";
import {
  compareQuantities,
  draftAt,
  findDraft,
  objectAt,
  objectsAt,
  parseQuantity,
  textAt,
  textMapAt,
} from "../types/mod.ts";

const types = ["Pod", "Container", "PersistentVolumeClaim"];
const keys = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"];

/** LimitRange. */
export const limitRangeRules: KindRules = {
  depth: "full",
  allowsCreateOnUpdate: true,
  validate(range, problems) {
    const seen = new Set<string>();
    objectsAt(objectAt(range, "spec"), "limits").forEach((limit, index) => {
      const path = FieldPath.of("spec", "limits").index(index);
      const type = textAt(limit, "type");
      checkType(type, path.child("type"), problems);
      if (seen.has(type)) problems.duplicate(path.child("type"), type);
      seen.add(type);
      checkNames(limit, path, problems);
      for (const name of namesOf(limit)) checkAmounts(limit, name, path, problems);
    });
  },
};

function checkType(type: string, path: FieldPath, problems: Problems): void {
  const errors = labelKeyErrors(type);
  problems.invalidAll(path, type, errors);
  if (errors.length > 0 || type.includes("/") || types.includes(type)) return;
  problems.invalid(path, type, "must be a standard limit type or fully qualified");
}

/** The keys that a limit of this type may have: a Pod has no defaults. */
function keysOf(type: string): readonly string[] {
  return type === "Pod" ? keys.filter((key) => !key.startsWith("default")) : keys;
}

function namesOf(limit: JsonObject): ReadonlySet<string> {
  return new Set(keysOf(textAt(limit, "type")).flatMap((key) => [...textMapAt(limit, key).keys()]));
}

function checkNames(limit: JsonObject, path: FieldPath, problems: Problems): void {
  const type = textAt(limit, "type");
  const checkName = type === "Pod" || type === "Container" ? checkContainerResourceName : checkResourceName;
  for (const key of keys) {
    const names = [...textMapAt(limit, key).keys()];
    if (type === "Pod" && key.startsWith("default")) {
      if (names.length > 0) problems.forbidden(path.child(key), "may not be specified when `type` is 'Pod'");
      continue;
    }
    if (key === "maxLimitRequestRatio") checkClaim(limit, path, problems);
    for (const name of names) checkName(name, path.child(key).key(name), problems);
  }
}

function checkClaim(limit: JsonObject, path: FieldPath, problems: Problems): void {
  if (textAt(limit, "type") !== "PersistentVolumeClaim") return;
  if (textMapAt(limit, "min").has("storage") || textMapAt(limit, "max").has("storage")) return;
  const why = "either minimum or maximum storage value is required, but neither was provided";
  problems.required(path.child("limits"), why);
}

/**
 * Pairs of keys: the first amount must not exceed the second; then the key and the value in the error, and two titles.
 */
const orders: readonly (readonly [string, string, string, string, string, string])[] = [
  ["min", "max", "min", "min", "min value", "max value"],
  ["min", "defaultRequest", "defaultRequest", "defaultRequest", "min value", "default request value"],
  ["defaultRequest", "max", "defaultRequest", "defaultRequest", "default request value", "max value"],
  ["defaultRequest", "default", "defaultRequest", "defaultRequest", "default request value", "default limit value"],
  ["min", "default", "default", "min", "min value", "default value"],
  ["default", "max", "default", "max", "default value", "max value"],
];

function checkAmounts(limit: JsonObject, name: string, path: FieldPath, problems: Problems): void {
  const known = keysOf(textAt(limit, "type"));
  const amountOf = (key: string) => known.includes(key) ? textMapAt(limit, key).get(name) : undefined;
  for (const [less, more, at, shown, lessWords, moreWords] of orders) {
    const [left, right] = [amountOf(less), amountOf(more)];
    if (left === undefined || right === undefined || compareQuantities(left, right) <= 0) continue;
    const why = `${lessWords} ${left} is greater than ${moreWords} ${right}`;
    problems.invalid(path.child(at).key(name), amountOf(shown) ?? "", why);
  }
  checkRatio(amountOf("maxLimitRequestRatio"), amountOf("min"), amountOf("max"), {
    path: path.child("maxLimitRequestRatio").key(name),
    problems,
  });
  const [fallback, request] = [amountOf("default"), amountOf("defaultRequest")];
  if (allowsOvercommit(name) || fallback === undefined || request === undefined) return;
  if (compareQuantities(fallback, request) === 0) return;
  const why = `default value ${fallback} must equal to defaultRequest value ${request} in ${name}`;
  problems.invalid(path.child("defaultRequest").key(name), request, why);
}

interface Place {
  readonly path: FieldPath;
  readonly problems: Problems;
}

function checkRatio(
  ratio: string | undefined,
  min: string | undefined,
  max: string | undefined,
  { path, problems }: Place,
): void {
  if (ratio === undefined) return;
  if (compareQuantities(ratio, "1") < 0) problems.invalid(path, ratio, `ratio ${ratio} is less than 1`);
  if (min === undefined || max === undefined) return;
  const maxRatio = Number(parseQuantity(max).nano) / Number(parseQuantity(min).nano);
  if (Number(parseQuantity(ratio).nano) / 1e9 > maxRatio) {
    problems.invalid(path, ratio, `ratio ${ratio} is greater than max/min = ${maxRatio.toFixed(6)}`);
  }
}

/** The defaults of LimitRanges. */
export const limitRangeDefaults: DefaultsByType = { "core/v1.LimitRangeItem": setLimitRangeItemDefaults };

/** Sets default limits from maxima, and default requests from default limits and minima. */
function setLimitRangeItemDefaults(draft: Draft): void {
  if (textAt(draft, "type") !== "Container") return;
  const limits = draftAt(draft, "default");
  const requests = draftAt(draft, "defaultRequest");
  setMissingAmounts(limits, findDraft(draft, "max"));
  setMissingAmounts(requests, limits);
  setMissingAmounts(requests, findDraft(draft, "min"));
  if (Object.keys(limits).length === 0) delete draft["default"];
  if (Object.keys(requests).length === 0) delete draft["defaultRequest"];
}

function setMissingAmounts(target: Draft, source: Draft | undefined): void {
  for (const [name, amount] of Object.entries(source ?? {})) {
    if (!Object.hasOwn(target, name)) put(target, name, amount);
  }
}

/** The cells of a LimitRange. */
export const limitRangeRow: Row = rowOf(nameCell, createdAtCell);

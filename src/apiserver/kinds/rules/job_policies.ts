/** What makes a Job fail before its limit is reached, and what makes it a success before all is done. */
import { type JsonObject, labelKeyErrors, read } from "../../model/mod.ts";
import { findNumber, findObject, has, numberAt, objectAt, objectsAt, textAt, valuesAt } from "../fields.ts";
import type { FieldPath, Problems } from "../problems.ts";
import { indexesOf } from "./job_indexes.ts";
import { checkCounts } from "./templates.ts";

const mostRules = 20;
const mostCodes = 255;
const mostPatterns = 20;
const longestIndexes = 65_536;
const actions = ["Count", "FailIndex", "FailJob", "Ignore"];
const operators = ["In", "NotIn"];
const statuses = ["False", "True", "Unknown"];

/** `podFailurePolicy`. */
export function checkFailurePolicy(spec: JsonObject, policy: JsonObject, path: FieldPath, problems: Problems): void {
  const rules = objectsAt(policy, "rules");
  if (rules.length > mostRules) problems.tooMany(path.child("rules"), rules.length, mostRules);
  rules.forEach((rule, index) => checkFailureRule(spec, rule, path.child("rules").index(index), problems));
}

function checkFailureRule(spec: JsonObject, rule: JsonObject, path: FieldPath, problems: Problems): void {
  const action = textAt(rule, "action");
  const place = path.child("action");
  if (action === "FailIndex") {
    if (!has(spec, "backoffLimitPerIndex")) {
      problems.invalid(place, action, "requires the backoffLimitPerIndex to be set");
    }
  } else checkKnown(action, actions, place, problems);
  const codes = findObject(rule, "onExitCodes");
  const conditions = objectsAt(rule, "onPodConditions");
  if (codes !== undefined) checkCodes(spec, codes, path.child("onExitCodes"), problems);
  checkConditions(conditions, path.child("onPodConditions"), problems);
  const both = "OnExitCodes and OnPodConditions is";
  if (codes !== undefined && conditions.length > 0) problems.wrong(path, `specifying both ${both} not supported`);
  if (codes === undefined && conditions.length === 0) problems.wrong(path, `specifying one of ${both} required`);
}

function checkKnown(value: string, known: readonly string[], path: FieldPath, problems: Problems): void {
  if (value === "") problems.required(path, `valid values: [${known.map((one) => JSON.stringify(one)).join(" ")}]`);
  else if (!known.includes(value)) problems.notSupported(path, value, known);
}

function checkConditions(patterns: readonly JsonObject[], path: FieldPath, problems: Problems): void {
  if (patterns.length > mostPatterns) problems.tooMany(path, patterns.length, mostPatterns);
  patterns.forEach((pattern, index) => {
    const type = textAt(pattern, "type");
    problems.invalidAll(path.index(index).child("type"), type, labelKeyErrors(type));
    checkKnown(textAt(pattern, "status"), statuses, path.index(index).child("status"), problems);
  });
}

function checkCodes(spec: JsonObject, codes: JsonObject, path: FieldPath, problems: Problems): void {
  const operator = textAt(codes, "operator");
  checkKnown(operator, operators, path.child("operator"), problems);
  const pod = objectAt(objectAt(spec, "template"), "spec");
  const names = [...objectsAt(pod, "containers"), ...objectsAt(pod, "initContainers")].map((one) =>
    textAt(one, "name")
  );
  const name = textAt(codes, "containerName");
  if (has(codes, "containerName") && !names.includes(name)) {
    const why = "must be one of the container or initContainer names in the pod template";
    problems.invalid(path.child("containerName"), name, why);
  }
  checkCodeValues(codes, operator, path.child("values"), problems);
}

function checkCodeValues(codes: JsonObject, operator: string, path: FieldPath, problems: Problems): void {
  const values = valuesAt(codes, "values").filter((value) => typeof value === "number");
  if (values.length === 0) problems.invalid(path, read(codes, "values") ?? null, "at least one value is required");
  else if (values.length > mostCodes) problems.tooMany(path, values.length, mostCodes);
  values.forEach((value, index) => {
    if (operator === "In" && value === 0) {
      problems.invalid(path.index(index), value, "must not be 0 for the In operator");
    }
    if (values.indexOf(value) < index) problems.duplicate(path.index(index), value);
  });
  if (values.some((value, index) => (values[index - 1] ?? value) > value)) {
    problems.invalid(path, values, "must be ordered");
  }
}

/** `successPolicy`. */
export function checkSuccessPolicy(spec: JsonObject, policy: JsonObject, path: FieldPath, problems: Problems): void {
  const rules = objectsAt(policy, "rules");
  const place = path.child("rules");
  if (rules.length === 0) {
    problems.required(place, "at least one rules must be specified when the successPolicy is specified");
  }
  if (rules.length > mostRules) problems.tooMany(place, rules.length, mostRules);
  rules.forEach((rule, index) => checkSuccessRule(rule, numberAt(spec, "completions"), place.index(index), problems));
}

function checkSuccessRule(rule: JsonObject, completions: number, path: FieldPath, problems: Problems): void {
  const count = findNumber(rule, "succeededCount");
  const text = textAt(rule, "succeededIndexes");
  const isIndexed = has(rule, "succeededIndexes");
  if (count === undefined && !isIndexed) {
    problems.required(path, "at least one of succeededCount or succeededIndexes must be specified");
  }
  if (text.length > longestIndexes) problems.tooLong(path.child("succeededIndexes"), longestIndexes);
  const { total, error } = indexesOf(text, completions);
  if (error !== undefined) {
    problems.invalid(path.child("succeededIndexes"), text, `error parsing succeededIndexes: ${error}`);
  }
  if (count === undefined) return;
  const place = path.child("succeededCount");
  const most = "must be less than or equal to";
  checkCounts(rule, ["succeededCount"], path, problems);
  if (count > completions) {
    problems.invalid(place, count, `${most} ${completions} (the number of specified completions)`);
  }
  if (isIndexed && count > total) {
    problems.invalid(place, count, `${most} ${total} (the number of indexes in the specified succeededIndexes field)`);
  }
}

/** A policy as the server's own type shows it. */
export function shownSuccessPolicy(policy: JsonObject): JsonObject {
  const rules = objectsAt(policy, "rules").map((rule) => ({
    SucceededIndexes: read(rule, "succeededIndexes") ?? null,
    SucceededCount: read(rule, "succeededCount") ?? null,
  }));
  return { Rules: rules };
}

/**
 * Rules of the specs of Jobs, in Jobs and in the templates of CronJobs: completion mode, pod failure policy, success policy.
 */
import { type JsonObject, labelKeyErrors, read } from "../../model/mod.ts";
import { checkPodTemplate, podWarnings } from "../pods/mod.ts";
import { checkCounts, type FieldPath, type Problems, subdomainErrors } from "../rules/mod.ts";
import { findNumber, findObject, has, numberAt, objectAt, objectsAt, textAt, valuesAt } from "../types/mod.ts";

const indexed = "Indexed";
const maxIndexes = 100_000;
const maxForManyIndexes = 10_000;
const maxManagerLength = 63;
const pathPattern = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";

const counts = [
  "parallelism",
  "completions",
  "activeDeadlineSeconds",
  "backoffLimit",
  "ttlSecondsAfterFinished",
  "backoffLimitPerIndex",
  "maxFailedIndexes",
];

/** Checks a spec, without its selector. */
export function checkJobSpec(spec: JsonObject, path: FieldPath, problems: Problems): void {
  checkCounts(spec, counts, path, problems);
  if (has(spec, "maxFailedIndexes") && !has(spec, "backoffLimitPerIndex")) {
    problems.required(path.child("backoffLimitPerIndex"), "when maxFailedIndexes is specified");
  }
  if (has(spec, "managedBy")) checkManager(textAt(spec, "managedBy"), path.child("managedBy"), problems);
  checkCompletionMode(spec, path, problems);
  const [failure, success] = [findObject(spec, "podFailurePolicy"), findObject(spec, "successPolicy")];
  if (failure !== undefined) checkFailurePolicy(spec, failure, path.child("podFailurePolicy"), problems);
  if (success !== undefined) {
    const place = path.child("successPolicy");
    if (isIndexed(spec)) checkSuccessPolicy(spec, success, place, problems);
    else problems.invalidStruct(place, shownSuccessPolicy(success), "requires indexed completion mode");
  }
  checkReplacement(spec, failure !== undefined, path.child("podReplacementPolicy"), problems);
  checkPodTemplate(objectAt(spec, "template"), path.child("template"), problems);
  checkRestarts(spec, failure !== undefined, path.child("template", "spec", "restartPolicy"), problems);
}

/** True when each Pod of the Job has an index. */
export function isIndexed(spec: JsonObject): boolean {
  return textAt(spec, "completionMode") === indexed;
}

function checkManager(name: string, path: FieldPath, problems: Problems): void {
  const [host = "", ...rest] = name.split("/");
  const tail = rest.join("/");
  if (name === "") problems.required(path);
  else if (host === "" || tail === "") {
    problems.invalid(path, name, 'must be a domain-prefixed path (such as "acme.io/foo")');
  } else {
    problems.invalidAll(path, host, subdomainErrors(host));
    if (!new RegExp(`^${pathPattern}$`).test(tail)) {
      problems.invalid(path, tail, `Invalid path (regex used for validation is '${pathPattern}')`);
    }
  }
  if (name.length > maxManagerLength) problems.tooLong(path, maxManagerLength);
}

function checkCompletionMode(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const mode = textAt(spec, "completionMode");
  if (has(spec, "completionMode") && mode !== "NonIndexed" && mode !== indexed) {
    problems.notSupported(path.child("completionMode"), mode, ["NonIndexed", indexed]);
  }
  if (mode === indexed) return checkIndexes(spec, path, problems);
  if (mode !== "NonIndexed" && has(spec, "completionMode")) return;
  for (const key of ["backoffLimitPerIndex", "maxFailedIndexes"]) {
    const value = findNumber(spec, key);
    if (value !== undefined) problems.invalid(path.child(key), value, "requires indexed completion mode");
  }
}

function checkIndexes(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const [completions, parallelism] = [findNumber(spec, "completions"), findNumber(spec, "parallelism")];
  const failed = findNumber(spec, "maxFailedIndexes");
  const tooMany = (key: string, value: number, why: string) =>
    problems.invalid(path.child(key), value, `must be less than or equal to ${why}`);
  if (completions === undefined) problems.required(path.child("completions"), "when completion mode is Indexed");
  if (parallelism !== undefined && parallelism > maxIndexes) {
    tooMany("parallelism", parallelism, `${maxIndexes} when completion mode is Indexed`);
  }
  if (completions !== undefined && failed !== undefined && failed > completions) {
    tooMany("maxFailedIndexes", failed, "completions");
  }
  if (failed !== undefined && failed > maxIndexes) tooMany("maxFailedIndexes", failed, `${maxIndexes}`);
  if (completions === undefined || completions <= maxIndexes || !has(spec, "backoffLimitPerIndex")) return;
  const why = `${maxForManyIndexes} when completions are above ${maxIndexes} and used with backoff limit per index`;
  if (failed === undefined) {
    problems.required(path.child("maxFailedIndexes"), `must be specified when completions is above ${maxIndexes}`);
  }
  if (parallelism !== undefined && parallelism > maxForManyIndexes) tooMany("parallelism", parallelism, why);
  if (failed !== undefined && failed > maxForManyIndexes) tooMany("maxFailedIndexes", failed, why);
}

function checkReplacement(spec: JsonObject, hasFailurePolicy: boolean, path: FieldPath, problems: Problems): void {
  if (!has(spec, "podReplacementPolicy")) return;
  const policy = textAt(spec, "podReplacementPolicy");
  const known = hasFailurePolicy ? ["Failed"] : ["Failed", "TerminatingOrFailed"];
  if (!known.includes(policy)) problems.notSupported(path, policy, known);
}

function checkRestarts(spec: JsonObject, hasFailurePolicy: boolean, path: FieldPath, problems: Problems): void {
  const policy = textAt(objectAt(objectAt(spec, "template"), "spec"), "restartPolicy");
  if (policy === "Always" || policy === "") problems.required(path, 'valid values: "OnFailure", "Never"');
  else if (policy !== "OnFailure" && policy !== "Never") problems.notSupported(path, policy, ["OnFailure", "Never"]);
  else if (hasFailurePolicy && policy !== "Never") {
    problems.invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified');
  }
}

/** Returns the warnings about a spec. */
export function jobSpecWarnings(spec: JsonObject, path: FieldPath): readonly string[] {
  const isLarge = isIndexed(spec) && numberAt(spec, "completions") > maxIndexes &&
    numberAt(spec, "parallelism") > maxForManyIndexes;
  const large = "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, " +
    "Kubernetes might not be able to track completedIndexes when a big number of indexes fail";
  return [
    ...(isLarge ? [`${path}: ${large}`] : []),
    ...podWarnings(objectAt(spec, "template"), path.child("template")),
  ];
}

const maxRules = 20;
const maxExitCodes = 255;
const maxPatterns = 20;
const maxIndexesBytes = 65_536;
const actions = ["Count", "FailIndex", "FailJob", "Ignore"];
const operators = ["In", "NotIn"];
const statuses = ["False", "True", "Unknown"];

/** Checks `podFailurePolicy`. */
function checkFailurePolicy(spec: JsonObject, policy: JsonObject, path: FieldPath, problems: Problems): void {
  const rules = objectsAt(policy, "rules");
  if (rules.length > maxRules) problems.tooMany(path.child("rules"), rules.length, maxRules);
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
  if (codes !== undefined && conditions.length > 0) {
    problems.invalidWithoutValue(path, `specifying both ${both} not supported`);
  }
  if (codes === undefined && conditions.length === 0) {
    problems.invalidWithoutValue(path, `specifying one of ${both} required`);
  }
}

function checkKnown(value: string, known: readonly string[], path: FieldPath, problems: Problems): void {
  if (value === "") problems.required(path, `valid values: [${known.map((one) => JSON.stringify(one)).join(" ")}]`);
  else if (!known.includes(value)) problems.notSupported(path, value, known);
}

function checkConditions(patterns: readonly JsonObject[], path: FieldPath, problems: Problems): void {
  if (patterns.length > maxPatterns) problems.tooMany(path, patterns.length, maxPatterns);
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
  else if (values.length > maxExitCodes) problems.tooMany(path, values.length, maxExitCodes);
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

/** Checks `successPolicy`. */
function checkSuccessPolicy(spec: JsonObject, policy: JsonObject, path: FieldPath, problems: Problems): void {
  const rules = objectsAt(policy, "rules");
  const place = path.child("rules");
  if (rules.length === 0) {
    problems.required(place, "at least one rules must be specified when the successPolicy is specified");
  }
  if (rules.length > maxRules) problems.tooMany(place, rules.length, maxRules);
  rules.forEach((rule, index) => checkSuccessRule(rule, numberAt(spec, "completions"), place.index(index), problems));
}

function checkSuccessRule(rule: JsonObject, completions: number, path: FieldPath, problems: Problems): void {
  const count = findNumber(rule, "succeededCount");
  const text = textAt(rule, "succeededIndexes");
  const isIndexed = has(rule, "succeededIndexes");
  if (count === undefined && !isIndexed) {
    problems.required(path, "at least one of succeededCount or succeededIndexes must be specified");
  }
  if (text.length > maxIndexesBytes) problems.tooLong(path.child("succeededIndexes"), maxIndexesBytes);
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

/** A policy in the form of the Go type. */
function shownSuccessPolicy(policy: JsonObject): JsonObject {
  const rules = objectsAt(policy, "rules").map((rule) => ({
    SucceededIndexes: read(rule, "succeededIndexes") ?? null,
    SucceededCount: read(rule, "succeededCount") ?? null,
  }));
  return { Rules: rules };
}

/** Parsed indexes of Pods: `0,2-5,9`. */
interface Indexes {
  /** The number of indexes; 0 when the text is invalid. */
  readonly total: number;
  readonly error: string | undefined;
  readonly intervals: readonly (readonly [first: number, last: number])[];
}

/** Parses indexes. @param completions each index must be less */
export function indexesOf(text: string, completions: number): Indexes {
  const intervals: (readonly [number, number])[] = [];
  const failed = (error: string): Indexes => ({ total: 0, error, intervals });
  for (const part of text === "" ? [] : text.split(",")) {
    const limits = part.split("-");
    if (limits.length > 2) {
      const rule = "the requirement that an index interval can have at most two parts separated by '-'";
      return failed(`the fragment ${JSON.stringify(part)} violates ${rule}`);
    }
    for (const limit of limits) {
      if (!/^\+?\d+$/.test(limit)) {
        return failed(`cannot convert string to integer for index: ${JSON.stringify(limit)}`);
      }
      if (Number(limit) >= completions) return failed(`too large index: ${JSON.stringify(limit)}`);
    }
    const [first, last] = [Number(limits[0]), Number(limits.at(-1))];
    if (limits.length === 2 && first >= last) return failed(outOfOrder(first, last));
    const before = intervals.at(-1);
    if (before !== undefined && before[1] >= first) return failed(outOfOrder(before[1], first));
    intervals.push([first, last]);
  }
  return { total: intervals.reduce((sum, [first, last]) => sum + last - first + 1, 0), error: undefined, intervals };
}

function outOfOrder(previous: number, current: number): string {
  return `non-increasing order, previous: ${previous}, current: ${current}`;
}

/** Returns the first index that is in both, or undefined. */
export function overlapOf(left: Indexes, right: Indexes): number | undefined {
  for (const [first, last] of left.intervals) {
    for (const [start, end] of right.intervals) if (first <= end && start <= last) return Math.max(first, start);
  }
  return undefined;
}

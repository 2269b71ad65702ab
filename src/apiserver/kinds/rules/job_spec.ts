/** Rules of the specs of Jobs, in Jobs themselves and in what CronJobs make. */
import type { JsonObject } from "../../model/mod.ts";
import { findNumber, findObject, has, numberAt, objectAt, textAt } from "../fields.ts";
import { subdomainErrors } from "../formats.ts";
import { checkPodTemplate } from "../pods/pod_spec.ts";
import { podWarnings } from "../pods/warnings.ts";
import type { FieldPath, Problems } from "../problems.ts";
import { checkFailurePolicy, checkSuccessPolicy, shownSuccessPolicy } from "./job_policies.ts";
import { checkCounts } from "./templates.ts";

const indexed = "Indexed";
const manyIndexes = 100_000;
const fewForMany = 10_000;
const longestManager = 63;
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

/** True where each Pod has a number. */
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
  if (name.length > longestManager) problems.tooLong(path, longestManager);
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
  if (parallelism !== undefined && parallelism > manyIndexes) {
    tooMany("parallelism", parallelism, `${manyIndexes} when completion mode is Indexed`);
  }
  if (completions !== undefined && failed !== undefined && failed > completions) {
    tooMany("maxFailedIndexes", failed, "completions");
  }
  if (failed !== undefined && failed > manyIndexes) tooMany("maxFailedIndexes", failed, `${manyIndexes}`);
  if (completions === undefined || completions <= manyIndexes || !has(spec, "backoffLimitPerIndex")) return;
  const why = `${fewForMany} when completions are above ${manyIndexes} and used with backoff limit per index`;
  if (failed === undefined) {
    problems.required(path.child("maxFailedIndexes"), `must be specified when completions is above ${manyIndexes}`);
  }
  if (parallelism !== undefined && parallelism > fewForMany) tooMany("parallelism", parallelism, why);
  if (failed !== undefined && failed > fewForMany) tooMany("maxFailedIndexes", failed, why);
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

/** What a spec earns. */
export function jobSpecWarnings(spec: JsonObject, path: FieldPath): readonly string[] {
  const isLarge = isIndexed(spec) && numberAt(spec, "completions") > manyIndexes &&
    numberAt(spec, "parallelism") > fewForMany;
  const large = "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, " +
    "Kubernetes might not be able to track completedIndexes when a big number of indexes fail";
  return [
    ...(isLarge ? [`${path}: ${large}`] : []),
    ...podWarnings(objectAt(spec, "template"), path.child("template")),
  ];
}

/** Rules of updates of the status of a Job: which values a controller may report, and in which order. */
import { isSameJson, type JsonObject, read } from "../../model/mod.ts";
import { checkCounts, fieldIsImmutable, FieldPath, type Problems } from "../rules/mod.ts";
import { booleanAt, findNumber, has, numberAt, objectAt, objectsAt, textAt, textsAt } from "../types/mod.ts";
import { indexesOf, isIndexed, overlapOf } from "./job_spec.ts";

const statusPath = FieldPath.of("status");
const conditions = statusPath.child("conditions");

function hasCondition(status: JsonObject, type: string, value = "True"): boolean {
  return objectsAt(status, "conditions").some((one) => textAt(one, "type") === type && textAt(one, "status") === value);
}

function isFinished(status: JsonObject): boolean {
  return hasCondition(status, "Complete") || hasCondition(status, "Failed");
}

/** Checks an update of the status. */
export function checkJobStatus(job: JsonObject, old: JsonObject, problems: Problems): void {
  const [status, before, spec] = [objectAt(job, "status"), objectAt(old, "status"), objectAt(job, "spec")];
  const change = new Change(status, before);
  checkCounts(status, ["active", "succeeded", "failed", "ready", "terminating"], statusPath, problems);
  checkUncounted(status, problems);
  checkConditions(spec, change, problems);
  checkTimes(spec, change, problems);
  checkFinished(change, problems);
  checkIndexes(spec, change, problems);
  checkForwardOnly(spec, change, problems);
}

/** The differences of two statuses. */
class Change {
  readonly status: JsonObject;
  readonly before: JsonObject;

  constructor(status: JsonObject, before: JsonObject) {
    this.status = status;
    this.before = before;
  }

  /** True when one of the fields differs. */
  of(...keys: readonly string[]): boolean {
    return keys.some((key) => !isSameJson(read(this.status, key) ?? null, read(this.before, key) ?? null));
  }

  /** True when one of the conditions became true or is no longer true. */
  ofCondition(...types: readonly string[]): boolean {
    return types.some((type) => hasCondition(this.status, type) !== hasCondition(this.before, type));
  }

  get isFinished(): boolean {
    return isFinished(this.status);
  }

  /** True when the update finishes the Job. */
  ofEnd(): boolean {
    return isFinished(this.status) !== isFinished(this.before);
  }
}

function checkUncounted(status: JsonObject, problems: Problems): void {
  const uncounted = objectAt(status, "uncountedTerminatedPods");
  const seen = new Set<string>();
  for (const key of ["succeeded", "failed"]) {
    textsAt(uncounted, key).forEach((uid, index) => {
      const place = statusPath.child("uncountedTerminatedPods", key).index(index);
      if (uid === "") problems.invalid(place, uid, "must not be empty");
      else if (seen.has(uid)) problems.duplicate(place, uid);
      seen.add(uid);
    });
  }
}

function checkConditions(spec: JsonObject, change: Change, problems: Problems): void {
  const { status } = change;
  const [isComplete, isFailed] = [hasCondition(status, "Complete"), hasCondition(status, "Failed")];
  const [isTarget, isMet] = [hasCondition(status, "FailureTarget"), hasCondition(status, "SuccessCriteriaMet")];
  const cannot = (holds: boolean, what: string) => {
    if (holds) problems.invalidWithoutValue(conditions, `cannot set ${what}`);
  };
  cannot(
    change.ofCondition("Complete", "Failed") && isComplete && isFailed,
    "Complete=True and Failed=true conditions",
  );
  cannot(
    change.ofCondition("Complete", "FailureTarget") && isComplete && isTarget,
    "Complete=True and FailureTarget=true conditions",
  );
  const isFailing = change.ofCondition("Failed") || change.of("failedIndexes");
  cannot(isFailing && isFailed && !isTarget, "Failed=True condition without the FailureTarget=true condition");
  const isCompleting = change.ofCondition("Complete", "SuccessCriteriaMet");
  cannot(isCompleting && isComplete && !isMet, "Complete=True condition without the SuccessCriteriaMet=true condition");
  cannot(isMet && isFailed, "SuccessCriteriaMet=True and Failed=true conditions");
  cannot(isMet && isTarget, "SuccessCriteriaMet=True and FailureTarget=true conditions");
  const isEarly = has(spec, "successPolicy") && !isMet && isComplete;
  cannot(isEarly, "Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True");
}

function checkTimes(spec: JsonObject, change: Change, problems: Problems): void {
  const { status, before } = change;
  const [start, end] = [textAt(status, "startTime"), textAt(status, "completionTime")];
  const isComplete = hasCondition(status, "Complete");
  const place = statusPath.child("completionTime");
  if (change.ofCondition("Complete") || change.of("completionTime")) {
    if (end !== "" && !isComplete) {
      problems.invalid(place, end, "cannot set completionTime when there is no Complete=True condition");
    }
    if (end === "" && isComplete) problems.required(place, "completionTime is required for Complete jobs");
  }
  if (change.of("startTime", "completionTime") && start !== "" && end !== "" && end < start) {
    problems.invalid(place, end, "must be equal to or after `startTime`");
  }
  const isSuspendedWithoutPods = booleanAt(spec, "suspend") && findNumber(spec, "completions") === 0;
  const isEnding = (change.ofEnd() || change.of("startTime")) && !isSuspendedWithoutPods;
  if (isEnding && start === "" && change.isFinished) {
    problems.required(statusPath.child("startTime"), "startTime is required for finished job");
  }
  if (end !== "" && textAt(before, "completionTime") !== "" && change.of("completionTime")) {
    problems.invalid(place, end, fieldIsImmutable);
  }
  const isResuming = hasCondition(before, "Suspended") && hasCondition(status, "Suspended", "False");
  if (textAt(before, "startTime") !== "" && change.of("startTime") && !isResuming && !booleanAt(spec, "suspend")) {
    problems.invalid(
      statusPath.child("startTime"),
      read(status, "startTime") ?? null,
      `${fieldIsImmutable} for unsuspended job once set`,
    );
  }
}

function checkFinished(change: Change, problems: Problems): void {
  const { status } = change;
  const [active, ready, ending] = [
    numberAt(status, "active"),
    findNumber(status, "ready"),
    numberAt(status, "terminating"),
  ];
  if (change.isFinished) {
    if ((change.ofEnd() || change.of("active")) && active > 0) {
      problems.invalid(statusPath.child("active"), active, "active>0 is invalid for finished job");
    }
    const uncounted = objectAt(status, "uncountedTerminatedPods");
    const isCounted = textsAt(uncounted, "failed").length + textsAt(uncounted, "succeeded").length === 0;
    if ((change.ofEnd() || change.of("uncountedTerminatedPods")) && !isCounted) {
      const shown = { Succeeded: read(uncounted, "succeeded") ?? null, Failed: read(uncounted, "failed") ?? null };
      problems.invalidStruct(statusPath.child("uncountedTerminatedPods"), shown, "must be empty for finished job");
    }
    if ((change.ofEnd() || change.of("terminating")) && ending > 0) {
      problems.invalid(statusPath.child("terminating"), ending, "terminating>0 is invalid for finished job");
    }
  }
  if (change.of("ready", "active") && ready !== undefined && ready > active) {
    problems.invalid(statusPath.child("ready"), ready, "cannot set more ready pods than active");
  }
}

function checkIndexes(spec: JsonObject, change: Change, problems: Problems): void {
  const { status } = change;
  const [done, failed] = [textAt(status, "completedIndexes"), textAt(status, "failedIndexes")];
  const [completions, hasLimit] = [findNumber(spec, "completions"), has(spec, "backoffLimitPerIndex")];
  const [doneIndexes, failedIndexes] = [indexesOf(done, completions ?? 0), indexesOf(failed, completions ?? 0)];
  const places = [statusPath.child("completedIndexes"), statusPath.child("failedIndexes")] as const;
  if (change.of("completedIndexes")) {
    if (completions !== undefined && doneIndexes.error !== undefined) {
      problems.invalid(places[0], done, `error parsing completedIndexes: ${doneIndexes.error}`);
    }
    if (done !== "" && !isIndexed(spec)) {
      problems.invalid(places[0], done, "cannot set non-empty completedIndexes when non-indexed completion mode");
    }
  }
  if (change.of("failedIndexes")) {
    if (completions !== undefined && hasLimit && failedIndexes.error !== undefined) {
      problems.invalid(places[1], failed, `error parsing failedIndexes: ${failedIndexes.error}`);
    }
    if (!hasLimit && has(status, "failedIndexes")) {
      problems.invalid(places[1], failed, "cannot set non-null failedIndexes when backoffLimitPerIndex is null");
    }
  }
  const both = overlapOf(doneIndexes, failedIndexes);
  if (change.of("failedIndexes", "completedIndexes") && completions !== undefined && both !== undefined) {
    problems.invalid(places[1], failed, `failedIndexes and completedIndexes overlap at index: ${both}`);
  }
}

/** Checks values that must not go back. */
function checkForwardOnly(spec: JsonObject, change: Change, problems: Problems): void {
  const { status, before } = change;
  for (const type of ["Failed", "Complete", "FailureTarget"]) {
    if (hasCondition(before, type) && !hasCondition(status, type)) {
      problems.invalidWithoutValue(conditions, `cannot disable the terminal ${type}=True condition`);
    }
  }
  const isElastic = isIndexed(spec) && isSameJson(read(spec, "completions"), read(spec, "parallelism"));
  for (const key of ["failed", ...(isElastic ? [] : ["succeeded"])]) {
    const value = numberAt(status, key);
    if (value < numberAt(before, key)) {
      problems.invalid(statusPath.child(key), value, `cannot decrease the ${key} counter`);
    }
  }
  const [isMet, wasMet] = [hasCondition(status, "SuccessCriteriaMet"), hasCondition(before, "SuccessCriteriaMet")];
  if (wasMet && !isMet) {
    problems.invalidWithoutValue(conditions, "cannot disable the SuccessCriteriaMet=True condition");
  }
  if (hasCondition(before, "Complete") && !wasMet && isMet) {
    problems.invalidWithoutValue(
      conditions,
      "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions",
    );
  }
}

/**
 * Jobs: rules, defaults and table row. The rules of the spec, which CronJobs share, are in job_spec.ts; those of the status are
 * in job_status.ts.
 */
import { type Draft, draftOf, humanDuration, isSameJson, type Json, type JsonObject, read } from "../../model/mod.ts";
import { dropDisabledInTemplate, isValidSelector, podNameWarnings } from "../pods/mod.ts";
import {
  ageCell,
  checkSelector,
  containerCells,
  type DefaultsByType,
  fieldIsImmutable,
  FieldPath,
  hasInvalidLabelValue,
  isConditionTrue,
  isDeleted,
  type KindRules,
  labelErrors,
  maxInt32,
  nameCell,
  type Problems,
  type Row,
  rowOf,
  selectorCell,
  selects,
  shownSelector,
} from "../rules/mod.ts";
import {
  booleanAt,
  draftAt,
  draftsAt,
  findDraft,
  findNumber,
  findObject,
  has,
  metadataOf,
  nameOf,
  numberAt,
  objectAt,
  objectsAt,
  restoreField,
  setIfAbsent,
  setIfEmpty,
  textAt,
  textMapAt,
} from "../types/mod.ts";
import { checkJobSpec, isIndexed, jobSpecWarnings } from "./job_spec.ts";
import { checkJobStatus } from "./job_status.ts";

/** Job. */
export const jobRules: KindRules = {
  depth: "full",
  generationFields: ["spec"],
  deletion: { propagation: "Orphan" },
  fieldSelectors: new Map([["status.successful", (job) => String(numberAt(objectAt(job, "status"), "succeeded"))]]),
  prepareForCreate(draft) {
    const spec = draftAt(draft, "spec");
    if (!booleanAt(spec, "manualSelector")) addSelector(spec, draftAt(draft, "metadata"));
    dropDisabledInTemplate(draft);
  },
  prepareForUpdate: dropDisabledInTemplate,
  validate: (job, problems) => checkJob(job, { isPrefixed: true, allowsInvalidValues: false }, problems),
  validateUpdate(job, old, problems) {
    const labels = textMapAt(metadataOf(objectAt(objectAt(old, "spec"), "template")), "labels");
    const allowsInvalidValues = hasInvalidLabelValue(objectAt(objectAt(old, "spec"), "selector"));
    checkJob(job, { isPrefixed: labels.has(nameLabel) && labels.has(uidLabel), allowsInvalidValues }, problems);
    checkChange(job, old, problems);
  },
  validateStatus: checkJobStatus,
  warnings(job, old) {
    const isUnchanged = old !== undefined && isSameJson(metadataOf(job)["generation"], metadataOf(old)["generation"]);
    return [
      ...(old === undefined ? podNameWarnings(job) : []),
      ...(isUnchanged ? [] : jobSpecWarnings(objectAt(job, "spec"), specPath)),
    ];
  },
};

/** Every Job selects its Pods by its UID. */
function addSelector(spec: Draft, metadata: Draft): void {
  const labels = draftAt(draftAt(draftAt(spec, "template"), "metadata"), "labels");
  for (const key of ["job-name", nameLabel]) setIfAbsent(labels, key, textAt(metadata, "name"));
  for (const key of ["controller-uid", uidLabel]) setIfAbsent(labels, key, textAt(metadata, "uid"));
  setIfAbsent(draftAt(draftAt(spec, "selector"), "matchLabels"), uidLabel, textAt(metadata, "uid"));
  if (Object.keys(objectAt(metadata, "labels")).length === 0) metadata["labels"] = draftOf(labels);
}

interface JobOptions {
  /** False for a Job that is older than the labels with a prefix. */
  readonly isPrefixed: boolean;
  readonly allowsInvalidValues: boolean;
}

function checkJob(job: JsonObject, options: JobOptions, problems: Problems): void {
  const spec = objectAt(job, "spec");
  checkGenerated(job, options, problems);
  checkJobSpec(spec, specPath, problems);
  checkOwnSelector(spec, options, problems);
  const completions = findNumber(spec, "completions") ?? 0;
  if (!isIndexed(spec) || completions <= 0) return;
  const host = `${nameOf(job)}-${completions - 1}`;
  if (labelErrors(host).length === 0) return;
  problems.invalid(
    FieldPath.of("metadata", "name"),
    nameOf(job),
    `will not able to create pod with invalid DNS label: ${host}`,
  );
}

function checkOwnSelector(spec: JsonObject, { allowsInvalidValues }: JobOptions, problems: Problems): void {
  const selector = findObject(spec, "selector");
  if (selector === undefined) problems.required(specPath.child("selector"));
  else checkSelector(selector, specPath.child("selector"), problems, allowsInvalidValues);
  if (!isValidSelector(selector)) return;
  const labels = metadataOf(objectAt(spec, "template"));
  if (selector !== undefined && selects(selector, textMapAt(labels, "labels"))) return;
  const shown = read(labels, "labels") ?? null;
  problems.invalid(
    specPath.child("template", "metadata", "labels"),
    shown,
    "`selector` does not match template `labels`",
  );
}

/** Checks that a generated selector has not been replaced. */
function checkGenerated(job: JsonObject, { isPrefixed }: JobOptions, problems: Problems): void {
  const spec = objectAt(job, "spec");
  const selector = findObject(spec, "selector");
  if (booleanAt(spec, "manualSelector") || selector === undefined) return;
  const [name, uid] = [nameOf(job), textAt(metadataOf(job), "uid")];
  const expected = new Map([
    ["controller-uid", uid],
    ["job-name", name],
    ...(isPrefixed ? [[uidLabel, uid], [nameLabel, name]] as const : []),
  ]);
  const labels = metadataOf(objectAt(spec, "template"));
  const actual = textMapAt(labels, "labels");
  for (const [key, value] of expected) {
    const place = specPath.child("template", "metadata", "labels").key(key);
    if (!actual.has(key)) problems.required(place, `must be '${value}'`);
    else if (actual.get(key) !== value) problems.invalid(place, read(labels, "labels") ?? null, `must be '${value}'`);
  }
  if (isValidSelector(selector) && !selects(selector, expected)) {
    problems.invalidStruct(specPath.child("selector"), shownSelector(selector), "`selector` not auto-generated");
  }
}

function checkChange(job: JsonObject, old: JsonObject, problems: Problems): void {
  const [spec, before] = [objectAt(job, "spec"), objectAt(old, "spec")];
  checkCompletions(spec, before, problems);
  checkUnchanged(spec, before, "selector", problems);
  checkTemplateChange(spec, old, problems);
  for (const key of ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"]) {
    checkUnchanged(spec, before, key, problems);
  }
}

function checkUnchanged(
  spec: JsonObject,
  before: JsonObject,
  key: string,
  problems: Problems,
  place = specPath.child(key),
): void {
  const [now, then]: readonly Json[] = [read(spec, key) ?? null, read(before, key) ?? null];
  if (!isSameJson(now, then)) problems.invalid(place, now ?? null, fieldIsImmutable);
}

function checkCompletions(spec: JsonObject, before: JsonObject, problems: Problems): void {
  if (!isIndexed(spec)) return checkUnchanged(spec, before, "completions", problems);
  const completions = findNumber(spec, "completions");
  if (completions === undefined || completions === findNumber(before, "completions")) return;
  if (completions === findNumber(spec, "parallelism")) return;
  const why = "can only be modified in tandem with spec.parallelism";
  problems.invalid(specPath.child("completions"), completions, why);
}

/** Checks the template of an existing Job. While a Job is suspended, its scheduling fields and resources may change. */
function checkTemplateChange(spec: JsonObject, old: JsonObject, problems: Problems): void {
  const [before, status] = [objectAt(old, "spec"), objectAt(old, "status")];
  const isSuspended = booleanAt(before, "suspend");
  const hasSuspendedCondition = objectsAt(status, "conditions").some((one) =>
    textAt(one, "type") === "Suspended" && textAt(one, "status") === "True"
  );
  const isMutable = isSuspended && (!has(status, "startTime") || hasSuspendedCondition) &&
    numberAt(status, "active") === 0;
  const [now, then] = [objectAt(spec, "template"), draftOf(objectAt(before, "template"))];
  if (isMutable) copyScheduling(then, now);
  if (!isSuspended || !isMutable) return checkUnchanged({ template: now }, { template: then }, "template", problems);
  const [pod, kept] = [objectAt(now, "spec"), draftAt(then, "spec")];
  for (const key of ["containers", "initContainers"]) copyResources(kept, pod, key);
  checkUnchanged({ spec: pod }, { spec: kept }, "spec", problems, specPath.child("template.spec"));
}

function copyScheduling(then: Draft, now: JsonObject): void {
  const [spec, pod] = [draftAt(then, "spec"), objectAt(now, "spec")];
  for (const key of ["nodeSelector", "tolerations", "schedulingGates"]) restoreField(spec, pod, key);
  for (const key of ["labels", "annotations"]) restoreField(draftAt(then, "metadata"), metadataOf(now), key);
  const affinity = objectAt(pod, "affinity");
  if (has(pod, "affinity") || has(spec, "affinity")) {
    const kept = draftAt(spec, "affinity");
    restoreField(kept, affinity, "nodeAffinity");
    if (Object.keys(kept).length === 0 && !has(pod, "affinity")) delete spec["affinity"];
  }
}

function copyResources(kept: Draft, pod: JsonObject, key: string): void {
  const containers = objectsAt(pod, key);
  const olds = draftsAt(kept, key);
  if (containers.length !== olds.length) return;
  olds.forEach((old, index) => {
    const container = containers[index] ?? {};
    if (textAt(old, "name") === textAt(container, "name")) restoreField(old, container, "resources");
  });
}

const specPath = FieldPath.of("spec");
const uidLabel = "batch.kubernetes.io/controller-uid";
const nameLabel = "batch.kubernetes.io/job-name";

/** The defaults of Jobs. */
export const jobDefaults: DefaultsByType = {
  "batch/v1.Job": setJobDefaults,
  "batch/v1.PodFailurePolicyOnPodConditionsPattern": (draft) => setIfEmpty(draft, "status", "True"),
};

function setJobDefaults(draft: Draft): void {
  const spec = draftAt(draft, "spec");
  if (!has(spec, "completions") && !has(spec, "parallelism")) spec["completions"] = 1;
  setIfAbsent(spec, "parallelism", 1);
  setIfAbsent(spec, "backoffLimit", has(spec, "backoffLimitPerIndex") ? maxInt32 : 6);
  const labels = findDraft(draftAt(draftAt(spec, "template"), "metadata"), "labels");
  // The same map, as in the real server: labels that the template gets later become labels of the Job, too.
  if (labels !== undefined) setIfAbsent(draftAt(draft, "metadata"), "labels", labels);
  setIfAbsent(spec, "completionMode", "NonIndexed");
  setIfAbsent(spec, "suspend", false);
  setIfAbsent(spec, "podReplacementPolicy", has(spec, "podFailurePolicy") ? "Failed" : "TerminatingOrFailed");
  setIfAbsent(spec, "manualSelector", false);
}

/** The cells of a Job. */
export const jobRow: Row = rowOf(
  nameCell,
  jobStatus,
  completions,
  jobDuration,
  ageCell,
  ...containerCells("spec.template"),
  selectorCell("spec.selector"),
);

/** The first of these that is true is shown. */
const jobStates = ["Complete", "Failed", "Terminating", "Suspended", "FailureTarget", "SuccessCriteriaMet"] as const;

function jobStatus(job: JsonObject): Json {
  const status = objectAt(job, "status");
  const state = jobStates.find((word) => word === "Terminating" ? isDeleted(job) : isConditionTrue(status, word));
  return state ?? "Running";
}

function completions(job: JsonObject): Json {
  const spec = objectAt(job, "spec");
  const succeeded = numberAt(objectAt(job, "status"), "succeeded");
  const desired = read(spec, "completions");
  if (typeof desired === "number") return `${succeeded}/${desired}`;
  const parallelism = numberAt(spec, "parallelism");
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(job: JsonObject, now: number): Json {
  const status = objectAt(job, "status");
  const [started, completed] = [textAt(status, "startTime"), textAt(status, "completionTime")];
  if (started === "") return "";
  return humanDuration((completed === "" ? now : Date.parse(completed)) - Date.parse(started));
}

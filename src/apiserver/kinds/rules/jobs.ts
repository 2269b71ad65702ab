/** Rules of Jobs, and of the CronJobs that make them. */
import { type Draft, draftOf, isSameJson, type Json, type JsonObject, read } from "../../model/mod.ts";
import { checkCronSpec } from "./cron_jobs.ts";
import { checkSelector, hasBadValue, selects } from "../checks.ts";
import {
  draftAt,
  draftsAt,
  findDraft,
  findNumber,
  findObject,
  flagAt,
  has,
  metadataOf,
  nameOf,
  numberAt,
  objectAt,
  objectsAt,
  setIfAbsent,
  textAt,
  textMapAt,
} from "../fields.ts";
import { immutable, labelErrors } from "../formats.ts";
import { keepField } from "../kept_fields.ts";
import type { KindRules } from "../kind_rules.ts";
import { dropDisabled } from "../pods/disabled_fields.ts";
import { FieldPath, type Problems } from "../problems.ts";
import { dropDisabledInTemplate } from "./deployments.ts";
import { checkJobSpec, isIndexed, jobSpecWarnings } from "./job_spec.ts";
import { checkJobStatus } from "./job_status.ts";
import { canSelect, podNameWarnings, shownSelector } from "./templates.ts";

const path = FieldPath.of("spec");
const uidLabel = "batch.kubernetes.io/controller-uid";
const nameLabel = "batch.kubernetes.io/job-name";
const longestCronName = 52;

/** Job. */
export const jobRules: KindRules = {
  depth: "full",
  generation: ["spec"],
  deletion: { propagation: "Orphan" },
  selectable: new Map([["status.successful", (job) => String(numberAt(objectAt(job, "status"), "succeeded"))]]),
  prepareForCreate(draft) {
    const spec = draftAt(draft, "spec");
    if (!flagAt(spec, "manualSelector")) addSelector(spec, draftAt(draft, "metadata"));
    dropDisabledInTemplate(draft);
  },
  prepareForUpdate: dropDisabledInTemplate,
  validate: (job, problems) => checkJob(job, { isPrefixed: true, allowsAnyValue: false }, problems),
  validateUpdate(job, old, problems) {
    const labels = textMapAt(metadataOf(objectAt(objectAt(old, "spec"), "template")), "labels");
    const allowsAnyValue = hasBadValue(objectAt(objectAt(old, "spec"), "selector"));
    checkJob(job, { isPrefixed: labels.has(nameLabel) && labels.has(uidLabel), allowsAnyValue }, problems);
    checkChange(job, old, problems);
  },
  validateStatus: checkJobStatus,
  warnings(job, old) {
    const isKept = old !== undefined && isSameJson(metadataOf(job)["generation"], metadataOf(old)["generation"]);
    return [
      ...(old === undefined ? podNameWarnings(job) : []),
      ...(isKept ? [] : jobSpecWarnings(objectAt(job, "spec"), path)),
    ];
  },
};

/** Every Job finds its own Pods by its uid. */
function addSelector(spec: Draft, metadata: Draft): void {
  const labels = draftAt(draftAt(draftAt(spec, "template"), "metadata"), "labels");
  for (const key of ["job-name", nameLabel]) setIfAbsent(labels, key, textAt(metadata, "name"));
  for (const key of ["controller-uid", uidLabel]) setIfAbsent(labels, key, textAt(metadata, "uid"));
  setIfAbsent(draftAt(draftAt(spec, "selector"), "matchLabels"), uidLabel, textAt(metadata, "uid"));
  if (Object.keys(objectAt(metadata, "labels")).length === 0) metadata["labels"] = draftOf(labels);
}

interface JobOptions {
  /** False where the Job is older than the labels with a prefix. */
  readonly isPrefixed: boolean;
  readonly allowsAnyValue: boolean;
}

function checkJob(job: JsonObject, options: JobOptions, problems: Problems): void {
  const spec = objectAt(job, "spec");
  checkGenerated(job, options, problems);
  checkJobSpec(spec, path, problems);
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

function checkOwnSelector(spec: JsonObject, { allowsAnyValue }: JobOptions, problems: Problems): void {
  const selector = findObject(spec, "selector");
  if (selector === undefined) problems.required(path.child("selector"));
  else checkSelector(selector, path.child("selector"), problems, allowsAnyValue);
  if (!canSelect(selector)) return;
  const labels = metadataOf(objectAt(spec, "template"));
  if (selector !== undefined && selects(selector, textMapAt(labels, "labels"))) return;
  const shown = read(labels, "labels") ?? null;
  problems.invalid(path.child("template", "metadata", "labels"), shown, "`selector` does not match template `labels`");
}

/** A selector that the server makes must be the one it made. */
function checkGenerated(job: JsonObject, { isPrefixed }: JobOptions, problems: Problems): void {
  const spec = objectAt(job, "spec");
  const selector = findObject(spec, "selector");
  if (flagAt(spec, "manualSelector") || selector === undefined) return;
  const [name, uid] = [nameOf(job), textAt(metadataOf(job), "uid")];
  const expected = new Map([
    ["controller-uid", uid],
    ["job-name", name],
    ...(isPrefixed ? [[uidLabel, uid], [nameLabel, name]] as const : []),
  ]);
  const labels = metadataOf(objectAt(spec, "template"));
  const actual = textMapAt(labels, "labels");
  for (const [key, value] of expected) {
    const place = path.child("template", "metadata", "labels").key(key);
    if (!actual.has(key)) problems.required(place, `must be '${value}'`);
    else if (actual.get(key) !== value) problems.invalid(place, read(labels, "labels") ?? null, `must be '${value}'`);
  }
  if (canSelect(selector) && !selects(selector, expected)) {
    problems.invalidStruct(path.child("selector"), shownSelector(selector), "`selector` not auto-generated");
  }
}

function checkChange(job: JsonObject, old: JsonObject, problems: Problems): void {
  const [spec, before] = [objectAt(job, "spec"), objectAt(old, "spec")];
  checkCompletions(spec, before, problems);
  checkKept(spec, before, "selector", problems);
  checkTemplateKept(spec, old, problems);
  for (const key of ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"]) {
    checkKept(spec, before, key, problems);
  }
}

function checkKept(
  spec: JsonObject,
  before: JsonObject,
  key: string,
  problems: Problems,
  place = path.child(key),
): void {
  const [now, then]: readonly Json[] = [read(spec, key) ?? null, read(before, key) ?? null];
  if (!isSameJson(now, then)) problems.invalid(place, now ?? null, immutable);
}

function checkCompletions(spec: JsonObject, before: JsonObject, problems: Problems): void {
  if (!isIndexed(spec)) return checkKept(spec, before, "completions", problems);
  const completions = findNumber(spec, "completions");
  if (completions === undefined || completions === findNumber(before, "completions")) return;
  if (completions === findNumber(spec, "parallelism")) return;
  const why = "can only be modified in tandem with spec.parallelism";
  problems.invalid(path.child("completions"), completions, why);
}

/** What a suspended Job makes may still be told where to run, and what it needs. */
function checkTemplateKept(spec: JsonObject, old: JsonObject, problems: Problems): void {
  const [before, status] = [objectAt(old, "spec"), objectAt(old, "status")];
  const isSuspended = flagAt(before, "suspend");
  const isAsleep = objectsAt(status, "conditions").some((one) =>
    textAt(one, "type") === "Suspended" && textAt(one, "status") === "True"
  );
  const isMutable = isSuspended && (!has(status, "startTime") || isAsleep) && numberAt(status, "active") === 0;
  const [now, then] = [objectAt(spec, "template"), draftOf(objectAt(before, "template"))];
  if (isMutable) putPlacement(then, now);
  if (!isSuspended || !isMutable) return checkKept({ template: now }, { template: then }, "template", problems);
  const [pod, kept] = [objectAt(now, "spec"), draftAt(then, "spec")];
  for (const key of ["containers", "initContainers"]) putResources(kept, pod, key);
  checkKept({ spec: pod }, { spec: kept }, "spec", problems, path.child("template.spec"));
}

function putPlacement(then: Draft, now: JsonObject): void {
  const [spec, pod] = [draftAt(then, "spec"), objectAt(now, "spec")];
  for (const key of ["nodeSelector", "tolerations", "schedulingGates"]) keepField(spec, pod, key);
  for (const key of ["labels", "annotations"]) keepField(draftAt(then, "metadata"), metadataOf(now), key);
  const affinity = objectAt(pod, "affinity");
  if (has(pod, "affinity") || has(spec, "affinity")) {
    const kept = draftAt(spec, "affinity");
    keepField(kept, affinity, "nodeAffinity");
    if (Object.keys(kept).length === 0 && !has(pod, "affinity")) delete spec["affinity"];
  }
}

function putResources(kept: Draft, pod: JsonObject, key: string): void {
  const containers = objectsAt(pod, key);
  const olds = draftsAt(kept, key);
  if (containers.length !== olds.length) return;
  olds.forEach((old, index) => {
    const container = containers[index] ?? {};
    if (textAt(old, "name") === textAt(container, "name")) keepField(old, container, "resources");
  });
}

/** CronJob. */
export const cronJobRules: KindRules = {
  depth: "full",
  generation: ["spec"],
  prepareForCreate: (draft) => dropDisabledInJob(draft, {}),
  prepareForUpdate: dropDisabledInJob,
  validate(cron, problems) {
    checkCronSpec(objectAt(cron, "spec"), undefined, problems);
    if (nameOf(cron).length <= longestCronName) return;
    problems.invalid(
      FieldPath.of("metadata", "name"),
      nameOf(cron),
      `must be no more than ${longestCronName} characters`,
    );
  },
  validateUpdate: (cron, old, problems) => checkCronSpec(objectAt(cron, "spec"), objectAt(old, "spec"), problems),
  warnings(cron, old) {
    const spec = objectAt(cron, "spec");
    const isKept = old !== undefined && isSameJson(metadataOf(cron)["generation"], metadataOf(old)["generation"]);
    const zone = "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see " +
      "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details";
    return [
      ...(old === undefined ? podNameWarnings(cron) : []),
      ...(isKept
        ? []
        : jobSpecWarnings(objectAt(objectAt(spec, "jobTemplate"), "spec"), path.child("jobTemplate", "spec"))),
      ...(old !== undefined && textAt(spec, "schedule").includes("TZ") ? [zone] : []),
    ];
  },
};

function dropDisabledInJob(draft: Draft, old: JsonObject): void {
  const job = findDraft(draftAt(draftAt(draft, "spec"), "jobTemplate"), "spec");
  if (job === undefined) return;
  const before = objectAt(objectAt(objectAt(objectAt(old, "spec"), "jobTemplate"), "spec"), "template");
  dropDisabled(draftAt(draftAt(job, "template"), "spec"), objectAt(before, "spec"));
}

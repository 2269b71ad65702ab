/** CronJobs: rules, defaults and table row. */
import { type Draft, isSameJson, type Json, type JsonObject, read } from "../../model/mod.ts";
import { dropDisabled, podNameWarnings } from "../pods/mod.ts";
import {
  ageCell,
  checkCounts,
  checkOneOf,
  containerCells,
  countCell,
  type DefaultsByType,
  FieldPath,
  type KindRules,
  nameCell,
  type Problems,
  type Row,
  rowOf,
  selectorCell,
  shownSelector,
  sinceCell,
  textCell,
} from "../rules/mod.ts";
import {
  booleanAt,
  draftAt,
  findDraft,
  findObject,
  has,
  metadataOf,
  nameOf,
  objectAt,
  setIfAbsent,
  setIfEmpty,
  textAt,
} from "../types/mod.ts";
import { CronSchedule, ScheduleError, timeZoneError } from "../../../async/mod.ts";
import { checkJobSpec, jobSpecWarnings } from "./job_spec.ts";

const maxNameLength = 52;

/** CronJob. */
export const cronJobRules: KindRules = {
  depth: "full",
  generationFields: ["spec"],
  prepareForCreate: (draft) => dropDisabledInJob(draft, {}),
  prepareForUpdate: dropDisabledInJob,
  validate(cron, problems) {
    checkCronSpec(objectAt(cron, "spec"), undefined, problems);
    if (nameOf(cron).length <= maxNameLength) return;
    problems.invalid(
      FieldPath.of("metadata", "name"),
      nameOf(cron),
      `must be no more than ${maxNameLength} characters`,
    );
  },
  validateUpdate: (cron, old, problems) => checkCronSpec(objectAt(cron, "spec"), objectAt(old, "spec"), problems),
  warnings(cron, old) {
    const spec = objectAt(cron, "spec");
    const isUnchanged = old !== undefined && isSameJson(metadataOf(cron)["generation"], metadataOf(old)["generation"]);
    const zone = "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see " +
      "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details";
    return [
      ...(old === undefined ? podNameWarnings(cron) : []),
      ...(isUnchanged
        ? []
        : jobSpecWarnings(objectAt(objectAt(spec, "jobTemplate"), "spec"), specPath.child("jobTemplate", "spec"))),
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

const specPath = FieldPath.of("spec");
const zonePart = /^[A-Za-z.\-_0-9+]{1,14}$/;

/** Checks a spec. @param old the old spec, for an update */
function checkCronSpec(spec: JsonObject, old: JsonObject | undefined, problems: Problems): void {
  const schedule = textAt(spec, "schedule");
  if (schedule === "") problems.required(specPath.child("schedule"));
  else checkSchedule(schedule, spec, old, specPath.child("schedule"), problems);
  checkCounts(spec, ["startingDeadlineSeconds"], specPath, problems);
  const isSameZone = old !== undefined && textAt(old, "timeZone") === textAt(spec, "timeZone");
  if (!isSameZone && has(spec, "timeZone")) {
    checkTimeZone(textAt(spec, "timeZone"), specPath.child("timeZone"), problems);
  }
  checkOneOf(spec, "concurrencyPolicy", specPath, problems, ["Allow", "Forbid", "Replace"]);
  checkTemplate(objectAt(objectAt(spec, "jobTemplate"), "spec"), specPath.child("jobTemplate", "spec"), problems);
  checkCounts(spec, ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"], specPath, problems);
}

function checkSchedule(
  schedule: string,
  spec: JsonObject,
  old: JsonObject | undefined,
  place: FieldPath,
  problems: Problems,
): void {
  const error = scheduleError(schedule);
  if (error !== undefined) problems.invalid(place, schedule, error);
  if (!schedule.includes("TZ")) return;
  const wasAllowed = textAt(old ?? {}, "schedule").includes("TZ");
  if (!wasAllowed) {
    problems.invalid(place, schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  } else if (has(spec, "timeZone")) {
    problems.invalid(place, schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule");
  }
}

function checkTimeZone(zone: string, place: FieldPath, problems: Problems): void {
  if (zone === "") return problems.invalid(place, zone, "timeZone must be nil or non-empty string");
  const isOdd = zone.split("/").some((part) =>
    part === "." || part === ".." || part.startsWith("-") || !zonePart.test(part)
  );
  if (isOdd) return problems.invalid(place, zone, `unknown time zone ${zone}`);
  if (zone.toLowerCase() === "local") {
    const why = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
    problems.invalid(place, zone, why);
  }
  const error = timeZoneError(zone);
  if (error !== undefined) problems.invalid(place, zone, error);
}

function checkTemplate(job: JsonObject, place: FieldPath, problems: Problems): void {
  checkJobSpec(job, place, problems);
  const selector = findObject(job, "selector");
  if (selector !== undefined) {
    problems.invalidStruct(place.child("selector"), shownSelector(selector), "`selector` will be auto-generated");
  }
  if (booleanAt(job, "manualSelector")) problems.notSupported(place.child("manualSelector"), true, ["nil", "false"]);
}

/** Returns the error of a schedule, or undefined. */
function scheduleError(schedule: string): string | undefined {
  try {
    CronSchedule.parse(schedule);
    return undefined;
  } catch (error) {
    if (error instanceof ScheduleError) return error.message;
    throw error;
  }
}

/** The defaults of CronJobs. */
export const cronJobDefaults: DefaultsByType = { "batch/v1.CronJob": setCronJobDefaults };

function setCronJobDefaults(draft: Draft): void {
  const spec = draftAt(draft, "spec");
  setIfEmpty(spec, "concurrencyPolicy", "Allow");
  setIfAbsent(spec, "suspend", false);
  setIfAbsent(spec, "successfulJobsHistoryLimit", 3);
  setIfAbsent(spec, "failedJobsHistoryLimit", 1);
}

/** The cells of a CronJob. */
export const cronJobRow: Row = rowOf(
  nameCell,
  textCell("spec.schedule"),
  textCell("spec.timeZone", "<none>"),
  suspendText,
  countCell("status.active"),
  sinceCell("status.lastScheduleTime", "<none>"),
  ageCell,
  ...containerCells("spec.jobTemplate.spec.template"),
  selectorCell("spec.jobTemplate.spec.selector"),
);

function suspendText(object: JsonObject): Json {
  const value = read(objectAt(object, "spec"), "suspend");
  return value === true ? "True" : value === false ? "False" : "<unset>";
}

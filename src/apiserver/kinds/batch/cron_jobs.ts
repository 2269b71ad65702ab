/** CronJobs: rules, defaults, table row, and the errors about schedules, which are those of robfig/cron v3. */
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

/** The limits of one field, and the names that may replace its numbers. */
interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const fields: readonly Bounds[] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: months },
  { min: 0, max: 6, names: weekdays },
];

const descriptors = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];
const every = "@every ";
const duration = /^[-+]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;

/** Returns the error of a schedule, or undefined. */
function scheduleError(schedule: string): string | undefined {
  try {
    checkCronText(schedule);
    return undefined;
  } catch (error) {
    if (error instanceof ScheduleError) return error.message;
    throw error;
  }
}

class ScheduleError extends Error {}

function checkCronText(schedule: string): void {
  const zone = /^(?:CRON_)?TZ=(\S*)(?: (.*))?$/.exec(schedule);
  if (zone === null) return checkTimes(schedule);
  const [, name = "", rest] = zone;
  if (rest === undefined) fail("invalid schedule format: runtime error: slice bounds out of range [:-1]");
  const error = timeZoneError(name);
  if (error !== undefined) fail(`provided bad location ${name}: ${error}`);
  checkTimes(rest.trim());
}

function checkTimes(schedule: string): void {
  if (schedule.startsWith("@")) return checkDescriptor(schedule);
  const given = schedule.split(/\s+/).filter((field) => field !== "");
  if (given.length !== fields.length) {
    fail(`expected exactly ${fields.length} fields, found ${given.length}: [${given.join(" ")}]`);
  }
  fields.forEach((bounds, index) => {
    for (const range of (given[index] ?? "").split(",").filter((part) => part !== "")) checkRange(range, bounds);
  });
}

function checkDescriptor(text: string): void {
  if (descriptors.includes(text)) return;
  if (!text.startsWith(every)) fail(`unrecognized descriptor: ${text}`);
  const length = text.slice(every.length);
  if (duration.test(length)) return;
  const isBare = /^\d+$/.test(length);
  const why = `time: ${isBare ? "missing unit in" : "invalid"} duration ${JSON.stringify(length)}`;
  fail(`failed to parse duration ${text}: ${why}`);
}

function checkRange(text: string, bounds: Bounds): void {
  const [range = "", step, ...others] = text.split("/");
  const limits = range.split("-");
  const [start, end] = limitsOf(text, limits, bounds);
  if (others.length > 0) fail(`too many slashes: ${text}`);
  const size = step === undefined ? 1 : numberOf(step);
  const last = step !== undefined && limits.length === 1 ? bounds.max : end;
  if (start < bounds.min) fail(`beginning of range (${start}) below minimum (${bounds.min}): ${text}`);
  if (last > bounds.max) fail(`end of range (${last}) above maximum (${bounds.max}): ${text}`);
  if (start > last) fail(`beginning of range (${start}) beyond end of range (${last}): ${text}`);
  if (size === 0) fail(`step of range should be a positive number: ${text}`);
}

function limitsOf(text: string, limits: readonly string[], bounds: Bounds): readonly [start: number, end: number] {
  const [low = "", high] = limits;
  if (low === "*" || low === "?") return [bounds.min, bounds.max];
  const start = namedNumber(low, bounds);
  if (limits.length > 2) fail(`too many hyphens: ${text}`);
  return [start, high === undefined ? start : namedNumber(high, bounds)];
}

function namedNumber(text: string, { min, names }: Bounds): number {
  const index = names.indexOf(text.toLowerCase());
  return index < 0 ? numberOf(text) : index + min;
}

function numberOf(text: string): number {
  if (!/^[-+]?\d+$/.test(text)) {
    fail(`failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  const number = Number(text);
  if (number < 0) fail(`negative number (${number}) not allowed: ${text}`);
  return number;
}

function fail(message: string): never {
  throw new ScheduleError(message);
}

/** Returns the error of the name of a time zone, or undefined. */
function timeZoneError(name: string): string | undefined {
  if (name === "" || name === "UTC" || name === "Local") return undefined;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return /^[-+]/.test(name) ? `unknown time zone ${name}` : undefined;
  } catch {
    return `unknown time zone ${name}`;
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

/** Rules of the spec of a CronJob: when, and what. */
import type { JsonObject } from "../../model/mod.ts";
import { checkOneOf } from "../checks.ts";
import { findObject, flagAt, has, objectAt, textAt } from "../fields.ts";
import { FieldPath, type Problems } from "../problems.ts";
import { scheduleError, timeZoneError } from "../schedules.ts";
import { checkJobSpec } from "./job_spec.ts";
import { checkCounts, shownSelector } from "./templates.ts";

const path = FieldPath.of("spec");
const zonePart = /^[A-Za-z.\-_0-9+]{1,14}$/;

/** Checks a spec. @param old what it was, for a change */
export function checkCronSpec(spec: JsonObject, old: JsonObject | undefined, problems: Problems): void {
  const schedule = textAt(spec, "schedule");
  if (schedule === "") problems.required(path.child("schedule"));
  else checkSchedule(schedule, spec, old, path.child("schedule"), problems);
  checkCounts(spec, ["startingDeadlineSeconds"], path, problems);
  const isSameZone = old !== undefined && textAt(old, "timeZone") === textAt(spec, "timeZone");
  if (!isSameZone && has(spec, "timeZone")) checkTimeZone(textAt(spec, "timeZone"), path.child("timeZone"), problems);
  checkOneOf(spec, "concurrencyPolicy", path, problems, ["Allow", "Forbid", "Replace"]);
  checkTemplate(objectAt(objectAt(spec, "jobTemplate"), "spec"), path.child("jobTemplate", "spec"), problems);
  checkCounts(spec, ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"], path, problems);
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
  if (flagAt(job, "manualSelector")) problems.notSupported(place.child("manualSelector"), true, ["nil", "false"]);
}

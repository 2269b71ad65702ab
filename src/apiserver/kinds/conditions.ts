/** Rules of the conditions that most kinds have in their status: meta/v1 Condition. */
import { type JsonObject, labelKeyErrors, regexError, utf8Length } from "../model/mod.ts";
import { has, numberAt, objectsAt, textAt } from "./fields.ts";
import type { FieldPath, Problems } from "./problems.ts";

const statuses = ["False", "True", "Unknown"];
const longestReason = 1024;
const longestMessage = 32 * 1024;
const reason = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?";
const reasonPattern = new RegExp(`^${reason}$`);
const reasonWhy =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters " +
  "or '_,:', and must end with an alphanumeric character or '_'";
const reasonExamples = ["my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB"];

/** The conditions of a status: one of each type. */
export function checkConditions(status: JsonObject, path: FieldPath, problems: Problems): void {
  const seen = new Set<string>();
  objectsAt(status, "conditions").forEach((condition, index) => {
    const place = path.child("conditions").index(index);
    const type = textAt(condition, "type");
    if (seen.has(type)) problems.duplicate(place.child("type"), type);
    seen.add(type);
    checkCondition(condition, place, problems);
  });
}

function checkCondition(condition: JsonObject, path: FieldPath, problems: Problems): void {
  const [type, status] = [textAt(condition, "type"), textAt(condition, "status")];
  problems.invalidAll(path.child("type"), type, labelKeyErrors(type));
  if (!statuses.includes(status)) problems.notSupported(path.child("status"), status, statuses);
  const generation = numberAt(condition, "observedGeneration");
  if (generation < 0) {
    problems.invalid(path.child("observedGeneration"), generation, "must be greater than or equal to zero");
  }
  if (!has(condition, "lastTransitionTime")) problems.required(path.child("lastTransitionTime"));
  checkReason(textAt(condition, "reason"), path.child("reason"), problems);
  if (utf8Length(textAt(condition, "message")) > longestMessage) {
    problems.tooLong(path.child("message"), longestMessage);
  }
}

function checkReason(text: string, path: FieldPath, problems: Problems): void {
  if (text === "") return problems.required(path);
  if (!reasonPattern.test(text)) problems.invalid(path, text, regexError(reasonWhy, reason, reasonExamples));
  if (utf8Length(text) > longestReason) problems.tooLong(path, longestReason);
}

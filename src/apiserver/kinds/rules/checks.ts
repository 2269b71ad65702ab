/**
 * Checks that the rules of many kinds share: labels and selectors, quantities, counts, immutable fields, conditions, paths of
 * files, and the check against the schema for kinds without rules of their own. The error texts are those of apimachinery and
 * pkg/apis/core/validation of Kubernetes 1.36.
 */
import {
  isJsonArray,
  isJsonObject,
  isSameJson,
  type Json,
  type JsonObject,
  labelKeyErrors,
  labelValueErrors,
  read,
  regexError,
  utf8Length,
} from "../../model/mod.ts";
import {
  compareQuantities,
  findNumber,
  findObject,
  has,
  numberAt,
  objectAt,
  objectsAt,
  textAt,
  textMapAt,
  textsAt,
  wasSentEmpty,
  type WireField,
  type WireStruct,
  wireStruct,
  type WireType,
} from "../types/mod.ts";
import {
  fieldIsImmutable,
  labelErrors,
  mustNotBeNegative,
  percentErrors,
  portErrors,
  portNameErrors,
} from "./formats.ts";
import { FieldPath, type Problems } from "./problems.ts";

/** The limit for all keys and values of annotations together. */
const maxAnnotationBytes = 256 * 1024;

/** Checks the labels of a template or a selector. */
export function checkLabels(object: JsonObject, key: string, path: FieldPath, problems: Problems): void {
  for (const [name, value] of textMapAt(object, key)) {
    problems.invalidAll(path, name, labelKeyErrors(name));
    problems.invalidAll(path, value, labelValueErrors(value));
  }
}

/** Checks the annotations of a template. */
export function checkAnnotations(object: JsonObject, key: string, path: FieldPath, problems: Problems): void {
  let bytes = 0;
  for (const [name, value] of textMapAt(object, key)) {
    problems.invalidAll(path, name, labelKeyErrors(name.toLowerCase()));
    bytes += utf8Length(name) + utf8Length(value);
  }
  if (bytes > maxAnnotationBytes) problems.tooLong(path, maxAnnotationBytes);
}

/** Checks a LabelSelector. @param allowsInvalidValues true when the old selector has an invalid label value */
export function checkSelector(
  selector: JsonObject | undefined,
  path: FieldPath,
  problems: Problems,
  allowsInvalidValues = false,
): void {
  if (selector === undefined) return;
  checkLabels(selector, "matchLabels", path.child("matchLabels"), problems);
  objectsAt(selector, "matchExpressions").forEach((expression, index) =>
    checkRequirement(expression, path.child("matchExpressions").index(index), problems, allowsInvalidValues)
  );
}

function checkRequirement(
  expression: JsonObject,
  path: FieldPath,
  problems: Problems,
  allowsInvalidValues: boolean,
): void {
  const operator = textAt(expression, "operator");
  const values = textsAt(expression, "values");
  if (operator === "In" || operator === "NotIn") {
    if (values.length === 0) {
      problems.required(path.child("values"), "must be specified when `operator` is 'In' or 'NotIn'");
    }
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (values.length > 0) {
      problems.forbidden(path.child("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
  } else problems.invalid(path.child("operator"), operator, "not a valid selector operator");
  problems.invalidAll(path.child("key"), textAt(expression, "key"), labelKeyErrors(textAt(expression, "key")));
  if (allowsInvalidValues) return;
  values.forEach((value, index) =>
    problems.invalidAll(path.child("values").index(index), value, labelValueErrors(value))
  );
}

/** True when a selector has an invalid label value, which an update may keep. */
export function hasInvalidLabelValue(selector: JsonObject | undefined): boolean {
  return objectsAt(selector ?? {}, "matchExpressions").some((expression) =>
    textsAt(expression, "values").some((value) => labelValueErrors(value).length > 0)
  );
}

/** True when a LabelSelector is empty or absent. */
export function isEmptySelector(selector: JsonObject | undefined): boolean {
  if (selector === undefined) return true;
  return Object.keys(findObject(selector, "matchLabels") ?? {}).length === 0 &&
    objectsAt(selector, "matchExpressions").length === 0;
}

/** True when a LabelSelector matches the labels. */
export function selects(selector: JsonObject, labels: ReadonlyMap<string, string>): boolean {
  for (const [name, value] of textMapAt(selector, "matchLabels")) if (labels.get(name) !== value) return false;
  return objectsAt(selector, "matchExpressions").every((expression) => {
    const value = labels.get(textAt(expression, "key"));
    const values = textsAt(expression, "values");
    switch (textAt(expression, "operator")) {
      case "In":
        return value !== undefined && values.includes(value);
      case "NotIn":
        return value === undefined || !values.includes(value);
      case "Exists":
        return value !== undefined;
      case "DoesNotExist":
        return value === undefined;
      default:
        return false;
    }
  });
}

/** Checks that a number, if it is set, is not negative. */
export function checkNotNegative(object: JsonObject, key: string, path: FieldPath, problems: Problems): void {
  const value = findNumber(object, key);
  if (value !== undefined && value < 0) problems.invalid(path.child(key), value, mustNotBeNegative);
}

/** Checks that a quantity is not negative. */
export function checkAmount(amount: string, path: FieldPath, problems: Problems): void {
  if (compareQuantities(amount, "0") < 0) problems.invalid(path, amount, mustNotBeNegative);
}

/** Checks that a field has not changed. */
export function checkImmutable(
  object: JsonObject,
  old: JsonObject,
  key: string,
  path: FieldPath,
  problems: Problems,
): void {
  const value = read(object, key);
  if (!isSameJson(value ?? null, read(old, key) ?? null)) {
    problems.invalid(path, value ?? zeroLike(read(old, key), wasSentEmpty(object, key)), fieldIsImmutable);
  }
}

/** @param isSent false for a list or map that is absent, and null in Go */
function zeroLike(value: Json | undefined, isSent: boolean): Json {
  if (typeof value === "string") return "";
  if (!isSent) return null;
  return isJsonArray(value) ? [] : {};
}

/** Checks that a text is one of the supported values. */
export function checkOneOf(
  object: JsonObject,
  key: string,
  path: FieldPath,
  problems: Problems,
  supported: readonly string[],
): void {
  const value = textAt(object, key);
  if (value === "") problems.required(path.child(key));
  else if (!supported.includes(value)) problems.notSupported(path.child(key), value, supported);
}

/** Checks a port number or port name. */
export function checkPortNumberOrName(value: Json | undefined, path: FieldPath, problems: Problems): void {
  if (typeof value === "number") problems.invalidAll(path, value, portErrors(value));
  else if (typeof value === "string") problems.invalidAll(path, value, portNameErrors(value));
}

/** Checks a number or a percentage: `maxSurge`, `minAvailable`. */
export function checkNumberOrPercent(value: Json | undefined, path: FieldPath, problems: Problems): void {
  if (typeof value === "string") problems.invalidAll(path, value, percentErrors(value));
  else if (typeof value === "number" && value < 0) problems.invalid(path, value, mustNotBeNegative);
}

/** The number of a percentage. */
function percentOf(value: Json | undefined): number | undefined {
  return typeof value === "string" && percentErrors(value).length === 0 ? Number.parseInt(value, 10) : undefined;
}

/** Checks that a text is an RFC 1123 label. */
export function checkLabelText(object: JsonObject, key: string, path: FieldPath, problems: Problems): void {
  problems.invalidAll(path.child(key), textAt(object, key), labelErrors(textAt(object, key)));
}

/** A selector in the form of the Go type. */
export function shownSelector(selector: JsonObject | undefined): JsonObject {
  const { matchLabels, matchExpressions } = selector ?? {};
  const labels = Object.entries(objectAt({ matchLabels: matchLabels ?? null }, "matchLabels"));
  return {
    ...(labels.length === 0
      ? {}
      : { matchLabels: Object.fromEntries(labels.toSorted(([left], [right]) => left < right ? -1 : 1)) }),
    ...(matchExpressions === undefined ? {} : { matchExpressions }),
  };
}

/** Checks that counts are not negative. */
export function checkCounts(holder: JsonObject, keys: readonly string[], path: FieldPath, problems: Problems): void {
  for (const key of keys) checkNotNegative(holder, key, path, problems);
}

/** Checks that counts are not greater than another count. */
export function checkNotMore(
  status: JsonObject,
  keys: readonly string[],
  maxKey: string,
  path: FieldPath,
  problems: Problems,
  name: string = maxKey,
): void {
  for (const key of keys) {
    const value = numberAt(status, key);
    if (value > numberAt(status, maxKey)) problems.invalid(path.child(key), value, `cannot be greater than ${name}`);
  }
}

/** Checks that a percentage is at most 100. */
export function checkPercent(holder: JsonObject, key: string, path: FieldPath, problems: Problems): void {
  const value = read(holder, key);
  if ((percentOf(value) ?? 0) > 100) problems.invalid(path.child(key), value ?? null, "must not be greater than 100%");
}

/** A number, or the number of a percentage. */
export function countOf(holder: JsonObject, key: string): number {
  const value = read(holder, key);
  if (typeof value !== "string") return typeof value === "number" ? value : 0;
  return percentOf(value) ?? (/^[+-]?\d+$/.test(value) ? Number(value) : 0);
}

const statuses = ["False", "True", "Unknown"];
const maxReasonBytes = 1024;
const maxMessageBytes = 32 * 1024;
const reason = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?";
const reasonPattern = new RegExp(`^${reason}$`);

const badReason =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters " +
  "or '_,:', and must end with an alphanumeric character or '_'";

const reasonExamples = ["my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB"];

/** Checks the conditions of a status: meta/v1 Condition, one of each type. */
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
  if (utf8Length(textAt(condition, "message")) > maxMessageBytes) {
    problems.tooLong(path.child("message"), maxMessageBytes);
  }
}

function checkReason(text: string, path: FieldPath, problems: Problems): void {
  if (text === "") return problems.required(path);
  if (!reasonPattern.test(text)) problems.invalid(path, text, regexError(badReason, reason, reasonExamples));
  if (utf8Length(text) > maxReasonBytes) problems.tooLong(path, maxReasonBytes);
}

/** Checks that a path does not contain `..`. */
export function checkNoParentSteps(path: string, place: FieldPath, problems: Problems): void {
  if (hasParentSteps(path)) problems.invalid(place, path, "must not contain '..'");
}

/** True for a path that contains `..`. */
export function hasParentSteps(path: string): boolean {
  return path.split("/").includes("..");
}

/** Checks a relative path that must not contain `..`. */
export function checkRelativePath(path: string, place: FieldPath, problems: Problems): void {
  if (path.startsWith("/")) problems.invalid(place, path, "must be a relative path");
  checkNoParentSteps(path, place, problems);
}

/** Checks the path of a file in a volume. Names that begin with `..` are reserved for the kubelet. */
export function checkFilePath(path: string, place: FieldPath, problems: Problems): void {
  checkRelativePath(path, place, problems);
  if (path.startsWith("..") && !path.startsWith("../")) problems.invalid(place, path, "must not start with '..'");
}

/**
 * Checks an object against its schema: required fields and enums. The metadata is checked by the registry; the status is not
 * checked, as in Kubernetes.
 */
export function checkBySchema(struct: WireStruct, object: JsonObject, problems: Problems): void {
  checkStruct(struct, object, FieldPath.root, problems);
}

function checkStruct(struct: WireStruct, object: JsonObject, path: FieldPath, problems: Problems): void {
  for (const field of struct.fields.values()) {
    if (path === FieldPath.root && field.name === "status") continue;
    if (field.type.kind === "struct" && field.type.name === "meta/v1.ObjectMeta") continue;
    const value = read(object, field.name) ?? null;
    const place = path.child(field.name);
    if (field.isRequired && isMissing(value, field)) problems.required(place);
    else if (value !== null) {
      if (field.allowed.length > 0 && typeof value === "string" && value !== "" && !field.allowed.includes(value)) {
        problems.notSupported(place, value, field.allowed);
      }
      checkValue(field.type, value, place, problems);
    }
  }
}

function checkValue(type: WireType, value: Json, path: FieldPath, problems: Problems): void {
  if (type.kind === "struct" && isJsonObject(value)) checkStruct(wireStruct(type.name), value, path, problems);
  else if (type.kind === "list" && isJsonArray(value)) {
    value.forEach((item, index) => checkValue(type.items, item, path.index(index), problems));
  } else if (type.kind === "map" && isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) checkValue(type.values, item, path.key(key), problems);
  }
}

/** Numbers and booleans are never missing: zero is a value. */
function isMissing(value: Json, field: WireField): boolean {
  if (value === null) return true;
  return field.type.kind === "scalar" && field.type.scalar === "string" && value === "";
}

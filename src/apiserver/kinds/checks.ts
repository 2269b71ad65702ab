/**
 * Checks that the rules of many kinds share: labels and selectors, quantities, numbers that may not be negative, fields
 * that may not change. Texts as in apimachinery and pkg/apis/core/validation of Kubernetes 1.36.
 */
import {
  isSameJson,
  type Json,
  type JsonObject,
  labelKeyErrors,
  labelValueErrors,
  read,
  utf8Length,
} from "../model/mod.ts";
import { findNumber, findObject, objectsAt, textAt, textMapAt, textsAt } from "./fields.ts";
import {
  immutable,
  labelErrors,
  notNegative,
  percentErrors,
  portErrors,
  portNameErrors,
  subdomainErrors,
} from "./formats.ts";
import type { FieldPath, Problems } from "./problems.ts";
import { compareQuantities } from "./quantity.ts";

/** All keys and values of annotations together. */
const annotationBytes = 256 * 1024;

/** Labels of a template or a selector. */
export function checkLabels(object: JsonObject, key: string, path: FieldPath, problems: Problems): void {
  for (const [name, value] of textMapAt(object, key)) {
    problems.invalidAll(path, name, labelKeyErrors(name));
    problems.invalidAll(path, value, labelValueErrors(value));
  }
}

/** Annotations of a template. */
export function checkAnnotations(object: JsonObject, key: string, path: FieldPath, problems: Problems): void {
  let bytes = 0;
  for (const [name, value] of textMapAt(object, key)) {
    problems.invalidAll(path, name, labelKeyErrors(name.toLowerCase()));
    bytes += utf8Length(name) + utf8Length(value);
  }
  if (bytes > annotationBytes) problems.tooLong(path, annotationBytes);
}

/** A LabelSelector. @param allowsAnyValue where an old one with a bad value may stay */
export function checkSelector(
  selector: JsonObject | undefined,
  path: FieldPath,
  problems: Problems,
  allowsAnyValue = false,
): void {
  if (selector === undefined) return;
  checkLabels(selector, "matchLabels", path.child("matchLabels"), problems);
  objectsAt(selector, "matchExpressions").forEach((expression, index) =>
    checkRequirement(expression, path.child("matchExpressions").index(index), problems, allowsAnyValue)
  );
}

function checkRequirement(expression: JsonObject, path: FieldPath, problems: Problems, allowsAnyValue: boolean): void {
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
  if (allowsAnyValue) return;
  values.forEach((value, index) =>
    problems.invalidAll(path.child("values").index(index), value, labelValueErrors(value))
  );
}

/** True where a selector has a value that no label can have: it may stay where it was there before. */
export function hasBadValue(selector: JsonObject | undefined): boolean {
  return objectsAt(selector ?? {}, "matchExpressions").some((expression) =>
    textsAt(expression, "values").some((value) => labelValueErrors(value).length > 0)
  );
}

/** True where a LabelSelector selects everything, or there is none. */
export function isEmptySelector(selector: JsonObject | undefined): boolean {
  if (selector === undefined) return true;
  return Object.keys(findObject(selector, "matchLabels") ?? {}).length === 0 &&
    objectsAt(selector, "matchExpressions").length === 0;
}

/** True where a LabelSelector selects these labels. */
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

/** A number that may not be negative; absent is right. */
export function checkNotNegative(object: JsonObject, key: string, path: FieldPath, problems: Problems): void {
  const value = findNumber(object, key);
  if (value !== undefined && value < 0) problems.invalid(path.child(key), value, notNegative);
}

/** A quantity that may not be negative. */
export function checkAmount(amount: string, path: FieldPath, problems: Problems): void {
  if (compareQuantities(amount, "0") < 0) problems.invalid(path, amount, notNegative);
}

/** A field that may not change. */
export function checkImmutable(
  object: JsonObject,
  old: JsonObject,
  key: string,
  path: FieldPath,
  problems: Problems,
): void {
  const value = read(object, key);
  if (!isSameJson(value ?? null, read(old, key) ?? null)) {
    problems.invalid(path, value ?? zeroLike(read(old, key)), immutable);
  }
}

function zeroLike(value: Json | undefined): Json {
  return typeof value === "string" ? "" : null;
}

/** A text that must be one of a few. */
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

/** A port by number or by name. */
export function checkPortNumberOrName(value: Json | undefined, path: FieldPath, problems: Problems): void {
  if (typeof value === "number") problems.invalidAll(path, value, portErrors(value));
  else if (typeof value === "string") problems.invalidAll(path, value, portNameErrors(value));
}

/** A number, or a percentage: `maxSurge`, `minAvailable`. */
export function checkNumberOrPercent(value: Json | undefined, path: FieldPath, problems: Problems): void {
  if (typeof value === "string") problems.invalidAll(path, value, percentErrors(value));
  else if (typeof value === "number" && value < 0) problems.invalid(path, value, notNegative);
}

/** The number before the `%`, for a percentage. */
export function percentOf(value: Json | undefined): number | undefined {
  return typeof value === "string" && percentErrors(value).length === 0 ? Number.parseInt(value, 10) : undefined;
}

/** A text that must be an RFC 1123 label. */
export function checkLabelText(object: JsonObject, key: string, path: FieldPath, problems: Problems): void {
  problems.invalidAll(path.child(key), textAt(object, key), labelErrors(textAt(object, key)));
}

/** A text that must be an RFC 1123 subdomain. */
export function checkSubdomainText(object: JsonObject, key: string, path: FieldPath, problems: Problems): void {
  problems.invalidAll(path.child(key), textAt(object, key), subdomainErrors(textAt(object, key)));
}

/** A text that must be there. */
export function checkThere(object: JsonObject, key: string, path: FieldPath, problems: Problems, detail = ""): void {
  if (textAt(object, key) === "") problems.required(path.child(key), detail);
}

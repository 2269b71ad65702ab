/** Rules that all makers of Pods share: their selectors, their templates, the counts in their status. */
import { isSameJson, type JsonObject, labelKeyErrors, labelValueErrors, read } from "../../model/mod.ts";
import { checkNotNegative, checkSelector, isEmptySelector, percentOf, selects } from "../checks.ts";
import {
  findNumber,
  findObject,
  has,
  metadataOf,
  nameOf,
  numberAt,
  objectAt,
  objectsAt,
  textAt,
  textMapAt,
  textsAt,
} from "../fields.ts";
import { labelErrors } from "../formats.ts";
import { checkPodTemplate } from "../pods/pod_spec.ts";
import { podWarnings } from "../pods/warnings.ts";
import { FieldPath, type Problems } from "../problems.ts";

const noMatch = "`selector` does not match template `labels`";

/** A selector as the server's own type shows it. */
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

/** A selector that must be there and may not be empty. @param what the kind in the message */
export function checkOwnSelector(spec: JsonObject, what: string, path: FieldPath, problems: Problems): void {
  const selector = findObject(spec, "selector");
  if (selector === undefined) return problems.required(path);
  checkSelector(selector, path, problems);
  if (isEmptySelector(selector)) {
    problems.invalidStruct(path, shownSelector(selector), `empty selector is invalid for ${what}`);
  }
}

/** True where a selector can be asked: all its keys, values and operators are right. */
export function canSelect(selector: JsonObject | undefined): boolean {
  for (const [key, value] of textMapAt(selector ?? {}, "matchLabels")) {
    if (labelKeyErrors(key).length > 0 || labelValueErrors(value).length > 0) return false;
  }
  return objectsAt(selector ?? {}, "matchExpressions").every((expression) => {
    const values = textsAt(expression, "values");
    const isIn = ["In", "NotIn"].includes(textAt(expression, "operator"));
    const isExists = ["Exists", "DoesNotExist"].includes(textAt(expression, "operator"));
    return (isIn ? values.length > 0 : isExists && values.length === 0) &&
      labelKeyErrors(textAt(expression, "key")).length === 0 && values.every((value) =>
        labelValueErrors(value).length === 0
      );
  });
}

/** A template that must have the labels which its owner looks for. */
export function checkSelected(template: JsonObject, selector: JsonObject, path: FieldPath, problems: Problems): void {
  const metadata = metadataOf(template);
  if (isEmptySelector(selector) || selects(selector, textMapAt(metadata, "labels"))) return;
  problems.invalid(path.child("metadata", "labels"), read(metadata, "labels") ?? null, noMatch);
}

/** A template of Pods that run for ever. @param owner the kind in the message */
export function checkLastingTemplate(template: JsonObject, owner: string, path: FieldPath, problems: Problems): void {
  checkPodTemplate(template, path, problems);
  checkLasting(template, owner, path, problems);
}

/** What keeps Pods from running for ever. */
export function checkLasting(template: JsonObject, owner: string, path: FieldPath, problems: Problems): void {
  const spec = objectAt(template, "spec");
  const policy = textAt(spec, "restartPolicy");
  if (policy !== "Always") problems.notSupported(path.child("spec", "restartPolicy"), policy, ["Always"]);
  if (has(spec, "activeDeadlineSeconds")) {
    problems.forbidden(
      path.child("spec", "activeDeadlineSeconds"),
      `activeDeadlineSeconds in ${owner} is not Supported`,
    );
  }
}

/** Counts that may not be negative. */
export function checkCounts(holder: JsonObject, keys: readonly string[], path: FieldPath, problems: Problems): void {
  for (const key of keys) checkNotNegative(holder, key, path, problems);
}

/** Counts that may not be more than another one. */
export function checkNotMore(
  status: JsonObject,
  keys: readonly string[],
  most: string,
  path: FieldPath,
  problems: Problems,
  name: string = most,
): void {
  for (const key of keys) {
    const value = numberAt(status, key);
    if (value > numberAt(status, most)) problems.invalid(path.child(key), value, `cannot be greater than ${name}`);
  }
}

/** A count of collisions that may only grow. */
export function checkCollisions(status: JsonObject, before: JsonObject, path: FieldPath, problems: Problems): void {
  const [now, then] = [findNumber(status, "collisionCount"), findNumber(before, "collisionCount")];
  if (then === undefined || (now !== undefined && now >= then)) return;
  problems.invalid(path.child("collisionCount"), now ?? 0, "cannot be decremented");
}

/** A percentage may not be more than the whole. */
export function checkPercent(holder: JsonObject, key: string, path: FieldPath, problems: Problems): void {
  const value = read(holder, key);
  if ((percentOf(value) ?? 0) > 100) problems.invalid(path.child(key), value ?? null, "must not be greater than 100%");
}

/** A number, or how many percent. */
export function countOf(holder: JsonObject, key: string): number {
  const value = read(holder, key);
  if (typeof value !== "string") return typeof value === "number" ? value : 0;
  return percentOf(value) ?? (/^[+-]?\d+$/.test(value) ? Number(value) : 0);
}

/** Names of what makes Pods become part of the Pods' names. */
export function podNameWarnings(object: JsonObject): readonly string[] {
  const errors = labelErrors(nameOf(object));
  const why =
    "this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended";
  return errors.length === 0 ? [] : [`metadata.name: ${why}: [${errors.join(" ")}]`];
}

/** What the template of a new object, or of a changed one, earns. */
export function templateWarnings(object: JsonObject, old: JsonObject | undefined): readonly string[] {
  const isKept = old !== undefined && isSameJson(metadataOf(object)["generation"], metadataOf(old)["generation"]);
  return isKept ? [] : podWarnings(objectAt(objectAt(object, "spec"), "template"), FieldPath.of("spec", "template"));
}

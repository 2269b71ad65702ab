/**
 * Rules that all workloads share: their selectors, their Pod templates and the warnings about both; and the kind PodTemplate.
 */
import {
  type Draft,
  draftOf,
  isSameJson,
  type JsonObject,
  labelKeyErrors,
  labelValueErrors,
  read,
} from "../../model/mod.ts";
import {
  checkSelector,
  containerCells,
  FieldPath,
  isEmptySelector,
  type KindRules,
  labelErrors,
  labelsCell,
  nameCell,
  type Problems,
  type Row,
  rowOf,
  selects,
  shownSelector,
} from "../rules/mod.ts";
import {
  draftAt,
  findDraft,
  findNumber,
  findObject,
  has,
  metadataOf,
  nameOf,
  objectAt,
  objectsAt,
  textAt,
  textMapAt,
  textsAt,
} from "../types/mod.ts";
import { checkPodTemplate, dropDisabled } from "./pod_spec.ts";
import { podWarnings } from "./pod_warnings.ts";

const noMatch = "`selector` does not match template `labels`";

/** Checks a selector that must not be empty. @param what the kind in the message */
export function checkRequiredSelector(spec: JsonObject, what: string, path: FieldPath, problems: Problems): void {
  const selector = findObject(spec, "selector");
  if (selector === undefined) return problems.required(path);
  checkSelector(selector, path, problems);
  if (isEmptySelector(selector)) {
    problems.invalidStruct(path, shownSelector(selector), `empty selector is invalid for ${what}`);
  }
}

/** True for a selector with valid keys, values and operators. */
export function isValidSelector(selector: JsonObject | undefined): boolean {
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

/** Checks that a template has the labels that its owner selects. */
export function checkTemplateLabels(
  template: JsonObject,
  selector: JsonObject,
  path: FieldPath,
  problems: Problems,
): void {
  const metadata = metadataOf(template);
  if (isEmptySelector(selector) || selects(selector, textMapAt(metadata, "labels"))) return;
  problems.invalid(path.child("metadata", "labels"), read(metadata, "labels") ?? null, noMatch);
}

/** Checks the template of Pods that do not finish. @param owner the kind in the message */
export function checkLongRunningTemplate(
  template: JsonObject,
  owner: string,
  path: FieldPath,
  problems: Problems,
): void {
  checkPodTemplate(template, path, problems);
  checkLongRunning(template, owner, path, problems);
}

/** Checks that the Pods of a template do not finish. */
export function checkLongRunning(template: JsonObject, owner: string, path: FieldPath, problems: Problems): void {
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

/** Checks that a collision count does not decrease. */
export function checkCollisions(status: JsonObject, before: JsonObject, path: FieldPath, problems: Problems): void {
  const [now, then] = [findNumber(status, "collisionCount"), findNumber(before, "collisionCount")];
  if (then === undefined || (now !== undefined && now >= then)) return;
  problems.invalid(path.child("collisionCount"), now ?? 0, "cannot be decremented");
}

/** Returns the warnings about the name of a workload, which becomes part of the names of its Pods. */
export function podNameWarnings(object: JsonObject): readonly string[] {
  const errors = labelErrors(nameOf(object));
  const why =
    "this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended";
  return errors.length === 0 ? [] : [`metadata.name: ${why}: [${errors.join(" ")}]`];
}

/** Returns the warnings about the template of a new or changed object. */
export function templateWarnings(object: JsonObject, old: JsonObject | undefined): readonly string[] {
  const isUnchanged = old !== undefined && isSameJson(metadataOf(object)["generation"], metadataOf(old)["generation"]);
  return isUnchanged
    ? []
    : podWarnings(objectAt(objectAt(object, "spec"), "template"), FieldPath.of("spec", "template"));
}

/** Drops fields of the template whose feature gates are off. */
export function dropDisabledInTemplate(draft: Draft, old: JsonObject = {}): void {
  const template = findDraft(draftAt(draft, "spec"), "template");
  if (template === undefined) return;
  dropDisabled(draftAt(template, "spec"), objectAt(objectAt(objectAt(old, "spec"), "template"), "spec"));
}

/** PodTemplate. */
export const podTemplateRules: KindRules = {
  depth: "full",
  generationFields: ["template"],
  validate: (template, problems) =>
    checkPodTemplate(objectAt(template, "template"), FieldPath.of("template"), problems),
  warnings(template, old) {
    const spec = { template: objectAt(template, "template") };
    const held = draftOf({ metadata: metadataOf(template), spec });
    return templateWarnings(held, old).map((warning) => warning.replace(/^spec\./, ""));
  },
};

/** The cells of a PodTemplate. */
export const podTemplateRow: Row = rowOf(
  nameCell,
  ...containerCells("template"),
  labelsCell("template.metadata.labels"),
);

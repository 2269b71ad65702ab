/** Rules of DaemonSets: one Pod on every node. */
import { type Draft, isSameJson, type JsonObject, read } from "../../model/mod.ts";
import { checkNumberOrPercent, checkSelector, hasBadValue, isEmptySelector } from "../checks.ts";
import { draftAt, findObject, metadataOf, objectAt, setIfAbsent, textAt } from "../fields.ts";
import type { KindRules } from "../kind_rules.ts";
import { checkPodTemplate } from "../pods/pod_spec.ts";
import { FieldPath, type Problems } from "../problems.ts";
import { checkSelectorKept, dropDisabledInTemplate, shownRolling } from "./deployments.ts";
import {
  canSelect,
  checkCollisions,
  checkCounts,
  checkLasting,
  checkPercent,
  checkSelected,
  countOf,
  shownSelector,
  templateWarnings,
} from "./templates.ts";

const path = FieldPath.of("spec");
const generationKey = "deprecated.daemonset.template.generation";

/** DaemonSet. */
export const daemonSetRules: KindRules = {
  depth: "full",
  generation: ["spec"],
  prepareForCreate(draft) {
    dropDisabledInTemplate(draft);
    const annotations = draftAt(draftAt(draft, "metadata"), "annotations");
    if (!(Number(textAt(annotations, generationKey)) >= 1)) annotations[generationKey] = "1";
  },
  prepareForUpdate(draft, old) {
    dropDisabledInTemplate(draft, old);
    countTemplates(draft, old);
  },
  validate: (set, problems) => checkSpec(objectAt(set, "spec"), false, problems),
  validateUpdate(set, old, problems) {
    checkSelectorKept(set, old, problems);
    checkSpec(objectAt(set, "spec"), hasBadValue(objectAt(objectAt(old, "spec"), "selector")), problems);
  },
  validateStatus(set, old, problems) {
    const status = objectAt(set, "status");
    const counts = [
      "currentNumberScheduled",
      "numberMisscheduled",
      "desiredNumberScheduled",
      "numberReady",
      "observedGeneration",
      "updatedNumberScheduled",
      "numberAvailable",
      "numberUnavailable",
      "collisionCount",
    ];
    checkCounts(status, counts, FieldPath.of("status"), problems);
    checkCollisions(status, objectAt(old, "status"), FieldPath.of("status"), problems);
  },
  warnings: templateWarnings,
};

/** The number of templates there were, in the annotation where older clients look for it. */
function countTemplates(draft: Draft, old: JsonObject): void {
  const before = textAt(objectAt(metadataOf(old), "annotations"), generationKey);
  const isKept = isSameJson(objectAt(draftAt(draft, "spec"), "template"), objectAt(objectAt(old, "spec"), "template"));
  const annotations = draftAt(draftAt(draft, "metadata"), "annotations");
  if (isKept && before === "") setIfAbsent(annotations, generationKey, "0");
  else annotations[generationKey] = isKept ? before : String(Number(before) + 1);
}

function checkSpec(spec: JsonObject, allowsAnyValue: boolean, problems: Problems): void {
  const selector = findObject(spec, "selector");
  const template = objectAt(spec, "template");
  const place = path.child("template");
  checkSelector(selector, path.child("selector"), problems, allowsAnyValue);
  if (selector === undefined) {
    const labels = read(metadataOf(template), "labels") ?? null;
    problems.invalid(place.child("metadata", "labels"), labels, "`selector` does not match template `labels`");
  } else if (canSelect(selector)) checkSelected(template, selector, place, problems);
  if (selector !== undefined && isEmptySelector(selector)) {
    problems.invalidStruct(path.child("selector"), shownSelector(selector), "empty selector is invalid for daemonset");
  }
  checkPodTemplate(template, place, problems);
  checkLasting(template, "DaemonSet", place, problems);
  checkCounts(spec, ["minReadySeconds", "revisionHistoryLimit"], path, problems);
  checkStrategy(objectAt(spec, "updateStrategy"), path.child("updateStrategy"), problems);
}

function checkStrategy(strategy: JsonObject, place: FieldPath, problems: Problems): void {
  const type = textAt(strategy, "type");
  const rolling = findObject(strategy, "rollingUpdate");
  if (type === "OnDelete") return;
  if (type !== "RollingUpdate") {
    const shown = { Type: type, RollingUpdate: rolling === undefined ? null : shownRolling(rolling) };
    return problems.notSupportedStruct(place, shown, ["RollingUpdate", "OnDelete"]);
  }
  const at = place.child("rollingUpdate");
  if (rolling === undefined) return problems.required(at);
  for (const key of ["maxUnavailable", "maxSurge"]) checkNumberOrPercent(read(rolling, key), at.child(key), problems);
  for (const key of ["maxUnavailable", "maxSurge"]) checkPercent(rolling, key, at, problems);
  const [unavailable, surge] = [countOf(rolling, "maxUnavailable"), countOf(rolling, "maxSurge")];
  if (unavailable !== 0 && surge !== 0) {
    const value = read(rolling, "maxSurge") ?? 0;
    problems.invalid(at.child("maxSurge"), value, "may not be set when maxUnavailable is non-zero");
  } else if (unavailable === 0 && surge === 0) {
    problems.required(at.child("maxUnavailable"), "cannot be 0 when maxSurge is 0");
  }
}

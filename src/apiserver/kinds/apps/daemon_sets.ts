/** DaemonSets: rules, defaults and table row. */
import { type Draft, isSameJson, type JsonObject, read } from "../../model/mod.ts";
import {
  checkCollisions,
  checkLongRunning,
  checkPodTemplate,
  checkTemplateLabels,
  dropDisabledInTemplate,
  isValidSelector,
  templateWarnings,
} from "../pods/mod.ts";
import {
  ageCell,
  checkCounts,
  checkNumberOrPercent,
  checkPercent,
  checkSelector,
  containerCells,
  countOf,
  type DefaultsByType,
  FieldPath,
  hasInvalidLabelValue,
  integerCell,
  isEmptySelector,
  type KindRules,
  labelsCell,
  nameCell,
  type Problems,
  type Row,
  rowOf,
  selectorCell,
  shownSelector,
} from "../rules/mod.ts";
import { draftAt, findObject, metadataOf, objectAt, setIfAbsent, setIfEmpty, textAt } from "../types/mod.ts";
import { checkSelectorUnchanged, shownRolling } from "./deployments.ts";

const specPath = FieldPath.of("spec");
/** The annotation that tells older clients how many templates a DaemonSet has had. */
const generationKey = "deprecated.daemonset.template.generation";

/** DaemonSet. */
export const daemonSetRules: KindRules = {
  depth: "full",
  generationFields: ["spec"],
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
    checkSelectorUnchanged(set, old, problems);
    checkSpec(objectAt(set, "spec"), hasInvalidLabelValue(objectAt(objectAt(old, "spec"), "selector")), problems);
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

/** Sets the number of templates so far in the annotation that older clients read. */
function countTemplates(draft: Draft, old: JsonObject): void {
  const before = textAt(objectAt(metadataOf(old), "annotations"), generationKey);
  const isUnchanged = isSameJson(
    objectAt(draftAt(draft, "spec"), "template"),
    objectAt(objectAt(old, "spec"), "template"),
  );
  const annotations = draftAt(draftAt(draft, "metadata"), "annotations");
  if (isUnchanged && before === "") setIfAbsent(annotations, generationKey, "0");
  else annotations[generationKey] = isUnchanged ? before : String(Number(before) + 1);
}

function checkSpec(spec: JsonObject, allowsInvalidValues: boolean, problems: Problems): void {
  const selector = findObject(spec, "selector");
  const template = objectAt(spec, "template");
  const place = specPath.child("template");
  checkSelector(selector, specPath.child("selector"), problems, allowsInvalidValues);
  if (selector === undefined) {
    const labels = read(metadataOf(template), "labels") ?? null;
    problems.invalid(place.child("metadata", "labels"), labels, "`selector` does not match template `labels`");
  } else if (isValidSelector(selector)) checkTemplateLabels(template, selector, place, problems);
  if (selector !== undefined && isEmptySelector(selector)) {
    problems.invalidStruct(
      specPath.child("selector"),
      shownSelector(selector),
      "empty selector is invalid for daemonset",
    );
  }
  checkPodTemplate(template, place, problems);
  checkLongRunning(template, "DaemonSet", place, problems);
  checkCounts(spec, ["minReadySeconds", "revisionHistoryLimit"], specPath, problems);
  checkStrategy(objectAt(spec, "updateStrategy"), specPath.child("updateStrategy"), problems);
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

/** The defaults of DaemonSets. */
export const daemonSetDefaults: DefaultsByType = { "apps/v1.DaemonSet": setDaemonSetDefaults };

function setDaemonSetDefaults(draft: Draft): void {
  // The internal type of the real server has a field for it, so every DaemonSet that it has read has the annotation.
  setIfAbsent(draftAt(draftAt(draft, "metadata"), "annotations"), generationKey, "0");
  const spec = draftAt(draft, "spec");
  const strategy = draftAt(spec, "updateStrategy");
  setIfEmpty(strategy, "type", "RollingUpdate");
  if (textAt(strategy, "type") === "RollingUpdate") {
    const rolling = draftAt(strategy, "rollingUpdate");
    setIfAbsent(rolling, "maxUnavailable", 1);
    setIfAbsent(rolling, "maxSurge", 0);
  }
  setIfAbsent(spec, "revisionHistoryLimit", 10);
}

/** The cells of a DaemonSet. */
export const daemonSetRow: Row = rowOf(
  nameCell,
  integerCell("status.desiredNumberScheduled"),
  integerCell("status.currentNumberScheduled"),
  integerCell("status.numberReady"),
  integerCell("status.updatedNumberScheduled"),
  integerCell("status.numberAvailable"),
  labelsCell("spec.template.spec.nodeSelector"),
  ageCell,
  ...containerCells("spec.template"),
  selectorCell("spec.selector"),
);

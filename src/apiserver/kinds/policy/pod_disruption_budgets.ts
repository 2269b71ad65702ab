/** PodDisruptionBudgets: rules and table row. */
import { type JsonObject, read } from "../../model/mod.ts";
import {
  ageCell,
  checkConditions,
  checkCounts,
  checkNumberOrPercent,
  checkPercent,
  checkSelector,
  FieldPath,
  hasInvalidLabelValue,
  integerCell,
  type KindRules,
  nameCell,
  type Problems,
  type Row,
  rowOf,
  scalarCell,
  shownSelector,
} from "../rules/mod.ts";
import { findObject, has, objectAt, textAt } from "../types/mod.ts";

const specPath = FieldPath.of("spec");
const evictionPolicies = ["AlwaysAllow", "IfHealthyBudget"];

/** PodDisruptionBudget. */
export const budgetRules: KindRules = {
  depth: "full",
  allowsPlainFinalizers: true,
  generationFields: ["spec"],
  allowsUnconditionalUpdate: false,
  validate: (budget, problems) => checkSpec(objectAt(budget, "spec"), false, problems),
  validateUpdate(budget, old, problems) {
    const allowsInvalidValues = hasInvalidLabelValue(findObject(objectAt(old, "spec"), "selector"));
    checkSpec(objectAt(budget, "spec"), allowsInvalidValues, problems);
  },
  validateStatus(budget, _old, problems) {
    const status = objectAt(budget, "status");
    const place = FieldPath.of("status");
    checkConditions(status, place, problems);
    checkCounts(status, ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"], place, problems);
  },
};

function checkSpec(spec: JsonObject, allowsInvalidValues: boolean, problems: Problems): void {
  if (has(spec, "minAvailable") && has(spec, "maxUnavailable")) {
    problems.invalidStruct(specPath, shownSpec(spec), "minAvailable and maxUnavailable cannot be both set");
  }
  for (const key of ["minAvailable", "maxUnavailable"]) {
    checkNumberOrPercent(read(spec, key), specPath.child(key), problems);
    checkPercent(spec, key, specPath, problems);
  }
  checkSelector(findObject(spec, "selector"), specPath.child("selector"), problems, allowsInvalidValues);
  const policy = textAt(spec, "unhealthyPodEvictionPolicy");
  if (has(spec, "unhealthyPodEvictionPolicy") && !evictionPolicies.includes(policy)) {
    problems.notSupported(specPath.child("unhealthyPodEvictionPolicy"), policy, evictionPolicies);
  }
}

/** A spec in the form of the Go type. */
function shownSpec(spec: JsonObject): JsonObject {
  const selector = findObject(spec, "selector");
  return {
    MinAvailable: read(spec, "minAvailable") ?? null,
    Selector: selector === undefined ? null : shownSelector(selector),
    MaxUnavailable: read(spec, "maxUnavailable") ?? null,
    UnhealthyPodEvictionPolicy: read(spec, "unhealthyPodEvictionPolicy") ?? null,
  };
}

/** The cells of a PodDisruptionBudget. */
export const disruptionBudgetRow: Row = rowOf(
  nameCell,
  scalarCell("spec.minAvailable", "N/A"),
  scalarCell("spec.maxUnavailable", "N/A"),
  integerCell("status.disruptionsAllowed"),
  ageCell,
);

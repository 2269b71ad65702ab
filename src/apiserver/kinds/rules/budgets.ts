/** Rules of PodDisruptionBudgets: how many Pods may be taken away at a time. */
import { type JsonObject, read } from "../../model/mod.ts";
import { checkNumberOrPercent, checkSelector, hasBadValue } from "../checks.ts";
import { checkConditions } from "../conditions.ts";
import { findObject, has, objectAt, textAt } from "../fields.ts";
import type { KindRules } from "../kind_rules.ts";
import { FieldPath, type Problems } from "../problems.ts";
import { checkCounts, checkPercent, shownSelector } from "./templates.ts";

const path = FieldPath.of("spec");
const evictionPolicies = ["AlwaysAllow", "IfHealthyBudget"];

/** PodDisruptionBudget. */
export const budgetRules: KindRules = {
  depth: "full",
  generation: ["spec"],
  allowsUnconditionalUpdate: false,
  validate: (budget, problems) => checkSpec(objectAt(budget, "spec"), false, problems),
  validateUpdate(budget, old, problems) {
    const allowsAnyValue = hasBadValue(findObject(objectAt(old, "spec"), "selector"));
    checkSpec(objectAt(budget, "spec"), allowsAnyValue, problems);
  },
  validateStatus(budget, _old, problems) {
    const status = objectAt(budget, "status");
    const place = FieldPath.of("status");
    checkConditions(status, place, problems);
    checkCounts(status, ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"], place, problems);
  },
};

function checkSpec(spec: JsonObject, allowsAnyValue: boolean, problems: Problems): void {
  if (has(spec, "minAvailable") && has(spec, "maxUnavailable")) {
    problems.invalidStruct(path, shownSpec(spec), "minAvailable and maxUnavailable cannot be both set");
  }
  for (const key of ["minAvailable", "maxUnavailable"]) {
    checkNumberOrPercent(read(spec, key), path.child(key), problems);
    checkPercent(spec, key, path, problems);
  }
  checkSelector(findObject(spec, "selector"), path.child("selector"), problems, allowsAnyValue);
  const policy = textAt(spec, "unhealthyPodEvictionPolicy");
  if (has(spec, "unhealthyPodEvictionPolicy") && !evictionPolicies.includes(policy)) {
    problems.notSupported(path.child("unhealthyPodEvictionPolicy"), policy, evictionPolicies);
  }
}

/** A spec as the server's own type shows it. */
function shownSpec(spec: JsonObject): JsonObject {
  const selector = findObject(spec, "selector");
  return {
    MinAvailable: read(spec, "minAvailable") ?? null,
    Selector: selector === undefined ? null : shownSelector(selector),
    MaxUnavailable: read(spec, "maxUnavailable") ?? null,
    UnhealthyPodEvictionPolicy: read(spec, "unhealthyPodEvictionPolicy") ?? null,
  };
}

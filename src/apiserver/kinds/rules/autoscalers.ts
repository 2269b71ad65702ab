/** Rules of HorizontalPodAutoscalers. Both versions are checked as autoscaling/v2, which says all that the other does. */
import { type JsonObject, read } from "../../model/mod.ts";
import { checkAmount } from "../checks.ts";
import { findNumber, findObject, has, numberAt, objectAt, objectsAt, textAt } from "../fields.ts";
import type { KindRules } from "../kind_rules.ts";
import { FieldPath, type Problems } from "../problems.ts";
import { checkMetrics } from "./autoscaler_metrics.ts";
import { asNewAutoscaler, asOldAutoscaler } from "./autoscaler_versions.ts";
import { checkReference, whyBadVersion } from "./object_references.ts";
import { checkCounts } from "./templates.ts";

const path = FieldPath.of("spec");
const selectPolicies = ["Disabled", "Max", "Min"];
const policyTypes = ["Percent", "Pods"];
const longestPeriodSeconds = 1_800;
const longestWindowSeconds = 3_600;

/** HorizontalPodAutoscaler, in both versions. */
export const autoscalerRules: KindRules = {
  depth: "full",
  validate: (autoscaler, problems) => checkSpec(specOf(autoscaler), undefined, problems),
  validateUpdate: (autoscaler, old, problems) => checkSpec(specOf(autoscaler), specOf(old), problems),
  validateStatus: (autoscaler, _old, problems) =>
    checkCounts(
      objectAt(autoscaler, "status"),
      ["currentReplicas", "desiredReplicas"],
      FieldPath.of("status"),
      problems,
    ),
  convert: (object, to) => to.version === "v1" ? asOldAutoscaler(object) : asNewAutoscaler(object),
};

function specOf(autoscaler: JsonObject): JsonObject {
  return objectAt(
    read(autoscaler, "apiVersion") === "autoscaling/v1" ? asNewAutoscaler(autoscaler) : autoscaler,
    "spec",
  );
}

function checkSpec(spec: JsonObject, before: JsonObject | undefined, problems: Problems): void {
  checkReplicas(spec, before, problems);
  const target = objectAt(spec, "scaleTargetRef");
  const targetBefore = findObject(before ?? {}, "scaleTargetRef");
  const isSame = targetBefore !== undefined &&
    ["apiVersion", "kind"].every((key) => textAt(target, key) === textAt(targetBefore, key));
  checkReference(target, path.child("scaleTargetRef"), problems, {
    allowsAnyVersion: isSame,
    allowsCore: !isSame && textAt(target, "kind") === "ReplicationController",
  });
  const wasWrong = objectsAt(before ?? {}, "metrics").some((metric) =>
    textAt(metric, "type") === "Object" &&
    whyBadVersion(textAt(objectAt(objectAt(metric, "object"), "describedObject"), "apiVersion"), true) !== undefined
  );
  checkMetrics(spec, { allowsAnyVersion: wasWrong, allowsCore: true }, path.child("metrics"), problems);
  for (const key of ["scaleUp", "scaleDown"]) {
    const rules = findObject(objectAt(spec, "behavior"), key);
    if (rules !== undefined) checkScaling(rules, path.child("behavior", key), problems);
  }
}

function checkReplicas(spec: JsonObject, before: JsonObject | undefined, problems: Problems): void {
  const [least, most] = [findNumber(spec, "minReplicas"), numberAt(spec, "maxReplicas")];
  // Scaling to zero is off in 1.36, but who has it keeps it.
  const bound = before !== undefined && findNumber(before, "minReplicas") === 0 ? 0 : 1;
  if (least !== undefined && least < bound) {
    problems.invalid(path.child("minReplicas"), least, `must be greater than or equal to ${bound}`);
  }
  if (most === 0) problems.required(path.child("maxReplicas"), "must be set and greater than 0");
  else if (most < 0) problems.invalid(path.child("maxReplicas"), most, "must be greater than or equal to 1");
  if (least !== undefined && most < least) {
    problems.invalid(path.child("maxReplicas"), most, "must be greater than or equal to `minReplicas`");
  }
}

function checkScaling(rules: JsonObject, place: FieldPath, problems: Problems): void {
  const window = findNumber(rules, "stabilizationWindowSeconds") ?? 0;
  const windowPath = place.child("stabilizationWindowSeconds");
  if (window < 0) problems.invalid(windowPath, window, "must be greater than or equal to zero");
  if (window > longestWindowSeconds) {
    problems.invalid(windowPath, window, `must be less than or equal to ${longestWindowSeconds}`);
  }
  const select = textAt(rules, "selectPolicy");
  if (has(rules, "selectPolicy") && !selectPolicies.includes(select)) {
    problems.notSupported(place.child("selectPolicy"), select, selectPolicies);
  }
  const policies = objectsAt(rules, "policies");
  if (policies.length === 0) problems.required(place.child("policies"), "must specify at least one Policy");
  policies.forEach((policy, index) => checkPolicy(policy, place.child("policies").index(index), problems));
  const tolerance = textAt(rules, "tolerance");
  if (tolerance !== "") checkAmount(tolerance, place.child("tolerance"), problems);
}

function checkPolicy(policy: JsonObject, place: FieldPath, problems: Problems): void {
  const type = textAt(policy, "type");
  if (!policyTypes.includes(type)) problems.notSupported(place.child("type"), type, policyTypes);
  for (const key of ["value", "periodSeconds"]) {
    const value = numberAt(policy, key);
    if (value <= 0) problems.invalid(place.child(key), value, "must be greater than zero");
    if (key === "periodSeconds" && value > longestPeriodSeconds) {
      problems.invalid(place.child(key), value, `must be less than or equal to ${longestPeriodSeconds}`);
    }
  }
}

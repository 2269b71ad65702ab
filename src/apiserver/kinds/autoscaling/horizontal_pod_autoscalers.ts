/**
 * HorizontalPodAutoscalers: rules, defaults and table row. Objects of both versions are checked as autoscaling/v2, which can
 * express everything that autoscaling/v1 can.
 */
import { type Draft, type DraftValue, type Json, type JsonObject, read } from "../../model/mod.ts";
import {
  ageCell,
  checkAmount,
  checkCounts,
  type DefaultsByType,
  FieldPath,
  integerCell,
  type KindRules,
  nameCell,
  type Problems,
  type Row,
  rowOf,
  scalarCell,
} from "../rules/mod.ts";
import {
  draftAt,
  findDraft,
  findNumber,
  findObject,
  has,
  numberAt,
  objectAt,
  objectsAt,
  setIfAbsent,
  textAt,
  valuesAt,
  wasSentEmpty,
} from "../types/mod.ts";
import { apiVersionError, checkMetrics, checkReference } from "./autoscaler_metrics.ts";
import { cpuUtilization, hasOtherMetrics, toAutoscalerV1, toAutoscalerV2 } from "./autoscaler_versions.ts";

const specPath = FieldPath.of("spec");
const selectPolicies = ["Disabled", "Max", "Min"];
const policyTypes = ["Percent", "Pods"];
const maxPeriodSeconds = 1_800;
const maxWindowSeconds = 3_600;

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
  convert: (object, to) => to.version === "v1" ? toAutoscalerV1(object) : toAutoscalerV2(object),
};

function specOf(autoscaler: JsonObject): JsonObject {
  return objectAt(
    read(autoscaler, "apiVersion") === "autoscaling/v1" ? toAutoscalerV2(autoscaler) : autoscaler,
    "spec",
  );
}

function checkSpec(spec: JsonObject, before: JsonObject | undefined, problems: Problems): void {
  checkReplicas(spec, before, problems);
  const target = objectAt(spec, "scaleTargetRef");
  const targetBefore = findObject(before ?? {}, "scaleTargetRef");
  const isSame = targetBefore !== undefined &&
    ["apiVersion", "kind"].every((key) => textAt(target, key) === textAt(targetBefore, key));
  checkReference(target, specPath.child("scaleTargetRef"), problems, {
    allowsAnyVersion: isSame,
    allowsCore: !isSame && textAt(target, "kind") === "ReplicationController",
  });
  const wasWrong = objectsAt(before ?? {}, "metrics").some((metric) =>
    textAt(metric, "type") === "Object" &&
    apiVersionError(textAt(objectAt(objectAt(metric, "object"), "describedObject"), "apiVersion"), true) !== undefined
  );
  checkMetrics(spec, { allowsAnyVersion: wasWrong, allowsCore: true }, specPath.child("metrics"), problems);
  for (const key of ["scaleUp", "scaleDown"]) {
    const rules = findObject(objectAt(spec, "behavior"), key);
    if (rules !== undefined) checkScaling(rules, specPath.child("behavior", key), problems);
  }
}

function checkReplicas(spec: JsonObject, before: JsonObject | undefined, problems: Problems): void {
  const [minReplicas, maxReplicas] = [findNumber(spec, "minReplicas"), numberAt(spec, "maxReplicas")];
  // The feature gate for scaling to zero is off in 1.36, but an object that has 0 may keep it.
  const bound = before !== undefined && findNumber(before, "minReplicas") === 0 ? 0 : 1;
  if (minReplicas !== undefined && minReplicas < bound) {
    problems.invalid(specPath.child("minReplicas"), minReplicas, `must be greater than or equal to ${bound}`);
  }
  if (maxReplicas === 0) problems.required(specPath.child("maxReplicas"), "must be set and greater than 0");
  else if (maxReplicas < 0) {
    problems.invalid(specPath.child("maxReplicas"), maxReplicas, "must be greater than or equal to 1");
  }
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    problems.invalid(specPath.child("maxReplicas"), maxReplicas, "must be greater than or equal to `minReplicas`");
  }
}

function checkScaling(rules: JsonObject, place: FieldPath, problems: Problems): void {
  const window = findNumber(rules, "stabilizationWindowSeconds") ?? 0;
  const windowPath = place.child("stabilizationWindowSeconds");
  if (window < 0) problems.invalid(windowPath, window, "must be greater than or equal to zero");
  if (window > maxWindowSeconds) {
    problems.invalid(windowPath, window, `must be less than or equal to ${maxWindowSeconds}`);
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
    if (key === "periodSeconds" && value > maxPeriodSeconds) {
      problems.invalid(place.child(key), value, `must be less than or equal to ${maxPeriodSeconds}`);
    }
  }
}

/** The defaults of HorizontalPodAutoscalers. */
export const autoscalerDefaults: DefaultsByType = {
  "autoscaling/v2.HorizontalPodAutoscaler": setAutoscalerDefaults,
  "autoscaling/v1.HorizontalPodAutoscaler": (draft) => {
    const spec = draftAt(draft, "spec");
    setIfAbsent(spec, "minReplicas", 1);
    if (!hasOtherMetrics(draft)) setIfAbsent(spec, "targetCPUUtilizationPercentage", cpuUtilization);
  },
};

function setAutoscalerDefaults(draft: Draft): void {
  const spec = draftAt(draft, "spec");
  setIfAbsent(spec, "minReplicas", 1);
  if (valuesAt(spec, "metrics").length === 0) {
    spec["metrics"] = [{
      type: "Resource",
      resource: { name: "cpu", target: { type: "Utilization", averageUtilization: cpuUtilization } },
    }];
  }
  const behavior = findDraft(spec, "behavior");
  if (behavior === undefined) return;
  setScalingRules(behavior, "scaleUp", {
    stabilizationWindowSeconds: 0,
    policies: [{ type: "Pods", value: 4, periodSeconds: 15 }, { type: "Percent", value: 100, periodSeconds: 15 }],
  });
  setScalingRules(behavior, "scaleDown", { policies: [{ type: "Percent", value: 100, periodSeconds: 15 }] });
}

function setScalingRules(behavior: Draft, key: string, fallback: Readonly<Record<string, DraftValue>>): void {
  const rules = draftAt(behavior, key);
  setIfAbsent(rules, "selectPolicy", "Max");
  for (const [name, value] of Object.entries(fallback)) {
    if (!wasSentEmpty(rules, name)) setIfAbsent(rules, name, value);
  }
}

/** The cells of a HorizontalPodAutoscaler. Metrics are shown as `<current>/<target>`. */
export const autoscalerRow: Row = rowOf(
  nameCell,
  targetReference,
  metrics,
  scalarCell("spec.minReplicas", "<unset>"),
  integerCell("spec.maxReplicas"),
  integerCell("status.currentReplicas"),
  ageCell,
);

function targetReference(object: JsonObject): Json {
  const target = objectAt(objectAt(object, "spec"), "scaleTargetRef");
  return `${textAt(target, "kind")}/${textAt(target, "name")}`;
}

const maxShownMetrics = 2;

function metrics(object: JsonObject): Json {
  const [spec, status] = [objectAt(object, "spec"), objectAt(object, "status")];
  const current = objectsAt(status, "currentMetrics");
  const texts = objectsAt(spec, "metrics").map((metric, index) => metricText(metric, current[index]));
  const all = texts.length === 0 ? v1Metrics(spec, status) : texts;
  if (all.length === 0) return "<none>";
  const shown = all.slice(0, maxShownMetrics).join(", ");
  return all.length > maxShownMetrics ? `${shown} + ${all.length - maxShownMetrics} more...` : shown;
}

/** autoscaling/v1 has only a CPU target. */
function v1Metrics(spec: JsonObject, status: JsonObject): readonly string[] {
  const target = read(spec, "targetCPUUtilizationPercentage");
  if (typeof target !== "number") return [];
  const current = numberAt(status, "currentCPUUtilizationPercentage");
  return [`cpu: ${current === 0 ? "<unknown>" : `${current}%`}/${target}%`];
}

function metricText(metric: JsonObject, status: JsonObject | undefined): string {
  switch (textAt(metric, "type")) {
    case "External":
      return valueText(metric, status, "external");
    case "Object":
      return valueText(metric, status, "object");
    case "Pods":
      return `${currentOf(status, "pods", "averageValue")}/${textAt(targetOf(metric, "pods"), "averageValue")}`;
    case "Resource":
      return resourceText(metric, status, "resource");
    case "ContainerResource":
      return resourceText(metric, status, "containerResource");
    default:
      return "<unknown type>";
  }
}

/** The text of an Object or External metric: a value, or an average for each Pod. */
function valueText(metric: JsonObject, status: JsonObject | undefined, source: string): string {
  const target = targetOf(metric, source);
  const average = textAt(target, "averageValue");
  if (average !== "") return `${currentOf(status, source, "averageValue", "<unknown>")}/${average} (avg)`;
  return `${currentOf(status, source, "value")}/${textAt(target, "value")}`;
}

function resourceText(metric: JsonObject, status: JsonObject | undefined, source: string): string {
  const target = targetOf(metric, source);
  const resource = textAt(objectAt(metric, source), "name");
  const average = textAt(target, "averageValue");
  if (average !== "") return `${resource}: ${currentOf(status, source, "averageValue")}/${average}`;
  const currentUtilization = status === undefined
    ? undefined
    : read(objectAt(objectAt(status, source), "current"), "averageUtilization");
  const targetUtilization = read(target, "averageUtilization");
  return `${resource}: ${percent(currentUtilization, "<unknown>")}/${percent(targetUtilization, "<auto>")}`;
}

function percent(value: Json | undefined, otherwise: string): string {
  return typeof value === "number" ? `${value}%` : otherwise;
}

function targetOf(metric: JsonObject, source: string): JsonObject {
  return objectAt(objectAt(metric, source), "target");
}

/** The current value of a metric. @param otherwise when the status lacks the field: Go prints a nil pointer */
function currentOf(status: JsonObject | undefined, source: string, field: string, otherwise = "<nil>"): string {
  const found = status === undefined ? undefined : findObject(status, source);
  if (found === undefined) return "<unknown>";
  const current = textAt(objectAt(found, "current"), field);
  return current === "" ? otherwise : current;
}

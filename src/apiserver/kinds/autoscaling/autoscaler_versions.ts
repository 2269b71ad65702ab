/**
 * Conversion of HorizontalPodAutoscalers between autoscaling/v1 and autoscaling/v2. autoscaling/v1 has only a CPU target. All
 * other settings of autoscaling/v2 become annotations, as JSON in the form of the older versions.
 */
import { type Draft, draftOf, type DraftValue, isDraft, type Json, type JsonObject, put } from "../../model/mod.ts";
import { draftAt, draftsAt, findDraft, has, numberAt, objectAt, objectsAt, textAt, textMapAt } from "../types/mod.ts";

const prefix = "autoscaling.alpha.kubernetes.io";
const metricsKey = `${prefix}/metrics`;
const behaviorKey = `${prefix}/behavior`;
const currentMetricsKey = `${prefix}/current-metrics`;
const conditionsKey = `${prefix}/conditions`;

const conversionAnnotations = [
  metricsKey,
  behaviorKey,
  currentMetricsKey,
  conditionsKey,
  `${prefix}/scale-down-tolerance`,
  `${prefix}/scale-up-tolerance`,
];

/** The default CPU target in percent. */
export const cpuUtilization = 80;

/** True when an autoscaling/v1 object has metrics of autoscaling/v2 in its annotations. */
export function hasOtherMetrics(object: JsonObject): boolean {
  return textMapAt(objectAt(object, "metadata"), "annotations").has(metricsKey);
}

/** Converts an autoscaling/v1 object to autoscaling/v2. */
export function toAutoscalerV2(object: JsonObject): JsonObject {
  const draft = draftOf(object);
  draft["apiVersion"] = "autoscaling/v2";
  const annotations = textMapAt(objectAt(object, "metadata"), "annotations");
  const [spec, status] = [draftAt(draft, "spec"), draftAt(draft, "status")];
  const target = spec["targetCPUUtilizationPercentage"];
  delete spec["targetCPUUtilizationPercentage"];
  const others = listIn(annotations, metricsKey).map((metric) => fromOlderMetric(metric, "target"));
  const cpu = target === undefined || target === null ? [] : [cpuMetric("target", target)];
  const metrics = [...others, ...cpu];
  spec["metrics"] = metrics.length > 0 ? metrics : [cpuMetric("target", cpuUtilization)];
  const behavior = parsedJson(annotations.get(behaviorKey));
  if (isDraft(behavior)) spec["behavior"] = withRenamedFields(behavior, lowerFirst);
  setV2Status(status, annotations);
  removeConversionAnnotations(draft);
  return draft;
}

function setV2Status(status: Draft, annotations: ReadonlyMap<string, string>): void {
  const use = status["currentCPUUtilizationPercentage"];
  delete status["currentCPUUtilizationPercentage"];
  if (use !== undefined && use !== null) status["currentMetrics"] = [cpuMetric("current", use)];
  if (annotations.has(currentMetricsKey)) {
    status["currentMetrics"] = listIn(annotations, currentMetricsKey).map((metric) =>
      fromOlderMetric(metric, "current")
    );
  }
  if (annotations.has(conditionsKey)) status["conditions"] = listIn(annotations, conditionsKey);
}

/** Converts an autoscaling/v2 object to autoscaling/v1. */
export function toAutoscalerV1(object: JsonObject): JsonObject {
  const draft = draftOf(object);
  draft["apiVersion"] = "autoscaling/v1";
  removeConversionAnnotations(draft);
  const [spec, status] = [draftAt(draft, "spec"), draftAt(draft, "status")];
  const newAnnotations: [string, DraftValue][] = [];
  const metrics = draftsAt(spec, "metrics");
  const use = metrics.filter(isCpuUtilization)[0];
  if (use !== undefined) spec["targetCPUUtilizationPercentage"] = utilizationOf(use, "target");
  const others = metrics.filter((metric) => !isCpuUtilization(metric)).map((metric) => toOlderMetric(metric, "target"));
  if (others.length > 0) newAnnotations.push([metricsKey, others]);
  const current = draftsAt(status, "currentMetrics");
  for (const metric of current) {
    if (isCpu(metric) && has(objectAt(objectAt(metric, "resource"), "current"), "averageUtilization")) {
      status["currentCPUUtilizationPercentage"] = utilizationOf(metric, "current");
    }
  }
  if (current.length > 0) {
    newAnnotations.push([
      currentMetricsKey,
      current.map((metric) => toOlderMetric(metric, "current")),
    ]);
  }
  const behavior = findDraft(spec, "behavior");
  if (behavior !== undefined) newAnnotations.push([behaviorKey, behaviorOfGoType(behavior)]);
  const conditions = draftsAt(status, "conditions");
  if (conditions.length > 0) {
    newAnnotations.push([conditionsKey, conditions.map((condition) => ordered(condition, conditionFields))]);
  }
  for (const [holder, keys] of [[spec, ["metrics", "behavior"]], [status, ["currentMetrics", "conditions"]]] as const) {
    for (const key of keys) delete holder[key];
  }
  for (const [key, value] of newAnnotations) {
    draftAt(draftAt(draft, "metadata"), "annotations")[key] = JSON.stringify(value);
  }
  return draft;
}

function removeConversionAnnotations(draft: Draft): void {
  const metadata = draftAt(draft, "metadata");
  const annotations = findDraft(metadata, "annotations");
  if (annotations === undefined) return;
  for (const key of conversionAnnotations) delete annotations[key];
  if (Object.keys(annotations).length === 0) delete metadata["annotations"];
}

function isCpu(metric: JsonObject): boolean {
  return textAt(metric, "type") === "Resource" && textAt(objectAt(metric, "resource"), "name") === "cpu";
}

function isCpuUtilization(metric: JsonObject): boolean {
  return isCpu(metric) && has(objectAt(objectAt(metric, "resource"), "target"), "averageUtilization");
}

function utilizationOf(metric: JsonObject, key: "current" | "target"): number {
  return numberAt(objectAt(objectAt(metric, "resource"), key), "averageUtilization");
}

function cpuMetric(key: "current" | "target", use: DraftValue): Draft {
  const type: Draft = key === "target" ? { type: "Utilization" } : {};
  return { type: "Resource", resource: { name: "cpu", [key]: { ...type, averageUtilization: use } } };
}

type Side = "current" | "target";

/** Converts a metric to the older form, with the fields in the order of that form. */
function toOlderMetric(metric: JsonObject, side: Side): Draft {
  const type = textAt(metric, "type");
  const field = `${type.charAt(0).toLowerCase()}${type.slice(1)}`;
  const source = objectAt(metric, field);
  return { type, [field]: definedFields(toOlderSource(type, source, side)) };
}

function toOlderSource(type: string, source: JsonObject, side: Side): readonly (readonly [string, Json | undefined])[] {
  const amounts = objectAt(source, side);
  const [name, selector] = [textAt(objectAt(source, "metric"), "name"), objectAt(source, "metric")["selector"]];
  const { value, averageValue, averageUtilization } = amounts;
  const average = `${side}AverageValue`;
  const required = side === "current" ? averageValue ?? "0" : averageValue;
  switch (type) {
    case "Object":
      return [
        ["target", ordered(objectAt(source, "describedObject"), ["kind", "name", "apiVersion"])],
        ["metricName", name],
        [`${side}Value`, value ?? "0"],
        ["selector", selector],
        ["averageValue", averageValue],
      ];
    case "Pods":
      return [["metricName", name], [average, averageValue ?? "0"], ["selector", selector]];
    case "External":
      return [
        ["metricName", name],
        ["metricSelector", selector],
        [`${side}Value`, side === "current" ? value ?? "0" : value],
        [average, averageValue],
      ];
    default:
      return [
        ["name", source["name"]],
        [`${side}AverageUtilization`, averageUtilization],
        [average, required],
        ["container", source["container"]],
      ];
  }
}

/** Converts a metric of the older form to autoscaling/v2. */
function fromOlderMetric(metric: JsonObject, side: Side): Draft {
  const type = textAt(metric, "type");
  const field = `${type.charAt(0).toLowerCase()}${type.slice(1)}`;
  const source = objectAt(metric, field);
  const identifier = definedFields([["name", source["metricName"]], [
    "selector",
    source["selector"] ?? source["metricSelector"],
  ]]);
  const value = source[`${side}Value`];
  const average = type === "Object" ? source["averageValue"] : source[`${side}AverageValue`];
  const use = source[`${side}AverageUtilization`];
  const amounts = definedFields([
    ["type", side === "current" ? undefined : targetType(use, average, value)],
    // The older form cannot omit the value.
    ["value", type === "Object" && average !== undefined && value === "0" && side === "target" ? undefined : value],
    ["averageValue", average],
    ["averageUtilization", use],
  ]);
  const isResource = type === "Resource" || type === "ContainerResource";
  const parts: readonly (readonly [string, Json | undefined])[] = isResource
    ? [["name", source["name"]], ["container", source["container"]]]
    : [["describedObject", type === "Object" ? objectAt(source, "target") : undefined], ["metric", identifier]];
  return { type, [field]: definedFields([...parts, [side, amounts]]) };
}

function targetType(use: Json | undefined, average: Json | undefined, value: Json | undefined): string {
  if (use !== undefined) return "Utilization";
  return average !== undefined || value === undefined ? "AverageValue" : "Value";
}

const conditionFields = ["type", "status", "lastTransitionTime", "reason", "message"];

function ordered(object: JsonObject, names: readonly string[]): Draft {
  return definedFields(names.map((name) => [name, object[name]]));
}

/** The behavior with the Go names of the internal type, as the real server writes it into the annotation. */
function behaviorOfGoType(behavior: JsonObject): Draft {
  const rules = (key: string): DraftValue => {
    const held = objectAt(behavior, key);
    if (!has(behavior, key)) return null;
    return {
      StabilizationWindowSeconds: valueOf(held, "stabilizationWindowSeconds"),
      SelectPolicy: valueOf(held, "selectPolicy"),
      Policies: objectsAt(held, "policies").map((policy) => ({
        Type: textAt(policy, "type"),
        Value: numberAt(policy, "value"),
        PeriodSeconds: numberAt(policy, "periodSeconds"),
      })),
      Tolerance: valueOf(held, "tolerance"),
    };
  };
  return { ScaleUp: rules("scaleUp"), ScaleDown: rules("scaleDown") };
}

function valueOf(object: JsonObject, key: string): DraftValue {
  return draftOf(object[key] ?? null);
}

const lowerFirst = (name: string): string => `${name.charAt(0).toLowerCase()}${name.slice(1)}`;

/** The value with renamed fields, and without fields that are null. */
function withRenamedFields(value: DraftValue, rename: (name: string) => string): DraftValue {
  if (Array.isArray(value)) return value.map((item) => withRenamedFields(item, rename));
  if (!isDraft(value)) return value;
  const made: Draft = {};
  for (const [key, held] of Object.entries(value)) {
    if (held !== null) put(made, rename(key), withRenamedFields(held, rename));
  }
  return made;
}

/** An object of the fields that have a value. */
function definedFields(fields: readonly (readonly [string, Json | undefined])[]): Draft {
  const made: Draft = {};
  for (const [name, value] of fields) if (value !== undefined && value !== null) made[name] = draftOf(value);
  return made;
}

function listIn(annotations: ReadonlyMap<string, string>, key: string): Draft[] {
  const value = parsedJson(annotations.get(key));
  return Array.isArray(value) ? value.filter(isDraft) : [];
}

/** Parses an annotation; undefined when it is not JSON. */
function parsedJson(text: string | undefined): DraftValue | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

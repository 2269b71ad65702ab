/** The rows of HorizontalPodAutoscalers, whose metrics are shown as `what is/what should be`. */
import { findObject, numberAt, objectAt, objectsAt, textAt } from "../kinds/mod.ts";
import { type Json, type JsonObject, read } from "../model/mod.ts";
import { age, integer, name, row, type Rows, scalar } from "./_cells.ts";

export const autoscalingRows: Rows = {
  "horizontalpodautoscalers.autoscaling": row(
    name,
    reference,
    metrics,
    scalar("spec.minReplicas", "<unset>"),
    integer("spec.maxReplicas"),
    integer("status.currentReplicas"),
    age,
  ),
};

function reference(object: JsonObject): Json {
  const target = objectAt(objectAt(object, "spec"), "scaleTargetRef");
  return `${textAt(target, "kind")}/${textAt(target, "name")}`;
}

const most = 2;

function metrics(object: JsonObject): Json {
  const [spec, status] = [objectAt(object, "spec"), objectAt(object, "status")];
  const current = objectsAt(status, "currentMetrics");
  const texts = objectsAt(spec, "metrics").map((metric, index) => metricText(metric, current[index]));
  const all = texts.length === 0 ? firstVersion(spec, status) : texts;
  if (all.length === 0) return "<none>";
  const shown = all.slice(0, most).join(", ");
  return all.length > most ? `${shown} + ${all.length - most} more...` : shown;
}

/** autoscaling/v1 knows the CPU alone. */
function firstVersion(spec: JsonObject, status: JsonObject): readonly string[] {
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

/** A metric of something that is not a Pod: a value, or one for each Pod. */
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
  const held = status === undefined
    ? undefined
    : read(objectAt(objectAt(status, source), "current"), "averageUtilization");
  const wanted = read(target, "averageUtilization");
  return `${resource}: ${percent(held, "<unknown>")}/${percent(wanted, "<auto>")}`;
}

function percent(value: Json | undefined, otherwise: string): string {
  return typeof value === "number" ? `${value}%` : otherwise;
}

function targetOf(metric: JsonObject, source: string): JsonObject {
  return objectAt(objectAt(metric, source), "target");
}

/** What a metric is. @param otherwise where there is a status that does not say: Go prints a nil pointer so */
function currentOf(status: JsonObject | undefined, source: string, field: string, otherwise = "<nil>"): string {
  const found = status === undefined ? undefined : findObject(status, source);
  if (found === undefined) return "<unknown>";
  const current = textAt(objectAt(found, "current"), field);
  return current === "" ? otherwise : current;
}

/**
 * Rules of the metrics of a HorizontalPodAutoscaler, and of the references to the objects that it scales or measures.
 */
import type { JsonObject } from "../../model/mod.ts";
import { checkContainerResourceName } from "../pods/mod.ts";
import { checkLabelText, type FieldPath, pathSegmentName, type Problems } from "../rules/mod.ts";
import { compareQuantities, findNumber, findObject, has, objectAt, objectsAt, textAt } from "../types/mod.ts";

/** The field that each type of metric uses. */
const sources: ReadonlyMap<string, string> = new Map([
  ["ContainerResource", "containerResource"],
  ["External", "external"],
  ["Object", "object"],
  ["Pods", "pods"],
  ["Resource", "resource"],
]);

/** The order in which the fields are checked. */
const fields = ["object", "external", "pods", "resource", "containerResource"];
const targetTypes = ["Utilization", "Value", "AverageValue"];

/** Checks all metrics of a spec. */
export function checkMetrics(spec: JsonObject, options: ReferenceOptions, path: FieldPath, problems: Problems): void {
  const metrics = objectsAt(spec, "metrics");
  metrics.forEach((metric, index) => checkMetric(metric, options, path.index(index), problems));
  const isFromOutside = metrics.some((metric) => ["Object", "External"].includes(textAt(metric, "type")));
  if (findNumber(spec, "minReplicas") !== 0 || isFromOutside) return;
  const why = "must specify at least one Object or External metric to support scaling to zero replicas";
  problems.forbidden(path, why);
}

function checkMetric(metric: JsonObject, options: ReferenceOptions, path: FieldPath, problems: Problems): void {
  const type = textAt(metric, "type");
  const types = [...sources.keys()];
  const expected = sources.get(type);
  if (type === "") problems.required(path.child("type"), "must specify a metric source type");
  if (expected === undefined) problems.notSupported(path.child("type"), type, types);
  const present = fields.filter((field) => findObject(metric, field) !== undefined);
  const [first] = present;
  if (first !== undefined) checkSource(first, objectAt(metric, first), options, path.child(first), problems);
  if (expected === undefined) problems.notSupported(path.child("type"), type, types);
  else if (!present.includes(expected)) {
    problems.required(path.child(expected), "must populate information for the given metric source");
  }
  if (present.length === 1) return;
  for (const field of present) {
    if (field !== expected) problems.forbidden(path.child(field), "must populate the given metric source only");
  }
}

function checkSource(
  field: string,
  source: JsonObject,
  options: ReferenceOptions,
  path: FieldPath,
  problems: Problems,
): void {
  switch (field) {
    case "resource":
    case "containerResource":
      return checkResource(field, source, path, problems);
    case "object":
      checkReference(objectAt(source, "describedObject"), path.child("describedObject"), problems, options);
  }
  checkIdentifier(objectAt(source, "metric"), path.child("metric"), problems);
  const target = objectAt(source, "target");
  const place = path.child("target");
  checkTarget(target, place, problems);
  const [hasValue, hasAverage] = [has(target, "value"), has(target, "averageValue")];
  if (field === "pods") {
    if (!hasAverage) problems.required(place.child("averageValue"), "must specify a positive target averageValue");
    return;
  }
  if (!hasValue && !hasAverage) {
    const why = field === "object"
      ? "must set either a target value or averageValue"
      : "must set either a target value for metric or a per-pod target";
    problems.required(place.child("averageValue"), why);
  }
  if (field === "external" && hasValue && hasAverage) {
    problems.forbidden(place.child("value"), "may not set both a target value for metric and a per-pod target");
  }
}

function checkResource(field: string, source: JsonObject, path: FieldPath, problems: Problems): void {
  const name = textAt(source, "name");
  if (name === "") problems.required(path.child("name"), "must specify a resource name");
  else if (field === "containerResource") checkContainerResourceName(name, path.child("name"), problems);
  if (field === "containerResource") {
    if (textAt(source, "container") === "") problems.required(path.child("container"), "must specify a container");
    else checkLabelText(source, "container", path, problems);
  }
  const target = objectAt(source, "target");
  const place = path.child("target");
  checkTarget(target, place, problems);
  const [hasUse, hasAverage] = [has(target, "averageUtilization"), has(target, "averageValue")];
  if (!hasUse && !hasAverage) {
    const why = "must set either a target raw value or a target utilization";
    problems.required(place.child("averageUtilization"), why);
  }
  if (hasUse && hasAverage) {
    problems.forbidden(place.child("averageValue"), "may not set both a target raw value and a target utilization");
  }
}

function checkTarget(target: JsonObject, path: FieldPath, problems: Problems): void {
  const type = textAt(target, "type");
  if (type === "") problems.required(path.child("type"), "must specify a metric target type");
  if (!targetTypes.includes(type)) {
    problems.invalid(path.child("type"), type, "must be either Utilization, Value, or AverageValue");
  }
  for (const key of ["value", "averageValue"]) {
    const amount = textAt(target, key);
    if (amount !== "" && compareQuantities(amount, "0") <= 0) {
      problems.invalid(path.child(key), amount, "must be positive");
    }
  }
  const use = findNumber(target, "averageUtilization");
  if (use !== undefined && use < 1) problems.invalid(path.child("averageUtilization"), use, "must be greater than 0");
}

function checkIdentifier(metric: JsonObject, path: FieldPath, problems: Problems): void {
  const name = textAt(metric, "name");
  if (name === "") problems.required(path.child("name"), "must specify a metric name");
  else problems.invalidAll(path.child("name"), name, pathSegmentName(name, false));
}

/** How strictly the apiVersion of a reference is checked. */
interface ReferenceOptions {
  readonly allowsAnyVersion: boolean;
  readonly allowsCore: boolean;
}

/** Checks a reference to an object of any kind. */
export function checkReference(
  reference: JsonObject,
  place: FieldPath,
  problems: Problems,
  options: ReferenceOptions,
): void {
  for (const key of ["kind", "name"]) {
    const text = textAt(reference, key);
    if (text === "") problems.required(place.child(key));
    else problems.invalidAll(place.child(key), text, pathSegmentName(text, false));
  }
  if (options.allowsAnyVersion) return;
  const apiVersion = textAt(reference, "apiVersion");
  const why = apiVersionError(apiVersion, options.allowsCore);
  if (why !== undefined) problems.invalid(place.child("apiVersion"), apiVersion, why);
}

/** Returns the error of an apiVersion, or undefined. */
export function apiVersionError(apiVersion: string, allowsCore: boolean): string | undefined {
  const parts = apiVersion.split("/");
  if (apiVersion !== "/" && parts.length > 2) return `unexpected GroupVersion string: ${apiVersion}`;
  const isCore = apiVersion === "/" || parts.length === 1 || parts[0] === "";
  return isCore && !allowsCore ? "apiVersion must specify API group" : undefined;
}

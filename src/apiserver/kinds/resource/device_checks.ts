/**
 * The checks of device claims, classes and slices (resource.k8s.io) with the texts of resource/validation of Kubernetes 1.36.
 * What the types do not declare is added in the notation of the table; the rules below add the checks that compare fields.
 */
import { isJsonObject, type Json, type JsonObject, labelKeyErrors, labelValueErrors, read } from "../../model/mod.ts";
import {
  DeclaredChecks,
  type FieldPath,
  type ItemCheck,
  labelErrors,
  type Problems,
  type StructCheck,
  type StructRule,
} from "../rules/mod.ts";
import { findNumber, findObject, has, objectAt, objectsAt, textAt, textsAt } from "../types/mod.ts";

/** Compiles the CEL expressions of device selectors and reports their errors. */
export type SelectorCheck = (expression: string, path: FieldPath, problems: Problems) => void;

const maxExpressionBytes = 10 * 1024;
const maxParameterBytes = 10 * 1024;

const additions = `
resource/v1.AllocatedDeviceStatus driver:required,maxLength=63,format=k8s-long-name-caseless pool:required,format=k8s-resource-pool-name device:format=k8s-short-name
resource/v1.CounterSet counters:required,maxItems=32,keyFormat=k8s-short-name
resource/v1.Device name:format=k8s-short-name taints:maxItems=16
resource/v1.DeviceAllocationConfiguration opaque:required
resource/v1.DeviceClaimConfiguration opaque:required
resource/v1.DeviceClassConfiguration opaque:required
resource/v1.DeviceConstraint distinctAttribute:optional,format=k8s-resource-fully-qualified-name
resource/v1.DeviceCounterConsumption counters:required,maxItems=32,keyFormat=k8s-short-name
resource/v1.DeviceRequest name:format=k8s-short-name
resource/v1.DeviceRequestAllocationResult device:format=k8s-short-name
resource/v1.DeviceSelector cel:required
resource/v1.DeviceSubRequest name:format=k8s-short-name
resource/v1.DeviceTaint key:format=k8s-label-key value:optional,format=k8s-label-value
resource/v1.DeviceToleration operator:required,enum=Equal|Exists
resource/v1.ExactDeviceRequest deviceClassName:required,format=k8s-long-name
resource/v1.ResourceClaimStatus devices:optional
resource/v1.ResourceClaimConsumerReference resource:required name:required uid:required
resource/v1.ResourcePool name:required,format=k8s-resource-pool-name
resource/v1.ResourceSliceSpec driver:required,maxLength=63,format=k8s-long-name-caseless
`;

/** The checks of the types of all kinds of the group. @param rules of the kinds that use them */
export function deviceChecks(selector: SelectorCheck, rules: Readonly<Record<string, StructRule>>): DeclaredChecks {
  return new DeclaredChecks({
    additions,
    rules: {
      "resource/v1.DeviceRequest": checkRequest,
      "resource/v1.ExactDeviceRequest": checkDeviceRequest,
      "resource/v1.DeviceSubRequest": checkDeviceRequest,
      "resource/v1.CELDeviceSelector": ({ object, path, problems }) =>
        checkExpression(textAt(object, "expression"), path.child("expression"), selector, problems),
      "resource/v1.DeviceToleration": checkToleration,
      "resource/v1.DeviceConstraint": checkConstraint,
      "resource/v1.DeviceClaimConfiguration": checkConfiguration,
      "resource/v1.DeviceAllocationConfiguration": checkConfiguration,
      "resource/v1.OpaqueDeviceConfiguration": checkOpaque,
      ...rules,
    },
  });
}

const oneOfRequests = "exactly one of `exactly` or `firstAvailable` is required";

function checkRequest(check: StructCheck): void {
  const { object, path, problems } = check;
  check.field("name");
  const [isExact, isList] = [has(object, "exactly"), objectsAt(object, "firstAvailable").length > 0];
  if (isExact && isList) problems.invalid(path, null, `${oneOfRequests}, but multiple fields are set`);
  else if (!isExact && !isList) problems.required(path, oneOfRequests);
  else check.field(isExact ? "exactly" : "firstAvailable");
}

function checkDeviceRequest(check: StructCheck): void {
  const { object, path, problems } = check;
  check.skip("allocationMode", "count", "capacity", "adminAccess", "tolerations");
  check.fields();
  const [mode, count] = [textAt(object, "allocationMode"), findNumber(object, "count") ?? 0];
  if (mode === "All") {
    if (count !== 0) {
      problems.invalid(path.child("count"), count, `must not be specified when allocationMode is '${mode}'`);
    }
  } else if (mode === "ExactCount") {
    if (count <= 0) problems.invalid(path.child("count"), count, "must be greater than zero");
  } else problems.notSupported(path.child("allocationMode"), mode, ["All", "ExactCount"]);
  check.field("tolerations");
}

function checkExpression(expression: string, path: FieldPath, selector: SelectorCheck, problems: Problems): void {
  if (new TextEncoder().encode(expression).length > maxExpressionBytes) problems.tooLong(path, maxExpressionBytes);
  else selector(expression, path, problems);
}

function checkToleration(check: StructCheck): void {
  const { object, path, problems } = check;
  check.field("key");
  const [operator, value] = [textAt(object, "operator"), textAt(object, "value")];
  const place = path.child("value");
  if (operator === "Exists" && value !== "") problems.invalid(place, value, "must be empty for operator `Exists`");
  else if (operator === "Equal") problems.invalidAll(place, value, labelValueErrors(value));
  else check.field("operator");
  check.field("effect");
}

const badReference =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

/** Checks names of requests in the claim that the check is part of. */
export function requestReferences(check: StructCheck): ItemCheck {
  const names = requestNamesOf(claimOf(check));
  return (value, path) => checkReference(String(value), names, path, check.problems);
}

/** Checks a name of a request. */
export function checkReference(
  name: string,
  names: ReadonlySet<string>,
  path: FieldPath,
  problems: Problems,
): void {
  const parts = name.split("/");
  if (parts.length > 2) return problems.invalid(path, name, badReference);
  for (const part of parts) problems.invalidAll(path, part, labelErrors(part));
  if (!names.has(name)) problems.invalid(path, name, badReference);
}

/** The DeviceClaim that holds the requests. */
function claimOf(check: StructCheck): JsonObject {
  if (check.typeName === "resource/v1.DeviceClaim") return check.object;
  if (check.typeName === "resource/v1.ResourceClaim") return objectAt(objectAt(check.object, "spec"), "devices");
  return check.parent === undefined ? {} : claimOf(check.parent);
}

/** The names of requests, and `request/subrequest`. */
function requestNamesOf(claim: JsonObject): ReadonlySet<string> {
  return new Set(
    objectsAt(claim, "requests").flatMap((request) => {
      const name = textAt(request, "name");
      return [name, ...objectsAt(request, "firstAvailable").map((each) => `${name}/${textAt(each, "name")}`)];
    }),
  );
}

function checkConstraint(check: StructCheck): void {
  const { object, path, problems } = check;
  check.field("requests", requestReferences(check));
  if (has(object, "matchAttribute")) check.field("matchAttribute");
  else if (has(object, "distinctAttribute")) check.field("distinctAttribute");
  else {
    // The real server says so, though none is set.
    const why = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set';
    problems.required(path, why);
  }
}

function checkConfiguration(check: StructCheck): void {
  if (check.typeName === "resource/v1.DeviceAllocationConfiguration") check.field("source");
  check.field("requests", requestReferences(check));
  check.field("opaque");
}

function checkOpaque(check: StructCheck): void {
  check.field("driver");
  const place = check.path.child("parameters");
  checkRawObject(read(check.object, "parameters"), maxParameterBytes, place, check.problems);
}

/** Checks a RawExtension that must be an object. */
export function checkRawObject(
  value: Json | undefined,
  maxBytes: number,
  path: FieldPath,
  problems: Problems,
): void {
  if (value === undefined || value === null) return problems.required(path);
  if (new TextEncoder().encode(JSON.stringify(value)).length > maxBytes) return problems.tooLong(path, maxBytes);
  if (!isJsonObject(value)) problems.invalid(path, "<value omitted>", "must be a valid JSON object");
}

/** Checks the conditions that a device needs before a Pod is bound, and those that make it fail. */
export function checkBindingConditions(check: StructCheck): void {
  const { object, path, problems } = check;
  const isName: ItemCheck = (value, place) => problems.invalidAll(place, value, labelKeyErrors(String(value)));
  const [first, second] = ["bindingConditions", "bindingFailureConditions"];
  check.field(first, isName);
  check.field(second, isName);
  const [conditions, failures] = [textsAt(object, first), textsAt(object, second)];
  conditions.forEach((name, index) => {
    if (conditions.indexOf(name) < index) problems.duplicate(path.child(first).index(index), name);
  });
  failures.forEach((name, index) => {
    const place = path.child(second).index(index);
    if (failures.indexOf(name) < index) problems.duplicate(place, name);
    if (conditions.includes(name)) problems.invalid(place, name, `${second} must not overlap with ${first}`);
  });
  const lists = [[first, conditions, second, failures], [second, failures, first, conditions]] as const;
  for (const [key, list, otherKey, other] of lists) {
    if (list.length > 0 || other.length === 0) continue;
    const value = findObject(object, key) === undefined && !has(object, key) ? null : list;
    problems.invalid(path.child(key), value, `${key} are required to use ${otherKey}`);
  }
}

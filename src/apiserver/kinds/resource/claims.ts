/**
 * ResourceClaims, ResourceClaimTemplates and DeviceClasses: rules and defaults. The spec of a claim and of a template does not
 * change; the status of a claim holds the allocated devices and the Pods that use them.
 */
import { type Draft, isSameJson, type JsonObject, type WriteContext } from "../../model/mod.ts";
import {
  checkAnnotations,
  checkConditions,
  checkLabels,
  type DeclaredChecks,
  type DefaultsByType,
  fieldIsImmutable,
  FieldPath,
  interfaceAddressErrors,
  internalValue,
  type KindRules,
  type Problems,
  type StructCheck,
} from "../rules/mod.ts";
import { checkNodeSelector } from "../pods/mod.ts";
import {
  booleanAt,
  draftAt,
  draftsAt,
  findObject,
  has,
  metadataOf,
  objectAt,
  objectsAt,
  setIfEmpty,
  setIfZero,
  textAt,
} from "../types/mod.ts";
import {
  checkBindingConditions,
  checkRawObject,
  deviceChecks,
  requestReferences,
  type SelectorCheck,
} from "./device_checks.ts";

const specPath = FieldPath.of("spec");
const maxDataBytes = 10 * 1024;
const maxConditions = 8;
const adminLabel = "resource.kubernetes.io/admin-access";

/** DeviceClass. @param selector compiles the expressions in it */
export function deviceClassRules(selector: SelectorCheck): KindRules {
  const checks = deviceChecks(selector, {});
  return {
    depth: "full",
    generationFields: ["spec"],
    validate: (object, problems) =>
      checks.check("resource/v1.DeviceClassSpec", objectAt(object, "spec"), specPath, problems),
  };
}

/** ResourceClaimTemplate. @param selector compiles the expressions in it */
export function claimTemplateRules(selector: SelectorCheck): KindRules {
  const checks = deviceChecks(selector, {});
  const validate = (object: JsonObject, problems: Problems) => {
    const spec = objectAt(object, "spec");
    const path = specPath.child("metadata");
    checkLabels(objectAt(spec, "metadata"), "labels", path.child("labels"), problems);
    checkAnnotations(objectAt(spec, "metadata"), "annotations", path.child("annotations"), problems);
    checks.check("resource/v1.ResourceClaimSpec", objectAt(spec, "spec"), specPath.child("spec"), problems);
  };
  return {
    depth: "full",
    validate(object, problems, context) {
      checkAdminAccess(objectIn(object, "spec", "spec", "devices"), object, problems, context);
      validate(object, problems);
    },
    validateUpdate(object, old, problems) {
      validate(object, problems);
      checkSameSpec(object, old, "resource/v1.ResourceClaimTemplateSpec", problems);
    },
  };
}

/** ResourceClaim. @param selector compiles the expressions in it */
export function resourceClaimRules(selector: SelectorCheck): KindRules {
  const checks = deviceChecks(selector, statusRules);
  return {
    depth: "full",
    statusMetadata: "none",
    prepareForStatus: dropDeallocatedDevices,
    validate(object, problems, context) {
      checkAdminAccess(objectIn(object, "spec", "devices"), object, problems, context);
      checks.check("resource/v1.ResourceClaimSpec", objectAt(object, "spec"), specPath, problems);
    },
    validateUpdate: (object, old, problems) => checkSameSpec(object, old, "resource/v1.ResourceClaimSpec", problems),
    validateStatus: (object, old, problems, context) => checkStatus(object, old, checks, problems, context),
  };
}

function objectIn(object: JsonObject, ...keys: readonly string[]): JsonObject {
  return keys.reduce((inner, key) => objectAt(inner, key), object);
}

function checkSameSpec(object: JsonObject, old: JsonObject, typeName: string, problems: Problems): void {
  const [spec, before] = [objectAt(object, "spec"), objectAt(old, "spec")];
  if (isSameJson(spec, before)) return;
  problems.invalidStruct(specPath, internalValue(typeName, spec), fieldIsImmutable);
}

/** Admin access to devices is for namespaces with a label. */
function checkAdminAccess(claim: JsonObject, object: JsonObject, problems: Problems, context: WriteContext): void {
  const index = objectsAt(claim, "requests").findIndex((request) =>
    booleanAt(objectAt(request, "exactly"), "adminAccess")
  );
  if (index < 0) return;
  const path = specPath.child("devices", "requests").index(index).child("adminAccess");
  checkAdminNamespace(object, path, problems, context);
}

function checkAdminNamespace(object: JsonObject, path: FieldPath, problems: Problems, { objects }: WriteContext): void {
  const namespace = objects.get("namespaces", "", textAt(metadataOf(object), "namespace")) ?? {};
  if (textAt(objectAt(metadataOf(namespace), "labels"), adminLabel) === "true") return;
  const why = `admin access to devices requires the \`${adminLabel}: true\` label on the containing namespace`;
  problems.forbidden(path, why);
}

const statusRules = {
  "resource/v1.ResourceClaim": (check: StructCheck) => check.field("status"),
  "resource/v1.ResourceClaimStatus": checkClaimStatus,
  "resource/v1.AllocationResult": checkAllocation,
  "resource/v1.DeviceRequestAllocationResult": checkResult,
  "resource/v1.AllocatedDeviceStatus": checkDeviceStatus,
  "resource/v1.NetworkDeviceData": checkNetworkData,
} as const;

function checkStatus(
  object: JsonObject,
  old: JsonObject,
  checks: DeclaredChecks,
  problems: Problems,
  context: WriteContext,
): void {
  const adminResult = (claim: JsonObject) =>
    objectsAt(objectIn(claim, "status", "allocation", "devices"), "results").findIndex((result) =>
      booleanAt(result, "adminAccess")
    );
  const index = adminResult(object);
  if (index >= 0 && adminResult(old) < 0) {
    const path = FieldPath.of("status", "allocation", "devices", "results").index(index).child("adminAccess");
    checkAdminNamespace(object, path, problems, context);
  }
  checks.check("resource/v1.ResourceClaim", object, FieldPath.root, problems, old);
}

function checkClaimStatus(check: StructCheck): void {
  const { object, path, problems, old = {} } = check;
  check.field("reservedFor");
  check.field("devices");
  checkEachOnce(objectsAt(object, "devices"), path.child("devices"), problems);
  const [allocation, before] = [findObject(object, "allocation"), findObject(old, "allocation")];
  const reserved = objectsAt(object, "reservedFor");
  if (reserved.length > 0 && allocation === undefined) {
    problems.forbidden(path.child("reservedFor"), "may not be specified when `allocated` is not set");
  } else if (has(metadataOf(check.parent?.object ?? {}), "deletionTimestamp")) {
    const known = objectsAt(old, "reservedFor");
    if (reserved.some((each) => !known.some((other) => isSameJson(each, other)))) {
      const why = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set";
      problems.forbidden(path.child("reservedFor"), why);
    }
  }
  if (allocation === undefined) return;
  if (before === undefined) check.field("allocation");
  else if (!isSameJson(allocation, before)) {
    const shown = internalValue("resource/v1.AllocationResult", allocation);
    problems.invalidStruct(path.child("allocation"), shown, fieldIsImmutable);
  }
}

function checkEachOnce(devices: readonly JsonObject[], path: FieldPath, problems: Problems): void {
  const ids = devices.map(deviceId);
  devices.forEach((device, index) => {
    if (ids.indexOf(deviceId(device)) < index) problems.duplicate(path.index(index), shownDevice(device));
  });
}

function checkAllocation(check: StructCheck): void {
  check.field("devices");
  const selector = findObject(check.object, "nodeSelector");
  if (selector !== undefined) checkNodeSelector(selector, check.path.child("nodeSelector"), check.problems);
}

function checkResult(check: StructCheck): void {
  const request = check.object["request"] ?? "";
  requestReferences(check)(request, check.path.child("request"), "");
  for (const key of ["driver", "pool", "device"]) check.field(key);
  checkBindingConditions(check);
  check.field("shareID");
}

function checkDeviceStatus(check: StructCheck): void {
  const { object, path, problems } = check;
  for (const key of ["driver", "pool", "device", "shareID"]) check.field(key);
  const status = check.parent?.object ?? {};
  const results = objectsAt(objectAt(objectAt(status, "allocation"), "devices"), "results");
  if (!results.some((result) => deviceId(result) === deviceId(object))) {
    problems.invalidStruct(path, shownDevice(object), "must be an allocated device in the claim");
  }
  const count = objectsAt(object, "conditions").length;
  if (count > maxConditions) problems.tooMany(path.child("conditions"), count, maxConditions);
  checkConditions(object, path, problems);
  const data = object["data"];
  if (data !== undefined && data !== null) checkRawObject(data, maxDataBytes, path.child("data"), problems);
  check.field("networkData");
}

function deviceId(object: JsonObject): string {
  return JSON.stringify(["driver", "pool", "device", "shareID"].map((key) => textAt(object, key)));
}

/** A device as its identifier is shown. */
function shownDevice(object: JsonObject): JsonObject {
  return {
    Driver: textAt(object, "driver"),
    Pool: textAt(object, "pool"),
    Device: textAt(object, "device"),
    ShareID: textAt(object, "shareID"),
  };
}

function checkNetworkData(check: StructCheck): void {
  const { problems } = check;
  check.field("interfaceName");
  check.field("hardwareAddress");
  check.field("ips", (value, path) => problems.invalidAll(path, value, interfaceAddressErrors(String(value))));
}

/** The status of devices ends with their allocation. */
function dropDeallocatedDevices(draft: Draft, old: JsonObject): void {
  const resultsOf = (claim: JsonObject) => objectsAt(objectIn(claim, "status", "allocation", "devices"), "results");
  const kept = new Set(resultsOf(draft).map(deviceId));
  const gone = new Set(resultsOf(old).map(deviceId).filter((id) => !kept.has(id)));
  if (!has(draft, "status") || gone.size === 0) return;
  const status = draftAt(draft, "status");
  const devices = draftsAt(status, "devices").filter((device) => !gone.has(deviceId(device)));
  if (devices.length > 0) status["devices"] = devices;
  else delete status["devices"];
}

/** The defaults of device requests. */
export const deviceDefaults: DefaultsByType = {
  "resource/v1.ExactDeviceRequest": setDeviceRequestDefaults,
  "resource/v1.DeviceSubRequest": setDeviceRequestDefaults,
};

function setDeviceRequestDefaults(draft: Draft): void {
  setIfEmpty(draft, "allocationMode", "ExactCount");
  if (textAt(draft, "allocationMode") === "ExactCount") setIfZero(draft, "count", 1);
}

/**
 * The kinds of dynamic resource allocation (resource.k8s.io): rules, defaults and table rows. They are checked against their
 * schema only.
 */
import type { Draft, Json, JsonObject } from "../../model/mod.ts";
import {
  ageCell,
  type DefaultsByType,
  isDeleted,
  type KindRules,
  nameCell,
  type Row,
  rowOf,
  textCell,
} from "../rules/mod.ts";
import { findObject, objectAt, objectsAt, setIfEmpty, setIfZero, textAt } from "../types/mod.ts";

/** ResourceClaim. */
export const resourceClaimRules: KindRules = { depth: "schema", statusMetadata: "none" };

/** DeviceClass. */
export const deviceRules: KindRules = { depth: "schema", generationFields: ["spec"] };

/** ResourceSlice. A kubelet may list only those of its Node. */
export const resourceSliceRules: KindRules = {
  ...deviceRules,
  fieldSelectors: new Map(
    ["nodeName", "driver"].map((key) =>
      [`spec.${key}`, (slice: JsonObject) => textAt(objectAt(slice, "spec"), key)] as const
    ),
  ),
};

/** The defaults of device requests. */
export const deviceDefaults: DefaultsByType = {
  "resource/v1.ExactDeviceRequest": setDeviceRequestDefaults,
  "resource/v1.DeviceSubRequest": setDeviceRequestDefaults,
};

function setDeviceRequestDefaults(draft: Draft): void {
  setIfEmpty(draft, "allocationMode", "ExactCount");
  if (textAt(draft, "allocationMode") === "ExactCount") setIfZero(draft, "count", 1);
}

/** The cells of a DeviceClass. */
export const deviceClassRow: Row = rowOf(nameCell, ageCell);

/** The cells of a ResourceClaim. */
export const resourceClaimRow: Row = rowOf(nameCell, claimState, ageCell);

function claimState(object: JsonObject): Json {
  const status = objectAt(object, "status");
  const isAllocated = findObject(status, "allocation") !== undefined;
  const states = isDeleted(object) ? ["deleted"] : isAllocated ? [] : ["pending"];
  if (isAllocated) states.push("allocated");
  if (isAllocated && objectsAt(status, "reservedFor").length > 0) states.push("reserved");
  return states.join(",");
}

/** The cells of a ResourceClaimTemplate. */
export const resourceClaimTemplateRow: Row = rowOf(nameCell, ageCell);

/** The cells of a ResourceSlice. */
export const resourceSliceRow: Row = rowOf(
  nameCell,
  textCell("spec.nodeName"),
  textCell("spec.driver"),
  textCell("spec.pool.name"),
  ageCell,
);

/** The rows of the tables of the kinds of dynamic resource allocation (resource.k8s.io). */
import type { Json, JsonObject } from "../../model/mod.ts";
import { ageCell, isDeleted, nameCell, type Row, rowOf, textCell } from "../rules/mod.ts";
import { findObject, objectAt, objectsAt } from "../types/mod.ts";

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

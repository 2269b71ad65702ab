/** ServiceCIDRs and IPAddresses: rules and table rows. */
import type { Json, JsonObject } from "../../model/mod.ts";
import { ageCell, joinedCell, type KindRules, nameCell, type Row, rowOf } from "../rules/mod.ts";
import { findObject, objectAt, textAt } from "../types/mod.ts";

/** ServiceCIDR. */
export const serviceCidrRules: KindRules = { depth: "schema", statusMetadata: "none" };

/** The cells of an IPAddress: one more than it has columns, as in the real server. */
export const ipAddressRow: Row = rowOf(nameCell, parent, ageCell);

/** The cells of a ServiceCIDR. */
export const serviceCidrRow: Row = rowOf(nameCell, joinedCell("spec.cidrs"), ageCell);

function parent(object: JsonObject): Json {
  const reference = findObject(objectAt(object, "spec"), "parentRef");
  if (reference === undefined) return "<none>";
  const [resource, group] = [textAt(reference, "resource"), textAt(reference, "group")];
  const title = group === "" ? resource : `${resource}.${group}`;
  const place = [textAt(reference, "namespace"), textAt(reference, "name")].filter((part, index) =>
    index > 0 || part !== ""
  );
  return [title.toLowerCase(), ...place].join("/");
}

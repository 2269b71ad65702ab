/**
 * ServiceCIDRs and IPAddresses: rules and table rows. core/service_cluster_ips.ts allocates addresses of the ranges and names
 * them; an IPAddress that a user creates keeps its address from being allocated.
 */
import { isSameJson, type Json, type JsonObject } from "../../model/mod.ts";
import {
  ageCell,
  DeclaredChecks,
  fieldIsImmutable,
  FieldPath,
  internalValue,
  joinedCell,
  type KindRules,
  nameCell,
  parseCidr,
  type Problems,
  type Row,
  rowOf,
  strictCidrErrors,
  strictIpErrors,
  type StructCheck,
} from "../rules/mod.ts";
import { findObject, objectAt, textAt, textsAt } from "../types/mod.ts";

const specPath = FieldPath.of("spec");
const cidrsPath = specPath.child("cidrs");

const addressChecks = new DeclaredChecks({
  additions: `
networking/v1.ParentReference group:optional,format=k8s-long-name resource:required,format=k8s-path-segment-name namespace:optional,format=k8s-path-segment-name name:required,format=k8s-path-segment-name
`,
  rules: { "networking/v1.ParentReference": checkParent },
});

/** The fields in the order of the errors, which is not that of the type. */
function checkParent(check: StructCheck): void {
  for (const key of ["group", "resource", "name", "namespace"]) check.field(key);
}

/** IPAddress. */
export const ipAddressRules: KindRules = {
  depth: "full",
  generatesNames: false,
  validateName: (name) => strictIpErrors(name),
  validate: checkAddress,
  validateUpdate(object, old, problems) {
    checkAddress(object, problems);
    const [parent, before] = [object, old].map((each) => findObject(objectAt(each, "spec"), "parentRef"));
    if (isSameJson(parent ?? null, before ?? null)) return;
    const shown = parent === undefined ? null : internalValue("networking/v1.ParentReference", parent);
    const path = specPath.child("parentRef");
    if (shown === null) problems.invalid(path, null, fieldIsImmutable);
    else problems.invalidStruct(path, shown, fieldIsImmutable);
  },
};

function checkAddress(object: JsonObject, problems: Problems): void {
  addressChecks.check("networking/v1.IPAddressSpec", objectAt(object, "spec"), specPath, problems);
}

/** ServiceCIDR. */
export const serviceCidrRules: KindRules = {
  depth: "full",
  statusMetadata: "none",
  validate: (object, problems) => checkCidrs(cidrsOf(object), object, problems),
  validateUpdate(object, old, problems) {
    const [cidrs, before] = [cidrsOf(object), cidrsOf(old)];
    if (cidrs.length === before.length) return checkUnchanged(cidrs, before, problems);
    if (before.length !== 1 || cidrs.length !== 2) {
      return problems.invalid(cidrsPath, cidrs, fieldIsImmutable);
    }
    // A second range, of the other family, may be added.
    checkUnchanged(cidrs.slice(0, 1), before, problems);
    checkCidrs(cidrs, object, problems);
  },
};

function cidrsOf(object: JsonObject): readonly string[] {
  return textsAt(objectAt(object, "spec"), "cidrs");
}

function checkUnchanged(cidrs: readonly string[], before: readonly string[], problems: Problems): void {
  cidrs.forEach((cidr, index) => {
    if (cidr !== before[index]) problems.invalid(cidrsPath.index(index), cidr, fieldIsImmutable);
  });
}

function checkCidrs(cidrs: readonly string[], object: JsonObject, problems: Problems): void {
  if (cidrs.length === 0) return problems.required(cidrsPath, "at least one CIDR required");
  if (cidrs.length > 2) {
    const shown = internalValue("networking/v1.ServiceCIDRSpec", objectAt(object, "spec"));
    return problems.invalidStruct(cidrsPath, shown, "may only hold up to 2 values");
  }
  cidrs.forEach((cidr, index) => problems.invalidAll(cidrsPath.index(index), cidr, strictCidrErrors(cidr)));
  const [first, second] = cidrs.map((cidr) => parseCidr(cidr)?.address.family);
  if (first === undefined || first !== second) return;
  const why = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
  problems.invalid(cidrsPath, cidrs, why);
}

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

/** Nodes and ComponentStatuses: rules, defaults and table rows. */
import { type Draft, draftOf, isDraft, isSameJson, type Json, type JsonObject, read } from "../../model/mod.ts";
import { checkResourceAmount, checkTaints } from "../pods/mod.ts";
import {
  ageCell,
  cidrErrors,
  cidrWarnings,
  conditionOf,
  type DefaultsByType,
  FieldPath,
  type KindRules,
  nameCell,
  parseCidr,
  type Problems,
} from "../rules/mod.ts";
import {
  booleanAt,
  draftAt,
  has,
  nameOf,
  objectAt,
  objectsAt,
  setIfAbsent,
  textAt,
  textMapAt,
  textsAt,
} from "../types/mod.ts";

/** Node. */
export const nodeRules: KindRules = {
  depth: "full",
  fieldSelectors: new Map([
    ["spec.unschedulable", (node) => String(booleanAt(objectAt(node, "spec"), "unschedulable"))],
  ]),
  createWritesStatus: true,
  prepareForCreate(draft) {
    delete draftAt(draft, "spec")["configSource"];
    delete draftAt(draft, "status")["config"];
  },
  validate: checkNode,
  validateUpdate(node, old, problems) {
    checkNode(node, problems);
    checkNodeChange(node, old, problems);
  },
  validateStatus: checkNodeChange,
  warnings(node) {
    const spec = objectAt(node, "spec");
    const path = FieldPath.of("spec", "podCIDRs");
    return [
      ...(has(spec, "configSource") ? ["spec.configSource: the feature is removed"] : []),
      ...(textAt(spec, "externalID") === ""
        ? []
        : ["spec.externalID: this field is deprecated, and is unused by Kubernetes"]),
      ...textsAt(spec, "podCIDRs").flatMap((range, index) => cidrWarnings(path.index(index), range)),
    ];
  },
};

function checkNode(node: JsonObject, problems: Problems): void {
  const spec = objectAt(node, "spec");
  checkTaints(objectsAt(spec, "taints"), FieldPath.of("metadata", "taints"), problems);
  checkNodeResources(node, problems);
  const path = FieldPath.of("spec", "podCIDRs");
  const ranges = textsAt(spec, "podCIDRs");
  ranges.forEach((range, index) => problems.invalidAll(path.index(index), range, cidrErrors(range)));
  const wrong = ranges.findIndex((range) => parseCidr(range) === undefined);
  if (ranges.length > 1 && wrong >= 0) {
    const why = `invalid CIDR[${wrong}]: <nil> (invalid CIDR address: ${ranges[wrong]})`;
    problems.internal(path, `invalid PodCIDRs. failed to check with dual stack with error:${why}`);
  }
  const families = new Set(ranges.map((range) => parseCidr(range)?.address.family));
  if (ranges.length > 1 && (wrong >= 0 || families.size < 2 || ranges.length > 2)) {
    problems.invalid(path, ranges, "may specify no more than one CIDR for each IP family");
  }
}

function checkNodeResources(node: JsonObject, problems: Problems): void {
  const status = objectAt(node, "status");
  for (const key of ["capacity", "allocatable"]) {
    for (const [name, amount] of textMapAt(status, key)) {
      checkResourceAmount(name, amount, FieldPath.of("status", key, name), problems);
    }
  }
}

function checkNodeChange(node: JsonObject, old: JsonObject, problems: Problems): void {
  checkNodeResources(node, problems);
  const [spec, before] = [objectAt(node, "spec"), objectAt(old, "spec")];
  const seen: JsonObject[] = [];
  objectsAt(objectAt(node, "status"), "addresses").forEach((address, index) => {
    if (seen.some((other) => isSameJson(other, address))) {
      const shown = { Type: textAt(address, "type"), Address: textAt(address, "address") };
      problems.duplicate(FieldPath.of("status", "addresses").index(index), shown);
    }
    seen.push(address);
  });
  const ranges = textsAt(before, "podCIDRs");
  if (ranges.length > 0 && !isSameJson(ranges, textsAt(spec, "podCIDRs"))) {
    problems.forbidden(FieldPath.of("spec", "podCIDRs"), 'node updates may not change podCIDR except from "" to valid');
  }
  if (textAt(before, "providerID") !== "" && textAt(before, "providerID") !== textAt(spec, "providerID")) {
    problems.forbidden(
      FieldPath.of("spec", "providerID"),
      'node updates may not change providerID except from "" to valid',
    );
  }
  checkTaints(objectsAt(spec, "taints"), FieldPath.of("metadata", "taints"), problems);
  if (textAt(before, "externalID") !== textAt(spec, "externalID")) {
    problems.forbidden(FieldPath.of("spec", "externalID"), "may not be updated");
  }
}

/** The defaults of Nodes. */
export const nodeDefaults: DefaultsByType = {
  "core/v1.NodeSpec": setNodeSpecDefaults,
  "core/v1.NodeStatus": setNodeStatusDefaults,
};

/** Sets `podCIDR` and `podCIDRs` from each other. */
function setNodeSpecDefaults(draft: Draft): void {
  const [one, many] = [textAt(draft, "podCIDR"), textsAt(draft, "podCIDRs")];
  if (one !== "" && many.length === 0) draft["podCIDRs"] = [one];
  else if (many[0] !== undefined) draft["podCIDR"] = many[0];
}

function setNodeStatusDefaults(draft: Draft): void {
  const capacity = read(draft, "capacity");
  if (isDraft(capacity)) setIfAbsent(draft, "allocatable", draftOf(capacity));
}

/** The cells of a Node. */
export function nodeRow(node: JsonObject, now: number): readonly Json[] {
  const status = objectAt(node, "status");
  const info = objectAt(status, "nodeInfo");
  const architecture = textAt(info, "architecture");
  return [
    nameOf(node),
    statusText(node),
    rolesText(node),
    ageCell(node, now),
    textAt(info, "kubeletVersion"),
    addressOf(status, "InternalIP"),
    addressOf(status, "ExternalIP"),
    known(textAt(info, "osImage")),
    known(textAt(info, "kernelVersion")) + (architecture === "" ? "" : ` (${architecture})`),
    known(textAt(info, "containerRuntimeVersion")),
  ];
}

function statusText(node: JsonObject): string {
  const ready = conditionOf(objectAt(node, "status"), "Ready");
  const word = ready === undefined ? "Unknown" : textAt(ready, "status") === "True" ? "Ready" : "NotReady";
  return booleanAt(objectAt(node, "spec"), "unschedulable") ? `${word},SchedulingDisabled` : word;
}

const rolePrefix = "node-role.kubernetes.io/";

/** The roles are in the keys of labels; older nodes have one in the value of a label. */
function rolesText(node: JsonObject): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(objectAt(objectAt(node, "metadata"), "labels"))) {
    if (key.startsWith(rolePrefix)) roles.add(key.slice(rolePrefix.length));
    if (key === "kubernetes.io/role") roles.add(`${value}`);
  }
  roles.delete("");
  return roles.size === 0 ? "<none>" : [...roles].sort().join(",");
}

function addressOf(status: JsonObject, type: string): string {
  const address = objectsAt(status, "addresses").find((candidate) => textAt(candidate, "type") === type);
  return address === undefined ? "<none>" : textAt(address, "address");
}

function known(text: string): string {
  return text === "" ? "<unknown>" : text;
}

/** ComponentStatus, which cannot be written. */
export const componentStatusRules: KindRules = {
  depth: "full",
  missingResource: "componentstatus",
  deprecation: "v1 ComponentStatus is deprecated in v1.19+",
};

/** The cells of a ComponentStatus. */
export function componentStatusRow(object: JsonObject): readonly Json[] {
  const healthy = objectsAt(object, "conditions").find((condition) => textAt(condition, "type") === "Healthy");
  if (healthy === undefined) return [nameCell(object, 0), "Unknown", "", ""];
  const word = textAt(healthy, "status") === "True" ? "Healthy" : "Unhealthy";
  return [nameCell(object, 0), word, textAt(healthy, "message"), textAt(healthy, "error")];
}

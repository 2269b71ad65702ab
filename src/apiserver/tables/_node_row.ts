/** The row of a Node. */
import { flagAt, nameOf, objectAt, objectsAt, textAt } from "../kinds/mod.ts";
import type { Json, JsonObject } from "../model/mod.ts";
import { age } from "./_cells.ts";
import { conditionOf } from "./_values.ts";

/** The cells of a Node. */
export function nodeRow(node: JsonObject, now: number): readonly Json[] {
  const status = objectAt(node, "status");
  const info = objectAt(status, "nodeInfo");
  const architecture = textAt(info, "architecture");
  return [
    nameOf(node),
    statusText(node),
    rolesText(node),
    age(node, now),
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
  return flagAt(objectAt(node, "spec"), "unschedulable") ? `${word},SchedulingDisabled` : word;
}

const rolePrefix = "node-role.kubernetes.io/";

/** Roles stand in the keys of labels, and in one label's value as they once did. */
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

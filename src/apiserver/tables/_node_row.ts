/** The row of a Node. */
import type { Json, JsonObject } from "../model/mod.ts";
import { age } from "./_cells.ts";
import { conditionOf, isTrue, nameOf, objectOf, objectsOf, textOf } from "./_values.ts";

/** The cells of a Node. */
export function nodeRow(node: JsonObject, now: number): readonly Json[] {
  const status = objectOf(node, "status");
  const info = objectOf(status, "nodeInfo");
  const architecture = textOf(info, "architecture");
  return [
    nameOf(node),
    statusText(node),
    rolesText(node),
    age(node, now),
    textOf(info, "kubeletVersion"),
    addressOf(status, "InternalIP"),
    addressOf(status, "ExternalIP"),
    known(textOf(info, "osImage")),
    known(textOf(info, "kernelVersion")) + (architecture === "" ? "" : ` (${architecture})`),
    known(textOf(info, "containerRuntimeVersion")),
  ];
}

function statusText(node: JsonObject): string {
  const ready = conditionOf(objectOf(node, "status"), "Ready");
  const word = ready === undefined ? "Unknown" : textOf(ready, "status") === "True" ? "Ready" : "NotReady";
  return isTrue(objectOf(node, "spec"), "unschedulable") ? `${word},SchedulingDisabled` : word;
}

const rolePrefix = "node-role.kubernetes.io/";

/** Roles stand in the keys of labels, and in one label's value as they once did. */
function rolesText(node: JsonObject): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(objectOf(objectOf(node, "metadata"), "labels"))) {
    if (key.startsWith(rolePrefix)) roles.add(key.slice(rolePrefix.length));
    if (key === "kubernetes.io/role") roles.add(`${value}`);
  }
  roles.delete("");
  return roles.size === 0 ? "<none>" : [...roles].sort().join(",");
}

function addressOf(status: JsonObject, type: string): string {
  const address = objectsOf(status, "addresses").find((candidate) => textOf(candidate, "type") === type);
  return address === undefined ? "<none>" : textOf(address, "address");
}

function known(text: string): string {
  return text === "" ? "<unknown>" : text;
}

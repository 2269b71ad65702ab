/** The row of a Pod. */
import { nameOf, objectAt, objectsAt, textAt } from "../kinds/mod.ts";
import { type Json, type JsonObject, read } from "../model/mod.ts";
import { age, sinceText } from "./_cells.ts";
import { podStatus } from "./_pod_status.ts";
import { isConditionTrue } from "./_values.ts";

/** The cells of a Pod. */
export function podRow(pod: JsonObject, now: number): readonly Json[] {
  const { word, ready, total, restarts, restartedAt } = podStatus(pod);
  const [spec, status] = [objectAt(pod, "spec"), objectAt(pod, "status")];
  const [ip] = objectsAt(status, "podIPs");
  return [
    nameOf(pod),
    `${ready}/${total}`,
    word,
    restarts === 0 || restartedAt === "" ? `${restarts}` : `${restarts} (${sinceText(restartedAt, now)} ago)`,
    age(pod, now),
    orNone(ip === undefined ? "" : textAt(ip, "ip")),
    orNone(textAt(spec, "nodeName")),
    orNone(textAt(status, "nominatedNodeName")),
    gates(spec, status),
  ];
}

function gates(spec: JsonObject, status: JsonObject): string {
  const all = objectsAt(spec, "readinessGates");
  const open = all.filter((gate) => isConditionTrue(status, textAt(gate, "conditionType")));
  return all.length === 0 ? "<none>" : `${open.length}/${all.length}`;
}

function orNone(text: string): string {
  return text === "" ? "<none>" : text;
}

const messages: ReadonlyMap<Json | undefined, string> = new Map([
  ["Succeeded", "The pod has completed successfully."],
  ["Failed", "The pod failed."],
]);

/** A Pod that is over says so: kubectl once left these rows out. */
export function podConditions(pod: JsonObject): readonly JsonObject[] {
  const phase = read(objectAt(pod, "status"), "phase");
  const message = messages.get(phase);
  if (message === undefined || phase === undefined) return [];
  return [{ type: "Completed", status: "True", reason: phase, message }];
}

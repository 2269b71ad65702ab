/** The row of a Pod. */
import { type Json, type JsonObject, read } from "../model/mod.ts";
import { age, sinceText } from "./_cells.ts";
import { podStatus } from "./_pod_status.ts";
import { isConditionTrue, nameOf, objectOf, objectsOf, textOf } from "./_values.ts";

/** The cells of a Pod. */
export function podRow(pod: JsonObject, now: number): readonly Json[] {
  const { word, ready, total, restarts, restartedAt } = podStatus(pod);
  const [spec, status] = [objectOf(pod, "spec"), objectOf(pod, "status")];
  const [ip] = objectsOf(status, "podIPs");
  return [
    nameOf(pod),
    `${ready}/${total}`,
    word,
    restarts === 0 || restartedAt === "" ? `${restarts}` : `${restarts} (${sinceText(restartedAt, now)} ago)`,
    age(pod, now),
    orNone(ip === undefined ? "" : textOf(ip, "ip")),
    orNone(textOf(spec, "nodeName")),
    orNone(textOf(status, "nominatedNodeName")),
    gates(spec, status),
  ];
}

function gates(spec: JsonObject, status: JsonObject): string {
  const all = objectsOf(spec, "readinessGates");
  const open = all.filter((gate) => isConditionTrue(status, textOf(gate, "conditionType")));
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
  const phase = read(objectOf(pod, "status"), "phase");
  const message = messages.get(phase);
  if (message === undefined || phase === undefined) return [];
  return [{ type: "Completed", status: "True", reason: phase, message }];
}

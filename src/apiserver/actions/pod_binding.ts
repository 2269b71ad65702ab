/** `pods/binding`: gives a Pod its node, once. Source: kubernetes `registry/core/pod/storage` of 1.36. */
import {
  conflict,
  type Draft,
  invalid,
  isDraft,
  isJsonObject,
  type Json,
  type JsonObject,
  read,
} from "../model/mod.ts";
import type { ActionCall, SubresourceHandler } from "../registry/mod.ts";
import { changeStored, part, timeText } from "./_change.ts";

/** @param now milliseconds since 1970 */
export function podBindingHandler(now: () => number): SubresourceHandler {
  return {
    collection: "pods",
    subresource: "binding",
    handle(call) {
      const node = nodeOf(call);
      changeStored(call, (pod, present) => bind(call, pod, present, { node, at: timeText(now()) }));
      const object: JsonObject = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
      return { kind: "object", code: 201, object };
    },
  };
}

function nodeOf({ body = {}, name }: ActionCall): string {
  const target = read<Json>(body, "target");
  const { kind = "", name: node = "" } = isJsonObject(target) ? target : {};
  if (kind !== "" && kind !== "Node" && kind !== "Minion") {
    const detail = 'supported values: "Node", "<empty>"';
    throw invalid({ group: "", resource: "Binding", name }, [{
      type: "NotSupported",
      field: "target.kind",
      value: kind,
      detail,
    }]);
  }
  if (node === "") {
    throw invalid({ group: "", resource: "Binding", name }, [{ type: "Required", field: "target.name", detail: "" }]);
  }
  return `${node}`;
}

function bind(
  { name }: ActionCall,
  pod: Draft,
  present: JsonObject,
  { node, at }: { readonly node: string; readonly at: string },
): void {
  const subject = { group: "", resource: "pods/binding", name };
  const metadata = read(present, "metadata");
  if (isJsonObject(metadata) && metadata.deletionTimestamp !== undefined) {
    throw conflict(subject, `pod ${name} is being deleted, cannot be assigned to a host`);
  }
  const spec = part(pod, "spec");
  if (typeof spec.nodeName === "string" && spec.nodeName !== "") {
    throw conflict(subject, `pod ${name} is already assigned to node ${JSON.stringify(spec.nodeName)}`);
  }
  if (Array.isArray(spec.schedulingGates) && spec.schedulingGates.length > 0) {
    throw conflict(subject, `pod ${name} has non-empty .spec.schedulingGates`);
  }
  spec.nodeName = node;
  const status = part(pod, "status");
  const conditions = Array.isArray(status.conditions) ? status.conditions : [];
  const others = conditions.filter((condition) => !isDraft(condition) || condition.type !== "PodScheduled");
  status.conditions = [...others, {
    type: "PodScheduled",
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: at,
  }];
}

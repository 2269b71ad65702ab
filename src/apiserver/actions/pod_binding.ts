/** `pods/binding`: gives a Pod its node, once. Source: kubernetes `registry/core/pod/storage` of 1.36. */
import {
  badRequest,
  conflict,
  type Draft,
  type FieldError,
  formatFieldErrors,
  isDraft,
  isJsonObject,
  type JsonObject,
  notFound,
  put,
  read,
  Refusal,
} from "../model/mod.ts";
import type { ActionCall, ReviewHandler, SubresourceHandler } from "../registry/mod.ts";
import { changeStored, objectIn, part, textIn } from "./_change.ts";
import { setPodCondition } from "./_pod_condition.ts";

/** @param now milliseconds since 1970 */
export function podBindingHandler(now: () => number): SubresourceHandler {
  return {
    collection: "pods",
    subresource: "binding",
    handle(call) {
      const { body = {}, name } = call;
      if (textIn(objectIn(body, "metadata"), "name") !== name) {
        throw badRequest("name in URL does not match name in Binding object");
      }
      return { kind: "object", code: 201, object: bound(call, now()) };
    },
  };
}

/** The older way to bind: the creation of a Binding that is never stored. @param now milliseconds since 1970 */
export function bindingReview(now: () => number): ReviewHandler {
  return {
    collection: "bindings",
    review(call) {
      const name = textIn(objectIn(call.body ?? {}, "metadata"), "name");
      const pods = call.registry.kinds.find("", "v1", "pods");
      if (pods === undefined) throw notFound({ group: "", resource: "pods", name });
      return bound({ ...call, kind: pods.kind, name }, now());
    },
  };
}

function bound(call: ActionCall, nowMs: number): JsonObject {
  checkTarget(objectIn(call.body ?? {}, "target"));
  changeStored(call, (pod, present) => bind(call, pod, present, nowMs));
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
}

/** What is wrong with a target is no Invalid in the real server, but an error that nobody gave a reason. */
function checkTarget(target: JsonObject): void {
  const errors: FieldError[] = [];
  const kind = textIn(target, "kind");
  if (kind !== "" && kind !== "Node") {
    const detail = 'supported values: "Node", "<empty>"';
    errors.push({ type: "NotSupported", field: "target.kind", value: kind, detail });
  }
  if (textIn(target, "name") === "") errors.push({ type: "Required", field: "target.name", detail: "" });
  if (errors.length > 0) throw new Refusal(500, "", formatFieldErrors(errors).message);
}

function bind({ name, body = {} }: ActionCall, pod: Draft, present: JsonObject, nowMs: number): void {
  const subject = { group: "", resource: "pods/binding", name };
  const metadata = read(present, "metadata");
  if (isJsonObject(metadata) && metadata.deletionTimestamp !== undefined) {
    throw conflict(subject, `pod ${name} is being deleted, cannot be assigned to a host`);
  }
  checkPreconditions(name, objectIn(present, "metadata"), objectIn(body, "metadata"));
  const spec = part(pod, "spec");
  if (typeof spec.nodeName === "string" && spec.nodeName !== "") {
    throw conflict(subject, `pod ${name} is already assigned to node ${JSON.stringify(spec.nodeName)}`);
  }
  if (Array.isArray(spec.schedulingGates) && spec.schedulingGates.length > 0) {
    throw conflict(subject, `pod ${name} has non-empty .spec.schedulingGates`);
  }
  spec.nodeName = textIn(objectIn(body, "target"), "name");
  delete part(pod, "status").nominatedNodeName;
  for (const key of ["annotations", "labels"]) addAll(part(pod, "metadata"), objectIn(body, "metadata"), key);
  setPodCondition(pod, { type: "PodScheduled", status: "True" }, nowMs);
}

function checkPreconditions(name: string, present: JsonObject, wanted: JsonObject): void {
  for (const [key, what] of [["uid", "UID"], ["resourceVersion", "ResourceVersion"]] as const) {
    const [now, asked] = [textIn(present, key), textIn(wanted, key)];
    if (asked === "" || asked === now) continue;
    const why = `Precondition failed: ${what} in precondition: ${asked}, ${what} in object meta: ${now}`;
    throw conflict({ group: "", resource: "pods", name }, why);
  }
}

/** What a scheduler learned of the node may travel with the binding. */
function addAll(metadata: Draft, from: JsonObject, key: string): void {
  const added = Object.entries(objectIn(from, key));
  if (added.length === 0) return;
  const held = isDraft(metadata[key]) ? metadata[key] : {};
  for (const [name, value] of added) put(held, name, String(value));
  metadata[key] = held;
}

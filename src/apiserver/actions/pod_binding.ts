/** `pods/binding`: assigns a Pod to a node, once. Source: kubernetes `registry/core/pod/storage` of 1.36. */
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
  StatusError,
} from "../model/mod.ts";
import { draftAt, objectAt, textAt } from "../kinds/mod.ts";
import type { ActionCall, ReviewHandler, SubresourceHandler } from "../registry/mod.ts";
import { changeStored, setPodCondition } from "./_change.ts";

/** @param now milliseconds since 1970 */
export function podBindingHandler(now: () => number): SubresourceHandler {
  return {
    collection: "pods",
    subresource: "binding",
    handle(call) {
      const { body = {}, name } = call;
      if (textAt(objectAt(body, "metadata"), "name") !== name) {
        throw badRequest("name in URL does not match name in Binding object");
      }
      return { kind: "object", code: 201, object: bound(call, now()) };
    },
  };
}

/** The older way: creates a Binding, which is never stored. @param now milliseconds since 1970 */
export function bindingReview(now: () => number): ReviewHandler {
  return {
    collection: "bindings",
    review(call) {
      const name = textAt(objectAt(call.body ?? {}, "metadata"), "name");
      const pods = call.registry.kinds.find("", "v1", "pods");
      if (pods === undefined) throw notFound({ group: "", resource: "pods", name });
      return bound({ ...call, kind: pods.kind, name }, now());
    },
  };
}

function bound(call: ActionCall, nowMs: number): JsonObject {
  checkTarget(objectAt(call.body ?? {}, "target"));
  changeStored(call, (pod, live) => bind(call, pod, live, nowMs));
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
}

/** The real server returns an invalid target as an error 500 without a reason. */
function checkTarget(target: JsonObject): void {
  const errors: FieldError[] = [];
  const kind = textAt(target, "kind");
  if (kind !== "" && kind !== "Node") {
    const detail = 'supported values: "Node", "<empty>"';
    errors.push({ type: "NotSupported", field: "target.kind", value: kind, detail });
  }
  if (textAt(target, "name") === "") errors.push({ type: "Required", field: "target.name", detail: "" });
  if (errors.length > 0) throw new StatusError(500, "", formatFieldErrors(errors).message);
}

function bind({ name, body = {} }: ActionCall, pod: Draft, live: JsonObject, nowMs: number): void {
  const subject = { group: "", resource: "pods/binding", name };
  const metadata = read(live, "metadata");
  if (isJsonObject(metadata) && metadata.deletionTimestamp !== undefined) {
    throw conflict(subject, `pod ${name} is being deleted, cannot be assigned to a host`);
  }
  checkPreconditions(name, objectAt(live, "metadata"), objectAt(body, "metadata"));
  const spec = draftAt(pod, "spec");
  if (typeof spec.nodeName === "string" && spec.nodeName !== "") {
    throw conflict(subject, `pod ${name} is already assigned to node ${JSON.stringify(spec.nodeName)}`);
  }
  if (Array.isArray(spec.schedulingGates) && spec.schedulingGates.length > 0) {
    throw conflict(subject, `pod ${name} has non-empty .spec.schedulingGates`);
  }
  spec.nodeName = textAt(objectAt(body, "target"), "name");
  delete draftAt(pod, "status").nominatedNodeName;
  for (const key of ["annotations", "labels"]) addAll(draftAt(pod, "metadata"), objectAt(body, "metadata"), key);
  setPodCondition(pod, { type: "PodScheduled", status: "True" }, nowMs);
}

function checkPreconditions(name: string, live: JsonObject, preconditions: JsonObject): void {
  for (const [key, what] of [["uid", "UID"], ["resourceVersion", "ResourceVersion"]] as const) {
    const [actual, expected] = [textAt(live, key), textAt(preconditions, key)];
    if (expected === "" || expected === actual) continue;
    const detail = `Precondition failed: ${what} in precondition: ${expected}, ${what} in object meta: ${actual}`;
    throw conflict({ group: "", resource: "pods", name }, detail);
  }
}

/** A scheduler can add labels and annotations of the node with the binding. */
function addAll(metadata: Draft, from: JsonObject, key: string): void {
  const added = Object.entries(objectAt(from, key));
  if (added.length === 0) return;
  const merged = isDraft(metadata[key]) ? metadata[key] : {};
  for (const [name, value] of added) put(merged, name, String(value));
  metadata[key] = merged;
}

/**
 * changeStored(): changes a stored object for an action of the server, without admission and field managers. Also the
 * conditions that actions set on Pods.
 */
import { conflict, type Draft, draftOf, isDraft, type JsonObject, notFound } from "../model/mod.ts";
import { type ActionCall, timestamp } from "../registry/mod.ts";
import { draftAt } from "../kinds/mod.ts";

/** Attempts on a conflict with another write. */
const maxAttempts = 100;

/**
 * Changes the object of the call.
 *
 * @param change receives a draft of the live object
 * @returns the new object; with dry run the object that would be stored
 * @throws StatusError 404 when the object does not exist, and the errors of `change`
 */
export function changeStored(call: ActionCall, change: (draft: Draft, live: JsonObject) => void): JsonObject {
  const { kind, namespace, name, registry } = call;
  const subject = { group: kind.group, resource: kind.plural, name };
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const stored = registry.storage.find(kind.collection, namespace, name);
    if (stored === undefined) throw notFound(subject);
    const draft = draftOf(stored.object);
    change(draft, stored.object);
    if (call.isDryRun) return draft;
    const written = registry.storage.update(kind.collection, stored, draft);
    if (written !== undefined) return written.object;
  }
  throw conflict(
    subject,
    "the object has been modified; please apply your changes to the latest version and try again",
  );
}

/** A condition of a Pod. */
interface PodCondition {
  readonly type: string;
  readonly status: "True" | "False";
  readonly reason?: string;
  readonly message?: string;
}

/** Sets a condition in the status of a Pod. @param nowMs milliseconds since 1970 */
export function setPodCondition(pod: Draft, condition: PodCondition, nowMs: number): void {
  const status = draftAt(pod, "status");
  const conditions = Array.isArray(status.conditions) ? status.conditions : [];
  const index = conditions.findIndex((each) => isDraft(each) && each.type === condition.type);
  const old = conditions[index];
  const isSame = isDraft(old) && old.status === condition.status;
  const lastTransitionTime = isSame ? old.lastTransitionTime ?? null : timestamp(nowMs);
  const next: Draft = { lastProbeTime: null, lastTransitionTime, ...condition };
  status.conditions = index < 0 ? [...conditions, next] : conditions.with(index, next);
}

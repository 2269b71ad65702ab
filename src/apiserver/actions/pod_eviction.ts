/**
 * `pods/eviction`: deletes a Pod if its PodDisruptionBudget allows that. Source: kubernetes
 * `registry/core/pod/storage/eviction.go` of 1.36.
 */
import { isSelected, type LabelSelector } from "../../api/mod.ts";
import {
  badRequest,
  conflict,
  type Draft,
  draftOf,
  forbidden,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  notFound,
  StatusError,
} from "../model/mod.ts";
import { draftAt, objectAt, textAt } from "../kinds/mod.ts";
import { type ActionCall, type SubresourceHandler, timestamp } from "../registry/mod.ts";
import { changeStored, setPodCondition } from "./_change.ts";

const budgets = "poddisruptionbudgets.policy";
/** Maximum number of evictions that the disruption controller has not seen yet. */
const maxDisruptedPods = 2_000;

/** @param now milliseconds since 1970 */
export function podEvictionHandler(now: () => number): SubresourceHandler {
  return {
    collection: "pods",
    subresource: "eviction",
    async handle(eviction) {
      const { body = {} } = eviction;
      if (textAt(objectAt(body, "metadata"), "name") !== eviction.name) {
        throw badRequest("name in URL does not match name in Eviction object");
      }
      const dryRun = objectAt(body, "deleteOptions").dryRun;
      const call = { ...eviction, isDryRun: eviction.isDryRun || (isJsonArray(dryRun) && dryRun.length > 0) };
      await evict(call, now());
      const object: JsonObject = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
      return { kind: "object", code: 201, object };
    },
  };
}

async function evict(call: ActionCall, nowMs: number): Promise<void> {
  const { registry, namespace, name } = call;
  const pod = registry.storage.get("pods", namespace, name);
  if (pod === undefined) throw notFound({ group: "", resource: "pods", name });
  if (!isExempt(pod)) spendBudget(call, pod, nowMs);
  const known = registry.kinds.find("", "v1", "pods");
  if (known === undefined) return;
  const options = deleteOptionsOf(call);
  checkPreconditions(pod, options);
  const marked = call.isDryRun ? pod : changeStored(call, (draft) => setPodCondition(draft, evicted, nowMs));
  const { resourceVersion, ...rest } = options;
  // The condition is our own write, so a given resourceVersion is replaced by the one after it.
  const version = textAt(objectAt(marked, "metadata"), "resourceVersion");
  const next = resourceVersion === undefined ? rest : { ...rest, resourceVersion: version };
  const deletion = { ...known, ...callFields(call), options: draftOf({ ...next }) };
  await registry.delete(deletion, name, next);
}

const evicted = {
  type: "DisruptionTarget",
  status: "True",
  reason: "EvictionByEvictionAPI",
  message: "Eviction API: evicting",
} as const;

/** Pods that have ended, are terminating or do not run yet need no budget. */
function isExempt(pod: JsonObject): boolean {
  const phase = textAt(objectAt(pod, "status"), "phase");
  const isTerminating = textAt(objectAt(pod, "metadata"), "deletionTimestamp") !== "";
  return isTerminating || phase === "Succeeded" || phase === "Failed" || phase === "Pending";
}

function isReady(pod: JsonObject): boolean {
  return conditionOf(objectAt(pod, "status"), "Ready")?.status === "True";
}

function conditionOf({ conditions }: JsonObject, type: string): JsonObject | undefined {
  return isJsonArray(conditions) ? conditions.filter(isJsonObject).find((each) => each.type === type) : undefined;
}

/** Counts the eviction in the budget of the Pod. @throws StatusError 429 when the budget allows none */
function spendBudget(call: ActionCall, pod: JsonObject, nowMs: number): void {
  const { registry, namespace, name, isDryRun } = call;
  const matching = [...registry.storage.list(budgets, namespace)].filter((budget) => covers(budget, pod));
  if (matching.length > 1) {
    const detail = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    throw new StatusError(500, "", detail);
  }
  const [budget] = matching;
  if (budget === undefined || isNotCounted(budget, pod)) return;
  checkBudget(budget);
  if (isDryRun) return;
  const stored = registry.storage.find(budgets, namespace, textAt(objectAt(budget, "metadata"), "name"));
  if (stored === undefined) return;
  const spent = draftOf(stored.object);
  disrupt(spent, name, nowMs);
  registry.storage.update(budgets, stored, spent);
}

/** An unready Pod does not count as healthy, so its eviction may need no budget. */
function isNotCounted(budget: JsonObject, pod: JsonObject): boolean {
  if (isReady(pod)) return false;
  if (objectAt(budget, "spec").unhealthyPodEvictionPolicy === "AlwaysAllow") return true;
  const { desiredHealthy, currentHealthy } = countsOf(budget);
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

function disrupt(budget: Draft, pod: string, nowMs: number): void {
  const status = draftAt(budget, "status");
  const allowed = Number(status.disruptionsAllowed ?? 0) - 1;
  status.disruptionsAllowed = allowed;
  draftAt(status, "disruptedPods")[pod] = timestamp(nowMs);
  if (allowed > 0) return;
  const condition = conditionOf(budget.status as JsonObject, "DisruptionAllowed");
  if (condition === undefined || condition.status === "False" || !Array.isArray(status.conditions)) return;
  status.conditions = status.conditions.map((each) =>
    isJsonObject(each) && each.type === "DisruptionAllowed"
      ? { ...each, status: "False", reason: "InsufficientPods", lastTransitionTime: timestamp(nowMs) }
      : each
  );
}

function countsOf(budget: JsonObject) {
  const status = objectAt(budget, "status");
  const count = (key: string) => Number(status[key] ?? 0);
  return {
    allowed: count("disruptionsAllowed"),
    observed: count("observedGeneration"),
    desiredHealthy: count("desiredHealthy"),
    currentHealthy: count("currentHealthy"),
  };
}

function checkBudget(budget: JsonObject): void {
  const metadata = objectAt(budget, "metadata");
  const name = textAt(metadata, "name");
  const subject = { group: "policy", resource: "poddisruptionbudget", name };
  const { allowed, observed } = countsOf(budget);
  if (observed < Number(metadata.generation ?? 0)) {
    throw tooMany(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  if (allowed < 0) throw forbidden(subject, "pdb disruptions allowed is negative");
  if (Object.keys(objectAt(objectAt(budget, "status"), "disruptedPods")).length > maxDisruptedPods) {
    throw forbidden(subject, "DisruptedPods map too big - too many evictions not confirmed by PDB controller");
  }
  if (allowed === 0) throw tooMany(noneAllowedMessage(budget, name), undefined);
}

function noneAllowedMessage(budget: JsonObject, name: string): string {
  const { desiredHealthy, currentHealthy } = countsOf(budget);
  const { status, reason = "", message = "" } = conditionOf(objectAt(budget, "status"), "DisruptionAllowed") ?? {};
  const hasMessage = status === "False" && message !== "";
  const start = `The disruption budget ${name}`;
  if (hasMessage && reason === "SyncFailed") {
    return `${start} does not allow evicting pods currently because it failed sync: ${message}`;
  }
  if (currentHealthy <= desiredHealthy) {
    return `${start} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  }
  return `${start} does not allow evicting pods currently${hasMessage ? ` (${reason}): ${message}` : ""}`;
}

function covers(budget: JsonObject, pod: JsonObject): boolean {
  const { selector } = objectAt(budget, "spec");
  if (!isJsonObject(selector)) return false;
  const labels = objectAt(objectAt(pod, "metadata"), "labels");
  return isSelected(selector as LabelSelector, { metadata: { labels: labels as Readonly<Record<string, string>> } });
}

function tooMany(detail: string, retryAfterSeconds: number | undefined): StatusError {
  const message = "Cannot evict pod as it would violate the pod's disruption budget.";
  return new StatusError(429, "TooManyRequests", message, {
    causes: [{ reason: "DisruptionBudget", message: detail }],
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

interface EvictionOptions {
  readonly gracePeriodSeconds?: number;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

function deleteOptionsOf({ body = {} }: ActionCall): EvictionOptions {
  const options = objectAt(body, "deleteOptions");
  const { uid, resourceVersion } = objectAt(options, "preconditions");
  return {
    ...(typeof options.gracePeriodSeconds === "number" ? { gracePeriodSeconds: options.gracePeriodSeconds } : {}),
    ...(typeof uid === "string" && uid !== "" ? { uid } : {}),
    ...(typeof resourceVersion === "string" && resourceVersion !== "" ? { resourceVersion } : {}),
  };
}

function checkPreconditions(pod: JsonObject, { uid, resourceVersion }: EvictionOptions): void {
  const metadata = objectAt(pod, "metadata");
  const subject = { group: "", resource: "Pod", name: textAt(metadata, "name") };
  const [ownUid, ownVersion] = [textAt(metadata, "uid"), textAt(metadata, "resourceVersion")];
  if (uid !== undefined && uid !== ownUid) {
    const detail = `the UID in the precondition (${uid}) does not match the UID in record (${ownUid}). ` +
      "The object might have been deleted and then recreated";
    throw conflict(subject, detail);
  }
  if (resourceVersion !== undefined && resourceVersion !== ownVersion) {
    const detail =
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in ` +
      `record (${ownVersion}). The object might have been modified`;
    throw conflict(subject, detail);
  }
}

function callFields({ namespace, user, isDryRun, signal, warn }: ActionCall) {
  return {
    namespace,
    user,
    isDryRun,
    signal,
    warn,
    subresource: "",
    fieldManager: "",
    fieldValidation: "Ignore" as const,
    authorize: () => {},
  };
}

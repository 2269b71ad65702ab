/**
 * `pods/eviction`: a deletion that the budgets of the Pod have to afford. Source: kubernetes
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
  Refusal,
} from "../model/mod.ts";
import type { ActionCall, SubresourceHandler } from "../registry/mod.ts";
import { changeStored, objectIn, part, textIn, timeText } from "./_change.ts";
import { setPodCondition } from "./_pod_condition.ts";

const budgets = "poddisruptionbudgets.policy";
/** Evictions that the controller of budgets has not seen yet. */
const mostDisrupted = 2_000;

/** @param now milliseconds since 1970 */
export function podEvictionHandler(now: () => number): SubresourceHandler {
  return {
    collection: "pods",
    subresource: "eviction",
    async handle(asked) {
      const { body = {} } = asked;
      if (textIn(objectIn(body, "metadata"), "name") !== asked.name) {
        throw badRequest("name in URL does not match name in Eviction object");
      }
      const dryRun = objectIn(body, "deleteOptions").dryRun;
      const call = { ...asked, isDryRun: asked.isDryRun || (isJsonArray(dryRun) && dryRun.length > 0) };
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
  if (!isExempt(pod)) spend(call, pod, nowMs);
  const known = registry.kinds.find("", "v1", "pods");
  if (known === undefined) return;
  const options = deleteOptionsOf(call);
  checkPreconditions(pod, options);
  const marked = call.isDryRun ? pod : changeStored(call, (draft) => setPodCondition(draft, evicted, nowMs));
  const { resourceVersion, ...rest } = options;
  // The mark is ours: who named the version before it means this one.
  const version = textIn(objectIn(marked, "metadata"), "resourceVersion");
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

/** Pods that have ended, are ending, or are not running yet, cost nobody anything. */
function isExempt(pod: JsonObject): boolean {
  const phase = textIn(objectIn(pod, "status"), "phase");
  const isEnding = textIn(objectIn(pod, "metadata"), "deletionTimestamp") !== "";
  return isEnding || phase === "Succeeded" || phase === "Failed" || phase === "Pending";
}

function isReady(pod: JsonObject): boolean {
  return conditionOf(objectIn(pod, "status"), "Ready")?.status === "True";
}

function conditionOf({ conditions }: JsonObject, type: string): JsonObject | undefined {
  return isJsonArray(conditions) ? conditions.filter(isJsonObject).find((each) => each.type === type) : undefined;
}

/** Takes the eviction off what the budget of the Pod allows. @throws Refusal 429 when that is nothing */
function spend(call: ActionCall, pod: JsonObject, nowMs: number): void {
  const { registry, namespace, name, isDryRun } = call;
  const concerned = [...registry.storage.list(budgets, namespace)].filter((budget) => covers(budget, pod));
  if (concerned.length > 1) {
    const why = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    throw new Refusal(500, "", why);
  }
  const [budget] = concerned;
  if (budget === undefined || isSpare(budget, pod)) return;
  checkBudget(budget);
  if (isDryRun) return;
  const stored = registry.storage.find(budgets, namespace, textIn(objectIn(budget, "metadata"), "name"));
  if (stored === undefined) return;
  const spent = draftOf(stored.object);
  disrupt(spent, name, nowMs);
  registry.storage.update(budgets, stored, spent);
}

/** A Pod that is not ready is not among those that the budget counts. */
function isSpare(budget: JsonObject, pod: JsonObject): boolean {
  if (isReady(pod)) return false;
  if (objectIn(budget, "spec").unhealthyPodEvictionPolicy === "AlwaysAllow") return true;
  const { desiredHealthy, currentHealthy } = countsOf(budget);
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

function disrupt(budget: Draft, pod: string, nowMs: number): void {
  const status = part(budget, "status");
  const allowed = Number(status.disruptionsAllowed ?? 0) - 1;
  status.disruptionsAllowed = allowed;
  part(status, "disruptedPods")[pod] = timeText(nowMs);
  if (allowed > 0) return;
  const held = conditionOf(budget.status as JsonObject, "DisruptionAllowed");
  if (held === undefined || held.status === "False" || !Array.isArray(status.conditions)) return;
  status.conditions = status.conditions.map((each) =>
    isJsonObject(each) && each.type === "DisruptionAllowed"
      ? { ...each, status: "False", reason: "InsufficientPods", lastTransitionTime: timeText(nowMs) }
      : each
  );
}

function countsOf(budget: JsonObject) {
  const status = objectIn(budget, "status");
  const count = (key: string) => Number(status[key] ?? 0);
  return {
    allowed: count("disruptionsAllowed"),
    observed: count("observedGeneration"),
    desiredHealthy: count("desiredHealthy"),
    currentHealthy: count("currentHealthy"),
  };
}

function checkBudget(budget: JsonObject): void {
  const metadata = objectIn(budget, "metadata");
  const name = textIn(metadata, "name");
  const subject = { group: "policy", resource: "poddisruptionbudget", name };
  const { allowed, observed } = countsOf(budget);
  if (observed < Number(metadata.generation ?? 0)) {
    throw tooMany(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  if (allowed < 0) throw forbidden(subject, "pdb disruptions allowed is negative");
  if (Object.keys(objectIn(objectIn(budget, "status"), "disruptedPods")).length > mostDisrupted) {
    throw forbidden(subject, "DisruptedPods map too big - too many evictions not confirmed by PDB controller");
  }
  if (allowed === 0) throw tooMany(whyNone(budget, name), undefined);
}

function whyNone(budget: JsonObject, name: string): string {
  const { desiredHealthy, currentHealthy } = countsOf(budget);
  const { status, reason = "", message = "" } = conditionOf(objectIn(budget, "status"), "DisruptionAllowed") ?? {};
  const isTold = status === "False" && message !== "";
  const start = `The disruption budget ${name}`;
  if (isTold && reason === "SyncFailed") {
    return `${start} does not allow evicting pods currently because it failed sync: ${message}`;
  }
  if (currentHealthy <= desiredHealthy) {
    return `${start} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  }
  return `${start} does not allow evicting pods currently${isTold ? ` (${reason}): ${message}` : ""}`;
}

function covers(budget: JsonObject, pod: JsonObject): boolean {
  const { selector } = objectIn(budget, "spec");
  if (!isJsonObject(selector)) return false;
  const labels = objectIn(objectIn(pod, "metadata"), "labels");
  return isSelected(selector as LabelSelector, { metadata: { labels: labels as Readonly<Record<string, string>> } });
}

function tooMany(why: string, retryAfterSeconds: number | undefined): Refusal {
  const message = "Cannot evict pod as it would violate the pod's disruption budget.";
  return new Refusal(429, "TooManyRequests", message, {
    causes: [{ reason: "DisruptionBudget", message: why }],
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

interface EvictionOptions {
  readonly gracePeriodSeconds?: number;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

function deleteOptionsOf({ body = {} }: ActionCall): EvictionOptions {
  const asked = objectIn(body, "deleteOptions");
  const { uid, resourceVersion } = objectIn(asked, "preconditions");
  return {
    ...(typeof asked.gracePeriodSeconds === "number" ? { gracePeriodSeconds: asked.gracePeriodSeconds } : {}),
    ...(typeof uid === "string" && uid !== "" ? { uid } : {}),
    ...(typeof resourceVersion === "string" && resourceVersion !== "" ? { resourceVersion } : {}),
  };
}

function checkPreconditions(pod: JsonObject, { uid, resourceVersion }: EvictionOptions): void {
  const metadata = objectIn(pod, "metadata");
  const subject = { group: "", resource: "Pod", name: textIn(metadata, "name") };
  const [ownUid, ownVersion] = [textIn(metadata, "uid"), textIn(metadata, "resourceVersion")];
  if (uid !== undefined && uid !== ownUid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${ownUid}). ` +
      "The object might have been deleted and then recreated";
    throw conflict(subject, why);
  }
  if (resourceVersion !== undefined && resourceVersion !== ownVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in ` +
      `record (${ownVersion}). The object might have been modified`;
    throw conflict(subject, why);
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

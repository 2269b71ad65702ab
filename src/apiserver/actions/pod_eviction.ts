/**
 * `pods/eviction`: a deletion that the budgets of the Pod have to afford. Source: kubernetes
 * `registry/core/pod/storage/eviction.go` of 1.36.
 */
import { isSelected, type LabelSelector } from "../../api/mod.ts";
import { isJsonObject, type Json, type JsonObject, notFound, read, Refusal } from "../model/mod.ts";
import type { ActionCall, SubresourceHandler } from "../registry/mod.ts";

const budgets = "poddisruptionbudgets.policy";

export const podEvictionHandler: SubresourceHandler = {
  collection: "pods",
  subresource: "eviction",
  async handle(call) {
    const { registry, namespace, name } = call;
    const pod = registry.storage.get("pods", namespace, name);
    if (pod === undefined) throw notFound({ group: "", resource: "pods", name });
    if (!isExempt(pod)) await spend(call, pod);
    const known = registry.kinds.find("", "v1", "pods");
    if (known !== undefined) {
      const options = deleteOptionsOf(call);
      const deletion = { ...known, ...callFields(call), options: { ...options } as JsonObject };
      await registry.delete(deletion, name, options);
    }
    const object: JsonObject = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
    return { kind: "object", code: 201, object };
  },
};

/** Pods that have ended, or are not running yet, cost nobody anything. */
function isExempt(pod: JsonObject): boolean {
  const status = read<Json>(pod, "status");
  const phase = isJsonObject(status) ? status.phase : "Pending";
  return phase === "Succeeded" || phase === "Failed" || phase === "Pending" || phase === undefined;
}

async function spend(call: ActionCall, pod: JsonObject): Promise<void> {
  const { registry, namespace, isDryRun } = call;
  const concerned = [...registry.storage.list(budgets, namespace)].filter((budget) => covers(budget, pod));
  if (concerned.length > 1) {
    throw new Refusal(
      500,
      "InternalError",
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    );
  }
  const [budget] = concerned;
  if (budget === undefined) return;
  const metadata = objectIn(budget, "metadata");
  const status = objectIn(budget, "status");
  const [allowed, observed] = [Number(status.disruptionsAllowed ?? 0), Number(status.observedGeneration ?? 0)];
  if (observed < Number(metadata.generation ?? 0)) {
    throw tooMany(`The disruption budget ${metadata.name} is still being processed by the server.`, 10);
  }
  if (allowed <= 0) {
    const why = `The disruption budget ${metadata.name} needs ${status.desiredHealthy ?? 0} healthy pods and has ${
      status.currentHealthy ?? 0
    } currently`;
    throw tooMany(why, undefined);
  }
  if (isDryRun) return;
  const stored = registry.storage.find(budgets, namespace, `${metadata.name}`);
  if (stored === undefined) return;
  const spent: JsonObject = { ...stored.object, status: { ...status, disruptionsAllowed: allowed - 1 } };
  if (registry.storage.update(budgets, stored, spent) === undefined) await spend(call, pod);
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

function deleteOptionsOf({ body = {} }: ActionCall) {
  const asked = objectIn(body, "deleteOptions");
  const preconditions = objectIn(asked, "preconditions");
  return {
    ...(typeof asked.gracePeriodSeconds === "number" ? { gracePeriodSeconds: asked.gracePeriodSeconds } : {}),
    ...(typeof preconditions.uid === "string" ? { uid: preconditions.uid } : {}),
    ...(typeof preconditions.resourceVersion === "string" ? { resourceVersion: preconditions.resourceVersion } : {}),
  };
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

function objectIn(object: Readonly<Record<string, Json>>, key: string): JsonObject {
  const value = read<Json>(object, key);
  return isJsonObject(value) ? value : {};
}

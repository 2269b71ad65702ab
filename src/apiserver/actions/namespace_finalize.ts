/**
 * `namespaces/finalize`: sets the finalizers in the spec of a Namespace, which the namespace controller removes last. A
 * deleted Namespace without finalizers in spec and metadata is removed.
 */
import { type Draft, isJsonObject, type Json, type JsonObject, read } from "../model/mod.ts";
import { draftAt } from "../kinds/mod.ts";
import type { SubresourceHandler } from "../registry/mod.ts";
import { changeStored } from "./_change.ts";

export const namespaceFinalizeHandler: SubresourceHandler = {
  collection: "namespaces",
  subresource: "finalize",
  handle(call) {
    const desired = call.body === undefined ? undefined : read<Json>(call.body, "spec");
    const finalizers = isJsonObject(desired) && Array.isArray(desired.finalizers) ? desired.finalizers.map(String) : [];
    const named = { ...call, namespace: "" };
    const object = changeStored(named, (namespace) => setFinalizers(namespace, finalizers));
    if (!call.isDryRun && canBeRemoved(object)) {
      const stored = call.registry.storage.find("namespaces", "", call.name);
      if (stored !== undefined) call.registry.storage.delete("namespaces", stored);
    }
    return { kind: "object", code: 200, object };
  },
};

function setFinalizers(namespace: Draft, finalizers: string[]): void {
  const spec = draftAt(namespace, "spec");
  if (finalizers.length > 0) spec.finalizers = finalizers;
  else delete spec.finalizers;
}

function canBeRemoved(namespace: JsonObject): boolean {
  const metadata = read<Json>(namespace, "metadata");
  const spec = read<Json>(namespace, "spec");
  if (!isJsonObject(metadata) || metadata.deletionTimestamp === undefined) return false;
  const all = [metadata.finalizers, isJsonObject(spec) ? spec.finalizers : undefined];
  return all.every((finalizers) => !Array.isArray(finalizers) || finalizers.length === 0);
}

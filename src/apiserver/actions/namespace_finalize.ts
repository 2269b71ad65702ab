/**
 * `namespaces/finalize`: changes the finalizers in a namespace's spec, which the namespace controller takes off last. When
 * none is left of either kind the namespace is gone.
 */
import { type Draft, isJsonObject, type Json, type JsonObject, read } from "../model/mod.ts";
import type { SubresourceHandler } from "../registry/mod.ts";
import { changeStored, part } from "./_change.ts";

export const namespaceFinalizeHandler: SubresourceHandler = {
  collection: "namespaces",
  subresource: "finalize",
  handle(call) {
    const wanted = call.body === undefined ? undefined : read<Json>(call.body, "spec");
    const finalizers = isJsonObject(wanted) && Array.isArray(wanted.finalizers) ? wanted.finalizers.map(String) : [];
    const named = { ...call, namespace: "" };
    const object = changeStored(named, (namespace) => setFinalizers(namespace, finalizers));
    if (!call.isDryRun && isOver(object)) {
      const stored = call.registry.storage.find("namespaces", "", call.name);
      if (stored !== undefined) call.registry.storage.delete("namespaces", stored);
    }
    return { kind: "object", code: 200, object };
  },
};

function setFinalizers(namespace: Draft, finalizers: string[]): void {
  const spec = part(namespace, "spec");
  if (finalizers.length > 0) spec.finalizers = finalizers;
  else delete spec.finalizers;
}

function isOver(namespace: JsonObject): boolean {
  const metadata = read<Json>(namespace, "metadata");
  const spec = read<Json>(namespace, "spec");
  if (!isJsonObject(metadata) || metadata.deletionTimestamp === undefined) return false;
  const held = [metadata.finalizers, isJsonObject(spec) ? spec.finalizers : undefined];
  return held.every((finalizers) => !Array.isArray(finalizers) || finalizers.length === 0);
}

/**
 * restoreObjects(): stores the objects of a snapshot in the storage of an API server that is about to start, like an etcd with
 * data: in the order of their versions, so that each keeps its own.
 */
import { type KubeObject, resourceName } from "../../api/mod.ts";
import type { ObjectStorage } from "../../apiserver/mod.ts";
import { customDefinitions, type OperatorController } from "../../manager/mod.ts";
import { CrdResource, type StoredCrd } from "../../schema/mod.ts";
import type { Snapshot, SnapshotObject } from "./snapshot.ts";

type StoredJson = Parameters<ObjectStorage["restore"]>[3];

/** The service that stands for this process: `cluster/` calls its webhooks as functions. */
export const localService = { kind: "service", namespace: "kube-system", name: "in-process" } as const;

/** Stores the objects and the definitions of a snapshot. */
export function restoreObjects(
  storage: ObjectStorage,
  { objects, definitions }: Snapshot,
  controllers: readonly OperatorController[],
): void {
  const local = new Map(
    customDefinitions(controllers, { address: localService }).map((crd) => [crd.metadata.name, crd.spec.conversion]),
  );
  const crds = [...definitions.values()].map((live): SnapshotObject => ({
    collection: resourceName(CrdResource),
    object: withLocalConversion(live, local.get(live.metadata.name ?? "")) as unknown as KubeObject,
  }));
  const names = new Set(definitions.keys());
  const others = objects.filter(({ collection, object }) =>
    collection !== resourceName(CrdResource) || !names.has(object.metadata.name ?? "")
  );
  const all = [...crds, ...others].toSorted((one, other) => versionOf(one) - versionOf(other));
  for (const { collection, object } of all) {
    const { namespace = "", name = "" } = object.metadata;
    // What a server sent is JSON.
    storage.restore(collection, namespace, name, object as unknown as StoredJson);
  }
}

/** The conversion webhook of the cluster cannot be called from here; that of this program can. */
function withLocalConversion(live: StoredCrd, conversion: StoredCrd["spec"]["conversion"]): StoredCrd {
  if (live.spec.conversion?.strategy !== "Webhook" || conversion === undefined) return live;
  return {
    ...live,
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    spec: { ...live.spec, conversion },
  };
}

function versionOf({ object: { metadata } }: SnapshotObject): number {
  const version = Number(metadata.resourceVersion);
  return Number.isSafeInteger(version) ? version : Number.MAX_SAFE_INTEGER;
}

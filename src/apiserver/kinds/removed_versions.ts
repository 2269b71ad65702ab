/**
 * Versions of built-in kinds that Kubernetes has removed, for operators of their time: a real server of today does not have
 * them. Only versions are here whose objects have the fields of the stored version, so that a conversion changes the
 * `apiVersion` alone.
 *
 * Caveats: objects are defaulted and checked as those of the stored version, and the OpenAPI of the server names its type. A
 * PodDisruptionBudget of policy/v1beta1 with an empty selector selects all Pods, where v1beta1 selected none.
 */
import type { KindRegistry } from "../registry/mod.ts";
import { BuiltinKind } from "./builtin_kind.ts";

/** The collections by group and version; the comment names the last Kubernetes that served it. */
const collectionsOf: ReadonlyMap<string, readonly string[]> = new Map([
  ["batch/v1beta1", ["cronjobs.batch"]], // 1.24
  ["coordination.k8s.io/v1beta1", ["leases.coordination.k8s.io"]], // 1.21
  ["policy/v1beta1", ["poddisruptionbudgets.policy"]], // 1.24
  [
    "rbac.authorization.k8s.io/v1beta1", // 1.21
    ["clusterrolebindings", "clusterroles", "rolebindings", "roles"].map((one) => `${one}.rbac.authorization.k8s.io`),
  ],
  ["scheduling.k8s.io/v1beta1", ["priorityclasses.scheduling.k8s.io"]], // 1.21
]);

/** The versions that can be served, `GROUP/VERSION`. */
export const removedVersions: readonly string[] = [...collectionsOf.keys()];

/** Serves a removed version beside those that are served. @throws RangeError when it is not one of {@link removedVersions} */
export function serveRemovedVersion(groupVersion: string, kinds: KindRegistry): void {
  const collections = collectionsOf.get(groupVersion);
  if (collections === undefined) {
    throw new RangeError(`Cannot serve ${groupVersion}: only ${removedVersions.join(", ")} can be served`);
  }
  const version = groupVersion.slice(groupVersion.indexOf("/") + 1);
  for (const family of collections.map((collection) => kinds.family(collection))) {
    if (!(family?.storage instanceof BuiltinKind)) continue;
    kinds.set({ ...family, served: [...family.served, family.storage.inVersion(version)] });
  }
}

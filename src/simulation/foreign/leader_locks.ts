/**
 * The locks of leader elections: Leases, and ConfigMaps and Endpoints with an annotation, which older programs renew. freeLocks()
 * takes them away from a process that was killed, because waiting for their end (15 s) tests nothing.
 */
import type { KubeObject } from "../../api/mod.ts";
import type { ControlPlane } from "./control_plane.ts";

const annotation = "control-plane.alpha.kubernetes.io/leader";

/** Nodes renew Leases of their own here. */
const nodeLeases = "kube-node-lease";

/** Frees all locks. */
export async function freeLocks(control: ControlPlane): Promise<void> {
  for (const { collection, path, object } of [...control.objects()]) {
    if (collection === "leases.coordination.k8s.io") {
      if (object.metadata.namespace !== nodeLeases) await control.trySend(path, "DELETE", {});
    } else if (holdsLock(object)) {
      await control.trySend(path, "PATCH", { metadata: { annotations: { [annotation]: null } } });
    }
  }
}

/** True for a write of an object that is a lock and no Lease. */
export function isLockWrite({ url }: Request, control: ControlPlane): boolean {
  const { pathname } = new URL(url);
  if (!/\/(configmaps|endpoints)\//.test(pathname)) return false;
  const object = control.at(pathname);
  return object !== undefined && holdsLock(object);
}

/** True for a ConfigMap or Endpoints that a program renews as others do a Lease. */
export function holdsLock({ metadata: { annotations } }: KubeObject): boolean {
  return annotations?.[annotation] !== undefined;
}

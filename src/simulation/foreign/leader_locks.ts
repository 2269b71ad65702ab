/**
 * freeLocks(): takes the locks of leader elections away from their holders: Leases, and the annotation of ConfigMaps and
 * Endpoints of older programs. The holder was killed, and waiting for the end of its Lease (15 s) tests nothing.
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

function holdsLock({ metadata: { annotations } }: KubeObject): boolean {
  return annotations?.[annotation] !== undefined;
}

/**
 * What new objects are marked with until somebody says that all is well: a node is not ready (TaintNodesByCondition), and a
 * volume or a claim may be in use when it is deleted (StorageObjectInUseProtection).
 */
import { draftAt, draftsAt, textAt, textsAt } from "../kinds/mod.ts";
import type { AdmissionPlugin } from "../model/mod.ts";
import { created } from "./_request.ts";

const notReady = "node.kubernetes.io/not-ready";

/** The plugin, for Nodes. */
export const newNodes: AdmissionPlugin = {
  name: "TaintNodesByCondition",
  admit(request) {
    const node = created(request);
    if (node === undefined) return;
    const spec = draftAt(node, "spec");
    const taints = draftsAt(spec, "taints");
    if (taints.some((taint) => textAt(taint, "key") === notReady && textAt(taint, "effect") === "NoSchedule")) return;
    spec["taints"] = [...taints, { key: notReady, effect: "NoSchedule" }];
  },
};

/** The plugin, for PersistentVolumes and their claims, each with its finalizer. */
export function volumeProtection(finalizer: string): AdmissionPlugin {
  return {
    name: "StorageObjectInUseProtection",
    admit(request) {
      const object = created(request);
      if (object === undefined) return;
      const metadata = draftAt(object, "metadata");
      const finalizers = textsAt(metadata, "finalizers");
      if (!finalizers.includes(finalizer)) metadata["finalizers"] = [...finalizers, finalizer];
    },
  };
}

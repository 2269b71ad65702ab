/** Defaults of volumes, claims and what provides them. */
import type { Draft } from "../../model/mod.ts";
import type { Defaulter } from "../filler.ts";
import { draftAt, setIfAbsent, setIfEmpty, valuesAt } from "../fields.ts";

function persistentVolume(draft: Draft): void {
  setIfEmpty(draftAt(draft, "status"), "phase", "Pending");
  const spec = draftAt(draft, "spec");
  setIfEmpty(spec, "persistentVolumeReclaimPolicy", "Retain");
  setIfAbsent(spec, "volumeMode", "Filesystem");
}

function csiDriver(draft: Draft): void {
  const spec = draftAt(draft, "spec");
  setIfAbsent(spec, "attachRequired", true);
  setIfAbsent(spec, "podInfoOnMount", false);
  setIfAbsent(spec, "storageCapacity", false);
  setIfAbsent(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
  if (valuesAt(spec, "volumeLifecycleModes").length === 0) spec["volumeLifecycleModes"] = ["Persistent"];
  setIfAbsent(spec, "requiresRepublish", false);
  setIfAbsent(spec, "seLinuxMount", false);
}

/** The defaulters of this file, by type. */
export const storageDefaults: ReadonlyMap<string, Defaulter> = new Map<string, Defaulter>([
  ["core/v1.PersistentVolume", persistentVolume],
  ["core/v1.PersistentVolumeClaim", (draft) => setIfEmpty(draftAt(draft, "status"), "phase", "Pending")],
  ["core/v1.PersistentVolumeClaimSpec", (draft) => setIfAbsent(draft, "volumeMode", "Filesystem")],
  ["storage/v1.StorageClass", (draft) => {
    setIfAbsent(draft, "reclaimPolicy", "Delete");
    setIfAbsent(draft, "volumeBindingMode", "Immediate");
  }],
  ["storage/v1.CSIDriver", csiDriver],
]);

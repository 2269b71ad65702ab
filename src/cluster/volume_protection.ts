/**
 * The volume protection controllers: they remove the finalizer of a deleted claim when no Pod uses it, that of a deleted
 * volume when no claim is bound to it, and that of a deleted class of attributes that no volume and no claim names. Admission adds these finalizers (StorageObjectInUseProtection).
 */
import { builtin } from "../api/mod.ts";
import { controller, type ControllerDefinition, done } from "../controller/mod.ts";
import { isActive } from "./_pods.ts";
import { type Claim, claimsOf } from "./_volumes.ts";

const claimFinalizer = "kubernetes.io/pvc-protection";
const volumeFinalizer = "kubernetes.io/pv-protection";
const attributesFinalizer = "kubernetes.io/vac-protection";

/** Removes the finalizer of deleted claims that no Pod uses. */
export function claimProtectionController(): ControllerDefinition {
  return controller("pvc-protection-controller")
    .for(builtin.PersistentVolumeClaim, { when: ({ object }) => object.metadata.deletionTimestamp !== undefined })
    .watches(builtin.Pod, { to: (pod) => claimsOf(pod) })
    // An object reconciler is not called for objects that are being deleted; a key reconciler is.
    .reconcileKey(async ({ key }, toolbox) => {
      const claim = toolbox.find(builtin.PersistentVolumeClaim, key);
      const { deletionTimestamp, namespace, finalizers = [] } = claim?.metadata ?? {};
      if (claim === undefined || deletionTimestamp === undefined || !finalizers.includes(claimFinalizer)) return done;
      const pods = toolbox.list(builtin.Pod, { namespace });
      const isUsed = pods.some((pod) => isActive(pod) && claimsOf(pod).includes(key));
      if (!isUsed) await toolbox.patch(builtin.PersistentVolumeClaim, claim, without(finalizers, claimFinalizer));
      return done;
    });
}

/** Removes the finalizer of deleted volumes that no claim is bound to. */
export function volumeProtectionController(): ControllerDefinition {
  return controller("pv-protection-controller")
    .for(builtin.PersistentVolume, { when: ({ object }) => object.metadata.deletionTimestamp !== undefined })
    .reconcileKey(async ({ key }, toolbox) => {
      const volume = toolbox.find(builtin.PersistentVolume, key);
      const { deletionTimestamp, finalizers = [] } = volume?.metadata ?? {};
      if (volume === undefined || deletionTimestamp === undefined || !finalizers.includes(volumeFinalizer)) return done;
      if (volume.status?.phase === "Bound") return done;
      await toolbox.patch(builtin.PersistentVolume, volume, without(finalizers, volumeFinalizer));
      return done;
    });
}

/** Removes the finalizer of deleted VolumeAttributesClasses that no volume and no claim names. */
export function attributesProtectionController(): ControllerDefinition {
  return controller("volumeattributesclass-protection-controller")
    .for(builtin.VolumeAttributesClass, { when: ({ object }) => object.metadata.deletionTimestamp !== undefined })
    .watches(builtin.PersistentVolumeClaim, { to: classesOfClaim })
    .watches(builtin.PersistentVolume, { to: ({ spec }) => named(spec?.volumeAttributesClassName) })
    .reconcileKey(async ({ key }, toolbox) => {
      const attributes = toolbox.find(builtin.VolumeAttributesClass, key);
      const { deletionTimestamp, finalizers = [] } = attributes?.metadata ?? {};
      if (attributes === undefined || deletionTimestamp === undefined) return done;
      if (!finalizers.includes(attributesFinalizer)) return done;
      const isUsed = toolbox.list(builtin.PersistentVolume).some(({ spec }) =>
        spec?.volumeAttributesClassName === key
      ) ||
        toolbox.list(builtin.PersistentVolumeClaim).some((claim) => classesOfClaim(claim).includes(key));
      if (!isUsed) {
        await toolbox.patch(builtin.VolumeAttributesClass, attributes, without(finalizers, attributesFinalizer));
      }
      return done;
    });
}

/** The classes that a claim has, had before, or is about to get. */
function classesOfClaim({ spec, status }: Claim): readonly string[] {
  const target = status?.modifyVolumeStatus?.targetVolumeAttributesClassName;
  return [spec?.volumeAttributesClassName, status?.currentVolumeAttributesClassName, target].flatMap(named);
}

function named(name: string | undefined): readonly string[] {
  return name === undefined || name === "" ? [] : [name];
}

function without(finalizers: readonly string[], finalizer: string) {
  const rest = finalizers.filter((each) => each !== finalizer);
  return { kind: "merge", value: { metadata: { finalizers: rest.length === 0 ? null : rest } } } as const;
}

/**
 * The PersistentVolume binder: gives each claim a volume that fits, and releases and reclaims the volumes of claims that are
 * gone. It has two controllers, one for claims and one for volumes, as kube-controller-manager's has two queues.
 *
 * Guarantees: both ends of a binding name each other, and the volume is written first. One claim is handled at a time, so no
 * volume is given to two.
 */
import { builtin, keyOf } from "../api/mod.ts";
import { isNotFound } from "../client/mod.ts";
import { type CacheReader, controller, type ControllerDefinition, done, type Toolbox } from "../controller/mod.ts";
import {
  bindCompleted,
  boundByController,
  type Claim,
  claimKeyOf,
  classOf,
  findVolume,
  isBoundTo,
  lacksClass,
  mismatchOf,
  provisionedBy,
  reservation,
  selectedNode,
  type StorageClass,
  type Volume,
} from "./_volumes.ts";
import { simulatedProvisioner, storageProvisioners } from "./volume_provisioner.ts";

const { PersistentVolume, PersistentVolumeClaim } = builtin;

/** Binds claims. */
export const volumeBinder: ControllerDefinition = controller("persistentvolume-binder-controller")
  .for(PersistentVolumeClaim)
  .watches(PersistentVolume, { to: claimsFor })
  .watches(builtin.StorageClass, {
    to: (_, caches) =>
      caches.list(PersistentVolumeClaim, {}).filter(({ spec }) => spec.volumeName === undefined).map(keyOf),
  })
  .reconcileKey(async ({ key }, toolbox) => {
    const claim = toolbox.find(PersistentVolumeClaim, key);
    if (claim === undefined) return done;
    if (claim.metadata.annotations?.[bindCompleted] !== undefined) await keepBound(claim, toolbox);
    else if (claim.spec.volumeName !== undefined) await bindRequested(claim, claim.spec.volumeName, toolbox);
    else await bindAny(claim, toolbox);
    return done;
  });

/** The claims that a change of a volume concerns: its own, those that name it, and if it is free all that have none. */
function claimsFor(volume: Volume, caches: CacheReader) {
  const own = claimKeyOf(volume);
  const others = caches.list(PersistentVolumeClaim, {}).filter(({ spec: { volumeName } }) =>
    volumeName === volume.metadata.name || (volumeName === undefined && own === undefined)
  );
  return [...new Set([...(own === undefined ? [] : [own]), ...others.map(keyOf)])];
}

async function keepBound(claim: Claim, toolbox: Toolbox): Promise<void> {
  const { volumeName } = claim.spec;
  if (volumeName === undefined) {
    await lose(
      claim,
      "ClaimLost",
      "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!",
      toolbox,
    );
    return;
  }
  const volume = toolbox.find(PersistentVolume, volumeName) ??
    await toolbox.client.find(PersistentVolume, volumeName, { signal: toolbox.signal });
  if (volume === undefined) {
    await lose(claim, "ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!", toolbox);
  } else if (volume.spec.claimRef === undefined || volume.spec.claimRef.uid === claim.metadata.uid) {
    await bind(volume, claim, toolbox);
  } else {
    const note = "Two claims are bound to the same volume, this one is bound incorrectly";
    await lose(claim, "ClaimMisbound", note, toolbox);
  }
}

async function lose(claim: Claim, reason: string, note: string, toolbox: Toolbox): Promise<void> {
  if (claim.status?.phase === "Lost") return;
  await setPending(claim, toolbox, "Lost");
  toolbox.event({ regarding: claim, type: "Warning", reason, note });
}

async function bindRequested(claim: Claim, name: string, toolbox: Toolbox): Promise<void> {
  const volume = toolbox.find(PersistentVolume, name);
  if (volume === undefined) {
    await setPending(claim, toolbox);
    return;
  }
  const isFree = volume.spec.claimRef === undefined;
  const mismatch = isFree ? mismatchOf(volume, claim) : undefined;
  if (isFree ? mismatch === undefined : isBoundTo(volume, claim)) {
    await bind(volume, claim, toolbox);
    return;
  }
  if (isFree) warn(claim, "VolumeMismatch", `Cannot bind to requested volume "${name}": ${mismatch}`, toolbox);
  else warn(claim, "FailedBinding", `volume "${name}" already bound to a different claim.`, toolbox);
  await setPending(claim, toolbox);
}

async function bindAny(claim: Claim, toolbox: Toolbox): Promise<void> {
  const name = classOf(claim);
  const storageClass = name === "" ? undefined : toolbox.find(builtin.StorageClass, name);
  const isDelayed = storageClass?.volumeBindingMode === "WaitForFirstConsumer";
  const volume = findVolume(toolbox.list(PersistentVolume), claim, { isDelayed });
  if (volume !== undefined) {
    await bind(volume, claim, toolbox);
    return;
  }
  const normal = (reason: string, note: string) => toolbox.event({ regarding: claim, type: "Normal", reason, note });
  const byDefault = lacksClass(claim) ? defaultClass(toolbox) : undefined;
  if (byDefault !== undefined) {
    const value = { spec: { storageClassName: byDefault.metadata.name } };
    await toolbox.patch(PersistentVolumeClaim, claim, { kind: "merge", value });
    return;
  }
  if (isDelayed && claim.metadata.annotations?.[selectedNode] === undefined) {
    normal("WaitForFirstConsumer", "waiting for first consumer to be created before binding");
  } else if (name !== "") {
    await requestVolume(claim, storageClass, toolbox);
    return;
  } else {
    normal("FailedBinding", "no persistent volumes available for this claim and no storage class is set");
  }
  await setPending(claim, toolbox);
}

/** The class that claims without one get: of several the newest. */
function defaultClass(toolbox: Toolbox): StorageClass | undefined {
  const marks = ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];
  return toolbox.list(builtin.StorageClass)
    .filter(({ metadata }) => marks.some((mark) => metadata.annotations?.[mark] === "true"))
    .toSorted((left, right) =>
      `${right.metadata.creationTimestamp}`.localeCompare(`${left.metadata.creationTimestamp}`) ||
      `${left.metadata.name}`.localeCompare(`${right.metadata.name}`)
    )[0];
}

/** Lets the provisioner of the class know that the claim needs a volume. */
async function requestVolume(claim: Claim, storageClass: StorageClass | undefined, toolbox: Toolbox): Promise<void> {
  if (storageClass === undefined) {
    const note = `storageclass.storage.k8s.io "${classOf(claim)}" not found`;
    warn(claim, "ProvisioningFailed", note, toolbox);
    return;
  }
  const { provisioner } = storageClass;
  if (provisioner.startsWith("kubernetes.io/")) {
    warn(claim, "ProvisioningFailed", `no volume plugin matched name: ${provisioner}`, toolbox);
    return;
  }
  const annotations = Object.fromEntries(storageProvisioners.map((name) => [name, provisioner]));
  await toolbox.change(PersistentVolumeClaim, claim, { kind: "merge", value: { metadata: { annotations } } });
  const note =
    `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the ` +
    "system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.";
  toolbox.event({ regarding: claim, type: "Normal", reason: "ExternalProvisioning", note });
}

async function bind(volume: Volume, claim: Claim, toolbox: Toolbox): Promise<void> {
  const patch = reservation(volume, claim);
  const reserved = patch === undefined ? volume : await toolbox.patch(PersistentVolume, volume, patch);
  await setPhase(reserved, "Bound", toolbox);
  const isChosen = claim.spec.volumeName !== volume.metadata.name;
  const annotations = { ...(isChosen ? { [boundByController]: "yes" } : {}), [bindCompleted]: "yes" };
  const value = { metadata: { annotations }, spec: { volumeName: volume.metadata.name } };
  const bound = await toolbox.change(PersistentVolumeClaim, claim, { kind: "merge", value });
  const { accessModes, capacity, volumeAttributesClassName } = volume.spec;
  await toolbox.patchStatus(PersistentVolumeClaim, bound, {
    phase: "Bound",
    accessModes,
    // The size of what is bound already may differ from that of the volume, while it is resized.
    ...(bound.status?.phase === "Bound" ? {} : { capacity }),
    ...(volumeAttributesClassName === undefined ? {} : { currentVolumeAttributesClassName: volumeAttributesClassName }),
  });
}

async function setPending(claim: Claim, toolbox: Toolbox, phase: "Pending" | "Lost" = "Pending"): Promise<void> {
  await toolbox.patchStatus(PersistentVolumeClaim, claim, {
    phase,
    accessModes: null,
    capacity: null,
    currentVolumeAttributesClassName: null,
  });
}

function warn(regarding: Claim | Volume, reason: string, note: string, toolbox: Toolbox): void {
  toolbox.event({ regarding, type: "Warning", reason, note });
}

type Phase = NonNullable<NonNullable<Volume["status"]>["phase"]>;

async function setPhase(volume: Volume, phase: Phase, toolbox: Toolbox, message?: string): Promise<Volume> {
  if (volume.status?.phase === phase) return volume;
  return await toolbox.patchStatus(PersistentVolume, volume, { phase, message: message ?? null });
}

/** Keeps the phases of volumes, and reclaims those whose claim is gone. */
export const volumePhaseController: ControllerDefinition = controller("persistentvolume-phase-controller")
  .for(PersistentVolume)
  .watches(PersistentVolumeClaim, {
    to: (claim, caches) =>
      caches.list(PersistentVolume, {}).filter((volume) => claimKeyOf(volume) === keyOf(claim)).map(keyOf),
  })
  .reconcileKey(async ({ key }, toolbox) => {
    const volume = toolbox.find(PersistentVolume, key);
    if (volume !== undefined) await reconcileVolume(volume, toolbox);
    return done;
  });

async function reconcileVolume(volume: Volume, toolbox: Toolbox): Promise<void> {
  const key = claimKeyOf(volume);
  const { uid = "" } = volume.spec.claimRef ?? {};
  if (key === undefined || uid === "") {
    await setPhase(volume, "Available", toolbox);
    return;
  }
  const isCached = (claim: Claim | undefined) => claim?.metadata.uid === uid ? claim : undefined;
  // A volume is released for good, so an old cache must not decide it.
  const claim = isCached(toolbox.find(PersistentVolumeClaim, key)) ??
    isCached(await toolbox.client.find(PersistentVolumeClaim, key, { signal: toolbox.signal }));
  if (claim === undefined) {
    await release(volume, toolbox);
  } else if (claim.spec.volumeName === volume.metadata.name) {
    await setPhase(volume, "Bound", toolbox);
  } else if (claim.spec.volumeName !== undefined) {
    const isProvisioned = volume.metadata.annotations?.[provisionedBy] !== undefined;
    const isDeleted = isProvisioned && volume.spec.persistentVolumeReclaimPolicy === "Delete";
    await (isDeleted ? release(volume, toolbox) : unbind(volume, toolbox));
  }
}

async function release(volume: Volume, toolbox: Toolbox): Promise<void> {
  const { phase } = volume.status ?? {};
  const released = phase === "Released" || phase === "Failed" ? volume : await setPhase(volume, "Released", toolbox);
  switch (volume.spec.persistentVolumeReclaimPolicy) {
    case "Delete":
      return await deleteVolume(released, toolbox);
    case "Recycle":
      return await recycle(released, toolbox);
    default: // Retain: a user decides
  }
}

/** Deletes a volume with what stores it, which is simulated for a directory in /tmp and for provisioned volumes. */
async function deleteVolume(volume: Volume, toolbox: Toolbox): Promise<void> {
  const { metadata: { name, annotations }, spec: { hostPath, csi } } = volume;
  const provisioner = annotations?.[provisionedBy];
  const isExternal = provisioner !== undefined || csi !== undefined;
  if (isExternal && provisioner !== simulatedProvisioner) return;
  if (!isExternal && hostPath?.path.startsWith("/tmp/") !== true) {
    const note = hostPath === undefined
      ? `error getting deleter volume plugin for volume "${name}": no deletable volume plugin matched`
      : `host_path deleter only supports /tmp/.+ but received provided ${hostPath.path}`;
    await fail(volume, "VolumeFailedDelete", note, toolbox);
    return;
  }
  if (volume.metadata.deletionTimestamp !== undefined) return;
  await toolbox.client.delete(PersistentVolume, keyOf(volume), { signal: toolbox.signal }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

async function recycle(volume: Volume, toolbox: Toolbox): Promise<void> {
  const { hostPath, nfs } = volume.spec;
  if (hostPath === undefined && nfs === undefined) {
    await fail(volume, "VolumeFailedRecycle", "No recycler plugin found for the volume!", toolbox);
    return;
  }
  toolbox.event({ regarding: volume, type: "Normal", reason: "VolumeRecycled", note: "Volume recycled" });
  await unbind(volume, toolbox);
}

async function fail(volume: Volume, reason: string, note: string, toolbox: Toolbox): Promise<void> {
  if (volume.status?.phase === "Failed") return;
  await setPhase(volume, "Failed", toolbox, note);
  warn(volume, reason, note, toolbox);
}

/** Makes a volume free again; one that a user has reserved stays reserved. */
async function unbind(volume: Volume, toolbox: Toolbox): Promise<void> {
  const isOurs = volume.metadata.annotations?.[boundByController] !== undefined;
  const { resourceVersion } = volume.metadata;
  const value = isOurs
    ? { metadata: { resourceVersion, annotations: { [boundByController]: null } }, spec: { claimRef: null } }
    : { metadata: { resourceVersion }, spec: { claimRef: { uid: null } } };
  const free = await toolbox.patch(PersistentVolume, volume, { kind: "merge", value });
  await setPhase(free, "Available", toolbox);
}

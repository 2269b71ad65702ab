/** What the controllers of PersistentVolumes and claims share with the scheduler: which volume fits a claim. */
import {
  type builtin,
  type Infer,
  isSelected,
  keyOf,
  type LabelSelector,
  type ObjectKey,
  objectKey,
} from "../api/mod.ts";
import { compareQuantities } from "../apiserver/mod.ts";
import { matchesAnyTerm } from "./_node_selector.ts";

export type Claim = Infer<typeof builtin.PersistentVolumeClaim>;
export type Volume = Infer<typeof builtin.PersistentVolume>;
export type StorageClass = Infer<typeof builtin.StorageClass>;
type Node = Infer<typeof builtin.Node>;
type Pod = Infer<typeof builtin.Pod>;

export const bindCompleted = "pv.kubernetes.io/bind-completed";
export const boundByController = "pv.kubernetes.io/bound-by-controller";
export const provisionedBy = "pv.kubernetes.io/provisioned-by";
/** Written by the scheduler for a claim that waits for its first Pod. */
export const selectedNode = "volume.kubernetes.io/selected-node";
const classAnnotation = "volume.beta.kubernetes.io/storage-class";

/** The claims that a Pod mounts. */
export function claimsOf({ metadata: { namespace }, spec }: Pod): readonly ObjectKey[] {
  return (spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) =>
    persistentVolumeClaim === undefined ? [] : [objectKey({ namespace, name: persistentVolumeClaim.claimName })]
  );
}

/** The class of a claim or of a volume; "" for none. */
export function classOf({ metadata, spec }: Claim | Volume): string {
  return metadata.annotations?.[classAnnotation] ?? spec.storageClassName ?? "";
}

/** True for a claim that names no class, not even "", which means none. */
export function lacksClass({ metadata, spec }: Claim): boolean {
  return metadata.annotations?.[classAnnotation] === undefined && spec.storageClassName === undefined;
}

/** The key of the claim that a volume is bound to or reserved for. */
export function claimKeyOf({ spec: { claimRef } }: Volume): ObjectKey | undefined {
  return claimRef?.name === undefined ? undefined : objectKey({ namespace: claimRef.namespace, name: claimRef.name });
}

/** True for a volume that is bound to the claim, or reserved for it. */
export function isBoundTo(volume: Volume, claim: Claim): boolean {
  const { claimRef } = volume.spec;
  return claimRef !== undefined && claimKeyOf(volume) === keyOf(claim) &&
    (claimRef.uid === undefined || claimRef.uid === "" || claimRef.uid === claim.metadata.uid);
}

/** True when both ends say so, and the binder is done. */
export function isBindingComplete({ metadata, spec }: Claim): boolean {
  return metadata.annotations?.[bindCompleted] !== undefined && spec.volumeName !== undefined;
}

/** True when the pods of the node reach the volume. */
export function isReachable({ spec: { nodeAffinity } }: Volume, node: Node): boolean {
  return nodeAffinity?.required === undefined || matchesAnyTerm(nodeAffinity.required.nodeSelectorTerms ?? [], node);
}

/** Why a volume that a claim names does not fit it, in the words of kube-controller-manager; undefined when it fits. */
export function mismatchOf(volume: Volume, claim: Claim): string | undefined {
  if (volume.metadata.deletionTimestamp !== undefined) {
    return `the volume is marked for deletion "${volume.metadata.name}"`;
  }
  if (isTooSmall(volume, claim)) return "requested PV is too small";
  if (classOf(volume) !== classOf(claim)) return "storageClassName does not match";
  if (!hasSameAttributes(volume, claim)) return "volumeAttributesClassName does not match";
  if (!hasSameMode(volume, claim)) return "incompatible volumeMode";
  return hasAccessModes(volume, claim) ? undefined : "incompatible accessMode";
}

/** Options of {@link findVolume}. */
interface FindOptions {
  /** The node of the Pod, for the scheduler. @default any */
  readonly node?: Node;
  /** The claim waits for its first Pod: only a volume that is reserved for it. @default false */
  readonly isDelayed?: boolean;
  /** Names of volumes that other claims of the Pod get. @default none */
  readonly taken?: ReadonlySet<string>;
}

/**
 * The volume for a claim: one that is reserved for it, else the smallest that fits, and of these one with the fewest access
 * modes. Of equal ones the first by name, so that a run can be repeated.
 */
export function findVolume(volumes: readonly Volume[], claim: Claim, options: FindOptions = {}): Volume | undefined {
  const groups = new Map<string, Volume[]>();
  for (const volume of volumes.toSorted((left, right) => `${left.metadata.name}` < `${right.metadata.name}` ? -1 : 1)) {
    if (options.taken?.has(volume.metadata.name ?? "") || !hasAccessModes(volume, claim)) continue;
    const modes = [...new Set(volume.spec.accessModes)].sort();
    const key = `${modes.length} ${modes}`;
    groups.set(key, [...groups.get(key) ?? [], volume]);
  }
  for (const [, group] of [...groups].sort(([left], [right]) => left < right ? -1 : 1)) {
    const found = findInGroup(group, claim, options);
    if (found !== undefined) return found;
  }
  return undefined;
}

function findInGroup(
  volumes: readonly Volume[],
  claim: Claim,
  { node, isDelayed = false }: FindOptions,
): Volume | undefined {
  let smallest: Volume | undefined;
  for (const volume of volumes) {
    const isReserved = isBoundTo(volume, claim);
    if (volume.spec.claimRef !== undefined && !isReserved) continue;
    if (isTooSmall(volume, claim) || !hasSameMode(volume, claim) || !hasSameAttributes(volume, claim)) continue;
    if (volume.metadata.deletionTimestamp !== undefined) continue;
    const isUsable = node === undefined || isReachable(volume, node);
    if (isReserved) return isUsable ? volume : undefined;
    // Only the scheduler, which knows the node, chooses a volume for a claim that waits for its first Pod.
    if (node === undefined && isDelayed) continue;
    if (!isUsable || volume.status?.phase !== "Available" || classOf(volume) !== classOf(claim)) continue;
    const { selector } = claim.spec;
    if (selector !== undefined && !isSelected(selector as LabelSelector, volume)) continue;
    if (smallest === undefined || compareQuantities(capacityOf(volume), capacityOf(smallest)) < 0) smallest = volume;
  }
  return smallest;
}

/** The patch that reserves a volume for a claim. @returns undefined when it is bound to it already */
export function reservation(volume: Volume, claim: Claim) {
  const { namespace, name, uid, resourceVersion } = claim.metadata;
  const isReserved = isBoundTo(volume, claim);
  if (isReserved && volume.spec.claimRef?.uid === uid) return undefined;
  const annotations = isReserved ? {} : { annotations: { [boundByController]: "yes" } };
  const claimRef = { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid, resourceVersion };
  const metadata = { ...annotations, resourceVersion: volume.metadata.resourceVersion };
  return { kind: "merge", value: { metadata, spec: { claimRef } } } as const;
}

function capacityOf({ spec: { capacity } }: Volume): string {
  return capacity?.["storage"] ?? "0";
}

/** What a claim asks for. */
export function requestOf({ spec: { resources } }: Claim): string {
  return resources?.requests?.["storage"] ?? "0";
}

function isTooSmall(volume: Volume, claim: Claim): boolean {
  return compareQuantities(capacityOf(volume), requestOf(claim)) < 0;
}

function hasSameMode(volume: Volume, claim: Claim): boolean {
  return (volume.spec.volumeMode ?? "Filesystem") === (claim.spec.volumeMode ?? "Filesystem");
}

function hasSameAttributes(volume: Volume, claim: Claim): boolean {
  return (volume.spec.volumeAttributesClassName ?? "") === (claim.spec.volumeAttributesClassName ?? "");
}

function hasAccessModes(volume: Volume, claim: Claim): boolean {
  return (claim.spec.accessModes ?? []).every((mode) => volume.spec.accessModes?.includes(mode) === true);
}

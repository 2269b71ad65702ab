/**
 * What the claims of a Pod mean for where it runs: the nodes that reach its volumes, and what the scheduler writes for claims
 * that wait for their first Pod. It follows the plugin VolumeBinding of kube-scheduler, without storage capacity.
 */
import { builtin, type Infer } from "../api/mod.ts";
import type { Toolbox } from "../controller/mod.ts";
import type { Pod } from "./_pods.ts";
import {
  type Claim,
  claimsOf,
  classOf,
  findVolume,
  isBindingComplete,
  isReachable,
  reservation,
  selectedNode,
  type StorageClass,
  type Volume,
} from "./_volumes.ts";

type Node = Infer<typeof builtin.Node>;
/** The caches that decide. */
export interface VolumeCaches {
  claim(key: string): Claim | undefined;
  volume(name: string): Volume | undefined;
  volumes(): readonly Volume[];
  storageClass(name: string): StorageClass | undefined;
}

/** The claims of one Pod. */
export interface PodVolumes {
  /** Why the Pod fits no node, in the words of kube-scheduler. @default it may fit one */
  readonly problem?: string;
  /** Why it does not fit this node; undefined when it does. */
  reasonAgainst(node: Node): string | undefined;
  /** Lets volumes be bound or provisioned for the node. @returns false when the Pod must wait for them */
  prepare(node: Node, toolbox: Pick<Toolbox, "client" | "signal">): Promise<boolean>;
}

const nothing: PodVolumes = { reasonAgainst: () => undefined, prepare: () => Promise.resolve(true) };

/** Reads the claims of a Pod from the cache. @param caches undefined if claims do not matter */
export function podVolumes(pod: Pod, caches: VolumeCaches | undefined): PodVolumes {
  const keys = claimsOf(pod);
  if (keys.length === 0 || caches === undefined) return nothing;
  const bound: Claim[] = [];
  const delayed: Claim[] = [];
  let isUnbound = false;
  for (const key of keys) {
    const claim = caches.claim(key);
    const problem = problemOf(key, claim);
    if (claim === undefined || problem !== undefined) return { ...nothing, problem };
    if (isBindingComplete(claim)) bound.push(claim);
    else if (claim.spec.volumeName === undefined && isDelayed(claim, caches)) delayed.push(claim);
    else isUnbound = true;
  }
  if (isUnbound) return { ...nothing, problem: "pod has unbound immediate PersistentVolumeClaims" };
  const volumes = bound.map(({ spec }) => caches.volume(`${spec.volumeName}`));
  return {
    reasonAgainst(node) {
      if (volumes.includes(undefined)) {
        return "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";
      }
      if (volumes.some((volume) => volume !== undefined && !isReachable(volume, node))) {
        return "node(s) didn't match PersistentVolume's node affinity";
      }
      const isPossible = choices(delayed, node, caches) !== undefined;
      return isPossible ? undefined : "node(s) didn't find available persistent volumes to bind";
    },
    async prepare(node, { client, signal }) {
      for (const { claim, volume } of choices(delayed, node, caches) ?? []) {
        if (volume === undefined) {
          const value = { metadata: { annotations: { [selectedNode]: `${node.metadata.name}` } } };
          const isAssigned = claim.metadata.annotations?.[selectedNode] !== undefined;
          const { namespace, name } = claim.metadata;
          if (isAssigned) continue;
          await client.patch(builtin.PersistentVolumeClaim, `${namespace}/${name}`, { kind: "merge", value }, {
            signal,
          });
        } else {
          const patch = reservation(volume, claim);
          if (patch !== undefined) {
            await client.patch(builtin.PersistentVolume, `${volume.metadata.name}`, patch, { signal });
          }
        }
      }
      return delayed.length === 0;
    },
  };
}

function problemOf(key: string, claim: Claim | undefined): string | undefined {
  const name = key.slice(key.indexOf("/") + 1);
  if (claim === undefined) return `persistentvolumeclaim "${name}" not found`;
  if (claim.metadata.deletionTimestamp !== undefined) return `persistentvolumeclaim "${name}" is being deleted`;
  if (claim.status?.phase !== "Lost") return undefined;
  return `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${claim.spec.volumeName ?? ""}"`;
}

function isDelayed(claim: Claim, caches: VolumeCaches): boolean {
  return caches.storageClass(classOf(claim))?.volumeBindingMode === "WaitForFirstConsumer";
}

/** For each claim the volume on this node, or none if one is provisioned. @returns undefined when one gets none */
function choices(claims: readonly Claim[], node: Node, caches: VolumeCaches) {
  const taken = new Set<string>();
  const chosen: { readonly claim: Claim; readonly volume: Volume | undefined }[] = [];
  for (const claim of claims) {
    const assigned = claim.metadata.annotations?.[selectedNode];
    if (assigned !== undefined && assigned !== node.metadata.name) return undefined;
    const volume = assigned === undefined ? findVolume(caches.volumes(), claim, { node, taken }) : undefined;
    const { provisioner } = caches.storageClass(classOf(claim)) ?? {};
    if (volume === undefined && (provisioner === undefined || provisioner === "kubernetes.io/no-provisioner")) {
      return undefined;
    }
    if (volume !== undefined) taken.add(`${volume.metadata.name}`);
    chosen.push({ claim, volume });
  }
  return chosen;
}

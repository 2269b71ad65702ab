/**
 * What the ResourceClaims of a Pod mean for where it runs: the nodes with devices for them, and what the scheduler writes when
 * it has chosen one. It follows the plugin DynamicResources of kube-scheduler.
 */
import { builtin, type Infer } from "../api/mod.ts";
import type { Client } from "../client/mod.ts";
import { claimFinalizer, claimNameOf, isMadeFor } from "./_claim_names.ts";
import { matchesAnyTerm } from "./_node_selector.ts";
import type { Pod } from "./_pods.ts";
import { timeText } from "./_values.ts";
import {
  allocateDevices,
  AllocationError,
  type DeviceClass,
  type DeviceInventory,
  type ResourceClaim,
  type ResourceSlice,
} from "./device_allocation.ts";
import type { PodVolumes } from "./pod_volumes.ts";

type Node = Infer<typeof builtin.Node>;
type Allocations = ReturnType<typeof allocateDevices>;

/** The caches that decide, and the client that reads what must not be stale. */
export interface DeviceSources {
  readonly client: Client;
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  now(): number;
  slices(): readonly ResourceSlice[];
  deviceClass(name: string): DeviceClass | undefined;
}

/** A claim can have this many users. */
const maxConsumers = 256;

const nothing: PodVolumes = { reasonAgainst: () => undefined, prepare: () => Promise.resolve(true) };

/** Reads the claims of a Pod from the server, since an allocation that is not seen would be made twice. */
export async function podDevices(pod: Pod, sources: DeviceSources): Promise<PodVolumes> {
  if ((pod.spec.resourceClaims ?? []).length === 0) return nothing;
  const { items } = await sources.client.list(builtin.ResourceClaim, { signal: sources.signal });
  const found = claimsOf(pod, items);
  if (found.kind === "problem") return { ...nothing, problem: found.problem };
  const inventory: DeviceInventory = { slices: sources.slices(), findClass: sources.deviceClass, claims: items };
  const open = found.claims.filter(({ status }) => status?.allocation === undefined);
  const allocations = new Map<Node, Allocations>();
  return {
    reasonAgainst(node) {
      if (found.claims.some((claim) => !isReachable(claim, node))) return "resourceclaim not available on the node";
      try {
        allocations.set(node, allocateDevices(open, node, inventory));
      } catch (error) {
        if (error instanceof AllocationError) return error.message;
        throw error;
      }
      return allocations.get(node) === undefined ? "cannot allocate all claims" : undefined;
    },
    async prepare(node) {
      const chosen = allocations.get(node) ?? [];
      for (const claim of found.claims) await reserve(claim, chosen[open.indexOf(claim)], pod, sources);
      return true;
    },
  };
}

type Claims =
  | { readonly kind: "claims"; readonly claims: readonly ResourceClaim[] }
  | { readonly kind: "problem"; readonly problem: string };

function claimsOf(pod: Pod, all: readonly ResourceClaim[]): Claims {
  const { name: podName, namespace } = pod.metadata;
  const problemOf = (problem: string): Claims => ({ kind: "problem", problem });
  const claims: ResourceClaim[] = [];
  for (const entry of pod.spec.resourceClaims ?? []) {
    const named = claimNameOf(pod, entry);
    if (named.kind === "none") continue;
    if (named.kind === "pending") return problemOf(`pod "${namespace}/${podName}": ResourceClaim not created yet`);
    const claim = all.find(({ metadata }) => metadata.namespace === namespace && metadata.name === named.name);
    if (claim === undefined) return problemOf(`resourceclaim "${named.name}" not found`);
    if (claim.metadata.deletionTimestamp !== undefined) {
      return problemOf(`resourceclaim "${named.name}" is being deleted`);
    }
    if (named.isMade && !isMadeFor(claim, pod)) {
      const which = `ResourceClaim ${namespace}/${named.name}`;
      return problemOf(`${which} was not created for Pod ${namespace}/${podName} (Pod is not owner)`);
    }
    const reserved = claim.status?.reservedFor ?? [];
    if (!isReservedFor(claim, pod) && reserved.length >= maxConsumers) return problemOf("resourceclaim in use");
    claims.push(claim);
  }
  return { kind: "claims", claims };
}

function isReachable({ status }: ResourceClaim, node: Node): boolean {
  const terms = status?.allocation?.nodeSelector?.nodeSelectorTerms;
  return terms === undefined || matchesAnyTerm(terms, node);
}

function isReservedFor({ status }: ResourceClaim, { metadata }: Pod): boolean {
  return status?.reservedFor?.some(({ uid }) => uid === metadata.uid) === true;
}

/** Writes the allocation, if it is new, and the Pod as a user of the claim. A conflict lets the scheduler try again. */
async function reserve(
  claim: ResourceClaim,
  allocation: NonNullable<Allocations>[number] | undefined,
  pod: Pod,
  { client, signal, now }: DeviceSources,
): Promise<void> {
  if (isReservedFor(claim, pod)) return;
  const key = `${claim.metadata.namespace}/${claim.metadata.name}`;
  const { finalizers = [], resourceVersion } = claim.metadata;
  const needsFinalizer = allocation !== undefined && !finalizers.includes(claimFinalizer);
  const kept = !needsFinalizer ? claim : await client.patch(builtin.ResourceClaim, key, {
    kind: "merge",
    value: { metadata: { finalizers: [...finalizers, claimFinalizer], resourceVersion } },
  }, { signal });
  const consumer = { resource: "pods", name: `${pod.metadata.name}`, uid: `${pod.metadata.uid}` };
  const status = {
    reservedFor: [...claim.status?.reservedFor ?? [], consumer],
    ...(allocation === undefined ? {} : { allocation: { ...allocation, allocationTimestamp: timeText(now()) } }),
  };
  const value = { metadata: { resourceVersion: kept.metadata.resourceVersion }, status };
  await client.patch(builtin.ResourceClaim, key, { kind: "merge", value }, { signal, subresource: "status" });
}

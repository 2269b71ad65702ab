/** The ResourceClaims of a Pod: by their names in its spec, or as made from templates, by those in its status. */
import type { builtin, Infer } from "../api/mod.ts";
import type { Pod } from "./_pods.ts";

type ResourceClaim = Infer<typeof builtin.ResourceClaim>;

/** One entry of `spec.resourceClaims`. */
export type PodClaim = NonNullable<Pod["spec"]["resourceClaims"]>[number];

/** The claim of an entry. */
export type ClaimName =
  | { readonly kind: "named"; readonly name: string; /** From a template. */ readonly isMade: boolean }
  /** It is not made from its template yet. */
  | { readonly kind: "pending" }
  /** The Pod does not need one. */
  | { readonly kind: "none" };

/** The name of the claim of an entry. */
export function claimNameOf(pod: Pod, { name, resourceClaimName }: PodClaim): ClaimName {
  if (resourceClaimName !== undefined) return { kind: "named", name: resourceClaimName, isMade: false };
  const status = pod.status?.resourceClaimStatuses?.find((each) => each.name === name);
  if (status === undefined) return { kind: "pending" };
  if (status.resourceClaimName === undefined) return { kind: "none" };
  return { kind: "named", name: status.resourceClaimName, isMade: true };
}

/** The keys of the claims of a Pod that are known by name. */
export function resourceClaimsOf(pod: Pod): readonly string[] {
  return (pod.spec.resourceClaims ?? []).flatMap((each) => {
    const found = claimNameOf(pod, each);
    return found.kind === "named" ? [`${pod.metadata.namespace}/${found.name}`] : [];
  });
}

/** True for a claim that was made for the Pod. */
export function isMadeFor(claim: ResourceClaim, pod: Pod): boolean {
  return claim.metadata.ownerReferences?.some(({ uid, controller }) =>
    controller === true && uid === pod.metadata.uid
  ) ===
    true;
}

/** The finalizer of claims with devices of the scheduler. */
export const claimFinalizer = "resource.kubernetes.io/delete-protection";

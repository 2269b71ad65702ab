/**
 * The ResourceClaim controllers: one makes the claims of Pods from templates, and notes their names in the status of the Pod;
 * the other ends the use of a claim by Pods that are gone or finished, frees its devices after the last one, and deletes a
 * claim that was made for a finished Pod.
 */
import { builtin, controllerReference, type Infer, keyOf } from "../api/mod.ts";
import { isNotFound } from "../client/mod.ts";
import { controller, type ControllerDefinition, done, type Toolbox } from "../controller/mod.ts";
import { claimFinalizer, claimNameOf, isMadeFor, type PodClaim, resourceClaimsOf } from "./_claim_names.ts";
import { isFinished, type Pod } from "./_pods.ts";

type ResourceClaim = Infer<typeof builtin.ResourceClaim>;

const claimAnnotation = "resource.kubernetes.io/pod-claim-name";
const maxPrefix = 57;

function usesClaims(pod: Pod): boolean {
  return (pod.spec.resourceClaims ?? []).length > 0;
}

/** Makes the claims of Pods from templates. */
export function claimCreationController(): ControllerDefinition {
  return controller("resourceclaim-controller")
    .for(builtin.Pod, { when: ({ object }) => usesClaims(object) })
    .watches(builtin.ResourceClaimTemplate, {
      to: ({ metadata: { namespace } }, caches) =>
        caches.list(builtin.Pod, { namespace }).filter(usesClaims).map(keyOf),
    })
    .watches(builtin.ResourceClaim, {
      when: ({ kind }) => kind === "deleted",
      to: ({ metadata: { namespace } }, caches) =>
        caches.list(builtin.Pod, { namespace }).filter(usesClaims).map(keyOf),
    })
    .reconcileKey(async ({ key }, toolbox) => {
      const pod = toolbox.find(builtin.Pod, key);
      if (pod === undefined || pod.metadata.deletionTimestamp !== undefined || isFinished(pod)) return done;
      const names = new Map<string, string>();
      for (const entry of pod.spec.resourceClaims ?? []) {
        const name = await ensureClaim(pod, entry, toolbox);
        if (name !== undefined) names.set(entry.name, name);
      }
      if (names.size > 0) await recordNames(pod, names, toolbox);
      return done;
    });
}

async function recordNames(pod: Pod, names: ReadonlyMap<string, string>, toolbox: Toolbox): Promise<void> {
  const others = (pod.status?.resourceClaimStatuses ?? []).filter(({ name }) => !names.has(name));
  const added = [...names].map(([name, resourceClaimName]) => ({ name, resourceClaimName }));
  await toolbox.patchStatus(builtin.Pod, pod, { resourceClaimStatuses: [...others, ...added] });
}

/** @returns the name of the claim, if the status of the Pod does not have it yet */
async function ensureClaim(pod: Pod, entry: PodClaim, toolbox: Toolbox): Promise<string | undefined> {
  const { resourceClaimTemplateName } = entry;
  if (resourceClaimTemplateName === undefined) return undefined;
  const { namespace } = pod.metadata;
  const { client, signal } = toolbox;
  const known = claimNameOf(pod, entry);
  if (known.kind === "none") return undefined;
  const { items } = await client.list(builtin.ResourceClaim, { namespace, signal });
  const own = items.filter((claim) =>
    isMadeFor(claim, pod) && claim.metadata.annotations?.[claimAnnotation] === entry.name
  );
  if (known.kind === "named" && own.some(({ metadata }) => metadata.name === known.name)) return undefined;
  // One that was made before its name could be recorded.
  const orphan = own.find(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (orphan !== undefined) return orphan.metadata.name;
  const template = toolbox.find(builtin.ResourceClaimTemplate, `${namespace}/${resourceClaimTemplateName}`);
  if (template === undefined) {
    const missing = `resourceclaimtemplate.resource.k8s.io "${resourceClaimTemplateName}" not found`;
    const why = `resource claim template "${resourceClaimTemplateName}": ${missing}`;
    const note = `PodResourceClaim ${entry.name}: ${why}`;
    toolbox.event({ regarding: pod, type: "Warning", reason: "FailedResourceClaimCreation", note });
    return undefined;
  }
  const made = await client.create(builtin.ResourceClaim, {
    metadata: {
      generateName: prefixOf(`${pod.metadata.name}`, entry.name),
      namespace,
      labels: template.spec.metadata?.labels,
      annotations: { ...template.spec.metadata?.annotations, [claimAnnotation]: entry.name },
      ownerReferences: [{ ...controllerReference(pod, builtin.Pod), blockOwnerDeletion: undefined }],
    },
    spec: template.spec.spec,
  }, { signal });
  return made.metadata.name;
}

/** Both names in the prefix, cut in the proportion of their lengths where they are too long. */
function prefixOf(podName: string, claimName: string): string {
  const full = `${podName}-${claimName}-`;
  if (full.length <= maxPrefix) return full;
  const cut = (text: string) => text.slice(0, Math.floor(text.length * maxPrefix / full.length));
  return `${cut(podName)}-${cut(claimName)}`;
}

/** Ends the use of claims. */
export function claimReleaseController(): ControllerDefinition {
  return controller("resourceclaim-release-controller")
    .for(builtin.ResourceClaim)
    .watches(builtin.Pod, {
      when: ({ kind, object }) => usesClaims(object) && (kind === "deleted" || isFinished(object)),
      to: (pod) => resourceClaimsOf(pod),
    })
    .reconcileKey(async ({ key }, toolbox) => {
      const claim = toolbox.find(builtin.ResourceClaim, key);
      if (claim === undefined) return done;
      const remaining = await remainingUsers(claim, toolbox);
      const released = await release(claim, remaining, toolbox);
      if (remaining.length === 0) await deleteUnused(released, toolbox);
      return done;
    });
}

type Consumer = NonNullable<NonNullable<ResourceClaim["status"]>["reservedFor"]>[number];

/** The users of the claim without Pods that are gone, replaced or finished. */
async function remainingUsers(claim: ResourceClaim, toolbox: Toolbox): Promise<readonly Consumer[]> {
  const { namespace } = claim.metadata;
  const remaining: Consumer[] = [];
  for (const consumer of claim.status?.reservedFor ?? []) {
    const isPod = (consumer.apiGroup ?? "") === "" && consumer.resource === "pods";
    const key = `${namespace}/${consumer.name}`;
    // A Pod that the cache does not have yet may exist, so the server is asked.
    const pod = isPod
      ? toolbox.find(builtin.Pod, key) ?? await toolbox.client.find(builtin.Pod, key, { signal: toolbox.signal })
      : undefined;
    if (!isPod || (pod?.metadata.uid === consumer.uid && !isFinished(pod))) remaining.push(consumer);
  }
  return remaining;
}

async function release(
  claim: ResourceClaim,
  remaining: readonly Consumer[],
  toolbox: Toolbox,
): Promise<ResourceClaim> {
  const { finalizers = [], deletionTimestamp } = claim.metadata;
  const isReleased = remaining.length < (claim.status?.reservedFor ?? []).length;
  const isOurs = finalizers.includes(claimFinalizer);
  const isUnused = remaining.length === 0 && (isReleased || deletionTimestamp !== undefined);
  if (!isReleased && !(isUnused && isOurs)) return claim;
  const { resourceVersion } = claim.metadata;
  const freesDevices = isUnused && isOurs && claim.status?.allocation !== undefined;
  const status = {
    reservedFor: remaining.length === 0 ? null : remaining,
    ...(freesDevices ? { allocation: null } : {}),
  };
  const needsStatus = isReleased || freesDevices;
  const freed = needsStatus
    ? await toolbox.patch(builtin.ResourceClaim, claim, {
      kind: "merge",
      value: { metadata: { resourceVersion }, status },
    }, "status")
    : claim;
  if (!isOurs || freed.status?.allocation !== undefined) return freed;
  const rest = finalizers.filter((each) => each !== claimFinalizer);
  const metadata = {
    finalizers: rest.length === 0 ? null : rest,
    resourceVersion: freed.metadata.resourceVersion,
  };
  return await toolbox.patch(builtin.ResourceClaim, freed, { kind: "merge", value: { metadata } });
}

/** Deletes a claim that was made for a Pod which will not run again. The garbage collector does it for Pods that are gone. */
async function deleteUnused(claim: ResourceClaim, toolbox: Toolbox): Promise<void> {
  const owner = claim.metadata.ownerReferences?.find(({ controller, kind }) => controller === true && kind === "Pod");
  if (owner === undefined || claim.metadata.deletionTimestamp !== undefined) return;
  const pod = toolbox.find(builtin.Pod, `${claim.metadata.namespace}/${owner.name}`);
  if (pod === undefined || (pod.metadata.uid === owner.uid && !isFinished(pod))) return;
  const options = { preconditions: { uid: claim.metadata.uid }, signal: toolbox.signal };
  await toolbox.client.delete(builtin.ResourceClaim, keyOf(claim), options).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

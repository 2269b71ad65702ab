/**
 * Pod templates of workloads: the hash that identifies a template, and the ControllerRevisions that keep the templates of a
 * StatefulSet or DaemonSet, as `kubectl rollout history` reads them.
 */
import { controllerReference, isControlledBy, type KubeObject, type Resource } from "../api/mod.ts";
import { type Client, isAlreadyExists } from "../client/mod.ts";
import type { PodOwner, PodTemplate } from "./_pods.ts";
import { canonicalText } from "./_values.ts";

/** The label that says from which template a Pod was made. */
export const revisionLabel = "controller-revision-hash";

interface Revision extends KubeObject {
  readonly revision: number;
  readonly data?: unknown;
}

const ControllerRevision: Resource<Revision, "ControllerRevision"> = Object.freeze({
  group: "apps",
  version: "v1",
  kind: "ControllerRevision",
  plural: "controllerrevisions",
  scope: "Namespaced",
});

/** Creates the ControllerRevision of a template if there is none. @returns the hash of the template */
export async function ensureRevision(
  client: Client,
  owner: PodOwner,
  template: PodTemplate,
  signal: AbortSignal,
): Promise<string> {
  const hash = templateHash(template);
  const { name, namespace } = owner.object.metadata;
  const { items } = await client.list(ControllerRevision, { namespace, signal });
  const owned = items.filter((item) => isControlledBy(item, owner.object));
  const newest = Math.max(0, ...owned.map(({ revision }) => revision));
  const existing = owned.find(({ metadata }) => metadata.labels?.[revisionLabel] === hash);
  if (existing !== undefined) {
    if (existing.revision < newest) await renumber(client, existing, newest + 1, signal);
    return hash;
  }
  const metadata = {
    name: `${name}-${hash}`,
    namespace,
    labels: { ...template?.metadata?.labels, [revisionLabel]: hash },
    ownerReferences: [controllerReference(owner.object, owner.resource)],
  };
  const data = { spec: { template: { ...template, $patch: "replace" } } };
  await client.create(ControllerRevision, { metadata, data, revision: newest + 1 }, { signal }).catch(
    (error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    },
  );
  return hash;
}

async function renumber(client: Client, existing: Revision, revision: number, signal: AbortSignal): Promise<void> {
  const { namespace, name } = existing.metadata;
  await client.patch(ControllerRevision, `${namespace}/${name}`, { kind: "merge", value: { revision } }, { signal });
}

/** The alphabet that Kubernetes uses for such hashes: it has no vowels, so that no words appear. */
const letters = "bcdfghjklmnpqrstvwxz2456789";

/**
 * The hash of a Pod template, as names of ReplicaSets and labels carry it: FNV-1a over its canonical text.
 *
 * @param collisions how often another template had the same hash
 */
export function templateHash(template: unknown, collisions = 0): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(`${canonicalText(template)}${collisions === 0 ? "" : collisions}`)) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return [...hash.toString()].map((digit) => letters[digit.charCodeAt(0) % letters.length]).join("");
}

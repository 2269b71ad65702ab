/**
 * Pod templates of workloads: the hash that identifies a template, and the ControllerRevisions that keep the templates of a
 * StatefulSet or DaemonSet, as `kubectl rollout history` reads them.
 */
import { controllerReference, isControlledBy, type KubeObject, type Resource } from "../api/mod.ts";
import { type Client, isAlreadyExists, isNotFound } from "../client/mod.ts";
import type { PodOwner, PodTemplate } from "./_pods.ts";
import { canonicalText } from "./_values.ts";

/** The label that says from which template a Pod was made. */
export const revisionLabel = "controller-revision-hash";

interface Revision extends KubeObject {
  readonly revision: number;
  /** A patch of the owner's spec. */
  readonly data?: { readonly spec?: { readonly template?: NonNullable<PodTemplate> & { readonly $patch?: string } } };
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
  const owned = await revisionsOf(client, owner, signal);
  const newest = Math.max(0, ...owned.map(({ revision }) => revision));
  const existing = owned.find(({ metadata }) => metadata.name === `${name}-${hash}`);
  if (existing !== undefined) {
    if (existing.revision < newest) await renumber(client, existing, newest + 1, signal);
    return hash;
  }
  const metadata = {
    name: `${name}-${hash}`,
    namespace,
    labels: { ...template?.metadata?.labels, [labelOf(owner)]: hash },
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

/** The label of a ControllerRevision with its hash. */
function labelOf({ resource }: PodOwner): string {
  return resource.kind === "DaemonSet" ? revisionLabel : "controller.kubernetes.io/hash";
}

async function revisionsOf(client: Client, { object }: PodOwner, signal: AbortSignal): Promise<readonly Revision[]> {
  const { items } = await client.list(ControllerRevision, { namespace: object.metadata.namespace, signal });
  return items.filter((item) => isControlledBy(item, object));
}

/** The Pod template that a ControllerRevision keeps, by `namespace/name`. */
export async function findTemplate(client: Client, key: string, signal: AbortSignal) {
  const revision = await client.find(ControllerRevision, key, { signal });
  const { $patch: _, ...template } = revision?.data?.spec?.template ?? {};
  return template.spec === undefined ? undefined : template;
}

/** Which ControllerRevisions are kept. */
export interface RevisionHistory {
  /** The names of those in use. */
  readonly live: ReadonlySet<string | undefined>;
  /** How many others are kept: revisionHistoryLimit. */
  readonly limit: number;
}

/** Deletes the oldest ControllerRevisions beyond the limit. */
export async function deleteOldRevisions(
  client: Client,
  owner: PodOwner,
  { live, limit }: RevisionHistory,
  signal: AbortSignal,
): Promise<void> {
  const unused = (await revisionsOf(client, owner, signal))
    .filter(({ metadata }) => !live.has(metadata.name))
    .toSorted((left, right) => left.revision - right.revision);
  for (const { metadata } of unused.slice(0, Math.max(0, unused.length - limit))) {
    await client.delete(ControllerRevision, `${metadata.namespace}/${metadata.name}`, { signal }).catch(
      (error: unknown) => {
        if (!isNotFound(error)) throw error;
      },
    );
  }
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

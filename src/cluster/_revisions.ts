/** ControllerRevisions: the templates that a StatefulSet or DaemonSet has had, as `kubectl rollout history` reads them. */
import { controllerReference, isControlledBy, type KubeObject, type Resource } from "../api/mod.ts";
import { type Client, isAlreadyExists } from "../client/mod.ts";
import type { PodOwner, PodTemplate } from "./_pods.ts";
import { templateHash } from "./_template_hash.ts";

/** The label that says of which template a Pod is. */
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

/** Makes sure that the template has its revision. @returns the word that stands for the template */
export async function revisionFor(
  client: Client,
  owner: PodOwner,
  template: PodTemplate,
  signal: AbortSignal,
): Promise<string> {
  const hash = templateHash(template);
  const { name, namespace } = owner.object.metadata;
  const { items } = await client.list(ControllerRevision, { namespace, signal });
  const ours = items.filter((item) => isControlledBy(item, owner.object));
  const last = Math.max(0, ...ours.map(({ revision }) => revision));
  const held = ours.find(({ metadata }) => metadata.labels?.[revisionLabel] === hash);
  if (held !== undefined) {
    if (held.revision < last) await renumber(client, held, last + 1, signal);
    return hash;
  }
  const metadata = {
    name: `${name}-${hash}`,
    namespace,
    labels: { ...template?.metadata?.labels, [revisionLabel]: hash },
    ownerReferences: [controllerReference(owner.object, owner.resource)],
  };
  const data = { spec: { template: { ...template, $patch: "replace" } } };
  await client.create(ControllerRevision, { metadata, data, revision: last + 1 }, { signal }).catch(
    (error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    },
  );
  return hash;
}

async function renumber(client: Client, held: Revision, revision: number, signal: AbortSignal): Promise<void> {
  const { namespace, name } = held.metadata;
  await client.patch(ControllerRevision, `${namespace}/${name}`, { kind: "merge", value: { revision } }, { signal });
}

/**
 * upgradeDefinitions(): what `install-crds` of this program does with the definitions of a planned cluster and with the objects
 * that are stored: they are converted to the new storage version, get the new defaults and lose what the new schema does not
 * know. Objects that the new schema refuses are reported: the server validates each as if it were created now, CEL rules
 * included.
 */
import { keyOf, type KubeObject, printExactJson, type Resource, resourceName } from "../../api/mod.ts";
import { drain } from "../../async/mod.ts";
import { ApiError, type Client } from "../../client/mod.ts";
import { customDefinitions, type OperatorController } from "../../manager/mod.ts";
import { type Crd, CrdResource, type StoredCrd } from "../../schema/mod.ts";
import { localService, type PlannedProblem, type Snapshot } from "../planning/mod.ts";

/** Turns of the event loop in which the server begins to serve a changed definition. */
const servingTurns = 8;

/** Installs the definitions of the controllers. @returns The objects that the new schemas refuse */
export async function upgradeDefinitions(
  client: Client,
  { controllers, snapshot }: { readonly controllers: readonly OperatorController[]; readonly snapshot: Snapshot },
): Promise<readonly PlannedProblem[]> {
  const refused: PlannedProblem[] = [];
  for (const crd of customDefinitions(controllers, { address: localService })) {
    const live = await client.find(CrdResource, crd.metadata.name);
    if (live === undefined) await client.create(CrdResource, crd);
    else await client.update(CrdResource, upgraded(live, crd));
    await drain(servingTurns);
    if (live !== undefined) refused.push(...await rewriteObjects(client, crd, snapshot));
  }
  return refused;
}

/** The live definition with the content of the new one. Versions that objects may be stored in stay, as install-crds does. */
function upgraded(live: StoredCrd, { metadata, spec }: Crd): StoredCrd {
  const known = new Set(spec.versions.map(({ name }) => name));
  const stored = new Set(live.status?.storedVersions ?? []);
  const kept = live.spec.versions.filter(({ name }) => stored.has(name) && !known.has(name));
  const versions = [...spec.versions, ...kept.map((version) => ({ ...version, storage: false }))];
  const annotations = { ...live.metadata.annotations, ...metadata.annotations };
  return {
    ...live,
    metadata: { ...live.metadata, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) },
    spec: { ...spec, versions },
  };
}

async function rewriteObjects(client: Client, { spec }: Crd, snapshot: Snapshot): Promise<readonly PlannedProblem[]> {
  const { group, scope, names: { kind, plural } } = spec;
  const version = spec.versions.find(({ storage }) => storage)?.name ?? "";
  const resource: Resource<KubeObject> = { group, version, kind, plural, scope };
  const name = resourceName(resource);
  const refused: PlannedProblem[] = [];
  for (const { collection, object: { metadata } } of snapshot.objects) {
    if (collection !== name) continue;
    const key = keyOf({ metadata });
    try {
      const object = await client.get(resource, key);
      await validate(client, resource, object);
      await client.update(resource, object);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refused.push({
        controller: "install-crds",
        key: `${kind} ${key}`,
        problem: error.status.message ?? error.message,
      });
    }
  }
  return refused;
}

/** An update would accept what was invalid before and does not change; a create is validated as a whole. */
async function validate(client: Client, resource: Resource<KubeObject>, object: KubeObject): Promise<void> {
  const { namespace, name, labels, annotations } = object.metadata;
  const root = `/apis/${resource.group}/${resource.version}`;
  const path = `${root}${namespace === undefined ? "" : `/namespaces/${namespace}`}/${resource.plural}?dryRun=All`;
  const body = printExactJson({ ...object, metadata: { namespace, name, labels, annotations } });
  await client.raw(path, { method: "POST", body }).catch((error: unknown) => {
    // It exists, so it has passed the validation.
    if (!(error instanceof ApiError) || error.code !== 409) throw error;
  });
}

/** The objects that show what controllers do. */
import { type KubeObject, type Resource, splitKey } from "../../api/mod.ts";
import { type Client, Discovery, isAlreadyExists, type NewObject } from "../../client/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";

/** Creates them, those without a namespace in `default`. */
export async function createSamples(
  client: Client,
  controllers: readonly OperatorController[],
  signal: AbortSignal,
): Promise<void> {
  const discovery = new Discovery(client);
  for (const sample of controllers.flatMap(({ samples = [] }) => samples)) {
    const resource = await resourceOf(sample, discovery, signal);
    await client.create(resource, placed(sample, resource), { signal }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
}

async function resourceOf(
  sample: KubeObject,
  discovery: Discovery,
  signal: AbortSignal,
): Promise<Resource<KubeObject>> {
  const { namespace: group = "", name: version } = splitKey(sample.apiVersion);
  const found = await discovery.findKind({ group, version, kind: sample.kind }, signal);
  if (found !== undefined) return found.resource;
  throw new Error(`Cannot create sample ${sample.kind} "${sample.metadata.name}": the server does not know its kind`);
}

function placed(sample: KubeObject, { scope }: Resource): NewObject<Resource<KubeObject>> {
  if (scope === "Cluster" || sample.metadata.namespace !== undefined) return sample;
  return { ...sample, metadata: { ...sample.metadata, namespace: "default" } };
}

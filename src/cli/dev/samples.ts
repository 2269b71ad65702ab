/** The objects that show what controllers do. */
import { keyOf, type KubeObject, type Resource, splitKey } from "../../api/mod.ts";
import { type Client, Discovery, isAlreadyExists, type NewObject } from "../../client/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";

/** Creates them, those without a namespace in `default`. @returns what they are: `Foo default/example-foo` */
export async function createSamples(
  client: Client,
  controllers: readonly OperatorController[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const discovery = new Discovery(client);
  const created: string[] = [];
  for (const sample of controllers.flatMap(({ samples = [] }) => samples)) {
    const resource = await resourceOf(sample, discovery, signal);
    const object = placed(sample, resource);
    await client.create(resource, object, { signal }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
    created.push(`${sample.kind} ${keyOf(object)}`);
  }
  return created;
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

function placed(sample: KubeObject, { scope }: Resource): KubeObject & NewObject<Resource<KubeObject>> {
  if (scope === "Cluster" || sample.metadata.namespace !== undefined) return sample;
  return { ...sample, metadata: { ...sample.metadata, namespace: "default" } };
}

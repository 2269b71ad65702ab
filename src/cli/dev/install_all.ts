/** The CRDs of controllers on a server that has none of them yet. */
import { builtin } from "../../api/mod.ts";
import { type Client, isAlreadyExists, type NewObject } from "../../client/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";
import { crdsOf } from "../custom_resources.ts";

/** Creates them; the embedded server serves their kinds when it has answered. */
export async function installAll(
  client: Client,
  controllers: readonly OperatorController[],
  signal: AbortSignal,
): Promise<void> {
  for (const crd of crdsOf(controllers)) {
    const object = crd as unknown as NewObject<typeof builtin.CustomResourceDefinition>;
    await client.create(builtin.CustomResourceDefinition, object, { signal }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
}

/** CRDs that embed types of Kubernetes, on the embedded API server. */
import { controller, done } from "../../src/mod.ts";
import { World } from "../../src/testing.ts";
import { checkEmbeddedSchemas, Embedding } from "../cases/embedded_schemas.ts";
import { assert, test } from "../testing.ts";

test("the embedded API server accepts a CRD with every embedded schema, and refuses what it refuses in a PodTemplate", async () => {
  const idle = controller("idle").for(Embedding).reconcile(() => Promise.resolve(done));
  await using world = await World.start({ controllers: [idle] });
  assert(await checkEmbeddedSchemas(world.client, "default") > 40);
});

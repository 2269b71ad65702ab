/** Compares the stored types, from which those of src/api/generated are written, with what the real server publishes. */
import { RunningApi } from "../../tasks/_published_api.ts";
import { differingSchemas, mergedComponents } from "../../tasks/_published_schemas.ts";
import { controlPlaneTest } from "../controlplane/test.ts";
import { assert, assertEquals } from "../testing.ts";

controlPlaneTest(
  "every schema that the real API server publishes for a built-in type is the stored one",
  async (controlPlane) => {
    const components = mergedComponents(await new RunningApi(controlPlane).components());
    assert(components.size > 400, `${components.size} schemas`);
    assertEquals(await differingSchemas(components), []);
  },
);

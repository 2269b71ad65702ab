/** CRDs that embed types of Kubernetes, on a real API server. */
import { Client, clusterTransport, loadClusterAccess } from "../../src/client/mod.ts";
import { environment, homeDirectory } from "../../src/runtime/mod.ts";
import { printCrd } from "../../src/schema/mod.ts";
import { checkEmbeddedSchemas, Embedding } from "../cases/embedded_schemas.ts";
import { until } from "../controlplane/poll.ts";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { assert } from "../testing.ts";

controlPlaneTest(
  "a real API server accepts a CRD with every embedded schema, and refuses what it refuses in a PodTemplate",
  async (controlPlane) => {
    const { crd } = Embedding;
    await controlPlane.kubectlOutput(["apply", "--server-side", "-f", "-"], { stdin: printCrd(crd) });
    await until("see the new kind", async () => {
      const { code, stderr } = await controlPlane.kubectl(["get", crd.metadata.name]);
      return code === 0 ? { kind: "found", value: true } : { kind: "pending", state: stderr };
    });
    const namespace = await createNamespace(controlPlane);
    const overrides = { kubeconfig: controlPlane.kubeconfig };
    const home = homeDirectory(environment());
    using transport = clusterTransport(await loadClusterAccess({ overrides, environment: environment(), home }));
    assert(await checkEmbeddedSchemas(new Client(transport), namespace) > 40);
  },
);

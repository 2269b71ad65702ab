/**
 * All controllers in one process, end to end: the compiled binary on a real control plane. Run with:
 *
 *   ./compile.sh && deno run -A tests/controlplane/with.ts -- deno test -A tests/e2e/all_test.ts
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { allCases } from "../cases/all.ts";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { assertEquals } from "../testing.ts";
import { runBinary } from "./_binary.ts";
import { binaryTests } from "./_binary_environment.ts";

binaryTests(allCases, "foo", "ecsbinding", "nodepool");

controlPlaneTest("each controller has an example that the server accepts", async (controlPlane) => {
  const { kubeconfig } = controlPlane;
  await runBinary(["install-crds"], { kubeconfig });
  const namespace = await createNamespace(controlPlane);
  const folder = join(import.meta.dirname ?? ".", "..", "..", "examples");
  const files = readdirSync(folder).filter((name) => name.endsWith(".yaml")).sort();
  assertEquals(files, ["ecsbinding.yaml", "foo.yaml", "ingress.yaml", "nodepool.yaml", "pods.yaml"]);
  for (const file of files) {
    const args = ["apply", "--namespace", namespace, "--dry-run=server", "--validate=strict", "-f", join(folder, file)];
    await controlPlane.kubectlOutput(args);
  }
});

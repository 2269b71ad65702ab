/**
 * The controller nodepool end to end: its cases with the compiled binary on a real control plane. Run with:
 *
 *   ./compile.sh && deno run -A tests/controlplane/with.ts --apply crds -- deno test -A tests/e2e/nodepool_test.ts
 */
import { nodepoolCases } from "../cases/nodepool.ts";
import { binaryTests } from "./_binary_environment.ts";

binaryTests(nodepoolCases, "nodepool");

/**
 * The controller ingress end to end: its cases with the compiled binary on a real control plane. Run with:
 *
 *   ./compile.sh && deno run -A tests/controlplane/with.ts -- deno test -A tests/e2e/ingress_test.ts
 */
import { ingressCases } from "../cases/ingress.ts";
import { binaryTests } from "./_binary_environment.ts";

binaryTests(ingressCases);

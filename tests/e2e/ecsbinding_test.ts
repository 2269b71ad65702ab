/**
 * EcsBinding end to end: the typed client, informers, and the controller's cases with the compiled binary, on a real
 * control plane. Run with:
 *
 *   ./compile.sh && deno run -A tests/controlplane/with.ts -- deno test -A tests/e2e/ecsbinding_test.ts
 */
import { ecsbindingCases } from "../cases/ecsbinding.ts";
import { ecsbindingClientCases } from "../cases/ecsbinding_client.ts";
import { binaryTests } from "./_binary_environment.ts";

binaryTests([...ecsbindingClientCases, ...ecsbindingCases], "ecsbinding");

/** startCluster(): the embedded cluster or a real API server for a test, as the environment says. */
import { type Environment, environment as processEnvironment } from "../runtime/mod.ts";
import { EmbeddedCluster } from "./embedded_cluster.ts";
import { RealCluster } from "./real_cluster.ts";
import type { TestCluster, TestClusterOptions } from "./test_cluster.ts";

/** Options of {@link startCluster}. */
export interface StartClusterOptions extends TestClusterOptions {
  /** PINTLE_TEST_CLUSTER, and the variables of `RealCluster`. @default those of the process */
  readonly environment?: Environment;
}

/**
 * Starts a cluster for a test: an `EmbeddedCluster`, or with `PINTLE_TEST_CLUSTER=real` (or `USE_EXISTING_CLUSTER=true`) a
 * `RealCluster`. So the same test file runs in a second on the embedded server, and in CI also on a real one.
 *
 * @param options What both clusters have in common.
 * @throws {TypeError} when PINTLE_TEST_CLUSTER is neither "embedded" nor "real"
 *
 * @example
 * ```ts
 * import { ConfigMap } from "@pintle/controller";
 * import { startCluster } from "@pintle/controller/testing";
 *
 * await using cluster = await startCluster({ workloads: false, onError: console.error });
 * await cluster.client.create(ConfigMap, { metadata: { namespace: "default", name: "a" }, data: { color: "blue" } });
 * console.assert((await cluster.client.get(ConfigMap, "default/a")).data?.color === "blue");
 * ```
 */
export async function startCluster(options: StartClusterOptions): Promise<TestCluster> {
  const { environment = processEnvironment(), ...common } = options;
  const { PINTLE_TEST_CLUSTER: wanted = "", USE_EXISTING_CLUSTER: existing = "" } = environment;
  switch (wanted) {
    case "":
      if (existing.toLowerCase() !== "true") return await EmbeddedCluster.start(common);
      return await RealCluster.start({ ...common, environment });
    case "embedded":
      return await EmbeddedCluster.start(common);
    case "real":
      return await RealCluster.start({ ...common, environment });
    default:
      throw new TypeError(`Cannot start a cluster: PINTLE_TEST_CLUSTER is "${wanted}". Set it to "embedded" or "real"`);
  }
}

/**
 * The control plane beside the API server, simulated: Deployments become ReplicaSets and Pods on simulated nodes, Services get
 * Endpoints and EndpointSlices, dependents of deleted objects are collected, and namespaces are emptied. It runs on any API server and is
 * written with this project's own controllers.
 */
export {
  clusterControllers,
  type ClusterControllersOptions,
  clusterLoggers,
  SimulatedCluster,
  type SimulatedClusterOptions,
} from "./simulated_cluster.ts";
export type { KubeletPace } from "./kubelet.ts";
export { GarbageCollector, type GarbageCollectorOptions } from "./garbage_collector.ts";
export { installCustomResources, installWebhooks, webhookCaller } from "./controller_setup.ts";
export {
  conversionsOf,
  findStoredObject,
  type InMemoryApi,
  RequestTracker,
  storedObject,
  storedObjects,
} from "./in_memory_api.ts";
export { type AuthorityPair, SigningAuthority } from "./signing_authority.ts";
export { ControllerAccounts, type ControllerAccountsOptions } from "./controller_accounts.ts";
export { DataFolderError } from "./data_folder.ts";
export { EmbeddedCluster, type EmbeddedClusterOptions } from "./embedded_cluster.ts";
export { RealCluster, type RealClusterOptions } from "./real_cluster.ts";
export { startCluster, type StartClusterOptions } from "./start_cluster.ts";
export type { TestCluster, TestClusterOptions } from "./test_cluster.ts";

/**
 * What a cluster does with what its API server stores: Deployments become ReplicaSets become Pods on simulated nodes,
 * Services get EndpointSlices, namespaces and owners take with them what is theirs. Runs on any API server, and is
 * written with this project's own controllers.
 */
export { SimulatedCluster, type SimulatedClusterOptions } from "./simulated_cluster.ts";
export { clusterControllers, type ClusterControllersOptions, clusterLoggers } from "./cluster_controllers.ts";
export type { KubeletPace } from "./kubelet.ts";
export { GarbageCollector, type GarbageCollectorOptions } from "./garbage_collector.ts";
export { customResourcesOf } from "./custom_resources_of.ts";
export { installWebhooks, webhookCaller } from "./in_process_webhooks.ts";
export { findStoredObject, storedObject, storedObjects } from "./stored_objects.ts";
export { EmbeddedCluster, type EmbeddedClusterOptions } from "./embedded_cluster.ts";

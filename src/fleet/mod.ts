/** One operator for many clusters: the Fleet, and the providers that report its clusters. */
export { type ClusterConnection, clusterList, type ClusterProvider, type FleetCluster } from "./cluster_provider.ts";
export { type ClusterStatus, Fleet, type FleetOptions } from "./fleet.ts";

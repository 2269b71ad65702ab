/** The flag `--clusters`: the sources of clusters, their providers, and what they need in the hub. */
export { clustersFlag, type ClusterSource, formatClusterSource, parseClusterSource } from "./clusters_flag.ts";
export { connectMember, firstClusters } from "./first_clusters.ts";
export { providerGrants } from "./provider_grants.ts";
export { providerOf } from "./provider_of.ts";

/** One operator for many clusters: the Fleet, and the providers that report its clusters. */
export {
  type ClusterConnection,
  clusterList,
  type ClusterProvider,
  type DistinctClusters,
  distinctClusters,
  type FleetCluster,
} from "./cluster_provider.ts";
export { type ClusterStatus, Fleet, type FleetOptions } from "./fleet.ts";
export type { ConnectOptions } from "./kubeconfig_connection.ts";
export {
  kubeconfigContexts,
  type KubeconfigContextsOptions,
  kubeconfigFolder,
  type KubeconfigFolderOptions,
} from "./kubeconfig_files.ts";
export {
  clusterApiClusters,
  type ClusterApiOptions,
  kubeconfigSecrets,
  type KubeconfigSecretsOptions,
} from "./kubeconfig_secrets.ts";

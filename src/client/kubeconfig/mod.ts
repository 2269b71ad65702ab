/** How to reach an API server: kubeconfig files, flags and the service account of a Pod become one ClusterAccess. */
export {
  type ClusterAccess,
  type Credentials,
  CredentialsError,
  type ExecPlugin,
  type Impersonation,
  KubeconfigError,
  Masked,
  type OidcProvider,
  type PemSource,
} from "./cluster_access.ts";
export { impersonationProblem } from "./impersonation_problem.ts";
export { Kubeconfig, kubeconfigPaths, loadKubeconfig, type LoadKubeconfigOptions } from "./kubeconfig.ts";
export { loadClusterAccess, type LoadClusterAccessOptions } from "./load_cluster_access.ts";
export type { KubeconfigOverrides } from "./resolve_access.ts";
export { firstProblemOnly } from "./first_problem.ts";
export { loadStoredAccess, type StoredAccessOptions } from "./stored_kubeconfig.ts";
export { isSafeUrl, proxyFromEnvironment } from "./proxy_rules.ts";

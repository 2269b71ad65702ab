/** Talking to an API server: who one is, how requests get there, and the verbs of the Kubernetes API. */
export {
  ApiError,
  type ApiErrorOptions,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isGone,
  isInternalError,
  isInvalid,
  isNotFound,
  isTimeout,
  isTooLargeResourceVersion,
  isTooManyRequests,
  isUnauthorized,
  type NotFoundError,
} from "./api_error.ts";
export { Client, type ClientOptions } from "./client.ts";
export type {
  ApplyOptions,
  CollectionOptions,
  DeleteOptions,
  DeleteResult,
  Draft,
  GetOptions,
  JsonPatchOperation,
  NewObject,
  Partly,
  Patch,
  PatchValue,
  RawRequest,
  TokenRequest,
  TokenRequestOptions,
  WriteOptions,
} from "./client_options.ts";
export type { ClusterAccess, Credentials, ExecPlugin, Impersonation, PemSource } from "./cluster_access.ts";
export { KubeconfigError } from "./kubeconfig_error.ts";
export { mask, Masked } from "./masked.ts";
export { measuredTransport, type MeasuredTransportOptions } from "./metrics.ts";
export { guardSends, sendGuardOf } from "./send_guard.ts";
export type { Transport } from "./transport.ts";
export {
  isUnreachable,
  UnreachableError,
  type UnreachableErrorOptions,
  type UnreachableReason,
} from "./unreachable_error.ts";
export { watchLines, type WatchLinesOptions } from "./watch_lines.ts";
export { Kubeconfig, kubeconfigPaths, loadKubeconfig, type LoadKubeconfigOptions } from "./kubeconfig.ts";
export { type KubeconfigOverrides, loadClusterAccess, type LoadClusterAccessOptions } from "./load_cluster_access.ts";
export { type ClusterTransport, clusterTransport, type ClusterTransportOptions } from "./cluster_transport.ts";
export { CredentialsError } from "./credentials_error.ts";
export type { ExecPolicy } from "./exec_credential.ts";
export { retryOnConflict, type RetryOnConflictOptions } from "./retry_on_conflict.ts";
export { type Discovered, Discovery, type DiscoveryOptions, type ServerVersion, serverVersion } from "./discovery.ts";

/** The client of an API server: configuration, credentials, transports, and the verbs of the Kubernetes API. */
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
export type { ChangesOptions, ObjectChange } from "./changes.ts";
export { Client } from "./client.ts";
export type { FromKubeconfigOptions } from "./kubeconfig_client.ts";
export type { LogOptions } from "./pod_logs.ts";
export type { AttachOptions, ContainerStreams, ExecOptions, ProgramOutput } from "./pod_streams.ts";
export type { PortForward, PortForwardOptions } from "./port_forward.ts";
export { ServerClient, UnknownKindError } from "./server_client.ts";
export { StateError, StateStore, type StateStoreOptions } from "./state_store.ts";
export { type WaitCondition, WaitError, type WaitForOptions } from "./wait_for.ts";
export type {
  ApplyConfiguration,
  ApplyOptions,
  ClientOptions,
  CollectionOptions,
  DeepPartial,
  DeleteOptions,
  DeleteResult,
  GetOptions,
  JsonPatchOperation,
  NewObject,
  Patch,
  PatchValue,
  RawRequest,
  Selection,
  TokenRequest,
  TokenRequestOptions,
  WriteOptions,
} from "./client_options.ts";
export {
  type ClusterTransport,
  clusterTransport,
  type ClusterTransportOptions,
  rateLimiter,
} from "./cluster_transport.ts";
export type { ExecPolicy } from "./credentials/mod.ts";
export {
  type DiscoveredKind,
  Discovery,
  type DiscoveryOptions,
  type DiscoverySource,
  type KindQuery,
  type ServerVersion,
  serverVersion,
} from "./discovery.ts";
export {
  type ClusterAccess,
  type Credentials,
  CredentialsError,
  type ExecPlugin,
  type Impersonation,
  Kubeconfig,
  KubeconfigError,
  type KubeconfigOverrides,
  kubeconfigPaths,
  loadClusterAccess,
  type LoadClusterAccessOptions,
  loadKubeconfig,
  type LoadKubeconfigOptions,
  loadStoredAccess,
  Masked,
  type OidcProvider,
  type PemSource,
  proxyFromEnvironment,
  type StoredAccessOptions,
} from "./kubeconfig/mod.ts";
export { type ImpersonatedUser, impersonationOf } from "./impersonation.ts";
export { type MeasuredTransport, measuredTransport, type MeasuredTransportOptions } from "./measured_transport.ts";
export { InvalidResponseError } from "../api/mod.ts";
export { parseResponse } from "./response_shape.ts";
export { isTemporary, retryOnConflict, type RetryOnConflictOptions } from "./retry.ts";
export { askForUpgrade, guardSends, sendGuardOf, type Transport, upgradeOf } from "./transport.ts";
export {
  isUnreachable,
  unreachable,
  UnreachableError,
  type UnreachableErrorOptions,
  type UnreachableReason,
} from "./unreachable_error.ts";
export { watchLines, type WatchLinesOptions } from "./watch_lines.ts";
export {
  isOutcomeUnknown,
  type RawReport,
  type ReadReport,
  type WriteObserver,
  type WriteReport,
} from "./write_observer.ts";
export { isUnavailableStatus, recoveryTransport } from "./recovery_transport.ts";

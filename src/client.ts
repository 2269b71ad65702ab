/**
 * The Kubernetes client for programs without a controller: credentials, requests, watches, patches, and leader election.
 *
 * @module
 */
export {
  Client,
  type ClientOptions,
  type ClusterAccess,
  clusterTransport,
  type JsonPatchOperation,
  loadClusterAccess,
  type NotFoundError,
  type Patch,
  type PatchValue,
  retryOnConflict,
  type Transport,
} from "./client/mod.ts";
export {
  type ApiStatus,
  apiVersionOf,
  compareResourceVersions,
  isSelected,
  type KeyParts,
  type KubeList,
  type LabelRequirement,
  type ListOptions,
  type ListPage,
  type ListWatch,
  resourceName,
  type ResourceVersion,
  type Scope,
  type StringMap,
  type UntypedObject,
  untypedResource,
  type WatchEvent,
  type WatchOptions,
} from "./api/mod.ts";
export { LeaderElector, type LeaderElectorOptions, type Leadership, LeaseLostError } from "./manager/mod.ts";

/**
 * An API server like kube-apiserver, as a fetch handler, for development, tests and the simulation.
 *
 * Its inside, in the order of innerFolders in tests/layers.ts. A folder imports only folders above it in this list:
 *
 * - model/: what all folders share: JSON, Kind, type schemas, StatusError, regular expressions.
 * - storage/: the objects, their history and snapshots (the etcd and the watch cache).
 * - patch/: JSON patch, merge patch, strategic merge patch, and server-side apply with managedFields.
 * - registry/: the verbs of the API on all kinds. create, update, patch, delete, get, list and watch are here.
 * - kinds/: the built-in kinds, by API group: defaults, validation, conversion, tables, quota. They implement Kind of model/.
 * - protobuf/: built-in kinds in protobuf, which Go clients send and request: bodies, responses, events of a watch.
 * - cel/, devices/, admission/, plugins/: CEL expressions, selectors of devices, webhooks and policies, built-in admission
 *   plugins.
 * - forward/: requests that are passed on to programs on this machine, which stand in for what simulated Pods serve.
 * - actions/, access/: subresources that are actions, such as eviction; authentication and RBAC.
 * - crd/: custom resources: adds a Kind to the registry for each CustomResourceDefinition.
 * - http/: from a Request to a Response: authentication, routes, bodies, formats, watch streams.
 * - discovery/, openapi/: documents about the served kinds.
 * - type_checks/: expressions of policies against the schemas of kinds, for a controller of the simulated cluster.
 * - aggregation/: APIServices, whose requests are passed on to other API servers.
 *
 * A write goes from http/ to registry/ to storage/; a watch goes the other way, from the history of storage/ through the
 * selection in registry/ to a stream in http/. ApiServer connects these three; kubernetesApi() adds the other folders.
 */
export { type Account, serviceAccountUser } from "./access/mod.ts";
export { type FrontProxy, frontProxyName } from "./aggregation/mod.ts";
export type { ExecAnswer, ExecAnswers, ExecCall } from "./actions/mod.ts";
export { ApiServer, type ApiServerOptions } from "./api_server.ts";
export {
  addAmounts,
  type Amounts,
  compareQuantities,
  coversScopes,
  formatQuantity,
  isInRange,
  meterOf,
  networkOf,
  parseCidr,
  parseIp,
  parseQuantity,
  type QuotaMeter,
  sumOfQuantities,
} from "./kinds/mod.ts";
export { checkPolicyTypes, type ExpressionWarning, type KindType, KindTypes } from "./type_checks/mod.ts";
export { selectsDevice } from "./devices/mod.ts";
export { type VersionSchema, versionSchemaOf } from "./crd/mod.ts";
export { type Connection, JsonPath, JsonPathError, type User } from "./model/mod.ts";
export type { FeatureGate, HealthCheck, PathHandler } from "./http/mod.ts";
export { decodeProtobuf, encodeProtobuf, protobufType, watchFrame } from "./protobuf/mod.ts";
export {
  type ActionCall,
  type ActionResponse,
  type KindFamily,
  KindRegistry,
  loopbackUser,
  Registry,
  type ReviewHandler,
  type SubresourceHandler,
} from "./registry/mod.ts";
export { type CallWebhook, httpsWebhookCaller, WebhookCallError } from "./admission/mod.ts";
export { type KubernetesApi, kubernetesApi, type KubernetesApiOptions } from "./kubernetes_api.ts";
export {
  type Durability,
  ObjectDatabase,
  ObjectStorage,
  type StorageChange,
  type StorageOptions,
  StoredDataError,
  type StoredSettings,
} from "./storage/mod.ts";

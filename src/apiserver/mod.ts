/** The Kubernetes API as a fetch handler, for development, tests and the simulation. */
export { ApiServer, type ApiServerOptions } from "./api_server.ts";
export { loopbackUser } from "./loopback_call.ts";
export { addAmounts, type Amounts, coversScopes, meterOf, type QuotaMeter } from "./kinds/mod.ts";
export { type Connection, type HealthCheck, type PathHandler } from "./http/mod.ts";
export {
  type ActionAnswer,
  type ActionCall,
  type KindFamily,
  KindRegistry,
  Registry,
  type ReviewHandler,
  type SubresourceHandler,
} from "./registry/mod.ts";
export { type CallWebhook, httpsWebhookCaller, WebhookCallError } from "./admission/mod.ts";
export { type KubernetesApi, kubernetesApi, type KubernetesApiOptions } from "./kubernetes_api.ts";
export { ObjectStorage, type StorageChange, type StorageOptions } from "./storage/mod.ts";

/** What controllers may do on the API server: RBAC rules from declarations, their enforcement, and denials. */
export { type AccessGrant, controllerGrants, policyRules, processGrants, type ProcessNeeds } from "./access_grants.ts";
export {
  type AccessPlace,
  type AccessRule,
  controllerAccess,
  electionAccess,
  mergedAccess,
  readAccess,
  reviewAccess,
  webhookAccess,
  type WebhookObjects,
} from "./access_rules.ts";
export { declaredTransport, UndeclaredAccessError } from "./declared_transport.ts";
export { DeclaredCaches } from "./declared_caches.ts";
export { type DeniedRequest, undeclaredReason } from "./missing_declaration.ts";
export { PermissionDenials } from "./permission_denials.ts";
export { type RequestInfo, requestInfo, writeAction } from "./request_info.ts";

/** What controllers may do on the API server: RBAC rules from declarations, their enforcement in tests, and denials. */
export {
  type AccessRule,
  controllerAccess,
  electionAccess,
  mergedAccess,
  reviewAccess,
  webhookAccess,
  type WebhookObjects,
} from "./access_rules.ts";
export { declaredTransport, UndeclaredAccessError } from "./declared_transport.ts";
export { PermissionDenials } from "./permission_denials.ts";
export { type RequestInfo, requestInfo, writeAction } from "./request_info.ts";

/** Authentication and authorization: tokens, client certificates, impersonation, RBAC, and the review resources. */
export { RequestAuthenticator, type RequestAuthenticatorOptions } from "./authenticator.ts";
export { type Account, AccountAuthenticator, withBootstrapRbac } from "./accounts.ts";
export { AuthorizerChain } from "./authorizer_chain.ts";
export { bootstrapRbac } from "./bootstrap_rbac.ts";
export { claimStatusCheck } from "./claim_status_check.ts";
export { escalationCheck } from "./escalation.ts";
export { FlowSchemas } from "./flow_schemas.ts";
export { NodeAuthorizer } from "./node_authorizer.ts";
export { paramAccess, type ParamAccessOptions } from "./param_access.ts";
export { RbacAuthorizer, type RbacAuthorizerOptions } from "./rbac.ts";
export { serviceAccountUser, TokenAuthority, type TokenAuthorityOptions } from "./token_authority.ts";
export { accessReviews } from "./access_reviews.ts";
export { tokenHandlers } from "./token_handlers.ts";

/** Authentication and authorization: tokens, client certificates, impersonation, RBAC, and the review resources. */
export { impersonated, RequestAuthenticator, type RequestAuthenticatorOptions } from "./authenticator.ts";
export { bootstrapRbac, RbacAuthorizer } from "./rbac.ts";
export { TokenAuthority, type TokenAuthorityOptions } from "./token_authority.ts";
export { accessReviews } from "./access_reviews.ts";
export { tokenHandlers } from "./token_handlers.ts";

/** Who asks, and what they may: tokens, client certificates, impersonation, RBAC and the reviews that ask about them. */
export { RequestAuthenticator, type RequestAuthenticatorOptions } from "./authenticator.ts";
export { RbacAuthorizer } from "./rbac_authorizer.ts";
export { TokenAuthority, type TokenAuthorityOptions } from "./token_authority.ts";
export { accessReviews } from "./access_reviews.ts";
export { tokenHandlers } from "./token_handlers.ts";
export { impersonated } from "./impersonation.ts";
export { bootstrapRbac } from "./bootstrap_rbac.ts";

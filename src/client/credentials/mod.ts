/** Credentials of a cluster: tokens, token files, exec plugins and OpenID Connect, renewed while the program runs. */
export { type Credential } from "./credential.ts";
export { type CredentialSource, credentialSource } from "./credential_source.ts";
export type { ExecPolicy } from "./exec_plugin.ts";

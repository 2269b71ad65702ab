/** Credential: what a request sends to authenticate, and how long it is valid. */
import { CredentialsError, Masked } from "../kubeconfig/mod.ts";

/** The credential at one moment. The same value is the same object. */
export interface Credential {
  /** The Authorization header. */
  readonly authorization: Masked | undefined;
  /** A client certificate of a plugin, PEM. */
  readonly certificate: { readonly cert: string; readonly key: Masked } | undefined;
}

/** A credential that expires. */
export interface ExpiringCredential extends Credential {
  /** The monotonic time of its end; undefined if it is valid until the API server rejects it. */
  readonly validUntil: number | undefined;
}

/** The Authorization header of a token. @throws CredentialsError when a header cannot contain the token. */
export function bearer(token: string): Masked {
  // Printable ASCII: other characters come from a truncated or wrong file, and a line break would begin another header.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new CredentialsError("Cannot use the token of the user: it is empty or has characters that no token has");
  }
  return new Masked(`Bearer ${token}`);
}

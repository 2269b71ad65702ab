/**
 * RequestAuthenticator: finds the user of a request by its bearer token or by the client certificate that the listener has
 * verified, and applies impersonation.
 *
 * Guarantees: a request with an invalid token is not authenticated, unless it has a certificate, which comes first; one
 * without a credential is, as `system:anonymous`, only if the server allows that.
 */
import type { ReceivedHead } from "../../runtime/mod.ts";
import { type Authenticator, type Authorizer, type Connection, StatusError, type User } from "../model/mod.ts";
import { type AttributesFor, Impersonation } from "./impersonation.ts";
import { certificateUser, type TokenAuthority } from "./token_authority.ts";

/** Options of a {@link RequestAuthenticator}. */
export interface RequestAuthenticatorOptions {
  readonly tokens: TokenAuthority;
  /** Decides about impersonation. */
  readonly authorizer: Authorizer;
  /** Requests without a credential are those of `system:anonymous`. @default false: they have no user */
  readonly allowsAnonymous?: boolean;
}

export class RequestAuthenticator implements Authenticator {
  readonly #options: RequestAuthenticatorOptions;
  readonly #impersonation: Impersonation;

  constructor(options: RequestAuthenticatorOptions) {
    this.#options = options;
    this.#impersonation = new Impersonation(options.authorizer);
  }

  /** @throws StatusError 401 for an invalid token, 403 for impersonation without permission */
  authenticate(request: ReceivedHead, connection: Connection, attributesFor: AttributesFor): User | undefined {
    const sender = this.#sender(request, connection);
    return sender === undefined ? undefined : this.#impersonation.userOf(request, sender, attributesFor);
  }

  #sender(request: ReceivedHead, { clientName, clientOrganizations, clientFingerprint }: Connection): User | undefined {
    const { tokens, allowsAnonymous = false } = this.#options;
    if (clientName !== undefined) {
      return certificateUser(clientName, clientOrganizations, clientFingerprint);
    }
    const token = bearerOf(request);
    if (token === undefined) return allowsAnonymous ? anonymous : undefined;
    const known = tokens.read(token);
    if (known === undefined || !known.audiences.includes(tokens.issuer)) throw unauthorized();
    return known.user;
  }
}

/** The response to a request with an invalid token. */
export function unauthorized(): StatusError {
  return new StatusError(401, "Unauthorized", "Unauthorized");
}

/** The user of requests without a credential, where they are allowed. */
const anonymous: User = { name: "system:anonymous", uid: "", groups: ["system:unauthenticated"], extra: new Map() };

/** The bearer token of a request; undefined when it has none. */
export function bearerOf(request: ReceivedHead): string | undefined {
  const header = request.headers.get("authorization");
  const match = /^bearer +(\S+)$/i.exec(header ?? "");
  return match?.[1];
}

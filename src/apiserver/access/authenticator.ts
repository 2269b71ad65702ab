/**
 * RequestAuthenticator: who sent a request: a bearer token, or a client certificate that the listener has checked. Nobody
 * else is let in; there is no anonymous user.
 */
import { type Authenticator, type Authorizer, Refusal, type User } from "../model/mod.ts";
import { impersonated } from "./impersonation.ts";
import { knownUser } from "./_users.ts";
import type { TokenAuthority } from "./token_authority.ts";

/** Options of a {@link RequestAuthenticator}. */
export interface RequestAuthenticatorOptions {
  readonly tokens: TokenAuthority;
  /** Decides who may act as somebody else. */
  readonly authorizer: Authorizer;
  /** The groups of client certificates, by common name. @default none */
  readonly groupsOf?: (clientName: string) => readonly string[];
}

export class RequestAuthenticator implements Authenticator {
  readonly #options: RequestAuthenticatorOptions;

  constructor(options: RequestAuthenticatorOptions) {
    this.#options = options;
  }

  /** @throws Refusal 401 for a token that is nobody's, 403 for who may not act as they ask to */
  authenticate(request: Request, clientName: string | undefined): User | undefined {
    const sender = this.#sender(request, clientName);
    return sender === undefined ? undefined : impersonated(request, sender, this.#options.authorizer);
  }

  #sender(request: Request, clientName: string | undefined): User | undefined {
    const { tokens, groupsOf } = this.#options;
    const token = bearerOf(request);
    if (token === undefined) {
      return clientName === undefined ? undefined : knownUser(clientName, groupsOf?.(clientName));
    }
    const known = tokens.read(token);
    if (known === undefined || !known.audiences.includes(tokens.issuer)) throw unauthorized();
    return known.user;
  }
}

/** The answer to somebody who is not known. */
export function unauthorized(): Refusal {
  return new Refusal(401, "Unauthorized", "Unauthorized");
}

function bearerOf(request: Request): string | undefined {
  const header = request.headers.get("authorization");
  const match = /^bearer +(\S+)$/i.exec(header ?? "");
  return match?.[1];
}

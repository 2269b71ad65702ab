/**
 * Who asks and what they may: the seams of authentication and authorization. access/ implements them (tokens, client
 * certificates, impersonation, RBAC).
 */

/** Who sent a request. */
export interface User {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

/** What a request wants to do. */
export interface Attributes {
  readonly user: User;
  /** `get`, `list`, `create`, ...; for other paths the HTTP method in lower case. */
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** The URL's path. */
  readonly path: string;
}

/** An authorizer's answer. */
export interface Decision {
  readonly isAllowed: boolean;
  /** For people; empty where there is nothing to say. */
  readonly reason: string;
}

/** Finds out who sent a request: undefined for nobody that is known. Throws a Refusal (401) for a bad credential. */
export interface Authenticator {
  authenticate(request: Request, clientName: string | undefined): User | undefined;
}

/** Decides whether they may. */
export interface Authorizer {
  authorize(attributes: Attributes): Decision;
}

/**
 * The interfaces of authentication and authorization, which come before the registry in the chain of a request. access/
 * implements them: tokens, client certificates, impersonation, RBAC.
 */

/** The user who sent a request. */
export interface User {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

/** What a request wants to do: the attributes that an authorizer decides on. */
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
  /** The path of the URL. */
  readonly path: string;
}

/** The decision of an authorizer. */
export interface Decision {
  readonly isAllowed: boolean;
  /** Shown to users; may be empty. */
  readonly reason: string;
}

/** What a listener knows about the client. */
export interface Connection {
  /** The common name of a verified client certificate. */
  readonly clientName?: string;
  /** Its organizations: the groups of the user. */
  readonly clientOrganizations?: readonly string[];
}

/** Finds the user who sent a request; undefined for an unknown one. Throws a StatusError (401) for a bad credential. */
export interface Authenticator {
  authenticate(request: Request, connection: Connection): User | undefined;
}

/** Decides whether a user may do what a request wants to do. */
export interface Authorizer {
  authorize(attributes: Attributes): Decision;
}

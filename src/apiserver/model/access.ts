/**
 * The interfaces of authentication and authorization, which come before the registry in the chain of a request. access/
 * implements them: tokens, client certificates, impersonation, RBAC.
 */

import type { ReceivedHead } from "../../runtime/mod.ts";
import { forbidden, type StatusError } from "./status_error.ts";

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
  /** The values that a list, a watch or a deletion of many objects requires of fields. @default none */
  readonly requiredFields?: readonly RequiredField[];
}

/** A field selector's term that requires a value. */
export interface RequiredField {
  readonly field: string;
  readonly value: string;
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
  /** Its SHA-256 in hexadecimal. */
  readonly clientFingerprint?: string;
  /** Its address. */
  readonly remoteAddress?: string;
}

/** Finds the user who sent a request; undefined for an unknown one. Throws a StatusError (401) for a bad credential. */
export interface Authenticator {
  /** @param attributesFor what the request wants to do, if its user were this one: impersonation depends on it */
  authenticate(
    request: ReceivedHead,
    connection: Connection,
    attributesFor: (user: User) => Attributes,
  ): User | undefined;
}

/** Decides whether a user may do what a request wants to do. */
export interface Authorizer {
  authorize(attributes: Attributes): Decision;
}

const nodeUser = "system:node:";

/**
 * The name of the Node whose kubelet the user is: `system:node:NAME` in the group `system:nodes`. Source: kubernetes
 * `pkg/auth/nodeidentifier` of 1.36.
 *
 * @returns undefined for other users, "" for a node that has no name
 */
export function nodeNameOf({ name, groups }: User): string | undefined {
  return name.startsWith(nodeUser) && groups.includes("system:nodes") ? name.slice(nodeUser.length) : undefined;
}

/** The 403 of a user who may not do something (apiserver `responsewriters/errors.go`). @param reason of the authorizer, or "" */
export function deniedError(attributes: Attributes, reason: string): StatusError {
  const what = sanitized(actionText(attributes));
  const { group, resource, name } = attributes;
  return forbidden({ group, resource, name }, reason === "" ? what : `${what}: ${reason}`);
}

function actionText(attributes: Attributes): string {
  const { user, verb, isResourceRequest, path, resource, subresource, group, namespace } = attributes;
  const who = `User ${JSON.stringify(user.name)} cannot ${verb}`;
  if (!isResourceRequest) return `${who} path ${JSON.stringify(path)}`;
  const what = subresource === "" ? resource : `${resource}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
  return `${who} resource ${JSON.stringify(what)} in API group ${JSON.stringify(group)} ${where}`;
}

function sanitized(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** What flow control decides about a request. */
export interface FlowTicket {
  /** Headers of the response, also of a refusal. */
  readonly headers: Readonly<Record<string, string>>;
  /** Set when the request is refused: the client should repeat it after this time. */
  readonly retryAfterSeconds?: number;
  /** Gives the seat back. Absent: the request needs none. */
  readonly release?: () => void;
}

/** Lets requests wait for their turn. */
export interface FlowControl {
  /** @returns undefined for a request that nothing is known about */
  admit(attributes: Attributes, signal: () => AbortSignal): FlowTicket | Promise<FlowTicket> | undefined;
}

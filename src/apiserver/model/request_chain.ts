/**
 * The parts of the request chain that come before the registry: authentication, authorization, admission. These are their
 * interfaces. access/ implements the first two (tokens, client certificates, impersonation, RBAC); admission/ and plugins/
 * implement the third (webhooks, policies, quotas, the life cycle of namespaces).
 */
import type { Draft, JsonObject } from "./json.ts";
import type { Kind } from "./kind.ts";

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

/** Finds the user who sent a request; undefined for an unknown one. Throws a StatusError (401) for a bad credential. */
export interface Authenticator {
  authenticate(request: Request, clientName: string | undefined): User | undefined;
}

/** Decides whether a user may do what a request wants to do. */
export interface Authorizer {
  authorize(attributes: Attributes): Decision;
}

/** The operation that admission sees. */
export type Operation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

/** A write that is authorized and well formed, before it is stored. */
export interface AdmissionRequest {
  readonly operation: Operation;
  readonly kind: Kind;
  readonly subresource: string;
  readonly namespace: string;
  /** "" while the name is not generated yet. */
  readonly name: string;
  /** The object as it would be stored; mutating plugins change it. Absent for DELETE. */
  object: Draft | undefined;
  readonly oldObject: JsonObject | undefined;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions. */
  readonly options: JsonObject;
  readonly user: User;
  readonly isDryRun: boolean;
  /** Adds a Warning header to the response. */
  warn(text: string): void;
}

/** An admission plugin. It rejects a write by throwing a StatusError. */
export interface AdmissionPlugin {
  readonly name: string;
  /** May change `request.object`. */
  admit?(request: AdmissionRequest): void | Promise<void>;
  /** May only reject; sees the object as it will be stored. */
  validate?(request: AdmissionRequest): void | Promise<void>;
}

/**
 * Admission: the seam between a write that is allowed and well formed, and those who may still change or refuse it
 * (webhooks, policies, the life of namespaces).
 */
import type { Draft, JsonObject } from "./json.ts";
import type { Kind } from "./kind.ts";
import type { User } from "./access.ts";

/** What is being done to the object. */
export type Operation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

/** A write on its way in. */
export interface AdmissionRequest {
  readonly operation: Operation;
  readonly kind: Kind;
  readonly subresource: string;
  readonly namespace: string;
  /** "" while the name is not made yet. */
  readonly name: string;
  /** The object as it would be stored; mutating plugins change it. Absent for DELETE. */
  object: Draft | undefined;
  readonly oldObject: JsonObject | undefined;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions. */
  readonly options: JsonObject;
  readonly user: User;
  readonly isDryRun: boolean;
  /** Warnings for the client, as Warning headers. */
  warn(text: string): void;
}

/** Somebody who has a say in writes. A refusal is thrown. */
export interface AdmissionPlugin {
  readonly name: string;
  /** May change `request.object`. */
  admit?(request: AdmissionRequest): void | Promise<void>;
  /** May only refuse; sees the object as it will be stored. */
  validate?(request: AdmissionRequest): void | Promise<void>;
}

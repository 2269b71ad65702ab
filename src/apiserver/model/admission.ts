/**
 * The interface of admission: plugins that may change or reject a write after it is authorized and decoded, and before it is
 * stored. admission/ and plugins/ implement it: webhooks, policies, quotas, the life cycle of namespaces.
 */
import type { User } from "./access.ts";
import type { Draft, JsonObject } from "../../cel/mod.ts";
import type { Kind } from "./kind.ts";

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
  /** True for a PATCH, whose operation is UPDATE. @default false */
  readonly isPatch?: boolean;
  /** True while the mutating plugins run again, because one of them has asked for it. @default false */
  isSecondRound?: boolean;
  /** A plugin sets it when it has changed the object in a way that earlier plugins need to see. @default false */
  needsSecondRound?: boolean;
  /** Adds a Warning header to the response. */
  warn(text: string): void;
}

/** An admission plugin. It rejects a write by throwing a StatusError. */
export interface AdmissionPlugin {
  readonly name: string;
  /** May change `request.object`. */
  admit?(request: AdmissionRequest): void | Promise<void>;
  /** Sees the body of an action, such as `pods/eviction` and `serviceaccounts/token`, and may only reject. */
  admitAction?(request: AdmissionRequest): void;
  /** May only reject; sees the object as it will be stored. */
  validate?(request: AdmissionRequest): void | Promise<void>;
}

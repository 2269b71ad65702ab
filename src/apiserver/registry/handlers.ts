/**
 * The seam for what is not create, read, update, delete: actions on a part of an object (`pods/eviction`, `pods/binding`,
 * `serviceaccounts/token`), and reviews, which are asked and never stored (TokenReview, SubjectAccessReview).
 *
 * The verbs decode, default, validate, admit and authorize the body as for any create; a handler only does the deed.
 */
import type { Draft, JsonObject, Kind, Refusal, User } from "../model/mod.ts";
import type { Registry } from "./registry.ts";

/** One call of an action. */
export interface ActionCall {
  /** The kind the URL names, e.g. Pod. */
  readonly kind: Kind;
  /** `eviction`; "" for a review. */
  readonly subresource: string;
  readonly namespace: string;
  /** "" for a review. */
  readonly name: string;
  readonly verb: "create" | "get" | "update" | "patch" | "delete";
  /** The body as it was decoded; absent for get and delete. */
  readonly body: Draft | undefined;
  readonly user: User;
  readonly isDryRun: boolean;
  /** Query parameters, e.g. of `pods/log`. */
  readonly query: URLSearchParams;
  readonly signal: AbortSignal;
  /** The verbs, to read and write other objects with all of their rules. */
  readonly registry: Registry;
  /** Warnings for the client. */
  warn(text: string): void;
}

/** What an action answers: an object with its code, or a Response of its own making (a log stream). */
export type ActionAnswer =
  | { readonly kind: "object"; readonly code: number; readonly object: JsonObject }
  | { readonly kind: "response"; readonly response: Response };

/** Does what a subresource other than `status` and `scale` means. Refuses by throwing a {@link Refusal}. */
export interface SubresourceHandler {
  /** As {@link Kind.collection}, e.g. `pods`. */
  readonly collection: string;
  /** `eviction`. */
  readonly subresource: string;
  handle(call: ActionCall): ActionAnswer | Promise<ActionAnswer>;
}

/** Answers the creation of a kind that is never stored. */
export interface ReviewHandler {
  /** As {@link Kind.collection}, e.g. `tokenreviews.authentication.k8s.io`. */
  readonly collection: string;
  /** Returns the review with its status. */
  review(call: ActionCall): JsonObject | Promise<JsonObject>;
}

export type { Refusal };

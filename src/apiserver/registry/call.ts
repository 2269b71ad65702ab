/**
 * Call: what a verb has to know of the request it serves, whoever sent it: the HTTP side, an action of a subresource, or
 * another part of the server.
 */
import type { Draft, JsonObject, Kind, User } from "../model/mod.ts";
import type { KindFamily, KnownKind } from "./kind_registry.ts";

/** How unknown and duplicate fields of a body are met. */
export type FieldValidation = "Ignore" | "Warn" | "Strict";

/** One request to a verb. */
export interface Call extends KnownKind {
  readonly kind: Kind;
  readonly family: KindFamily;
  /** "" for cluster-scoped kinds, and to list all namespaces. */
  readonly namespace: string;
  /** "" for the object itself, else e.g. `status`. */
  readonly subresource: string;
  readonly user: User;
  /** The one named in the request, else the beginning of the user agent. */
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  readonly isDryRun: boolean;
  /** One of many deletions that one request asked for: admission is told no name. @default false */
  readonly isOfMany?: boolean;
  /** CreateOptions, UpdateOptions, ... as admission sees them. */
  readonly options: JsonObject;
  readonly signal: AbortSignal;
  /** May this user do that? Refuses with 403. Asked before an update creates. */
  authorize(verb: string, name: string): void;
  /** Adds a Warning header to the answer. The same text counts once. */
  warn(text: string): void;
}

/**
 * A body, decoded for one attempt: a write that has to be tried again begins with a fresh one.
 *
 * @throws Refusal 400 when it is no such object
 */
export type Body = () => Draft;

/** An object as it is answered: with its JSON, made when it is first asked for. */
export interface Representation {
  readonly object: JsonObject;
  readonly json: string;
}

/** What a write answers. */
export interface Answer {
  readonly code: 200 | 201 | 202;
  readonly result: Representation;
}

/** A representation of an object that is not stored. */
export function represented(object: JsonObject): Representation {
  return new Unstored(object);
}

class Unstored implements Representation {
  readonly object: JsonObject;
  #json: string | undefined;

  constructor(object: JsonObject) {
    this.object = object;
  }

  get json(): string {
    return this.#json ??= JSON.stringify(this.object);
  }
}

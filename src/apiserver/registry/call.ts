/**
 * What a verb of the registry gets and returns: a Call (one request, from HTTP, from the action of a subresource, or from
 * another part of the server), the RegistryParts that all verbs share, and a Representation as the result.
 */
import { printExactJson } from "../../api/mod.ts";
import type { Clock, Random } from "../../async/mod.ts";
import type { AdmissionPlugin, Draft, JsonObject, Kind, Subject, User, WriteContext } from "../model/mod.ts";
import type { ObjectStorage } from "../storage/mod.ts";
import type { KindFamily, KindRegistry, KnownKind } from "./kind_registry.ts";

/** How the server handles unknown and duplicate fields of a body. */
export type FieldValidation = "Ignore" | "Warn" | "Strict";

/** One request to a verb. */
export interface Call extends KnownKind {
  readonly kind: Kind;
  readonly family: KindFamily;
  /** "" for cluster-scoped kinds, and for a list of all namespaces. */
  readonly namespace: string;
  /** "" for the object itself, else e.g. `status`. */
  readonly subresource: string;
  readonly user: User;
  /** The one in the request, else the first part of the user agent. */
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  readonly isDryRun: boolean;
  /** True for one deletion of a deletecollection: admission then gets no name. @default false */
  readonly isPartOfCollection?: boolean;
  /** CreateOptions, UpdateOptions, ... as admission sees them. */
  readonly options: JsonObject;
  readonly signal: AbortSignal;
  /** Lets the event loop turn between the steps of a large request. @default none: the request is small */
  pause?(): Promise<void>;
  /** Throws a StatusError (403) if the user may not do this. Called before an update creates an object. */
  authorize(verb: string, name: string): void;
  /** Adds a Warning header to the response, once for each text. */
  warn(text: string): void;
}

/**
 * Decodes the body of a request. Each attempt of a write calls it again, because it changes the draft.
 *
 * @throws StatusError 400 when the body is not an object of the kind
 */
export type Body = () => Draft;

/** An object with its JSON, which is written on first access. */
export interface Representation {
  readonly object: JsonObject;
  readonly json: string;
}

/** The result of a write. */
export interface WriteResponse {
  readonly code: 200 | 201 | 202;
  readonly result: Representation;
}

/** A representation of an object that is not stored. */
export function represented(object: JsonObject): Representation {
  return new UnstoredRepresentation(object);
}

class UnstoredRepresentation implements Representation {
  readonly object: JsonObject;
  #json: string | undefined;

  constructor(object: JsonObject) {
    this.object = object;
  }

  get json(): string {
    return this.#json ??= printExactJson(this.object);
  }
}

/** Objects of one kind that are computed when they are read, and never stored. */
export interface ComputedObjects {
  /** As {@link Kind.collection}. The kind is cluster-scoped. */
  readonly collection: string;
  /** The objects as they are now, in the order of a list. */
  objects(): readonly JsonObject[];
}

/** What all verbs share. The Registry creates it once; the verbs are functions with it as their first parameter. */
export interface RegistryParts {
  readonly storage: ObjectStorage;
  readonly kinds: KindRegistry;
  readonly clock: Clock;
  readonly random: Random;
  /** In the order of their calls. */
  readonly admission: readonly AdmissionPlugin[];
  /** Kinds whose objects are not stored, by collection. */
  readonly computed: ReadonlyMap<string, ComputedObjects>;
}

/** What the rules of a kind know about a write. */
export function writeContext(parts: RegistryParts, call: Call): WriteContext {
  return {
    subresource: call.subresource,
    userName: call.user.name,
    user: call.user,
    now: parts.clock.now(),
    random: () => parts.random.next(),
    objects: parts.storage,
  };
}

/** The subject of a StatusError about this call. */
export function subjectOf(kind: Kind, name: string): Subject {
  return { group: kind.group, resource: kind.plural, name };
}

/** The subject of a 422, which names the kind. */
export function kindSubject(kind: Kind, name: string): Subject {
  return { group: kind.errorGroup ?? kind.group, resource: kind.kind, name };
}

/** The namespace of the stored object: "" for cluster-scoped kinds. */
export function storageNamespace(call: Call): string {
  return call.kind.scope === "Cluster" ? "" : call.namespace;
}

/** The user of the calls that the server makes itself. */
export const loopbackUser: User = {
  name: "system:apiserver",
  uid: "",
  groups: ["system:masters", "system:authenticated"],
  extra: new Map(),
};

/** The object of a loopback call. */
export interface LoopbackTarget {
  /** @default "" */
  readonly namespace?: string;
  /** @default "" */
  readonly subresource?: string;
}

/** A call that the server makes itself, as user `system:apiserver` and field manager `kube-apiserver`. */
export function loopbackCall({ kind, family }: KnownKind, target: LoopbackTarget = {}): Call {
  return {
    kind,
    family,
    namespace: target.namespace ?? "",
    subresource: target.subresource ?? "",
    user: loopbackUser,
    fieldManager: "kube-apiserver",
    fieldValidation: "Ignore",
    isDryRun: false,
    options: {},
    signal: new AbortController().signal,
    authorize: () => {},
    warn: () => {},
  };
}

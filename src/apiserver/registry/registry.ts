/**
 * Registry: the verbs of the API on all kinds, with all their rules, but without HTTP. http/ calls it, and so do the
 * actions of subresources and the review kinds, whose interfaces are below.
 *
 * Guarantees: the result of a verb is that of a kube-apiserver. A write is visible as a whole or not at all.
 *
 * Assumptions: the caller has authorized the request. The registry itself authorizes only an update that creates.
 */
import type { Clock, Random } from "../../async/mod.ts";
import type { AdmissionPlugin, Draft, JsonObject, Kind, User } from "../model/mod.ts";
import type { Cursor, ObjectStorage, Snapshot } from "../storage/mod.ts";
import { admitAction } from "./admission_chain.ts";
import {
  type Body,
  type Call,
  type ComputedObjects,
  type RegistryParts,
  type Representation,
  represented,
  storageNamespace,
  type WriteResponse,
} from "./call.ts";
import { create } from "./create.ts";
import { deleteObject, type DeleteOptions } from "./delete.ts";
import { trackFields } from "./track_fields.ts";
import type { KindRegistry } from "./kind_registry.ts";
import { matchNamespace, metadataOf, wipeSystemFields } from "./metadata.ts";
import { patch, type PatchBody } from "./patch.ts";
import { put } from "./update.ts";
import { deleteCollection, get, list, type ListOptions, type Page } from "./read.ts";
import { getScale, patchScale, putScale } from "./scale.ts";
import type { Selection } from "./selection.ts";

/** Options of {@link Registry}. */
export interface RegistryOptions {
  readonly storage: ObjectStorage;
  readonly kinds: KindRegistry;
  readonly clock: Clock;
  readonly random: Random;
  /** In the order of their calls. @default none */
  readonly admission?: readonly AdmissionPlugin[];
  /** The actions of subresources other than status and scale. @default none */
  readonly subresources?: readonly SubresourceHandler[];
  /** @default none */
  readonly reviews?: readonly ReviewHandler[];
  /** Kinds whose objects are not stored. @default none */
  readonly computed?: readonly ComputedObjects[];
}

/** The verbs. */
export class Registry {
  readonly kinds: KindRegistry;
  readonly storage: ObjectStorage;
  readonly #parts: RegistryParts;
  readonly #subresources = new Map<string, SubresourceHandler>();
  readonly #reviews = new Map<string, ReviewHandler>();

  constructor(options: RegistryOptions) {
    const { storage, kinds, clock, random, admission = [], subresources = [], reviews = [] } = options;
    const computed = new Map((options.computed ?? []).map((kind) => [kind.collection, kind]));
    this.kinds = kinds;
    this.storage = storage;
    this.#parts = { storage, kinds, clock, random, admission, computed };
    for (const handler of subresources) this.#subresources.set(`${handler.collection}/${handler.subresource}`, handler);
    for (const handler of reviews) this.#reviews.set(handler.collection, handler);
  }

  /** The handler of a subresource that is an action and not a read or write. */
  subresourceHandler(collection: string, subresource: string): SubresourceHandler | undefined {
    return this.#subresources.get(`${collection}/${subresource}`);
  }

  /** The handler of a kind that is never stored. */
  reviewHandler(collection: string): ReviewHandler | undefined {
    return this.#reviews.get(collection);
  }

  /**
   * Sets the metadata that every created object has in the body of a review or an action: namespace and managedFields.
   *
   * @throws StatusError 400 when the body names another namespace
   */
  prepareAction(call: Call, body: Draft): void | Promise<void> {
    const metadata = metadataOf(body);
    if (!namesLiveObject.has(call.kind.kind)) wipeSystemFields(metadata);
    matchNamespace(metadata, storageNamespace(call));
    return trackFields(this.#parts, call, undefined, body);
  }

  /** Calls the admission plugins that check actions. @throws StatusError */
  admitAction(call: Call, name: string, body: Draft): void {
    admitAction(this.#parts, call, name, body);
  }

  /** @throws StatusError */
  create(call: Call, body: Body): Promise<WriteResponse> {
    return create(this.#parts, call, body);
  }

  /** @throws StatusError */
  get(call: Call, name: string, resourceVersion = ""): Representation | Promise<Representation> {
    return get(this.#parts, call, name, resourceVersion);
  }

  /** @throws StatusError */
  list(call: Call, selection: Selection, options: ListOptions): Page | Promise<Page> {
    return list(this.#parts, call, selection, options);
  }

  /** @throws StatusError */
  put(call: Call, name: string, body: Body): Promise<WriteResponse> {
    return put(this.#parts, call, name, body);
  }

  /** @throws StatusError */
  patch(call: Call, name: string, body: PatchBody): Promise<WriteResponse> {
    return patch(this.#parts, call, name, body);
  }

  /** @throws StatusError */
  delete(call: Call, name: string, options: DeleteOptions): Promise<WriteResponse> {
    return deleteObject(this.#parts, call, name, options);
  }

  /** @throws StatusError */
  deleteCollection(
    call: Call,
    selection: Selection,
    options: { readonly list: ListOptions; readonly delete: DeleteOptions },
  ): Promise<Page> {
    return deleteCollection(this.#parts, call, selection, options);
  }

  /** @throws StatusError */
  async getScale(call: Call, name: string, resourceVersion = ""): Promise<Representation> {
    return represented(await getScale(this.#parts, call, name, resourceVersion));
  }

  /** @throws StatusError */
  putScale(call: Call, name: string, body: Body): Promise<WriteResponse> {
    return putScale(this.#parts, call, name, body);
  }

  /** @throws StatusError */
  patchScale(call: Call, name: string, body: PatchBody): Promise<WriteResponse> {
    return patchScale(this.#parts, call, name, body);
  }

  /** Starts to read the changes of a selection after a revision. */
  watch(call: Call, selection: Selection, after: number, onChange: () => void): Cursor {
    const { namespace, name } = selection;
    return this.storage.watch(call.kind.collection, {
      namespace,
      ...(name === undefined ? {} : { name }),
      after,
      onChange,
    });
  }

  /** The live state of the collection of a kind. */
  snapshot(call: Call): Snapshot | undefined {
    return this.storage.snapshot(call.kind.collection);
  }
}

/**
 * Bodies whose UID is that of an object that the client has read: the Pod that the scheduler has seen, the account of a token,
 * the Namespace to finalize.
 */
const namesLiveObject: ReadonlySet<string> = new Set(["Binding", "Namespace", "TokenRequest"]);

/** One request to an action or a review. */
export interface ActionCall {
  /** The kind in the URL, e.g. Pod. */
  readonly kind: Kind;
  /** `eviction`; "" for a review. */
  readonly subresource: string;
  readonly namespace: string;
  /** "" for a review. */
  readonly name: string;
  readonly verb: "create" | "get" | "update" | "patch" | "delete";
  /** The decoded body; absent for get and delete. */
  readonly body: Draft | undefined;
  readonly user: User;
  readonly isDryRun: boolean;
  /** The query parameters, e.g. of `pods/log`. */
  readonly query: URLSearchParams;
  readonly signal: AbortSignal;
  /** For reading and writing other objects with all their rules. */
  readonly registry: Registry;
  /** What a proxy needs besides: the path behind `proxy`, "" or with a slash before it, and the address of the client. */
  readonly proxied?: { readonly path: string; readonly remoteAddress: string };
  /** Adds a Warning header to the response. */
  warn(text: string): void;
}

/** The response of an action: an object with its status code, a complete Response (a log stream), or a connection. */
export type ActionResponse =
  | { readonly kind: "object"; readonly code: number; readonly object: JsonObject }
  | { readonly kind: "response"; readonly response: Response }
  | { readonly kind: "connection"; connect(request: Request): Promise<Response> };

/**
 * The action of a subresource other than `status` and `scale`, such as `pods/eviction` or `serviceaccounts/token`. The body is
 * decoded, defaulted, validated, admitted and authorized as for a create. It rejects a request with a StatusError.
 */
export interface SubresourceHandler {
  /** As {@link Kind.collection}, e.g. `pods`. */
  readonly collection: string;
  /** `eviction`. */
  readonly subresource: string;
  /** True for a connection, such as `pods/exec`: the body of a create is not read, and WebSockets need the verb create, too. */
  readonly isConnection?: boolean;
  /** True for a proxy: it has any method, path, type and body, which the handler reads. @default false */
  readonly isProxy?: boolean;
  handle(call: ActionCall): ActionResponse | Promise<ActionResponse>;
}

/** The response to the creation of a kind that is never stored, such as a TokenReview or SubjectAccessReview. */
export interface ReviewHandler {
  /** As {@link Kind.collection}, e.g. `tokenreviews.authentication.k8s.io`. */
  readonly collection: string;
  /** Returns the review with its status. */
  review(call: ActionCall): JsonObject | Promise<JsonObject>;
}

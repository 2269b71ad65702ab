/**
 * Registry: the verbs of the API on all kinds, with all their rules and no HTTP. The HTTP side is one caller; actions of
 * subresources, and whatever else runs inside the server, are others.
 *
 * Guarantees: what a verb answers is what a kube-apiserver would; a write is seen as a whole or not at all; nobody is asked
 * for permission here except before an update creates (who calls has asked already).
 */
import type { Clock, Random } from "../../async/mod.ts";
import type { AdmissionPlugin, Draft } from "../model/mod.ts";
import type { Cursor, ObjectStorage, Snapshot } from "../storage/mod.ts";
import { type Answer, type Body, type Call, type Representation, represented } from "./call.ts";
import { create } from "./create.ts";
import { deleteObject, type DeleteOptions } from "./delete.ts";
import { type Engine, storageNamespace } from "./engine.ts";
import { trackFields } from "./fields.ts";
import type { ReviewHandler, SubresourceHandler } from "./handlers.ts";
import type { KindRegistry } from "./kind_registry.ts";
import { matchNamespace, metadataOf, wipeSystemFields } from "./metadata.ts";
import { patch, type PatchBody } from "./patch.ts";
import { put } from "./put.ts";
import { deleteCollection, get, list, type ListOptions, type Page } from "./read.ts";
import { getScale, patchScale, putScale } from "./scale.ts";
import type { Selection } from "./selection.ts";

/** Options of {@link Registry}. */
export interface RegistryOptions {
  readonly storage: ObjectStorage;
  readonly kinds: KindRegistry;
  readonly clock: Clock;
  readonly random: Random;
  /** In the order they are asked. @default none */
  readonly admission?: readonly AdmissionPlugin[];
  /** Actions beyond status and scale. @default none */
  readonly subresources?: readonly SubresourceHandler[];
  /** @default none */
  readonly reviews?: readonly ReviewHandler[];
}

/** The verbs. */
export class Registry {
  readonly kinds: KindRegistry;
  readonly storage: ObjectStorage;
  readonly #engine: Engine;
  readonly #subresources = new Map<string, SubresourceHandler>();
  readonly #reviews = new Map<string, ReviewHandler>();

  constructor(options: RegistryOptions) {
    const { storage, kinds, clock, random, admission = [], subresources = [], reviews = [] } = options;
    this.kinds = kinds;
    this.storage = storage;
    this.#engine = { storage, kinds, clock, random, admission };
    for (const handler of subresources) this.#subresources.set(`${handler.collection}/${handler.subresource}`, handler);
    for (const handler of reviews) this.#reviews.set(handler.collection, handler);
  }

  /** Who does an action on a part of a kind, if it is not a plain read or write. */
  subresourceHandler(collection: string, subresource: string): SubresourceHandler | undefined {
    return this.#subresources.get(`${collection}/${subresource}`);
  }

  /** Who answers a kind that is never stored. */
  reviewHandler(collection: string): ReviewHandler | undefined {
    return this.#reviews.get(collection);
  }

  /**
   * Writes into the body of a review or an action what every creation has: its namespace, and who set what.
   *
   * @throws Refusal 400 when the body names another namespace
   */
  prepareAction(call: Call, body: Draft): void | Promise<void> {
    const metadata = metadataOf(body);
    // A binding names the very Pod that its writer has seen.
    if (call.kind.collection !== "bindings") wipeSystemFields(metadata);
    matchNamespace(metadata, storageNamespace(call));
    return trackFields(this.#engine, call, undefined, body);
  }

  /** @throws Refusal */
  create(call: Call, body: Body): Promise<Answer> {
    return create(this.#engine, call, body);
  }

  /** @throws Refusal */
  get(call: Call, name: string, resourceVersion = ""): Representation | Promise<Representation> {
    return get(this.#engine, call, name, resourceVersion);
  }

  /** @throws Refusal */
  list(call: Call, selection: Selection, options: ListOptions): Page | Promise<Page> {
    return list(this.#engine, call, selection, options);
  }

  /** @throws Refusal */
  put(call: Call, name: string, body: Body): Promise<Answer> {
    return put(this.#engine, call, name, body);
  }

  /** @throws Refusal */
  patch(call: Call, name: string, body: PatchBody): Promise<Answer> {
    return patch(this.#engine, call, name, body);
  }

  /** @throws Refusal */
  delete(call: Call, name: string, options: DeleteOptions): Promise<Answer> {
    return deleteObject(this.#engine, call, name, options);
  }

  /** @throws Refusal */
  deleteCollection(
    call: Call,
    selection: Selection,
    options: { readonly list: ListOptions; readonly delete: DeleteOptions },
  ): Promise<Page> {
    return deleteCollection(this.#engine, call, selection, options);
  }

  /** @throws Refusal */
  async getScale(call: Call, name: string, resourceVersion = ""): Promise<Representation> {
    return represented(await getScale(this.#engine, call, name, resourceVersion));
  }

  /** @throws Refusal */
  putScale(call: Call, name: string, body: Body): Promise<Answer> {
    return putScale(this.#engine, call, name, body);
  }

  /** @throws Refusal */
  patchScale(call: Call, name: string, body: PatchBody): Promise<Answer> {
    return patchScale(this.#engine, call, name, body);
  }

  /** Begins to read the changes of a selection after a revision. */
  watch(call: Call, selection: Selection, after: number, onChange: () => void): Cursor {
    const { namespace, name } = selection;
    return this.storage.watch(call.kind.collection, {
      namespace,
      ...(name === undefined ? {} : { name }),
      after,
      onChange,
    });
  }

  /** The present state of a kind's collection. */
  snapshot(call: Call): Snapshot | undefined {
    return this.storage.snapshot(call.kind.collection);
  }
}

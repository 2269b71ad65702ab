/**
 * Toolbox: what a reconciler may do, for one attempt at one key. Reads come from the cache and are synchronous,
 * writes go to the server and are remembered, so that the key is not reconciled again from a cache older than them.
 *
 * Guarantees: a write that would change nothing is not sent; a child is created atomically and changed only while it
 * has the UID that was looked at and its controller is the given owner; every request ends with the attempt's signal.
 */
import {
  controllerReference,
  type Infer,
  isControlledBy,
  keyOf,
  type KubeObject,
  type ObjectKey,
  type Resource,
  resourceName,
} from "../api/mod.ts";
import { type Clock, systemClock } from "../async/mod.ts";
import {
  type Client,
  type Draft,
  isAlreadyExists,
  isNotFound,
  type NewObject,
  type Patch,
  type PatchValue,
} from "../client/mod.ts";
import type { Fields, Logger } from "../observe/mod.ts";
import { difference, ownsNothingElse } from "./_same.ts";
import type { CacheReader, ListFilter } from "./cache_reader.ts";
import type { Desired } from "./desired.ts";
import { NotControlledError } from "./not_controlled_error.ts";
import type { Cause, EventNote, EventSink, Request } from "./reconciler.ts";

/** What a Toolbox is made of; the Controller gives it. */
export interface ToolboxParts {
  readonly request: Request;
  readonly client: Client;
  readonly caches: CacheReader;
  readonly events: EventSink;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** @default systemClock */
  readonly clock?: Clock;
  /** Owner of the fields that are written. */
  readonly fieldManager: string;
  /** Why this attempt was made. */
  readonly causes: readonly Cause[];
  /** 0 on the first attempt, then the number of failures in a row. */
  readonly retries: number;
  /** Hears of every write's answer. */
  readonly wrote: (resource: Resource, object: KubeObject) => void;
  /** Hears of every field that is about to be put right. */
  readonly changing: (change: FieldChange) => void;
}

/** A field that is not as it should be, and is about to be written. */
export interface FieldChange {
  readonly resource: Resource;
  readonly object: KubeObject;
  /** Path of the first such field, e.g. `spec.replicas`. */
  readonly field: string;
}

/** The object that controls what is written. */
export interface Owner {
  readonly resource: Resource;
  readonly object: KubeObject;
}

/** The untyped tools; `ReconcileContext` is their typed face. */
export class Toolbox {
  readonly #parts: ToolboxParts;

  constructor(parts: ToolboxParts) {
    this.#parts = parts;
  }

  get request(): Request {
    return this.#parts.request;
  }
  /** Aborts when the attempt's time is up or the process must end. */
  get signal(): AbortSignal {
    return this.#parts.signal;
  }
  get log(): Logger {
    return this.#parts.log;
  }
  get causes(): readonly Cause[] {
    return this.#parts.causes;
  }
  get retries(): number {
    return this.#parts.retries;
  }
  /** Direct access to the API server, for what the other tools do not cover. */
  get client(): Client {
    return this.#parts.client;
  }
  /** What time it is: for conditions and deadlines. */
  get clock(): Clock {
    return this.#parts.clock ?? systemClock;
  }

  /** The cached object, or undefined. */
  find<R extends Resource>(resource: R, key: string): Infer<R> | undefined {
    return this.#parts.caches.find(resource, key as ObjectKey);
  }

  /** The cached objects that pass the filter. */
  list<R extends Resource>(resource: R, filter: ListFilter = {}): readonly Infer<R>[] {
    return this.#parts.caches.list(resource, filter);
  }

  /** Records an Event about an object. */
  event(note: EventNote): void {
    this.#parts.events.record(note);
  }

  /**
   * Brings a child to the wanted state.
   *
   * @param owner Becomes the controller of what is created; what exists must be controlled by it.
   * @returns The live object, from the cache when nothing had to be written.
   * @throws NotControlledError when the object belongs to somebody else.
   * @throws ApiError when the server refuses.
   */
  async apply<R extends Resource>(resource: R, desired: Desired<R>, owner: Owner): Promise<Infer<R>> {
    const wanted = withOwner(desired, owner);
    const held = this.find(resource, keyOf(wanted));
    if (held !== undefined) return await this.#change(resource, wanted, held, owner);
    try {
      return await this.#create(resource, wanted);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      // Not in the cache yet: our own create whose answer was lost, or somebody else's. The server knows.
      const live = await this.client.get(resource, keyOf(wanted), { signal: this.signal });
      return await this.#change(resource, wanted, live, owner);
    }
  }

  /**
   * Holds some fields of an object that belongs to somebody else, by server-side apply: the named fields become ours,
   * those that were ours and are not named any more go, all others are left alone.
   *
   * @returns The live object; undefined when the cache has none: it is never created.
   */
  async applyFields<R extends Resource>(resource: R, desired: Desired<R>): Promise<Infer<R> | undefined> {
    const held = this.find(resource, keyOf(desired));
    return held === undefined ? undefined : await this.#change(resource, desired, held, undefined);
  }

  /** Writes the named fields of the status, unless the object holds them already. */
  async patchStatus<R extends Resource>(resource: R, object: Infer<R>, status: object): Promise<Infer<R>> {
    const field = difference(statusOf(object), status);
    if (field === undefined) return object;
    this.#parts.changing({ resource, object: kubeObject(object), field: `status.${field}` });
    return await this.patch(resource, object, { kind: "merge", value: { status } as PatchValue<Infer<R>> }, "status");
  }

  /**
   * Brings an object to what the patch says, whoever it belongs to. A merge patch that would change nothing is not sent.
   *
   * @returns The live object; the one given when nothing had to be written.
   */
  async change<R extends Resource>(resource: R, object: Infer<R>, patch: Patch<R>): Promise<Infer<R>> {
    const field = changedBy(patch, object);
    if (field === undefined) return object;
    this.#parts.changing({ resource, object: kubeObject(object), field });
    return await this.patch(resource, object, patch);
  }

  /** Patches an object, as this controller's field manager, and remembers the answer's version. */
  async patch<R extends Resource>(
    resource: R,
    object: Infer<R>,
    patch: Patch<R>,
    subresource?: string,
  ): Promise<Infer<R>> {
    const { fieldManager } = this.#parts;
    this.#note(subresource === undefined ? "patch" : `patch ${subresource}`, resource, object);
    const options = { subresource, fieldManager, signal: this.signal };
    const live = await this.client.patch(resource, keyOf(kubeObject(object)), patch, options);
    this.#parts.wrote(resource, kubeObject(live));
    return live;
  }

  /**
   * Deletes a child of `owner`: that very object, and only while the owner is still the one that was looked at. The
   * owner is read live first, because a cache that lags must not decide what is destroyed.
   *
   * @returns False when the owner is not the same any more, and nothing was done.
   * @throws NotControlledError when the object belongs to somebody else.
   */
  async delete<R extends Resource>(resource: R, object: Infer<R>, owner: Owner): Promise<boolean> {
    const child = kubeObject(object);
    if (!isControlledBy(child, owner.object)) throw new NotControlledError(resource, child, owner);
    const live = await this.client.find(owner.resource, keyOf(owner.object), { signal: this.signal });
    if (live === undefined || kubeObject(live).metadata.uid !== owner.object.metadata.uid) return false;
    this.#note("delete", resource, object);
    try {
      const preconditions = { uid: child.metadata.uid };
      await this.client.delete(resource, keyOf(child), { preconditions, signal: this.signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    return true;
  }

  async #create<R extends Resource>(resource: R, wanted: Desired<R>): Promise<Infer<R>> {
    const { fieldManager } = this.#parts;
    this.#note("create", resource, wanted);
    // What a controller wants of a child is all there is to say about it: the server's defaults are the rest.
    const whole = wanted as unknown as NewObject<R>;
    const live = await this.client.create(resource, whole, { fieldManager, signal: this.signal });
    this.#parts.wrote(resource, kubeObject(live));
    return live;
  }

  async #change<R extends Resource>(
    resource: R,
    wanted: Desired<R>,
    held: Infer<R>,
    owner: Owner | undefined,
  ): Promise<Infer<R>> {
    const { fieldManager } = this.#parts;
    const live = kubeObject(held);
    if (owner !== undefined && !isControlledBy(live, owner.object)) throw new NotControlledError(resource, live, owner);
    const field = unsettled(live, wanted, fieldManager);
    if (field === undefined) return held;
    this.#parts.changing({ resource, object: live, field });
    this.#note("apply", resource, wanted);
    // The UID makes it this very object: an apply to one that is gone would otherwise create it.
    const body = { ...wanted, metadata: { ...wanted.metadata, uid: live.metadata.uid } };
    const answer = await this.client.apply(resource, body as Draft<R>, {
      fieldManager,
      force: true,
      signal: this.signal,
    });
    this.#parts.wrote(resource, kubeObject(answer));
    return answer;
  }

  #note(action: string, resource: Resource, object: unknown): void {
    const fields: Fields = { resource: resourceName(resource), object: keyOf(kubeObject(object)) };
    this.log.debug(action, fields);
  }
}

/** The field that makes a write necessary; undefined when the object is as it should be. */
function unsettled(live: KubeObject, wanted: unknown, fieldManager: string): string | undefined {
  const field = difference(live, wanted);
  if (field !== undefined) return field;
  return ownsNothingElse(live, wanted, fieldManager) ? undefined : "metadata.managedFields";
}

/** The first field that a patch puts right; undefined when it is known to change nothing. */
function changedBy<R extends Resource>(patch: Patch<R>, object: Infer<R>): string | undefined {
  switch (patch.kind) {
    case "merge":
      return difference(object, patch.value);
    case "strategic":
      return difference(object, patch.value) ?? "metadata";
    case "json":
      return patch.operations.find((operation) => operation.op !== "test")?.path.slice(1).replaceAll("/", ".");
    default:
      return patch satisfies never;
  }
}

function withOwner<R extends Resource>(desired: Desired<R>, owner: Owner): Desired<R> {
  const ownerReferences = [controllerReference(owner.object, owner.resource)];
  return { ...desired, metadata: { ...desired.metadata, ownerReferences } };
}

/** Every object of every Resource is a KubeObject; TypeScript cannot see that through `Infer` of a type parameter. */
function kubeObject(object: unknown): KubeObject {
  return object as KubeObject;
}

function statusOf(object: unknown): unknown {
  return (object as { readonly status?: unknown }).status;
}

/**
 * Toolbox: what a reconciler may do, for one attempt at one key. Reads come from the cache and are synchronous,
 * writes go to the server and are remembered, so that the key is not reconciled again from a cache older than them.
 *
 * Guarantees: a write that would change nothing is not sent; a child is created only where there is none, and changed
 * only while it has the UID that was looked at and its controller is the given owner; every request ends with the
 * attempt's signal.
 */
import {
  compareResourceVersions,
  controllerReference,
  type Infer,
  isControlledBy,
  keyOf,
  type KubeObject,
  type ObjectKey,
  type Resource,
  resourceName,
  resourceVersion,
} from "../api/mod.ts";
import { type Clock, systemClock } from "../async/mod.ts";
import { type Client, type Draft, isConflict, isNotFound, type Patch, type PatchValue } from "../client/mod.ts";
import type { Fields, Logger } from "../observe/mod.ts";
import { FilledIn } from "./_filled_in.ts";
import type { LostChildren } from "./_lost_children.ts";
import { OwnerChangedError } from "./_owner_changed_error.ts";
import { surplusOf } from "./_ownership.ts";
import { type Deviation, difference, gapsOf } from "./_same.ts";
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
  /** What is known of the server's ways, from earlier attempts. @default nothing */
  readonly filledIn?: FilledIn;
  /** Children whose owner is read live before they are made again. @default none */
  readonly lost?: LostChildren;
  /** Why this attempt was made. */
  readonly causes: readonly Cause[];
  /** 0 on the first attempt, then the number of failures in a row. */
  readonly retries: number;
  /** Hears of every write's answer. */
  readonly wrote: (resource: Resource, object: KubeObject) => void;
  /** Hears of every object that stood on the server where the cache has none. @default nobody */
  readonly met?: (resource: Resource, object: KubeObject) => void;
  /** Hears of every field that was put right; a write that was refused or got lost is none. */
  readonly repaired: (change: FieldChange) => void;
}

/** A field that was not as it should be, and was written. */
export interface FieldChange {
  readonly resource: Resource;
  readonly object: KubeObject;
  /** Path of the first such field, e.g. `spec.replicas`. */
  readonly field: string;
  /** All that is wanted, as text: what is wanted twice was undone in between. */
  readonly goal: string;
}

/** The object that controls what is written. */
export interface Owner {
  readonly resource: Resource;
  readonly object: KubeObject;
  /** For what is destroyed: asked about the owner as the server has it now. @default it need only be the same object */
  readonly stillDue?: (live: unknown) => boolean;
}

/** No object that is stored has this version: in an apply it says that there must be none (ADR 0007). */
const absent = resourceVersion("1");

/** The untyped tools; `ReconcileContext` is their typed face. */
export class Toolbox {
  readonly #parts: ToolboxParts;
  readonly #filledIn: FilledIn;

  constructor(parts: ToolboxParts) {
    this.#parts = parts;
    this.#filledIn = parts.filledIn ?? new FilledIn();
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
   * Brings a child to the wanted state. What is wanted becomes ours, and what was ours and is not wanted any more goes.
   *
   * @param owner Becomes the controller of what is created; what exists must be controlled by it.
   * A child that was there before and is gone is made again only after the owner was read live: a cache that lags must
   * not keep making children of an owner that is gone. Where it lags, the attempt ends here, and the key comes back.
   *
   * @returns The live object, from the cache when nothing had to be written.
   * @throws NotControlledError when the object belongs to somebody else.
   * @throws ApiError when the server refuses.
   */
  async apply<R extends Resource>(resource: R, desired: Desired<R>, owner: Owner): Promise<Infer<R>> {
    const wanted = withOwner(desired, owner);
    const held = this.find(resource, keyOf(wanted));
    if (held !== undefined) return await this.#change(resource, wanted, held, owner);
    const child = kubeObject(wanted);
    if (this.#parts.lost?.has(resource, child, owner.object)) await this.#checkOwner(resource, child, owner);
    try {
      this.#note("create", resource, wanted);
      const created = await this.#write(resource, wanted, { resourceVersion: absent });
      this.#parts.lost?.forget(resource, child, owner.object);
      return created;
    } catch (error) {
      if (!isConflict(error)) throw error;
      // Not in the cache yet: our own create whose answer was lost, or somebody else's. The server knows.
      const live = await this.client.find(resource, keyOf(wanted), { signal: this.signal });
      if (live === undefined) throw error;
      this.#parts.met?.(resource, kubeObject(live));
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
    const value = { status } as PatchValue<Infer<R>>;
    const live = await this.patch(resource, object, { kind: "merge", value }, "status");
    const goal = JSON.stringify(status);
    this.#parts.repaired({ resource, object: kubeObject(object), field: `status.${field}`, goal });
    return live;
  }

  /**
   * Brings an object to what the patch says, whoever it belongs to. A merge patch that would change nothing is not sent.
   *
   * @returns The live object; the one given when nothing had to be written.
   */
  async change<R extends Resource>(resource: R, object: Infer<R>, patch: Patch<R>): Promise<Infer<R>> {
    const field = changedBy(patch, object);
    if (field === undefined) return object;
    const live = await this.patch(resource, object, patch);
    this.#parts.repaired({ resource, object: kubeObject(object), field, goal: JSON.stringify(patch) });
    return live;
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
   * Deletes a child of `owner`: that very object in the state that was looked at, so that one which was taken over since
   * stays, and only while the owner is still the one that was looked at. The owner is read live first, because a cache
   * that lags must not decide what is destroyed. A child that changed meanwhile is a conflict: the key is tried again.
   *
   * @returns False when the owner is not the same any more, or says no, and nothing was done.
   * @throws NotControlledError when the object belongs to somebody else.
   */
  async delete<R extends Resource>(resource: R, object: Infer<R>, owner: Owner): Promise<boolean> {
    const child = kubeObject(object);
    if (!isControlledBy(child, owner.object)) throw new NotControlledError(resource, child, owner);
    const live = await this.client.find(owner.resource, keyOf(owner.object), { signal: this.signal });
    if (live === undefined || kubeObject(live).metadata.uid !== owner.object.metadata.uid) return false;
    if (owner.stillDue?.(live) === false) return false;
    this.#note("delete", resource, object);
    try {
      const { uid, resourceVersion: version } = child.metadata;
      const preconditions = { uid, resourceVersion: version };
      await this.client.delete(resource, keyOf(child), { preconditions, signal: this.signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    return true;
  }

  /** @throws OwnerChangedError when the owner is not what the cache says: the cache will hear of that. */
  async #checkOwner(resource: Resource, child: KubeObject, owner: Owner): Promise<void> {
    const found = await this.client.find(owner.resource, keyOf(owner.object), { signal: this.signal });
    const live = found === undefined ? undefined : kubeObject(found);
    const { uid, resourceVersion: known = "" } = owner.object.metadata;
    if (live === undefined || live.metadata.uid !== uid || live.metadata.deletionTimestamp !== undefined) {
      throw new OwnerChangedError(resource, child, owner, "gone");
    }
    if ((compareResourceVersions(live.metadata.resourceVersion ?? "", known) ?? 0) <= 0) return;
    // As if it had been written here: the key waits until the cache has it.
    this.#parts.wrote(owner.resource, live);
    throw new OwnerChangedError(resource, child, owner, "newer");
  }

  async #change<R extends Resource>(
    resource: R,
    wanted: Desired<R>,
    held: Infer<R>,
    owner: Owner | undefined,
  ): Promise<Infer<R>> {
    const live = kubeObject(held);
    if (owner !== undefined && !isControlledBy(live, owner.object)) throw new NotControlledError(resource, live, owner);
    const field = this.#unsettled(resource, live, wanted);
    if (field === undefined) return held;
    this.#note("apply", resource, wanted);
    // The UID makes it this very object: an apply to one that is gone would otherwise create it.
    const written = await this.#write(resource, wanted, { uid: live.metadata.uid });
    this.#parts.repaired({ resource, object: live, field, goal: JSON.stringify(wanted) });
    return written;
  }

  /** Applies what is wanted, if the object is the one that `identity` names. */
  async #write<R extends Resource>(
    resource: R,
    wanted: Desired<R>,
    identity: Pick<KubeObject["metadata"], "uid" | "resourceVersion">,
  ): Promise<Infer<R>> {
    const { fieldManager } = this.#parts;
    const body = { ...wanted, metadata: { ...wanted.metadata, ...identity } };
    // The server parses an apply once more to look for double keys, of which JSON.stringify makes none. Fields that the
    // kind does not have it refuses in any case.
    const options = { fieldManager, force: true, fieldValidation: "Ignore", signal: this.signal } as const;
    const answer = await this.client.apply(resource, body as Draft<R>, options);
    this.#filledIn.learn(resource, this.#deviations(kubeObject(answer), wanted));
    // A dry run answers a create with the version that was sent: nothing was stored, no cache will ever have it.
    if (kubeObject(answer).metadata.resourceVersion !== absent) this.#parts.wrote(resource, kubeObject(answer));
    return answer;
  }

  /** The field that makes a write necessary; undefined when the object is as it should be. */
  #unsettled(resource: Resource, live: KubeObject, wanted: unknown): string | undefined {
    return this.#deviations(live, wanted).find((deviation) => !this.#filledIn.explains(resource, deviation))?.field;
  }

  #deviations(live: KubeObject, wanted: unknown): readonly Deviation[] {
    return [...gapsOf(live, wanted), ...surplusOf(live, wanted, this.#parts.fieldManager)];
  }

  #note(action: string, resource: Resource, object: unknown): void {
    const fields: Fields = { resource: resourceName(resource), object: keyOf(kubeObject(object)) };
    this.log.debug(action, fields);
  }
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

/**
 * ReconcileContext: the typed face of the Toolbox for `reconcile(ctx)`. `Primary` is the kind that is reconciled,
 * `Declared` every kind the controller said it watches: reading another one from the cache does not compile.
 */
import { type Infer, keyOf, type Resource } from "../api/mod.ts";
import type { Clock } from "../async/mod.ts";
import type { Client, Patch, PatchValue } from "../client/mod.ts";
import type { Logger } from "../observe/mod.ts";
import type { ListFilter } from "./cache_reader.ts";
import type { Desired } from "./desired.ts";
import { isNotCached, type NotCached, type Read } from "./reading.ts";
import type { Cause, EventType } from "./reconciler.ts";
import type { Toolbox } from "./toolbox.ts";

/** The status of a Resource's objects. */
export type StatusOf<R extends Resource> = Infer<R> extends { readonly status?: infer Status } ? NonNullable<Status>
  : never;

/** Options of `ctx.delete`. */
export interface DeleteChildOptions<Primary extends Resource> {
  /** Asked about the object as the server has it now, so that no lagging cache decides what is destroyed. @default always */
  readonly onlyIf?: (live: Infer<Primary>) => boolean;
}

/** One attempt at one object. */
export interface ReconcileContext<Primary extends Resource, Declared extends Resource> {
  /** The object, from the cache: it exists and is not being deleted. */
  readonly object: Infer<Primary>;
  /** Aborts when the attempt's time is up or the process must end. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** What time it is: for conditions and deadlines. */
  readonly clock: Clock;
  /** Why this attempt was made. */
  readonly causes: readonly Cause[];
  /** Failures in a row before this attempt. */
  readonly retries: number;
  /** Direct access to the API server, for what the other members do not cover. */
  readonly client: Client;
  /**
   * The object named `key` ("namespace/name", or "name" where cluster-scoped), or undefined: from the cache, and so at
   * once. Of a kind that is `notCached` the API server is asked, and the object is promised.
   */
  find<R extends Declared>(resource: R, key: string): Read<R, Infer<R> | undefined>;
  /** As `find`, for an object that must be there. @throws Error when the cache has none, ApiError when the server has none */
  get<R extends Declared>(resource: R, key: string): Read<R, Infer<R>>;
  /** The objects that pass the filter, from the cache; of a kind that is `notCached` from the API server, promised. */
  list<R extends Declared>(resource: R, filter?: ListFilter): Read<R, readonly Infer<R>[]>;
  /**
   * Brings a child of the object to the wanted state by server-side apply: created if missing, changed if it differs,
   * left alone otherwise. Fields that were wanted before and are not named any more go. The object becomes its
   * controller.
   *
   * @throws NotControlledError when one of that name belongs to somebody else
   */
  apply<K extends Exclude<Declared, NotCached>["kind"]>(
    desired: Desired<Extract<Declared, { readonly kind: K }>> & { readonly kind: K },
  ): Promise<Infer<Extract<Declared, { readonly kind: K }>>>;
  /**
   * Holds some fields of an object that belongs to somebody else (a label on a Node): the named fields become ours,
   * those that were ours and are not named any more go, all others are left alone. Declare the kind with
   * `watches(..., { writes: true })`.
   *
   * @returns The live object; undefined when the cache has none: it is never created.
   */
  applyFields<K extends Exclude<Declared, NotCached>["kind"]>(
    desired: Desired<Extract<Declared, { readonly kind: K }>> & { readonly kind: K },
  ): Promise<Infer<Extract<Declared, { readonly kind: K }>> | undefined>;
  /**
   * Deletes a child of the object: the very one that was read, and only while the object itself, read live, is still
   * there. A child that is gone already is fine. Declare the kind with `owns(..., { deletes: true })`.
   *
   * @returns False when nothing was done, since the object is not as it was.
   * @throws NotControlledError when it belongs to somebody else
   */
  delete<R extends Declared>(resource: R, child: Infer<R>, options?: DeleteChildOptions<Primary>): Promise<boolean>;
  /**
   * Brings an object to what the patch says, whoever it belongs to: for what `apply` and `applyFields` cannot say, such
   * as a list that others write, too. Declare it with `uses(..., ["patch"])`, unless the kind is one of children. A merge
   * patch that would change nothing is not sent. Name
   * `metadata.resourceVersion` in it when it depends on what was read; the answer is then a conflict if that is stale.
   *
   * @returns The live object; the one given when nothing had to be written.
   * @throws ApiError when the server refuses, `isConflict`, `isNotFound`.
   */
  patch<R extends Declared>(resource: R, object: Infer<R>, patch: Patch<R>): Promise<Infer<R>>;
  /**
   * Writes the named fields of the object's status, unless it has them already. Maps are merged: a key that shall go is
   * named with null.
   */
  patchStatus(status: PatchValue<StatusOf<Primary>>): Promise<void>;
  /** Records an Event about the object. */
  event(type: EventType, reason: string, note: string): void;
}

/** Makes the context of one attempt. The caller has found the object in the cache. */
export function reconcileContext<Primary extends Resource, Declared extends Resource>(
  primary: Primary,
  declared: readonly Resource[],
  object: Infer<Primary>,
  toolbox: Toolbox,
): ReconcileContext<Primary, Declared> {
  const owner = { resource: primary, object: asKubeObject(object) };
  const { signal } = toolbox;
  return {
    object,
    signal,
    log: toolbox.log,
    clock: toolbox.clock,
    causes: toolbox.causes,
    retries: toolbox.retries,
    client: toolbox.client,
    find: (resource, key) =>
      readOf(resource, () => toolbox.find(resource, key), () => toolbox.client.find(resource, key, { signal })),
    get: (resource, key) =>
      readOf(resource, () => cached(toolbox, resource, key), () => toolbox.client.get(resource, key, { signal })),
    list: (resource, filter) =>
      readOf(resource, () => toolbox.list(resource, filter), () => listed(toolbox, resource, filter)),
    async apply(desired) {
      return await toolbox.apply(resourceOf(declared, desired), desired, owner);
    },
    async applyFields(desired) {
      return await toolbox.applyFields(resourceOf(declared, desired), desired);
    },
    async delete(resource, child, options = {}) {
      const { onlyIf } = options;
      // What is read live is of the primary kind.
      const stillDue = onlyIf === undefined ? undefined : (live: unknown) => onlyIf(live as Infer<Primary>);
      return await toolbox.delete(resource, child, { ...owner, stillDue });
    },
    patch: (resource, object, patch) => toolbox.change(resource, object, patch),
    async patchStatus(status) {
      await toolbox.patchStatus(primary, object, status);
    },
    event: (type, reason, note) => toolbox.event({ regarding: owner.object, type, reason, note }),
  };
}

/** TypeScript does not see that the question asked here is the one that `Read` asks. */
function readOf<R extends Resource, Value>(
  resource: R,
  fromCache: () => Value,
  fromServer: () => Promise<Value>,
): Read<R, Value> {
  return (isNotCached(resource) ? fromServer() : fromCache()) as Read<R, Value>;
}

function cached<R extends Resource>(toolbox: Toolbox, resource: R, key: string): Infer<R> {
  const found = toolbox.find(resource, key);
  if (found === undefined) throw new Error(`Cannot get ${resource.kind} "${key}": the cache has none`);
  return found;
}

async function listed<R extends Resource>(
  toolbox: Toolbox,
  resource: R,
  filter: ListFilter = {},
): Promise<readonly Infer<R>[]> {
  const { index, ...selection } = filter;
  if (index !== undefined) throw new TypeError(`Cannot list ${resource.kind} by index: it is not cached`);
  const { items } = await toolbox.client.listAll(resource, { ...selection, signal: toolbox.signal });
  return items;
}

function resourceOf<R extends Resource>(declared: readonly Resource[], desired: { readonly kind: string }): R {
  const found = declared.find((resource) => resource.kind === desired.kind);
  if (found === undefined) {
    throw new TypeError(`Cannot apply ${desired.kind} "${keyOf(desired as never)}": the controller did not declare it`);
  }
  return found as R;
}

function asKubeObject(object: unknown): Parameters<typeof keyOf>[0] & { apiVersion: string; kind: string } {
  return object as never;
}

/**
 * The errors of a Toolbox about ownership: a foreign object has the name of a dependent, or the owner on the server is not
 * the one that the attempt was decided on. What happens to the key afterwards is in `_worker.ts`.
 */
import { compareResourceVersions, keyOf, type KubeObject, type Resource } from "../api/mod.ts";
import type { Client } from "../client/mod.ts";
import { errorChain } from "../observe/mod.ts";
import { describeOwner, type Owner } from "./ownership.ts";

/**
 * Thrown by `apply` and `delete` instead of changing or deleting a foreign object. The key is retried with backoff.
 *
 * @example Report the foreign object in an Event
 * ```ts
 * import { ConfigMap, controller, done, manifest, Namespace, NotControlledError } from "@pintle/controller";
 *
 * const greeter = controller("greeter").for(Namespace).owns(ConfigMap).reconcile(async (ctx) => {
 *   const namespace = ctx.object.metadata.name;
 *   try {
 *     await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name: "greeting" } }));
 *   } catch (error) {
 *     if (error instanceof NotControlledError) ctx.event("Warning", "Conflict", error.message);
 *     throw error;
 *   }
 *   return done;
 * });
 * console.assert(greeter.watches[1]?.role === "owns");
 * ```
 */
export class NotControlledError extends Error {
  /** The name of the class. */
  override readonly name = "NotControlledError";
  /** The foreign object. */
  readonly object: KubeObject;

  /**
   * Creates the error.
   *
   * @param owner The object that should control `object`.
   */
  constructor(resource: Resource, object: KubeObject, owner: Owner) {
    const actual = describeOwner(object);
    const expected = `${owner.resource.kind} "${keyOf(owner.object)}"`;
    const isOwner = object.metadata.uid !== undefined && object.metadata.uid === owner.object.metadata.uid;
    const state = isOwner
      ? "it is the reconciled object, not a dependent of it. Change it with patch or patchStatus"
      : actual === undefined
      ? `it has no controller, expected ${expected}`
      : `it is ${actual}, not by ${expected}`;
    super(`Cannot apply ${resource.kind} "${keyOf(object)}": ${state}`);
    this.object = object;
  }
}

/** How the live owner differs from the cached one. */
export type OwnerState =
  /** It does not exist, has another UID, or is being deleted. */
  | "deleted"
  /** The same object, in a newer version than the cached one. */
  | "newer";

/**
 * A dependent is not created again, or not deleted, because its live owner is not the cached one. It ends the attempt, but is not
 * a failure: the cache will receive the change (`_worker.ts`).
 */
export class OwnerChangedError extends Error {
  override readonly name = "OwnerChangedError";
  readonly state: OwnerState;

  constructor(action: string, owner: Owner, state: OwnerState) {
    super(`Cannot ${action}: ${owner.resource.kind} "${keyOf(owner.object)}" is ${state} on the server`);
    this.state = state;
  }
}

/** The OwnerChangedError that an error is, or that caused it. */
export function findOwnerChange(error: unknown): OwnerChangedError | undefined {
  for (const one of errorChain(error)) if (one instanceof OwnerChangedError) return one;
  return undefined;
}

/** @throws OwnerChangedError when the live owner is not the cached one. An event about that change will follow. */
export async function assertOwnerCurrent(
  { client, signal, observeLive }: {
    readonly client: Client;
    readonly signal: AbortSignal;
    readonly observeLive?: (resource: Resource, object: KubeObject) => void;
  },
  created: { readonly resource: Resource; readonly dependent: KubeObject; readonly owner: Owner },
): Promise<void> {
  const { resource, dependent, owner } = created;
  const action = `create ${resource.kind} "${keyOf(dependent)}" again`;
  const live = await client.find(owner.resource, keyOf(owner.object), { signal }) as KubeObject | undefined;
  const { uid, resourceVersion: cachedVersion = "" } = owner.object.metadata;
  if (live === undefined || live.metadata.uid !== uid || live.metadata.deletionTimestamp !== undefined) {
    throw new OwnerChangedError(action, owner, "deleted");
  }
  if ((compareResourceVersions(live.metadata.resourceVersion ?? "", cachedVersion) ?? 0) <= 0) return;
  observeLive?.(owner.resource, live);
  throw new OwnerChangedError(action, owner, "newer");
}

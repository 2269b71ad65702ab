/**
 * OwnerChangedError: a lost child is not made again, because its owner is not what the cache says. Ends the attempt
 * without a failure: nobody is to blame, and the change is on its way here.
 */
import { keyOf, type KubeObject, type Resource } from "../api/mod.ts";
import type { Owner } from "./toolbox.ts";

/** What the server says of the owner. */
export type OwnerState =
  /** Not there any more, another one, or on its way out. */
  | "gone"
  /** The same one, newer than the cache has it. */
  | "newer";

export class OwnerChangedError extends Error {
  override readonly name = "OwnerChangedError";
  readonly state: OwnerState;

  constructor(resource: Resource, child: KubeObject, owner: Owner, state: OwnerState) {
    const parent = `${owner.resource.kind} "${keyOf(owner.object)}"`;
    super(`Cannot create ${resource.kind} "${keyOf(child)}" again: ${parent} is ${state} on the server`);
    this.state = state;
  }
}

/** The one that an error is, or was made of. */
export function ownerChangeIn(error: unknown): OwnerChangedError | undefined {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof OwnerChangedError) return one;
  return undefined;
}

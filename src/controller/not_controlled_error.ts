/** NotControlledError: an object stands where a child should be, and it belongs to somebody else. */
import { controllerOf, keyOf, type KubeObject, type Resource } from "../api/mod.ts";
import type { Owner } from "./toolbox.ts";

/** Thrown instead of touching what another owner, or nobody we know, holds. Retried with backoff. */
export class NotControlledError extends Error {
  override readonly name = "NotControlledError";
  /** The object that is in the way. */
  readonly object: KubeObject;

  constructor(resource: Resource, object: KubeObject, owner: Owner) {
    const controller = controllerOf(object);
    const holder = controller === undefined ? "nobody" : `${controller.kind} "${controller.name}"`;
    const wanted = `${owner.resource.kind} "${keyOf(owner.object)}"`;
    super(`Cannot apply ${resource.kind} "${keyOf(object)}": it is controlled by ${holder}, not by ${wanted}`);
    this.object = object;
  }
}

/**
 * Desired: the part of an object that a controller writes, typed by its Resource. Server-side apply is partial, so
 * everything but the identity is optional: a field that is not set belongs to other field managers.
 */
import { apiVersionOf, type Infer, type ObjectMeta, type Resource } from "../api/mod.ts";
import type { DeepPartial } from "../client/mod.ts";

/**
 * The part of an object that a controller writes; the argument of `ctx.apply`. Everything but apiVersion, kind and name is
 * optional. Create it with {@link manifest}.
 */
export type Desired<R extends Resource> =
  & { readonly apiVersion: string; readonly kind: R["kind"]; readonly metadata: ObjectMeta & { readonly name: string } }
  & DeepPartial<Omit<Infer<R>, "apiVersion" | "kind" | "metadata">>;

/** {@link Desired} without the fields that follow from the Resource; the second argument of {@link manifest}. */
export type DesiredBody<R extends Resource> = Omit<Desired<R>, "apiVersion" | "kind">;

/**
 * Creates an object for `ctx.apply`: apiVersion and kind come from the Resource, the rest is checked against its type.
 *
 * @param body The metadata, with at least a name, and the fields that the controller sets.
 * @example
 * ```ts
 * import { ConfigMap, manifest } from "@pintle/controller";
 *
 * const config = manifest(ConfigMap, { metadata: { namespace: "default", name: "a" }, data: { color: "blue" } });
 * console.assert(config.kind === "ConfigMap");
 * ```
 */
export function manifest<R extends Resource>(resource: R, body: DesiredBody<R>): Desired<R> {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, ...body } as Desired<R>;
}

/**
 * Desired: what a controller writes, typed by the Resource it writes it for. Server-side apply is partial by nature,
 * so everything but the identity is optional: fields that are not named are left to others.
 */
import { apiVersionOf, type Infer, type ObjectMeta, type Resource } from "../api/mod.ts";
import type { Partly } from "../client/mod.ts";

/** The part of an object a controller wants to hold. */
export type Desired<R extends Resource> =
  & { readonly apiVersion: string; readonly kind: R["kind"]; readonly metadata: ObjectMeta & { readonly name: string } }
  & Partly<Omit<Infer<R>, "apiVersion" | "kind" | "metadata">>;

/** The body of {@link Desired}: what remains to be said when the Resource is known. */
export type DesiredBody<R extends Resource> = Omit<Desired<R>, "apiVersion" | "kind">;

/**
 * Makes an object to apply: the kind comes from the Resource, the rest is checked against its type.
 *
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

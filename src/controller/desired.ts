/**
 * Desired: the part of an object that a controller writes, typed by its Resource. Server-side apply is partial, so
 * everything but the identity is optional: a field that is not set belongs to other field managers.
 */
import {
  apiVersionOf,
  builtin,
  type Infer,
  isJsonObject,
  type ObjectMeta,
  type Resource,
  resourceName,
} from "../api/mod.ts";
import type { DeepPartial } from "../client/mod.ts";
import { toBase64 } from "../runtime/mod.ts";

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

/** What only the server writes: an apply with managedFields is rejected, and the others are ignored. */
const serverFields = [
  "managedFields",
  "creationTimestamp",
  "generation",
  "selfLink",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
];

/** Without what a copy of a live object (`{ ...live, spec }`) has from the server. Only some reads have managedFields. */
function withoutServerFields<R extends Resource>(desired: Desired<R>): Desired<R> {
  const { metadata } = desired;
  if (!serverFields.some((name) => Object.hasOwn(metadata, name))) return desired;
  const kept = Object.entries(metadata).filter(([name]) => !serverFields.includes(name));
  return { ...desired, metadata: Object.fromEntries(kept) } as unknown as Desired<R>;
}

/**
 * A desired object with its fields as the server stores them. The `stringData` of a Secret is in `data`: the server never returns
 * `stringData`, so a comparison with the live object would not show what has to be written, nor what another client has changed.
 */
export function storedForm<R extends Resource>(resource: R, given: Desired<R>): Desired<R> {
  const desired = withoutServerFields(given);
  const texts: unknown = Reflect.get(desired, "stringData");
  if (resourceName(resource) !== resourceName(builtin.Secret) || !isJsonObject(texts)) return desired;
  const { stringData: _texts, data = {}, ...rest }: Desired<typeof builtin.Secret> = desired as never;
  const encoded = Object.entries(texts).map(([key, text]) => [key, toBase64(String(text))]);
  return { ...rest, data: { ...data, ...Object.fromEntries(encoded) } } as unknown as Desired<R>;
}

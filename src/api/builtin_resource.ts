/**
 * The Resources of the kinds that are part of Kubernetes, and the types of their scalars. `generated/` has the kinds and the
 * types of their objects, as kube-apiserver publishes them; tasks/types.ts writes it.
 *
 * An object from a server always has apiVersion, kind, metadata and (where its kind has one) spec; the published schemas
 * make all of them optional, because a client may omit them in a patch. The types require them.
 */
import type { Resource } from "./resource.ts";

/**
 * The Resource of a kind that is part of Kubernetes, e.g. `ConfigMap`. Its objects have the readonly type `T`.
 *
 * @example
 * ```ts
 * import { Deployment, type Resource } from "@pintle/controller";
 *
 * // A Deployment is a value with names and a type with fields.
 * const replicasOf = (deployment: Deployment): number => deployment.spec.replicas ?? 1;
 * const kinds: readonly Resource[] = [Deployment];
 * console.assert(kinds[0]?.plural === "deployments" && replicasOf.length === 1);
 * ```
 */
export type BuiltinResource<T, Kind extends string> = Resource<T, Kind>;

/** An instant in RFC 3339 with seconds, e.g. `2026-01-31T12:00:00Z`. */
export type Time = string;

/** An instant in RFC 3339 with microseconds, e.g. `2026-01-31T12:00:00.000000Z`. */
export type MicroTime = string;

/** An amount with an optional suffix, e.g. `500m`, `2` or `1Gi`. The server writes it as text. */
export type Quantity = string;

/** A number, or a text such as a percentage or the name of a port. */
export type IntOrString = number | string;

/** Bytes in base64. */
export type Base64 = string;

/** Creates the Resource of a kind whose objects are in Namespaces. */
export function namespaced<Kind extends string>(apiVersion: string, kind: Kind, plural: string): Resource<never, Kind> {
  return builtin(apiVersion, { kind, plural, scope: "Namespaced" });
}

/** Creates the Resource of a kind whose objects belong to the whole cluster. */
export function clusterScoped<Kind extends string>(
  apiVersion: string,
  kind: Kind,
  plural: string,
): Resource<never, Kind> {
  return builtin(apiVersion, { kind, plural, scope: "Cluster" });
}

/** A Resource<never> is assignable to the Resource of any object type, because the type has no value. */
function builtin<Kind extends string>(
  apiVersion: string,
  names: Pick<Resource<never, Kind>, "kind" | "plural" | "scope">,
): Resource<never, Kind> {
  const slash = apiVersion.indexOf("/");
  const [group, version] = [apiVersion.slice(0, Math.max(slash, 0)), apiVersion.slice(slash + 1)];
  const { kind, plural, scope } = names;
  return Object.freeze({ group, version, kind, plural, scope });
}

/**
 * ObjectKey: `namespace/name`, or `name` alone for a cluster-scoped object. It identifies an object of a kind in caches,
 * queues and logs. A string, so that it can be the key of a map and one comparison decides equality.
 */
import type { KubeObject } from "./object.ts";

/**
 * Identifies one object of one kind: `namespace/name`, or `name` for a cluster-scoped object. {@link objectKey} and
 * {@link keyOf} create keys; `_brand` exists only as a type, so that another string is not taken for a key.
 *
 * @example
 * ```ts
 * import { type ObjectKey, objectKey } from "@pintle/controller";
 *
 * const replicas = new Map<ObjectKey, number>([[objectKey({ namespace: "default", name: "web" }), 3]]);
 * console.assert(replicas.get(objectKey({ namespace: "default", name: "web" })) === 3);
 * ```
 */
export type ObjectKey = string & { readonly _brand: "ObjectKey" };

/** The parts of an {@link ObjectKey}. */
export interface KeyParts {
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string;
  /** The name of the object. */
  readonly name: string;
}

/**
 * Creates a key from a namespace and a name.
 *
 * @param parts An empty or absent namespace means that the object is cluster-scoped.
 *
 * @example
 * ```ts
 * import { objectKey } from "@pintle/controller";
 *
 * console.assert(objectKey({ namespace: "default", name: "web" }) === "default/web");
 * console.assert(objectKey({ name: "node-1" }) === "node-1");
 * ```
 */
export function objectKey(parts: KeyParts): ObjectKey {
  const { namespace, name } = parts;
  return (namespace === undefined || namespace === "" ? name : `${namespace}/${name}`) as ObjectKey;
}

/**
 * Returns the key of an object.
 *
 * @param object Any object with metadata.
 * @throws {TypeError} when the object has no name
 *
 * @example
 * ```ts
 * import { keyOf } from "@pintle/controller";
 *
 * console.assert(keyOf({ metadata: { namespace: "default", name: "web" } }) === "default/web");
 * ```
 */
export function keyOf(object: { readonly metadata: Pick<KubeObject["metadata"], "name" | "namespace"> }): ObjectKey {
  const { namespace, name } = object.metadata;
  if (name === undefined || name === "") throw new TypeError("Cannot create a key: metadata.name is missing");
  return (namespace === undefined || namespace === "" ? name : `${namespace}/${name}`) as ObjectKey;
}

/**
 * Splits a key into its namespace and its name.
 *
 * @param key `namespace/name`, or `name` alone.
 *
 * @example
 * ```ts
 * import { splitKey } from "@pintle/controller";
 *
 * const { namespace, name } = splitKey("default/web");
 * console.assert(namespace === "default" && name === "web");
 * ```
 */
export function splitKey(key: string): KeyParts {
  const slash = key.indexOf("/");
  if (slash < 0) return { name: key };
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/**
 * ObjectKey: `namespace/name`, or `name` alone for a cluster-scoped object. It identifies an object of a kind in caches,
 * queues and logs. A string, so that it can be the key of a map and one comparison decides equality.
 */
import type { KubeObject } from "./object.ts";

declare const brand: unique symbol;

/** Identifies one object of one kind. */
export type ObjectKey = string & { readonly [brand]: "ObjectKey" };

/** The parts of a key. */
export interface KeyParts {
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string;
  readonly name: string;
}

/** Creates the key of `name` in `namespace`; an empty or absent namespace means cluster-scoped. */
export function objectKey(parts: KeyParts): ObjectKey {
  const { namespace, name } = parts;
  return (namespace === undefined || namespace === "" ? name : `${namespace}/${name}`) as ObjectKey;
}

/**
 * The key of an object.
 *
 * @throws TypeError when the object has no name.
 */
export function keyOf(object: { readonly metadata: Pick<KubeObject["metadata"], "name" | "namespace"> }): ObjectKey {
  const { namespace, name } = object.metadata;
  if (name === undefined || name === "") throw new TypeError("Cannot create a key: metadata.name is missing");
  return (namespace === undefined || namespace === "" ? name : `${namespace}/${name}`) as ObjectKey;
}

/** Splits a key into its parts. */
export function splitKey(key: string): KeyParts {
  const slash = key.indexOf("/");
  if (slash < 0) return { name: key };
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/**
 * ObjectKey: `namespace/name`, or `name` alone for what is cluster-scoped. The one name an object has in caches,
 * queues and logs. A string, so that it is its own map key and one comparison decides equality.
 */
import type { KubeObject } from "./object.ts";

declare const brand: unique symbol;

/** The name of one object of one kind. */
export type ObjectKey = string & { readonly [brand]: "ObjectKey" };

/** What a key is made of. */
export interface KeyParts {
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string;
  readonly name: string;
}

/** Makes the key of `name` in `namespace`; an empty or absent namespace means cluster-scoped. */
export function objectKey(parts: KeyParts): ObjectKey {
  const { namespace, name } = parts;
  return (namespace === undefined || namespace === "" ? name : `${namespace}/${name}`) as ObjectKey;
}

/** The key of an object. */
export function keyOf(object: { readonly metadata: Pick<KubeObject["metadata"], "name" | "namespace"> }): ObjectKey {
  const { namespace, name } = object.metadata;
  if (name === undefined || name === "") throw new TypeError("Cannot make a key: metadata.name is missing");
  return (namespace === undefined || namespace === "" ? name : `${namespace}/${name}`) as ObjectKey;
}

/** Takes a key apart. */
export function splitKey(key: string): KeyParts {
  const slash = key.indexOf("/");
  if (slash < 0) return { name: key };
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

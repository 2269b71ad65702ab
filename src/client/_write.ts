/** The bodies and queries of writes. */
import { apiVersionOf, type KubeObject, objectKey, type ObjectMeta, type Resource } from "../api/mod.ts";
import { isObject } from "./_decode.ts";
import { objectText } from "./_path.ts";
import type { Query } from "./_query.ts";
import type { Patch, WriteOptions } from "./client_options.ts";

/** Query parameters of a write; what the call leaves open is the client's. */
export function writeQuery(options: WriteOptions, defaults: Pick<WriteOptions, "dryRun" | "fieldManager">): Query {
  const { dryRun = defaults.dryRun, fieldManager = defaults.fieldManager, fieldValidation } = options;
  return { dryRun: dryRun ? "All" : undefined, fieldManager, fieldValidation };
}

/**
 * `object` with the apiVersion and kind of its resource. A subresource may have a kind of its own, as Scale.
 *
 * @throws TypeError when it is no object, has no metadata or is of another kind.
 */
export function withIdentity(resource: Resource, object: unknown, subresource?: string): KubeObject {
  if (!isObject(object) || !hasMetadata(object)) {
    throw new TypeError(`Cannot write ${resource.kind}: it has no metadata`);
  }
  const { apiVersion = apiVersionOf(resource), kind = resource.kind } = object;
  if (typeof kind !== "string" || typeof apiVersion !== "string") {
    throw new TypeError(`Cannot write ${resource.kind}: its kind or apiVersion is no text`);
  }
  if (subresource === undefined && (kind !== resource.kind || apiVersion !== apiVersionOf(resource))) {
    throw new TypeError(
      `Cannot write ${resource.kind} (${apiVersionOf(resource)}): the object is a ${kind} (${apiVersion})`,
    );
  }
  return { ...object, apiVersion, kind };
}

function hasMetadata(object: Record<string, unknown>): object is Record<string, unknown> & { metadata: ObjectMeta } {
  return isObject(object.metadata);
}

/** The key of an object about to be written. @throws TypeError when it has no name, or no namespace where it needs one. */
export function keyForWrite(verb: string, resource: Resource, object: KubeObject): string {
  const { name, namespace } = object.metadata;
  if (name === undefined || name === "") {
    throw new TypeError(`Cannot ${verb} ${resource.kind}: metadata.name is missing`);
  }
  if (resource.scope === "Namespaced" && (namespace === undefined || namespace === "")) {
    throw new TypeError(`Cannot ${verb} ${objectText(resource, name)}: metadata.namespace is missing`);
  }
  return objectKey(resource.scope === "Namespaced" ? { namespace, name } : { name });
}

/**
 * A whole object as text. A 64-bit integer beyond 2^53 has been rounded when it was read, and a PUT would store the
 * rounded one in a field that may be another's (behaviours.md 82).
 *
 * @throws TypeError when there is such a number.
 */
export function encodeWhole(object: KubeObject, action: string): string {
  const text = JSON.stringify(object);
  // 2^53 has 16 digits; without so many in a row there is nothing to look for.
  if (!/\d{16}/.test(text)) return text;
  const path = pathOfRounded(object, "");
  if (path === undefined) return text;
  throw new TypeError(
    `Cannot ${action}: the integer at ${path} is beyond 2^53 and was rounded when it was read; use apply or patch with the fields of your own`,
  );
}

/** From 2^64 on it is no integer field of Kubernetes: the server too holds it as a double. */
const beyondInteger = 2 ** 64;

function pathOfRounded(value: unknown, path: string): string | undefined {
  if (typeof value === "number") {
    const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < beyondInteger;
    return isRounded ? path : undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, child] of Object.entries(value)) {
    const found = pathOfRounded(child, Array.isArray(value) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Body and content type of a patch. */
export function patchBody<R extends Resource>(
  patch: Patch<R>,
): { readonly body: string; readonly contentType: string } {
  switch (patch.kind) {
    case "merge":
      return { body: JSON.stringify(patch.value), contentType: "application/merge-patch+json" };
    case "strategic":
      return { body: JSON.stringify(patch.value), contentType: "application/strategic-merge-patch+json" };
    case "json":
      return { body: JSON.stringify(patch.operations), contentType: "application/json-patch+json" };
    default:
      return patch satisfies never;
  }
}

/**
 * The encoder: paths, queries and bodies of requests to the Kubernetes API, made from checked parts.
 *
 * Guarantees: a name stays within its segment of the path: "", ".", "..", "/", "%" and control characters are refused
 * before a request is sent (behaviour 80, client-go `IsValidPathSegmentName`), all else is percent-encoded. A query
 * contains only what differs from the default of the server. A whole object with a number that JavaScript may have
 * rounded is refused (behaviour 82).
 */
import {
  apiVersionOf,
  formatFieldSelector,
  formatLabelSelector,
  type KubeObject,
  objectKey,
  type ObjectMeta,
  printLosslessJson,
  type Resource,
  splitKey,
} from "../api/mod.ts";
import { type DeleteOptions, type Patch, patchKinds, type Selection, type WriteOptions } from "./client_options.ts";
import { isObject } from "./decoder.ts";

/** The parts of a path. */
export interface PathParts {
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

/** The path of a collection, an object or a subresource, without a query. @throws TypeError for a part that is not a name. */
export function resourcePath(resource: Resource, parts: PathParts): string {
  const { namespace, name, subresource } = parts;
  let path = resource.group === "" ? "/api" : `/apis/${segment(resource, "group", resource.group)}`;
  path += `/${segment(resource, "version", resource.version)}`;
  if (namespace !== undefined) path += `/namespaces/${segment(resource, "namespace", namespace)}`;
  path += `/${segment(resource, "plural", resource.plural)}`;
  if (name !== undefined) path += `/${segment(resource, "name", name)}`;
  if (subresource !== undefined) path += `/${segment(resource, "subresource", subresource)}`;
  return path;
}

/** The path of one object. @throws TypeError when the key does not match the scope of the resource. */
export function objectPath(resource: Resource, key: string, subresource?: string): string {
  const { namespace, name } = splitKey(key);
  if (resource.scope === "Namespaced" && namespace === undefined) {
    throw new TypeError(`Cannot address ${resource.kind} "${key}": the key must be "namespace/name"`);
  }
  if (resource.scope === "Cluster" && namespace !== undefined) {
    throw new TypeError(`Cannot address ${resource.kind} "${key}": the kind has no namespaces`);
  }
  return resourcePath(resource, { namespace, name, subresource });
}

/** The name of an object in a message: `Deployment "default/web"`. */
export function objectText(resource: Pick<Resource, "kind">, key: string): string {
  return `${resource.kind} "${key}"`;
}

/** The name of a collection in a message: `Deployment (apps/v1) in namespace "default"`. */
export function collectionText(resource: Resource, namespace: string | undefined): string {
  const what = `${resource.kind} (${apiVersionOf(resource)})`;
  if (resource.scope === "Cluster") return what;
  return namespace === undefined ? `${what} in all namespaces` : `${what} in namespace "${namespace}"`;
}

/** What no URL has to escape, and almost every name is. */
const plainName = /^[a-z0-9][-a-z0-9.]*$/;

function segment(resource: Resource, part: string, text: string): string {
  if (plainName.test(text)) return text;
  const problem = problemWith(text);
  if (problem !== undefined) {
    throw new TypeError(`Cannot address ${resource.kind}: ${part} ${JSON.stringify(text)} ${problem}`);
  }
  return encodeURIComponent(text);
}

// deno-lint-ignore no-control-regex
const control = /[\u0000-\u001f\u007f]/;

function problemWith(text: string): string | undefined {
  if (text === "") return "is empty";
  if (text === "." || text === "..") return `may not be "${text}"`;
  if (text.includes("/")) return 'contains "/"';
  if (text.includes("%")) return 'contains "%"';
  if (control.test(text)) return "contains a control character";
  return text.isWellFormed() ? undefined : "is not valid Unicode";
}

/** Query parameters. Undefined values are not sent. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Appends `query` to `path`. */
export function withQuery(path: string, query: Query): string {
  let text = "";
  for (const name of Object.keys(query)) {
    const value = query[name];
    if (value === undefined || value === "" || value === false) continue;
    text += `${text === "" ? "?" : "&"}${name}=${encodeURIComponent(String(value))}`;
  }
  return path + text;
}

/** The query parameters of a selection. */
export function selectionQuery(selection: Selection): Query {
  const { labelSelector, fieldSelector } = selection;
  return {
    labelSelector: typeof labelSelector === "object" ? formatLabelSelector(labelSelector) : labelSelector,
    fieldSelector: typeof fieldSelector === "object" ? formatFieldSelector(fieldSelector) : fieldSelector,
  };
}

/** The body of a deletion. `defaults` are those of the client. */
export function deleteBody(options: DeleteOptions, defaults: Pick<WriteOptions, "dryRun">): string {
  const { preconditions, propagationPolicy, gracePeriodSeconds, dryRun = defaults.dryRun ?? false } = options;
  return JSON.stringify({
    apiVersion: "v1",
    kind: "DeleteOptions",
    preconditions,
    propagationPolicy,
    gracePeriodSeconds,
    dryRun: dryRun ? ["All"] : undefined,
  });
}

/** The query parameters of a write. `defaults` are those of the client. */
export function writeQuery(options: WriteOptions, defaults: Pick<WriteOptions, "dryRun" | "fieldManager">): Query {
  const { dryRun = defaults.dryRun, fieldManager = defaults.fieldManager, fieldValidation } = options;
  return { dryRun: dryRun ? "All" : undefined, fieldManager, fieldValidation };
}

/**
 * `object` with the apiVersion and kind of its resource. A subresource may have another kind, as Scale has.
 *
 * @throws TypeError when it is not an object, has no metadata or is of another kind.
 */
export function withIdentity(resource: Resource, object: unknown, subresource?: string): KubeObject {
  if (!isObject(object) || !hasMetadata(object)) {
    throw new TypeError(`Cannot write ${resource.kind}: it has no metadata`);
  }
  const { apiVersion = apiVersionOf(resource), kind = resource.kind } = object;
  if (typeof kind !== "string" || typeof apiVersion !== "string") {
    throw new TypeError(`Cannot write ${resource.kind}: its kind or apiVersion is not a string`);
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

/** The key of an object to write. @throws TypeError when its name is missing, or the namespace of a namespaced object. */
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
 * A whole object as text. Integers above 2^53 are read as bigints, so a number above 2^53 comes from a calculation, and may
 * be rounded. A PUT would store the rounded value.
 *
 * @throws TypeError when the object contains such a number, or one that is not finite.
 */
export function encodeWhole(object: KubeObject, action: string): string {
  const text = printLosslessJson(object, action);
  // 2^53 has 16 digits, so a text without so many in a row contains no such integer.
  if (!/\d{16}/.test(text)) return text;
  const path = pathOfRounded(object, "");
  if (path === undefined) return text;
  throw new TypeError(
    `Cannot ${action}: the integer at ${path} is a number beyond 2^53 and may be rounded; use a bigint`,
  );
}

/** A number from 2^64 on is not an integer field of Kubernetes: the server has a double too. */
const minDouble = 2 ** 64;

function pathOfRounded(value: unknown, path: string): string | undefined {
  if (typeof value === "number") {
    const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < minDouble;
    return isRounded ? path : undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, child] of Object.entries(value)) {
    const found = pathOfRounded(child, Array.isArray(value) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Body and content type of a patch. @throws TypeError when it contains a number that is not finite. */
export function patchBody<R extends Resource>(
  patch: Patch<R>,
  action: string,
): { readonly body: string; readonly contentType: string } {
  const content = patch.kind === "json" ? patch.operations : patch.value;
  return { body: printLosslessJson(content, action), contentType: patchKinds[patch.kind].contentType };
}

/**
 * URLs of the Kubernetes API, built from parts that were checked.
 *
 * Guarantees: a name never reaches beyond its own segment; "", ".", "..", "/", "%" and control characters are refused
 * before any request is made (behaviours.md 80, client-go `IsValidPathSegmentName`), the rest is percent-encoded.
 */
import { apiVersionOf, type Resource, splitKey } from "../api/mod.ts";

/** What a path leads to. */
export interface PathParts {
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

/** The path of a collection, an object or a subresource, without a query. @throws TypeError for parts that are no names. */
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

/** The path of one object. @throws TypeError when the key does not fit the resource's scope. */
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

/** `Deployment "default/web"`: an object in a message. */
export function objectText(resource: Pick<Resource, "kind">, key: string): string {
  return `${resource.kind} "${key}"`;
}

/** `Deployment in "default"`, `Deployment in all namespaces`: a collection in a message. */
export function collectionText(resource: Resource, namespace: string | undefined): string {
  const what = `${resource.kind} (${apiVersionOf(resource)})`;
  if (resource.scope === "Cluster") return what;
  return namespace === undefined ? `${what} in all namespaces` : `${what} in namespace "${namespace}"`;
}

function segment(resource: Resource, part: string, text: string): string {
  const trouble = troubleWith(text);
  if (trouble !== undefined) {
    throw new TypeError(`Cannot address ${resource.kind}: ${part} ${JSON.stringify(text)} ${trouble}`);
  }
  return encodeURIComponent(text);
}

// deno-lint-ignore no-control-regex
const control = /[\u0000-\u001f\u007f]/;

function troubleWith(text: string): string | undefined {
  if (text === "") return "is empty";
  if (text === "." || text === "..") return `may not be "${text}"`;
  if (text.includes("/")) return 'contains "/"';
  if (text.includes("%")) return 'contains "%"';
  if (control.test(text)) return "contains a control character";
  return text.isWellFormed() ? undefined : "is not valid Unicode";
}

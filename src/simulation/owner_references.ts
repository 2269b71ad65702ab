/**
 * refuseUnreachableOwners(): a Transport for tests that refuses owner references which the garbage collector could not
 * follow. A real API server stores them, and the collector deletes the object some time later: it looks for the owner in
 * the namespace of the object, and finds none. In a test that would look like an object that vanishes.
 *
 * Guarantees: a refused write has not reached the server. A reference to an owner that does not exist anywhere passes,
 * because an owner may have been deleted a moment ago.
 */
import { type OwnerReference } from "../api/mod.ts";
import type { KubernetesApi } from "../apiserver/mod.ts";
import type { Transport } from "../client/mod.ts";
import { requestInfo } from "../manager/mod.ts";

/** Wraps the transport of the server in this process. */
export function refuseUnreachableOwners(api: KubernetesApi): Transport {
  return async (request) => {
    const info = isWrite(request) ? requestInfo(request) : undefined;
    if (info === undefined || info.resource.includes("/")) return await api.server.fetch(request);
    const text = await request.clone().text();
    const references = text.includes('"ownerReferences') || text.includes("/ownerReferences") ? referencesIn(text) : [];
    for (const reference of references) {
      const problem = problemOf(api, reference, info.namespace);
      if (problem !== undefined) return refusal(`${info.resource} "${info.name ?? ""}"`, problem);
    }
    return await api.server.fetch(request);
  };
}

function isWrite({ method }: Request): boolean {
  return method === "POST" || method === "PUT" || method === "PATCH";
}

/** The owner references in an object, a merge patch, an apply or a JSON patch. */
function referencesIn(text: string): readonly OwnerReference[] {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return []; // the server rejects it
  }
  const found = Array.isArray(body)
    ? body.flatMap((operation: { readonly path?: unknown; readonly value?: unknown }) =>
      String(operation?.path).startsWith("/metadata/ownerReferences") ? [operation.value].flat() : []
    )
    : (body as { readonly metadata?: { readonly ownerReferences?: unknown } } | null)?.metadata?.ownerReferences;
  return Array.isArray(found) ? found.filter(isReference) : [];
}

function isReference(value: unknown): value is OwnerReference {
  if (typeof value !== "object" || value === null) return false;
  return ["apiVersion", "kind", "name", "uid"].every((field) =>
    typeof (value as Readonly<Record<string, unknown>>)[field] === "string"
  );
}

/** Why no reference can lead from an object in `namespace` to the owner; undefined when one can. */
function problemOf(
  { server }: KubernetesApi,
  { apiVersion, kind, name, uid }: OwnerReference,
  namespace: string | undefined,
): string | undefined {
  const slash = apiVersion.indexOf("/");
  const known = server.kinds.findKind(slash < 0 ? "" : apiVersion.slice(0, slash), apiVersion.slice(slash + 1), kind);
  if (known === undefined || known.kind.scope !== "Namespaced") return undefined;
  const owner = `${kind} "${name}"`;
  if (namespace === undefined) return `a cluster-scoped object cannot be owned by ${owner}, which is in a namespace`;
  for (const object of server.storage.list(known.family.collection)) {
    const metadata = object.metadata as { readonly uid?: string; readonly namespace?: string };
    if (metadata.uid !== uid || metadata.namespace === namespace) continue;
    return `its owner ${owner} is in the namespace "${metadata.namespace}", not in "${namespace}"`;
  }
  return undefined;
}

/** The response to a write that a World refuses. */
function refusal(object: string, problem: string): Response {
  const message = `Cannot store ${object} in a World: ${problem}, so the garbage collector would delete the object. ` +
    'Declare owns(..., { track: "labels" }), or write a label instead of the reference and declare watches(..., { to })';
  const causes = [{ reason: "FieldValueInvalid", message, field: "metadata.ownerReferences" }];
  return Response.json({
    ...{ apiVersion: "v1", kind: "Status", status: "Failure", code: 422, reason: "Invalid", message },
    details: { causes },
  }, { status: 422 });
}

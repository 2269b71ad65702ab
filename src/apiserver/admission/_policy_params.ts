/** The objects that a binding hands to its policy as `params`. Texts of apiserver `policy/generic` of Kubernetes 1.36. */
import { isJsonObject, type Json, type JsonObject, type Kind, type ObjectReader, read } from "../model/mod.ts";
import { labelsOf } from "./_hook.ts";
import { matchesSelector } from "./_selector.ts";

/** What there is, null for a policy that is run without any; or why the binding cannot be followed. */
export type Params =
  | { readonly kind: "found"; readonly objects: readonly (JsonObject | null)[] }
  | { readonly kind: "failed"; readonly why: string };

/** Finds the params. @param kind what the policy takes; undefined where it takes none */
export function paramsOf(
  kind: Kind | undefined,
  paramRef: Json | undefined,
  requestNamespace: string,
  objects: ObjectReader,
): Params {
  if (kind === undefined || !isJsonObject(paramRef)) return { kind: "found", objects: [null] };
  const own = textAt(paramRef, "namespace");
  const isNamespaced = kind.scope === "Namespaced";
  if (own !== "" && !isNamespaced) {
    return failed("paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  }
  const namespace = isNamespaced ? own || requestNamespace : "";
  if (isNamespaced && namespace === "") {
    return failed("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources");
  }
  const found = [...chosen(kind, paramRef, namespace, objects)];
  if (found.length === 0 && paramRef.parameterNotFoundAction === "Deny") {
    return failed("no params found for policy binding with `Deny` parameterNotFoundAction");
  }
  return { kind: "found", objects: found };
}

function* chosen(
  kind: Kind,
  paramRef: JsonObject,
  namespace: string,
  objects: ObjectReader,
): Generator<JsonObject, void, void> {
  const name = textAt(paramRef, "name");
  if (name !== "") {
    const object = objects.get(kind.collection, namespace, name);
    if (object !== undefined) yield object;
    return;
  }
  const selector = read<Json>(paramRef, "selector") ?? null;
  const all = kind.scope === "Namespaced" ? objects.list(kind.collection, namespace) : objects.list(kind.collection);
  for (const object of all) if (matchesSelector(selector, labelsOf(object))) yield object;
}

function failed(why: string): Params {
  return { kind: "failed", why };
}

function textAt(object: JsonObject, key: string): string {
  const value = read(object, key);
  return typeof value === "string" ? value : "";
}

/**
 * The policies that match a request, and the params of their bindings: what validating and mutating policies share. As
 * apiserver `policy/generic` of Kubernetes 1.36.
 */
import { nameOf, textAt } from "../kinds/mod.ts";
import {
  type AdmissionRequest,
  isJsonObject,
  type Json,
  type JsonObject,
  type Kind,
  type ObjectReader,
  read,
} from "../model/mod.ts";
import { bindingOf, matchingKindOf, type PolicyBinding, type PolicyHead } from "./compiled_policy.ts";
import { labelsOf, matchContextOf, matchesSelector } from "./matching.ts";

/** Where policies and params are read. */
export interface PolicySources {
  readonly objects: ObjectReader;
  /** Finds the kind of params. */
  readonly findKind: (group: string, version: string, kind: string) => Kind | undefined;
  /** The other served versions of a kind. */
  readonly otherKinds: (kind: Kind) => readonly Kind[];
}

/** The collections of policies of one kind and of their bindings, and the reader of a stored policy. */
export interface PolicyCollections<Policy> {
  readonly policies: string;
  readonly bindings: string;
  readonly policyOf: (object: JsonObject) => Policy;
}

/** A policy that matches a request. */
export interface MatchingPolicy<Policy> {
  readonly policy: Policy;
  /** The bindings that match the request. */
  readonly bindings: readonly PolicyBinding[];
  /** The kind of the request, perhaps in another version. */
  readonly kind: Kind;
}

/** The policies that match a request with at least one binding. */
export function matchingPolicies<Policy extends PolicyHead>(
  request: AdmissionRequest,
  sources: PolicySources,
  collections: PolicyCollections<Policy>,
): readonly MatchingPolicy<Policy>[] {
  const { objects } = sources;
  const all: PolicyBinding[] = [];
  for (const object of objects.list(collections.bindings)) all.push(bindingOf(object));
  // Checked first because it is cheap.
  if (all.length === 0) return [];
  const byPolicy = Map.groupBy(all, (binding) => binding.policyName);
  const context = matchContextOf(request, sources);
  const matching: MatchingPolicy<Policy>[] = [];
  for (const object of objects.list(collections.policies)) {
    const bindings = byPolicy.get(nameOf(object))?.filter(({ match }) =>
      matchingKindOf(match, request, context) !== undefined
    );
    if (bindings === undefined || bindings.length === 0) continue;
    const policy = collections.policyOf(object);
    const kind = matchingKindOf(policy.match, request, context);
    if (kind !== undefined) matching.push({ policy, bindings, kind });
  }
  return matching;
}

/** The kind of the params of a policy; `problem` is "" unless it is not known. */
export function paramKindOf(
  { paramKind }: PolicyHead,
  { findKind }: PolicySources,
): { readonly kind: Kind | undefined; readonly problem: string } {
  if (paramKind === undefined) return { kind: undefined, problem: "" };
  const [apiVersion, name] = [textAt(paramKind, "apiVersion"), textAt(paramKind, "kind")];
  const slash = apiVersion.indexOf("/");
  const [group, version] = [apiVersion.slice(0, Math.max(0, slash)), apiVersion.slice(slash + 1)];
  const kind = findKind(group, version, name);
  if (kind !== undefined) return { kind, problem: "" };
  const shown = `${group}/${version}, Kind=${name}`;
  return { kind, problem: `failed to find resource referenced by paramKind: '${shown}'` };
}

/** The stored Namespace of a request; undefined for cluster-scoped objects and for Namespaces themselves. */
export function namespaceOf({ namespace, kind }: AdmissionRequest, objects: ObjectReader): JsonObject | undefined {
  if (namespace === "" || kind.collection === "namespaces") return undefined;
  return objects.get("namespaces", "", namespace);
}

/** The name of an object for messages, which may have no name yet. */
export function subjectName({ name, object }: AdmissionRequest): string {
  if (name !== "") return name;
  const metadata = object?.["metadata"];
  return nameOf(object ?? {}) || (isJsonObject(metadata) ? textAt(metadata, "generateName") : "") || "Unknown";
}

/** The params of a binding, [null] for a policy without params; or the error of the binding. */
export type Params =
  | { readonly kind: "found"; readonly objects: readonly (JsonObject | null)[] }
  | { readonly kind: "failed"; readonly message: string };

/** Finds the params of a binding. @param kind the paramKind of the policy; undefined when it has none */
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
  const found = [...selectedParams(kind, paramRef, namespace, objects)];
  if (found.length === 0 && paramRef.parameterNotFoundAction === "Deny") {
    return failed("no params found for policy binding with `Deny` parameterNotFoundAction");
  }
  return { kind: "found", objects: found };
}

function* selectedParams(
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

function failed(message: string): Params {
  return { kind: "failed", message };
}

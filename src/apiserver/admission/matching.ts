/**
 * Which requests a rule, a selector and an exemption match: shared by webhooks and policies.
 */
import { isSelected, type LabelSelector } from "../../api/mod.ts";
import { objectAt, textsAt } from "../kinds/mod.ts";
import {
  type AdmissionRequest,
  draftOf,
  isJsonObject,
  type Json,
  type JsonObject,
  type Kind,
  type ObjectReader,
} from "../model/mod.ts";

/** One rule: the operations and resources that it matches. */
export interface RequestRule {
  readonly operations: readonly string[];
  readonly groups: readonly string[];
  readonly versions: readonly string[];
  readonly resources: readonly string[];
  readonly scope: string;
}

/** Reads a rule. */
export function ruleOf(rule: JsonObject): RequestRule {
  return {
    operations: textsAt(rule, "operations"),
    groups: textsAt(rule, "apiGroups"),
    versions: textsAt(rule, "apiVersions"),
    resources: textsAt(rule, "resources"),
    scope: typeof rule.scope === "string" ? rule.scope : "*",
  };
}

/** What a match depends on besides the request. */
export interface MatchContext {
  /** Labels of the namespace of the request; undefined without a namespace. */
  readonly namespaceLabels: JsonObject | undefined;
  /** The kind of the request in its other served versions. */
  readonly otherKinds: readonly Kind[];
}

/** The match context of a request. */
export function matchContextOf(
  { namespace, kind, object, oldObject }: AdmissionRequest,
  parts: { readonly objects: ObjectReader; readonly otherKinds: (kind: Kind) => readonly Kind[] },
): MatchContext {
  const otherKinds = parts.otherKinds(kind);
  if (kind.collection === "namespaces") {
    const namespaceObject = object ?? oldObject;
    return { namespaceLabels: namespaceObject === undefined ? undefined : labelsOf(namespaceObject), otherKinds };
  }
  const stored = namespace === "" ? undefined : parts.objects.get("namespaces", "", namespace);
  return { namespaceLabels: stored === undefined ? undefined : labelsOf(stored), otherKinds };
}

/** True for kinds that no webhook or policy may match, so that a broken one can always be removed. */
export function isExempt({ group, plural }: Kind): boolean {
  if (group !== "admissionregistration.k8s.io") return false;
  return /(webhookconfigurations|admissionpolic(ies|ybindings))$/.test(plural);
}

/** True when both selectors match the request. */
export function isSelectedBy(
  { namespaceSelector, objectSelector }: { readonly namespaceSelector: Json; readonly objectSelector: Json },
  request: AdmissionRequest,
  context: MatchContext,
): boolean {
  // A namespaceSelector matches every cluster-scoped request, and a Namespace by its own labels.
  const inNamespace = request.namespace !== "" || request.kind.collection === "namespaces";
  if (inNamespace && !matchesSelector(namespaceSelector, context.namespaceLabels ?? {})) return false;
  const objects = [request.object, request.oldObject].filter((object) => object !== undefined);
  return objects.length === 0 || objects.some((object) => matchesSelector(objectSelector, labelsOf(object)));
}

/** True when the rule matches the request for the given version of its kind. */
export function matchesRule(
  rule: RequestRule,
  { kind, subresource, operation, namespace }: AdmissionRequest,
  version: string,
): boolean {
  const has = (values: readonly string[], value: string) => values.includes("*") || values.includes(value);
  if (!has(rule.operations, operation) || !has(rule.groups, kind.group) || !has(rule.versions, version)) return false;
  const isClusterWide = kind.scope === "Cluster" || namespace === "";
  if (rule.scope === "Cluster" && !isClusterWide) return false;
  if (rule.scope === "Namespaced" && isClusterWide) return false;
  return rule.resources.some((pattern) => matchesResource(pattern, kind.plural, subresource));
}

function matchesResource(pattern: string, plural: string, subresource: string): boolean {
  const [resource = "", part = ""] = pattern.split("/");
  if (resource !== "*" && resource !== plural) return false;
  if (part === "") return subresource === "";
  return part === "*" || part === subresource;
}

/** The labels of an object. */
export function labelsOf(object: JsonObject): JsonObject {
  return objectAt(objectAt(object, "metadata"), "labels");
}

/** True when the selector matches the labels, or is absent. The rules of the kind have validated its form. */
export function matchesSelector(selector: Json, labels: JsonObject): boolean {
  if (!isJsonObject(selector)) return true;
  return isSelected(selector as LabelSelector, { metadata: { labels: labels as Readonly<Record<string, string>> } });
}

/** The request with its objects converted to the version of `kind`. */
export async function requestInVersion(request: AdmissionRequest, kind: Kind): Promise<AdmissionRequest> {
  if (kind === request.kind) return request;
  const { object, oldObject } = request;
  return {
    ...request,
    kind,
    object: object === undefined ? undefined : draftOf(await converted(object, kind)),
    oldObject: oldObject === undefined ? undefined : await converted(oldObject, kind),
    warn: (text) => request.warn(text),
  };
}

/** An object converted to the version of `kind`. */
export async function converted(object: JsonObject, kind: Kind): Promise<JsonObject> {
  const [made] = await kind.convert([object]);
  return made ?? object;
}

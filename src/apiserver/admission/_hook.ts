/** Hook: one webhook of a stored configuration, read once, and the question whether a request is its business. */
import { isJsonObject, type Json, type JsonObject, read } from "../model/mod.ts";
import type { AdmissionRequest, Kind } from "../model/mod.ts";
import type { Expression } from "./expression.ts";
import { matchConditionsOf } from "./match_conditions.ts";
import type { WebhookTarget } from "./webhook_call.ts";
import { matchesSelector } from "./_selector.ts";

/** One rule: which writes of which kinds. */
export interface RequestRule {
  readonly operations: readonly string[];
  readonly groups: readonly string[];
  readonly versions: readonly string[];
  readonly resources: readonly string[];
  readonly scope: string;
}

/** One webhook. */
export interface Hook {
  readonly name: string;
  readonly target: WebhookTarget;
  readonly rules: readonly RequestRule[];
  readonly namespaceSelector: Json;
  readonly objectSelector: Json;
  readonly conditions: readonly Expression[];
  readonly failsOpen: boolean;
  /** It may change objects. */
  readonly isMutating: boolean;
  readonly hasSideEffects: boolean;
  readonly isReinvoked: boolean;
  /** Also asked about the kind in its other versions. */
  readonly isEquivalent: boolean;
  readonly timeoutMs: number;
}

/** Stored objects are never changed, so what was read from one stays right as long as it is there. */
const known = new WeakMap<JsonObject, readonly Hook[]>();

/** The webhooks of a configuration, in its order. */
export function hooksOf(configuration: JsonObject, isMutating: boolean): readonly Hook[] {
  const read = known.get(configuration) ?? listOf(configuration.webhooks).map((hook) => hookOf(hook, isMutating));
  known.set(configuration, read);
  return read;
}

function hookOf(webhook: JsonObject, isMutating: boolean): Hook {
  return {
    name: `${webhook.name}`,
    target: targetOf(webhook.clientConfig),
    rules: listOf(webhook.rules).map(ruleOf),
    namespaceSelector: webhook.namespaceSelector ?? null,
    objectSelector: webhook.objectSelector ?? null,
    conditions: matchConditionsOf(webhook, false),
    isMutating,
    failsOpen: webhook.failurePolicy === "Ignore",
    hasSideEffects: webhook.sideEffects !== "None" && webhook.sideEffects !== "NoneOnDryRun",
    isReinvoked: webhook.reinvocationPolicy === "IfNeeded",
    isEquivalent: webhook.matchPolicy !== "Exact",
    timeoutMs: (typeof webhook.timeoutSeconds === "number" ? webhook.timeoutSeconds : 10) * 1000,
  };
}

/** Reads a `clientConfig`, of a webhook or of a conversion. */
export function targetOf(config: Json | undefined): WebhookTarget {
  if (!isJsonObject(config)) return {};
  const { url, service, caBundle } = config;
  const pem = typeof caBundle === "string" ? new TextDecoder().decode(Uint8Array.fromBase64(caBundle)) : undefined;
  if (!isJsonObject(service)) return { ...(typeof url === "string" ? { url } : {}), caBundle: pem };
  const { namespace, name, path = "/", port = 443 } = service;
  return {
    service: { namespace: `${namespace}`, name: `${name}`, path: `${path}`, port: Number(port) },
    caBundle: pem,
  };
}

/** Reads a rule. */
export function ruleOf(rule: JsonObject): RequestRule {
  return {
    operations: stringsOf(rule.operations),
    groups: stringsOf(rule.apiGroups),
    versions: stringsOf(rule.apiVersions),
    resources: stringsOf(rule.resources),
    scope: typeof rule.scope === "string" ? rule.scope : "*",
  };
}

/** What a hook looks at besides the request itself. */
export interface HookSite {
  /** Labels of the request's namespace; undefined where there is none. */
  readonly namespaceLabels: JsonObject | undefined;
  /** The kind in the other versions in which it is served. */
  readonly otherKinds: readonly Kind[];
}

/** The kind in which a hook is asked about the request; undefined where it is none of its business. */
export function concerns(hook: Hook, request: AdmissionRequest, site: HookSite): Kind | undefined {
  if (!isSelectedBy(hook, request, site)) return undefined;
  if (hook.rules.some((rule) => takes(rule, request, request.kind.version))) return request.kind;
  if (!hook.isEquivalent) return undefined;
  for (const rule of hook.rules) {
    const other = site.otherKinds.find(({ version }) => takes(rule, request, version));
    if (other !== undefined) return other;
  }
  return undefined;
}

/** True when the selectors take the request. */
export function isSelectedBy(
  { namespaceSelector, objectSelector }: Pick<Hook, "namespaceSelector" | "objectSelector">,
  request: AdmissionRequest,
  site: HookSite,
): boolean {
  // Requests outside of namespaces pass every namespace selector, Namespaces themselves are judged by their own labels.
  const inNamespace = request.namespace !== "" || request.kind.collection === "namespaces";
  if (inNamespace && !matchesSelector(namespaceSelector, site.namespaceLabels ?? {})) return false;
  const objects = [request.object, request.oldObject].filter((object) => object !== undefined);
  return objects.length === 0 || objects.some((object) => matchesSelector(objectSelector, labelsOf(object)));
}

/** True when a rule takes the request, the kind being asked about in a version. */
export function takes(
  rule: RequestRule,
  { kind, subresource, operation, namespace }: AdmissionRequest,
  version: string,
): boolean {
  const has = (values: readonly string[], value: string) => values.includes("*") || values.includes(value);
  if (!has(rule.operations, operation) || !has(rule.groups, kind.group) || !has(rule.versions, version)) return false;
  const isClusterWide = kind.scope === "Cluster" || namespace === "";
  if (rule.scope === "Cluster" && !isClusterWide) return false;
  if (rule.scope === "Namespaced" && isClusterWide) return false;
  return rule.resources.some((pattern) => takesResource(pattern, kind.plural, subresource));
}

function takesResource(pattern: string, plural: string, subresource: string): boolean {
  const [resource = "", part = ""] = pattern.split("/");
  if (resource !== "*" && resource !== plural) return false;
  if (part === "") return subresource === "";
  return part === "*" || part === subresource;
}

/** The labels of an object. */
export function labelsOf(object: JsonObject): JsonObject {
  const metadata = read<Json>(object, "metadata");
  const labels = isJsonObject(metadata) ? metadata.labels : undefined;
  return isJsonObject(labels) ? labels : {};
}

/** The objects of a list. */
export function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The texts of a list. */
export function stringsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

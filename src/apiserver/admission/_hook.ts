/** Hook: one webhook of a stored configuration, read once, and the question whether a request is its business. */
import { isJsonObject, type Json, type JsonObject, read } from "../model/mod.ts";
import type { AdmissionRequest } from "../model/mod.ts";
import type { WebhookTarget } from "./webhook_call.ts";
import { matchesSelector } from "./_selector.ts";

/** One rule: which writes of which kinds. */
interface HookRule {
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
  readonly rules: readonly HookRule[];
  readonly namespaceSelector: Json;
  readonly objectSelector: Json;
  readonly conditions: readonly { readonly name: string; readonly expression: string }[];
  readonly failsOpen: boolean;
  readonly hasSideEffects: boolean;
  readonly isReinvoked: boolean;
  /** Also asked about the kind in its other versions. */
  readonly isEquivalent: boolean;
  readonly timeoutMs: number;
}

/** The webhooks of a configuration, in its order. */
export function hooksOf(configuration: JsonObject): readonly Hook[] {
  const webhooks = read<Json>(configuration, "webhooks");
  return Array.isArray(webhooks) ? webhooks.filter(isJsonObject).map(hookOf) : [];
}

function hookOf(webhook: JsonObject): Hook {
  const conditions = listOf(webhook.matchConditions).map(({ name, expression }) => ({
    name: `${name}`,
    expression: `${expression}`,
  }));
  return {
    name: `${webhook.name}`,
    target: targetOf(webhook.clientConfig),
    rules: listOf(webhook.rules).map(ruleOf),
    namespaceSelector: webhook.namespaceSelector ?? null,
    objectSelector: webhook.objectSelector ?? null,
    conditions,
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

function ruleOf(rule: JsonObject): HookRule {
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
  /** Other versions in which the kind is served. */
  readonly otherVersions: readonly string[];
}

/** True when rules and selectors take the request. */
export function concerns(hook: Hook, request: AdmissionRequest, site: HookSite): boolean {
  const versions = hook.isEquivalent ? [request.kind.version, ...site.otherVersions] : [request.kind.version];
  if (!hook.rules.some((rule) => versions.some((version) => takes(rule, request, version)))) return false;
  // Requests outside of namespaces pass every namespace selector, Namespaces themselves are judged by their own labels.
  const inNamespace = request.namespace !== "" || request.kind.collection === "namespaces";
  if (inNamespace && !matchesSelector(hook.namespaceSelector, site.namespaceLabels ?? {})) return false;
  const objects = [request.object, request.oldObject].filter((object) => object !== undefined);
  return objects.length === 0 || objects.some((object) => matchesSelector(hook.objectSelector, labelsOf(object)));
}

function takes(
  rule: HookRule,
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

function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function stringsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

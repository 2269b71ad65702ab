/**
 * Prevents that a user grants more than the user holds, as kube-apiserver does: who writes a Role needs all of its rules, or
 * the verb `escalate` on it; who writes a binding needs all rules of its role, or the verb `bind` on it. Source: kubernetes
 * `pkg/registry/rbac/role/policybased` and `component-helpers/auth/rbac/validation` of 1.36.
 *
 * Guarantees: the work and the message are bounded, whatever the rules are.
 */
import type { PolicyRule } from "../../api/mod.ts";
import { objectAt, textAt } from "../kinds/mod.ts";
import {
  type AdmissionPlugin,
  type AdmissionRequest,
  type Authorizer,
  forbidden,
  isJsonObject,
  isSameJson,
  type JsonObject,
  notFound,
  type ObjectReader,
  read,
  StatusError,
  type User,
} from "../model/mod.ts";
import { type MissingRole, missingText, type RbacAuthorizer, rulesOf } from "./rbac.ts";

const group = "rbac.authorization.k8s.io";

/** The plugin that checks Roles, ClusterRoles and their bindings. It runs after all plugins that change objects. */
export function escalationCheck(objects: ObjectReader, rbac: RbacAuthorizer, authorizer: Authorizer): AdmissionPlugin {
  return { name: "RBACEscalation", admit: (request) => check({ objects, rbac, authorizer }, request) };
}

interface EscalationParts {
  readonly objects: ObjectReader;
  /** Knows the rules that a user holds. */
  readonly rbac: RbacAuthorizer;
  /** Decides about the verbs `escalate` and `bind`. */
  readonly authorizer: Authorizer;
}

function check(parts: EscalationParts, request: AdmissionRequest): void {
  const { kind, object, oldObject, user } = request;
  if (kind.group !== group || object === undefined || user.groups.includes("system:masters")) return;
  if (oldObject !== undefined && isForCollection(object, oldObject)) return;
  if (kind.kind === "Role" || kind.kind === "ClusterRole") checkRole(parts, request, object);
  else if (kind.kind === "RoleBinding" || kind.kind === "ClusterRoleBinding") {
    checkBinding(parts, request, object);
  }
}

function checkRole({ rbac, authorizer }: EscalationParts, request: AdmissionRequest, role: JsonObject): void {
  const { kind, namespace, name, operation, oldObject, user } = request;
  // A POST has no name in its URL, so a rule with names does not allow it.
  const target = { resource: kind.plural, namespace, name: operation === "CREATE" ? "" : name };
  if (isAllowed(authorizer, user, "escalate", target)) return;
  checkRules(rbac, request, rulesOf(role));
  if (!hasAggregation(role) && !hasAggregation(oldObject)) return;
  if (missingRules([...rbac.rulesFor(user, namespace)].map(({ rule }) => rule), everything).length === 0) return;
  throw refusal(request, "must have cluster-admin privileges to use the aggregationRule");
}

const everything: readonly PolicyRule[] = [
  { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
  { nonResourceURLs: ["*"], verbs: ["*"] },
];

function hasAggregation(role: JsonObject | undefined): boolean {
  return isJsonObject(role === undefined ? undefined : read(role, "aggregationRule"));
}

function checkBinding(parts: EscalationParts, request: AdmissionRequest, binding: JsonObject): void {
  const { objects, rbac, authorizer } = parts;
  const { namespace, user, kind: bindings } = request;
  const reference = objectAt(binding, "roleRef");
  const [kind, name] = [textAt(reference, "kind"), textAt(reference, "name")];
  const resource = kind === "ClusterRole" ? "clusterroles" : "roles";
  if (isAllowed(authorizer, user, "bind", { resource, namespace, name })) return;
  if (kind !== "ClusterRole" && kind !== "Role") {
    throw new StatusError(500, "", `unsupported role reference kind: ${JSON.stringify(kind)}`);
  }
  const role = objects.get(`${resource}.${group}`, kind === "ClusterRole" ? "" : namespace, name);
  // As there, the error names the resource of the binding.
  if (role === undefined) throw notFound({ group, resource: bindings.plural, name });
  checkRules(rbac, request, rulesOf(role));
}

interface Target {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

function isAllowed(authorizer: Authorizer, user: User, verb: string, target: Target): boolean {
  const about = { isResourceRequest: true, group, version: "v1", subresource: "", path: "" };
  return authorizer.authorize({ user, verb, ...about, ...target }).isAllowed;
}

/** @throws StatusError 403 when the user does not hold all of the rules */
function checkRules(rbac: RbacAuthorizer, request: AdmissionRequest, rules: readonly PolicyRule[]): void {
  const { user, namespace } = request;
  const missingRoles: MissingRole[] = [];
  const held = [...rbac.rulesFor(user, namespace, missingRoles)].map(({ rule }) => rule);
  const missing = missingRules(held, rules);
  if (missing.length === 0) return;
  const groups = user.groups.map((name) => JSON.stringify(name)).join(" ");
  // As there, the errors name the resource of the request.
  const errors = missingRoles.map((role) => missingText(request.kind.plural, role));
  const lines = [...new Set(compacted(missing).map(ruleText))].sort();
  throw refusal(
    request,
    `user ${
      JSON.stringify(user.name)
    } (groups=[${groups}]) is attempting to grant RBAC permissions not currently held:\n` +
      lines.slice(0, maxLines).join("\n") + (errors.length === 0 ? "" : `; resolution errors: [${errors.join(" ")}]`),
  );
}

function refusal({ kind, name }: AdmissionRequest, why: string) {
  return forbidden({ group, resource: kind.plural, name }, why);
}

/** The most parts of rules that are compared; rules with more parts count as not held. Real roles have less than 2000. */
const maxParts = 20_000;
/** The most missing rules of a message. */
const maxLines = 100;

/** The parts of `rules` that no rule of `held` covers; a part has one verb, one group and one resource, or one URL. */
export function missingRules(held: readonly PolicyRule[], rules: readonly PolicyRule[]): readonly PolicyRule[] {
  const missing: PolicyRule[] = [];
  let parts = 0;
  for (const rule of rules) {
    if (held.some((candidate) => covers(candidate, rule))) continue;
    for (const part of partsOf(rule)) {
      if (++parts > maxParts) return [...missing, rule];
      if (!held.some((candidate) => covers(candidate, part))) missing.push(part);
    }
  }
  return missing;
}

function* partsOf({ verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule) {
  const names = resourceNames.length === 0 ? [[]] : resourceNames.map((name) => [name]);
  for (const apiGroup of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) {
        for (const some of names) {
          yield { apiGroups: [apiGroup], resources: [resource], verbs: [verb], resourceNames: some };
        }
      }
    }
  }
  for (const url of nonResourceURLs) for (const verb of verbs) yield { nonResourceURLs: [url], verbs: [verb] };
}

function covers(owner: PolicyRule, rule: PolicyRule): boolean {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = owner;
  const names = rule.resourceNames ?? [];
  return hasAll(owner.verbs, rule.verbs) &&
    hasAll(apiGroups, rule.apiGroups ?? []) &&
    (rule.resources ?? []).every((resource) => hasResource(resources, resource)) &&
    (rule.nonResourceURLs ?? []).every((url) => nonResourceURLs.some((pattern) => coversUrl(pattern, url))) &&
    (resourceNames.length === 0 || (names.length > 0 && names.every((name) => resourceNames.includes(name))));
}

function hasAll(owned: readonly string[], wanted: readonly string[]): boolean {
  return owned.includes("*") || wanted.every((text) => owned.includes(text));
}

function hasResource(owned: readonly string[], resource: string): boolean {
  if (owned.includes("*") || owned.includes(resource)) return true;
  const slash = resource.indexOf("/");
  return slash >= 0 && owned.includes(`*${resource.slice(slash)}`);
}

function coversUrl(pattern: string, url: string): boolean {
  if (pattern === "*" || pattern === url) return true;
  return pattern.endsWith("*") && url.startsWith(pattern.replace(/\*+$/, ""));
}

/** The parts, those of one resource joined. */
function compacted(parts: readonly PolicyRule[]): readonly PolicyRule[] {
  const joined = new Map<string, PolicyRule>();
  for (const part of parts) {
    const { verbs, nonResourceURLs: _urls, ...resource } = part;
    const key = part.nonResourceURLs === undefined ? JSON.stringify(resource) : JSON.stringify(part);
    const before = joined.get(key)?.verbs ?? [];
    joined.set(key, { ...part, verbs: [...new Set([...before, ...verbs])] });
  }
  return [...joined.values()];
}

/** A rule as kube-apiserver shows it: `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`. */
function ruleText({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const fields: readonly (readonly [string, readonly string[] | undefined])[] = [
    ["APIGroups", apiGroups],
    ["Resources", resources],
    ["NonResourceURLs", nonResourceURLs],
    ["ResourceNames", resourceNames],
    ["Verbs", verbs],
  ];
  const shown = fields.flatMap(([name, values = []]) =>
    values.length === 0 ? [] : [`${name}:[${values.slice(0, maxLines).map((text) => JSON.stringify(text)).join(" ")}]`]
  );
  return `{${shown.join(", ")}}`;
}

/** True if an update changes only what garbage collection needs, which gives no permission. */
function isForCollection(object: JsonObject, old: JsonObject): boolean {
  return isSameJson(withoutCollection(object), withoutCollection(old));
}

function withoutCollection(object: JsonObject): JsonObject {
  const {
    ownerReferences: _owners,
    finalizers: _finalizers,
    managedFields: _fields,
    resourceVersion: _version,
    ...rest
  } = objectAt(object, "metadata");
  return { ...object, metadata: rest };
}

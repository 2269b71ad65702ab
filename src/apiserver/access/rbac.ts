/**
 * RbacAuthorizer: decides by the stored Roles and bindings, as kube-apiserver's RBAC does. Members of `system:masters` may do
 * everything. A binding whose role is missing allows nothing. Also the roles and bindings of a new cluster.
 */
import {
  type Attributes,
  type Authorizer,
  type Decision,
  isJsonObject,
  type JsonObject,
  type ObjectReader,
  read,
  type User,
} from "../model/mod.ts";
import { nameOf, objectsAt, textsAt } from "../kinds/mod.ts";
import { bootstrapRbacText } from "./generated/bootstrap_rbac_data.ts";

const clusterRoles = "clusterroles.rbac.authorization.k8s.io";
const clusterRoleBindings = "clusterrolebindings.rbac.authorization.k8s.io";
const roles = "roles.rbac.authorization.k8s.io";
const roleBindings = "rolebindings.rbac.authorization.k8s.io";

/** A rule, and the text that says where it comes from. */
interface GrantedRule {
  readonly rule: Rule;
  readonly source: string;
}

/** Decides by the stored roles and bindings. */
export class RbacAuthorizer implements Authorizer {
  readonly #objects: ObjectReader;

  constructor(objects: ObjectReader) {
    this.#objects = objects;
  }

  authorize(attributes: Attributes): Decision {
    if (attributes.user.groups.includes("system:masters")) return { isAllowed: true, reason: "" };
    for (const { rule, source } of this.rulesFor(attributes.user, attributes.namespace)) {
      if (allows(rule, attributes)) return { isAllowed: true, reason: `RBAC: allowed by ${source}` };
    }
    return { isAllowed: false, reason: "" };
  }

  /** All rules of a user: cluster-wide ones and, unless `namespace` is "", those of the namespace. */
  *rulesFor(user: User, namespace: string): Generator<GrantedRule, void, void> {
    for (const binding of this.#objects.list(clusterRoleBindings)) {
      yield* this.#granted(binding, user, "", `ClusterRoleBinding "${nameOf(binding)}"`);
    }
    if (namespace === "") return;
    for (const binding of this.#objects.list(roleBindings, namespace)) {
      yield* this.#granted(binding, user, namespace, `RoleBinding "${nameOf(binding)}/${namespace}"`);
    }
  }

  *#granted(binding: JsonObject, user: User, namespace: string, title: string): Generator<GrantedRule, void, void> {
    const subject = subjectOf(binding, user, namespace);
    const ref = read(binding, "roleRef");
    if (subject === undefined || !isJsonObject(ref)) return;
    const role = ref.kind === "ClusterRole"
      ? this.#objects.get(clusterRoles, "", `${ref.name}`)
      : this.#objects.get(roles, namespace, `${ref.name}`);
    if (role === undefined) return;
    const source = `${title} of ${ref.kind} "${ref.name}" to ${subject}`;
    for (const rule of rulesOf(role)) yield { rule, source };
  }
}

/** The subject of the binding that matches the user; undefined when none does. */
function subjectOf(binding: JsonObject, user: User, namespace: string): string | undefined {
  const subjects = read(binding, "subjects");
  if (!Array.isArray(subjects)) return undefined;
  for (const subject of subjects) {
    if (!isJsonObject(subject)) continue;
    const { kind, name } = subject;
    if (kind === "User" && (name === user.name)) return `User "${name}"`;
    if (kind === "Group" && typeof name === "string" && user.groups.includes(name)) return `Group "${name}"`;
    const own = typeof subject.namespace === "string" && subject.namespace !== "" ? subject.namespace : namespace;
    if (kind === "ServiceAccount" && user.name === `system:serviceaccount:${own}:${name}`) {
      return `ServiceAccount "${name}/${own}"`;
    }
  }
  return undefined;
}

/** One rule of a Role or ClusterRole. */
interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** The rules of a role. */
function rulesOf(role: JsonObject): readonly Rule[] {
  return objectsAt(role, "rules").map((rule) => ({
    verbs: textsAt(rule, "verbs"),
    apiGroups: textsAt(rule, "apiGroups"),
    resources: textsAt(rule, "resources"),
    resourceNames: textsAt(rule, "resourceNames"),
    nonResourceURLs: textsAt(rule, "nonResourceURLs"),
  }));
}

/** True when the rule alone allows the request. */
function allows(rule: Rule, request: Attributes): boolean {
  if (!rule.verbs.includes("*") && !rule.verbs.includes(request.verb)) return false;
  if (!request.isResourceRequest) return rule.nonResourceURLs.some((pattern) => coversPath(pattern, request.path));
  return (rule.apiGroups.includes("*") || rule.apiGroups.includes(request.group)) &&
    rule.resources.some((pattern) => coversResource(pattern, request)) &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(request.name));
}

function coversResource(pattern: string, { resource, subresource }: Attributes): boolean {
  if (pattern === "*") return true;
  if (subresource === "") return pattern === resource;
  return pattern === `${resource}/${subresource}` || pattern === `*/${subresource}`;
}

function coversPath(pattern: string, path: string): boolean {
  if (pattern === "*" || pattern === path) return true;
  return pattern.endsWith("*") && path.startsWith(pattern.slice(0, -1));
}

/** An object that the server creates without a request. */
type Bootstrapped = JsonObject & {
  readonly kind: string;
  readonly metadata: JsonObject & { readonly name: string; readonly namespace?: string };
};

/**
 * The ClusterRoles, Roles and bindings that every new cluster has.
 *
 * @param systemMetadata returns the metadata that a server adds to a new object
 * @returns the collection and the object of each; new objects on each call
 */
export function bootstrapRbac(
  systemMetadata: () => JsonObject,
): readonly (readonly [collection: string, object: Bootstrapped])[] {
  const objects: readonly Bootstrapped[] = JSON.parse(bootstrapRbacText);
  return objects.map((object) => {
    const collection = `${object.kind.toLowerCase()}s.rbac.authorization.k8s.io`;
    return [collection, { ...object, metadata: { ...object.metadata, ...systemMetadata() } }];
  });
}

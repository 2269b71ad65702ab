/**
 * RbacAuthorizer: decides by the Roles and bindings that are stored at that moment, as kube-apiserver's RBAC does. Members of
 * `system:masters` may do everything. A binding whose role is missing allows nothing.
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
import { allows, type Rule, rulesOf } from "./_rule.ts";

const clusterRoles = "clusterroles.rbac.authorization.k8s.io";
const clusterRoleBindings = "clusterrolebindings.rbac.authorization.k8s.io";
const roles = "roles.rbac.authorization.k8s.io";
const roleBindings = "rolebindings.rbac.authorization.k8s.io";

/** A rule, and the words that say where it comes from. */
export interface GrantedRule {
  readonly rule: Rule;
  readonly source: string;
}

/** Decides by what is stored. */
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

  /** All rules that apply to somebody, cluster-wide and, where one is named, in a namespace. */
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

/** How the binding names the user; undefined when it does not. */
function subjectOf(binding: JsonObject, user: User, namespace: string): string | undefined {
  const subjects = read(binding, "subjects");
  if (!Array.isArray(subjects)) return undefined;
  for (const subject of subjects) {
    if (!isJsonObject(subject)) continue;
    const { kind, name } = subject;
    if (kind === "User" && (name === user.name)) return `User "${name}"`;
    if (kind === "Group" && typeof name === "string" && user.groups.includes(name)) return `Group "${name}"`;
    const home = typeof subject.namespace === "string" && subject.namespace !== "" ? subject.namespace : namespace;
    if (kind === "ServiceAccount" && user.name === `system:serviceaccount:${home}:${name}`) {
      return `ServiceAccount "${name}/${home}"`;
    }
  }
  return undefined;
}

function nameOf(object: JsonObject): string {
  const metadata = read(object, "metadata");
  return isJsonObject(metadata) ? `${metadata.name}` : "";
}

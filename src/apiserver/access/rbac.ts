/**
 * RbacAuthorizer: decides by the stored Roles and bindings, as kube-apiserver's RBAC does. Members of `system:masters` may do
 * everything. A binding whose role is missing allows nothing. The rules of accounts are decided on in the same way.
 */
import { isAllowedBy, type PolicyRule } from "../../api/mod.ts";
import {
  type Attributes,
  type Authorizer,
  type Decision,
  goAggregate,
  isJsonObject,
  type JsonObject,
  type ObjectReader,
  read,
  type User,
} from "../model/mod.ts";
import { nameOf, objectsAt, textsAt } from "../kinds/mod.ts";
import type { Account } from "./accounts.ts";

const group = "rbac.authorization.k8s.io";
const clusterRoles = "clusterroles.rbac.authorization.k8s.io";
const clusterRoleBindings = "clusterrolebindings.rbac.authorization.k8s.io";
const roles = "roles.rbac.authorization.k8s.io";
const roleBindings = "rolebindings.rbac.authorization.k8s.io";

/** A rule, and the text that says where it comes from. */
interface GrantedRule {
  readonly rule: PolicyRule;
  readonly source: string;
}

/** What a search through bindings is for. */
interface Search {
  readonly user: User;
  readonly namespace: string;
  readonly missing: MissingRole[];
}

/** A role that a binding of the user refers to, and that does not exist. */
export interface MissingRole {
  readonly kind: "Role" | "ClusterRole";
  readonly name: string;
}

/** Why a role cannot be used. @param resource as the part of the server that looks for it names it */
export function missingText(resource: string, { name }: MissingRole): string {
  return `${resource}.${group} ${JSON.stringify(name)} not found`;
}

/** The errors of missing roles, as the authorizer prints them. */
export function missingRolesText(missing: readonly MissingRole[]): string {
  return goAggregate(missing.map((role) => missingText(role.kind.toLowerCase(), role)));
}

/** Options of an {@link RbacAuthorizer}. */
export interface RbacAuthorizerOptions {
  /** @default none */
  readonly accounts?: readonly Account[];
  /** The name of the kind that a request is about, for messages. @default unknown */
  readonly kindOf?: (attributes: Attributes) => string | undefined;
}

/** Decides by the stored roles and bindings, and by the rules of accounts. */
export class RbacAuthorizer implements Authorizer {
  readonly #objects: ObjectReader;
  readonly #accounts: ReadonlyMap<string, Account>;
  readonly #kindOf: (attributes: Attributes) => string | undefined;

  constructor(objects: ObjectReader, { accounts = [], kindOf = () => undefined }: RbacAuthorizerOptions = {}) {
    this.#objects = objects;
    this.#accounts = new Map(accounts.map((account) => [account.user.name, account]));
    this.#kindOf = kindOf;
  }

  authorize(attributes: Attributes): Decision {
    if (attributes.user.groups.includes("system:masters")) return { isAllowed: true, reason: "" };
    const account = this.#accounts.get(attributes.user.name);
    // Most requests of an account are allowed here, so this comes before the search through the stored bindings.
    const own = account?.rules.get("")?.find((rule) => isAllowedBy(rule, attributes)) ??
      account?.rules.get(attributes.namespace)?.find((rule) => isAllowedBy(rule, attributes));
    if (own !== undefined) return { isAllowed: true, reason: `RBAC: allowed by ${rulesText(attributes.user)}` };
    const missing: MissingRole[] = [];
    for (const { rule, source } of this.rulesFor(attributes.user, attributes.namespace, missing)) {
      if (isAllowedBy(rule, attributes)) return { isAllowed: true, reason: `RBAC: allowed by ${source}` };
    }
    const errors = missingRolesText(missing);
    const reason = account?.explain(attributes, this.#kindOf(attributes)) ?? (errors === "" ? "" : `RBAC: ${errors}`);
    return { isAllowed: false, reason };
  }

  /**
   * All rules of a user: cluster-wide ones and, unless `namespace` is "", those of the namespace.
   *
   * @param missing collects the roles of bindings of the user that do not exist
   */
  *rulesFor(user: User, namespace: string, missing: MissingRole[] = []): Generator<GrantedRule, void, void> {
    const { rules } = this.#accounts.get(user.name) ?? {};
    for (const rule of rules?.get("") ?? []) yield { rule, source: rulesText(user) };
    if (namespace !== "") { for (const rule of rules?.get(namespace) ?? []) yield { rule, source: rulesText(user) }; }
    for (const binding of this.#objects.list(clusterRoleBindings)) {
      yield* this.#granted(binding, { user, namespace: "", missing }, `ClusterRoleBinding "${nameOf(binding)}"`);
    }
    if (namespace === "") return;
    for (const binding of this.#objects.list(roleBindings, namespace)) {
      yield* this.#granted(binding, { user, namespace, missing }, `RoleBinding "${nameOf(binding)}/${namespace}"`);
    }
  }

  *#granted(binding: JsonObject, search: Search, title: string): Generator<GrantedRule, void, void> {
    const { user, namespace, missing } = search;
    const subject = subjectOf(binding, user, namespace);
    const ref = read(binding, "roleRef");
    if (subject === undefined || !isJsonObject(ref)) return;
    const role = ref.kind === "ClusterRole"
      ? this.#objects.get(clusterRoles, "", `${ref.name}`)
      : this.#objects.get(roles, namespace, `${ref.name}`);
    if (role === undefined) {
      missing.push({ kind: ref.kind === "ClusterRole" ? "ClusterRole" : "Role", name: `${ref.name}` });
      return;
    }
    const source = `${title} of ${ref.kind} "${ref.name}" to ${subject}`;
    for (const rule of rulesOf(role)) yield { rule, source };
  }
}

function rulesText({ name }: User): string {
  return `the rules of ${name}`;
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

/** The rules of a role. */
export function rulesOf(role: JsonObject): readonly PolicyRule[] {
  return objectsAt(role, "rules").map((rule) => ({
    verbs: textsAt(rule, "verbs"),
    apiGroups: textsAt(rule, "apiGroups"),
    resources: textsAt(rule, "resources"),
    resourceNames: textsAt(rule, "resourceNames"),
    nonResourceURLs: textsAt(rule, "nonResourceURLs"),
  }));
}

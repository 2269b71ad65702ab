/**
 * ImpersonationRules: the users that a controller may act as (`impersonates` of the builder, `ctx.as`). RBAC rules with the
 * verb `impersonate` are derived from them.
 *
 * Guarantees: a user that is not declared is refused before a request is sent. Groups are declared by name, because
 * permission for all groups includes `system:masters`, which may do everything.
 */
import { type ImpersonatedUser, impersonationOf } from "../client/mod.ts";

/**
 * The users that a controller may act as, the argument of `impersonates`. The permission to act as a user is the permission
 * to do what that user may do, so name as few as possible.
 *
 * @example A controller that creates what a tenant describes, with the permissions of the tenant
 * ```ts
 * import { ConfigMap, controller, done, type ImpersonationRules } from "@pintle/controller";
 *
 * const tenants: ImpersonationRules = { serviceAccounts: "all" };
 * const installer = controller("installer").for(ConfigMap).impersonates(tenants).reconcile(async (ctx) => {
 *   const { namespace = "" } = ctx.object.metadata;
 *   const tenant = ctx.as({ serviceAccount: `${namespace}/installer` });
 *   await tenant.find(ConfigMap, `${namespace}/installed`, { signal: ctx.signal });
 *   return done;
 * });
 * console.assert(installer.impersonates === tenants);
 * ```
 */
export interface ImpersonationRules {
  /** ServiceAccounts as `namespace/name`; "all": those of the namespaces that the controller works on. @default none */
  readonly serviceAccounts?: readonly string[] | "all";
  /** Names of users. @default none */
  readonly users?: readonly string[] | "all";
  /** Names of groups. @default none */
  readonly groups?: readonly string[];
  /** UIDs of users. @default none */
  readonly uids?: readonly string[] | "all";
  /** Values of further attributes of users, by their keys. @default none */
  readonly extra?: Readonly<Record<string, readonly string[] | "all">>;
}

const accountPrefix = "system:serviceaccount:";

/** For callers without type checks. @throws TypeError when the rules name a group `*`, or a ServiceAccount without namespace */
export function checkedImpersonation(name: string, rules: ImpersonationRules): ImpersonationRules {
  const { serviceAccounts = [], groups = [] } = rules;
  const wrong = (state: string) => new TypeError(`Cannot declare whom controller "${name}" impersonates: ${state}`);
  if (!Array.isArray(groups) || groups.includes("*")) {
    throw wrong("permission for all groups includes system:masters. Name the groups");
  }
  if (serviceAccounts === "all") return rules;
  const invalid = serviceAccounts.find((account) => !/^[^/]+\/[^/]+$/.test(account));
  if (invalid !== undefined) throw wrong(`the ServiceAccount "${invalid}" is not namespace/name`);
  return rules;
}

/** @throws TypeError when the rules do not have a part of the user */
export function assertMayImpersonate(given: ImpersonatedUser, rules: ImpersonationRules = {}): void {
  const { user, uid, groups = [], extra = {} } = impersonationOf(given);
  const assertDeclared = (value: string, declared: readonly string[] | "all" = [], declaration: string) => {
    if (declared === "all" || declared.includes(value)) return;
    throw new TypeError(
      `Cannot act as user "${user}": the controller did not declare it. Declare .impersonates(${declaration})`,
    );
  };
  if (user.startsWith(accountPrefix)) {
    const account = user.slice(accountPrefix.length).replace(":", "/");
    assertDeclared(account, rules.serviceAccounts, `{ serviceAccounts: ["${account}"] }`);
  } else assertDeclared(user, rules.users, `{ users: ["${user}"] }`);
  if (uid !== undefined) assertDeclared(uid, rules.uids, `{ uids: ["${uid}"] }`);
  for (const group of groups) assertDeclared(group, rules.groups, `{ groups: ["${group}"] }`);
  for (const [key, values] of Object.entries(extra)) {
    for (const value of values) assertDeclared(value, rules.extra?.[key], `{ extra: { "${key}": ["${value}"] } }`);
  }
}

/**
 * ClusterRoles that are made of others (`admin`, `edit`, `view`): their rules are those of the roles they select. All of
 * them are looked at together, under one key, since a role that changes does not say of which it is a part.
 */
import { builtin, type Infer, isSelected, type LabelSelector } from "../api/mod.ts";
import { changed, controller, done } from "../controller/mod.ts";
import { canonicalText } from "./_template_hash.ts";

type ClusterRole = Infer<typeof builtin.ClusterRole>;

export const clusterRoleController = controller("clusterrole-aggregation-controller")
  .for(builtin.ClusterRole, { when: changed.resourceVersion })
  .reconcileKey(async (_request, toolbox) => {
    const roles = toolbox.list(builtin.ClusterRole);
    for (const role of roles) {
      if (role.aggregationRule !== undefined) await toolbox.change(builtin.ClusterRole, role, rulesPatch(role, roles));
    }
    return done;
  });

function rulesPatch(role: ClusterRole, roles: readonly ClusterRole[]) {
  const selectors = role.aggregationRule?.clusterRoleSelectors ?? [];
  const rules = roles
    .filter((other) => other !== role && selectors.some((selector) => isSelected(selector as LabelSelector, other)))
    .toSorted((left, right) => `${left.metadata.name}`.localeCompare(`${right.metadata.name}`))
    .flatMap((part) => part.rules ?? []);
  const unique = [...new Map(rules.map((rule) => [canonicalText(rule), rule])).values()];
  return { kind: "merge" as const, value: { rules: unique } };
}

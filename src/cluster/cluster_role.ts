/**
 * Aggregated ClusterRoles (`admin`, `edit`, `view`): their rules are those of the ClusterRoles that they select. One
 * reconcile handles all of them, because a changed ClusterRole does not say which aggregated ones select it.
 */
import { builtin, type Infer, isSelected, type LabelSelector } from "../api/mod.ts";
import { changed, controller, done } from "../controller/mod.ts";
import { canonicalText } from "./_values.ts";

type ClusterRole = Infer<typeof builtin.ClusterRole>;

/** Fills in the rules of aggregated ClusterRoles. */
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
    .flatMap((selected) => selected.rules ?? []);
  const unique = [...new Map(rules.map((rule) => [canonicalText(rule), rule])).values()];
  return { kind: "merge" as const, value: { rules: unique } };
}

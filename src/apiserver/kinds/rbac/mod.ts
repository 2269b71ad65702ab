/** The kinds of the group rbac.authorization.k8s.io. */
import type { KindGroup } from "../rules/mod.ts";
import {
  clusterRoleBindingRules,
  clusterRoleRules,
  rbacDefaults,
  roleBindingRow,
  roleBindingRules,
  roleRow,
  roleRules,
} from "./rbac.ts";

/** The kinds of the group rbac.authorization.k8s.io. */
export const rbacKinds: KindGroup = {
  rules: {
    "Role.rbac.authorization.k8s.io": roleRules,
    "ClusterRole.rbac.authorization.k8s.io": clusterRoleRules,
    "RoleBinding.rbac.authorization.k8s.io": roleBindingRules,
    "ClusterRoleBinding.rbac.authorization.k8s.io": clusterRoleBindingRules,
  },
  defaults: rbacDefaults,
  rows: {
    "roles.rbac.authorization.k8s.io": roleRow,
    "clusterroles.rbac.authorization.k8s.io": roleRow,
    "rolebindings.rbac.authorization.k8s.io": roleBindingRow,
    "clusterrolebindings.rbac.authorization.k8s.io": roleBindingRow,
  },
};

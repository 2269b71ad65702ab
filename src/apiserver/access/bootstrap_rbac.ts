/** bootstrapRbac(): the roles and bindings that every cluster has from its first moment. */
import type { JsonObject } from "../model/mod.ts";
import { bootstrapRbacText } from "./_bootstrap_rbac_data.ts";

/** ClusterRoles, Roles and their bindings without what a server adds; parsed anew each time. */
export function bootstrapRbac(): readonly JsonObject[] {
  return JSON.parse(bootstrapRbacText);
}

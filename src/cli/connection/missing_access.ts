/** What a user can do about a kind that the server does not know, or that it does not let the user have. */
import { apiVersionOf, type Resource, resourceName } from "../../api/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";

/** The error for a kind that no definition of ours would add. @param action What failed: `Cannot run controller "foo"` */
export function unknownKindError(action: string, resource: Resource, cause: unknown): CommandError {
  const message = `${action}: the server does not know ${resourceName(resource)} in ${apiVersionOf(resource)}`;
  const advice = "Install the program that defines it, or use another cluster";
  return new CommandError(message, { code: exitCode.crdMissing, advice, cause });
}

/** The advice for a missing permission: the RBAC rule, and where it belongs. @param namespace undefined for all namespaces */
export function permissionAdvice(
  resource: Pick<Resource, "group" | "plural">,
  verbs: readonly string[],
  namespace: string | undefined,
): string {
  const quoted = verbs.map((verb) => `"${verb}"`).join(", ");
  const rule = `apiGroups: ["${resource.group}"], resources: ["${resource.plural}"], verbs: [${quoted}]`;
  const role = namespace === undefined ? "a ClusterRole" : `a Role in ${namespace}`;
  return `Give the user ${role} with: ${rule}`;
}

/** impersonationProblem(): whether the user to act as can be sent in the headers of a request. */
import { type Impersonation, KubeconfigError } from "./cluster_access.ts";

/**
 * What cannot be sent, for a message; undefined if all parts can. Runtimes refuse or convert characters beyond ASCII, and
 * they remove spaces at the ends, which would name another user.
 */
export function impersonationProblem({ user, uid, groups = [], extra = {} }: Impersonation): string | undefined {
  const parts = [
    ["the name", user],
    ...(uid === undefined ? [] : [["the UID", uid]]),
    ...groups.map((group) => ["the group", group]),
    ...Object.entries(extra).flatMap(([key, values]) => {
      return values.map((value) => [`the value of ${JSON.stringify(key)}`, value]);
    }),
  ] as const;
  const wrong = parts.find(([_what, value = ""]) => !/^[!-~](?:[ -~]*[!-~])?$/.test(value));
  return wrong === undefined ? undefined : `${wrong[0]} ${JSON.stringify(wrong[1])} cannot be sent in a header`;
}

/** The user of a kubeconfig or of flags. @throws KubeconfigError when it cannot be sent in headers */
export function sendableImpersonation(impersonation: Impersonation): Impersonation {
  const problem = impersonationProblem(impersonation);
  if (problem === undefined) return impersonation;
  throw new KubeconfigError(
    `Cannot act as user ${
      JSON.stringify(impersonation.user)
    }: ${problem}. Use characters of ASCII without spaces at the ends`,
  );
}

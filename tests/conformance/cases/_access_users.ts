/** Users with permissions of their own, for the cases of authorization. */
import type { CaseRun } from "../case_run.ts";
import { at, type Body } from "./_objects.ts";

export const rbac = "rbac.authorization.k8s.io";
const clusterRoot = `/apis/${rbac}/v1`;

export type Headers = Readonly<Record<string, string>>;

/** A rule of a role. @param resources those of one group, `GROUP/RESOURCE`, or of the core group */
export function rule(verbs: string, resources: string, rest: Body = {}): Body {
  const parts = resources.split(" ").map((text) => {
    const match = /^([a-z.]*\.[a-z0-9.]+)\/(.*)$/.exec(text);
    return { group: match?.[1] ?? "", resource: match?.[2] ?? text };
  });
  const apiGroups = [...new Set(parts.map(({ group }) => group))];
  return { verbs: verbs.split(" "), apiGroups, resources: parts.map(({ resource }) => resource), ...rest };
}

/** Sends as another user. */
export function as(name: string, ...groups: readonly string[]): Headers {
  return groups.length === 0
    ? { "impersonate-user": name }
    : { "impersonate-user": name, "impersonate-group": groups.join(", ") };
}

/** The namespace of the grant, or the whole cluster. */
export type Scope = "namespace" | "cluster";

/**
 * Gives a user rules, by a role and its binding, and waits until the server knows them. Those of the cluster have the name of
 * the namespace, and {@link revoke} removes them.
 */
export async function grant(run: CaseRun, user: string, rules: readonly Body[], scope: Scope): Promise<void> {
  const isCluster = scope === "cluster";
  const name = isCluster ? run.namespace : "own";
  const place = (plural: string) => isCluster ? `${clusterRoot}/cluster${plural}` : at(run, `${rbac}/v1/${plural}`);
  const last = { verbs: ["get"], apiGroups: ["example.com"], resources: ["probes"] };
  await run.prepare({ path: place("roles"), body: { metadata: { name }, rules: [...rules, last] } });
  const roleRef = { apiGroup: rbac, kind: isCluster ? "ClusterRole" : "Role", name };
  const subjects = [{ apiGroup: rbac, kind: "User", name: user }];
  await run.prepare({ path: place("rolebindings"), body: { metadata: { name }, roleRef, subjects } });
  const resourceAttributes = { namespace: run.namespace, verb: "get", group: "example.com", resource: "probes" };
  const body = { spec: { user, resourceAttributes } };
  const review = { path: "/apis/authorization.k8s.io/v1/subjectaccessreviews", body };
  await run.until(review, ({ status }) => status.allowed);
}

/** Removes the rules of the cluster. */
export async function revoke(run: CaseRun): Promise<void> {
  for (const plural of ["clusterrolebindings", "clusterroles"]) {
    await run.prepare({ method: "DELETE", path: `${clusterRoot}/${plural}/${run.namespace}` });
  }
}

/** A ServiceAccount of the namespace: its user, and the header with a token of it. */
export async function makeAccount(run: CaseRun, name: string, spec: Body = {}) {
  await run.prepare({ path: at(run, "serviceaccounts"), body: { metadata: { name } } });
  return { user: `system:serviceaccount:${run.namespace}:${name}`, headers: await tokenHeaders(run, name, spec) };
}

/** The header with a token of a ServiceAccount. */
export async function tokenHeaders(run: CaseRun, name: string, spec: Body = {}): Promise<Headers> {
  const { status } = await run.prepare({ path: `${at(run, "serviceaccounts", name)}/token`, body: { spec } });
  return { authorization: `Bearer ${status.token}` };
}

/** Asks who the sender is. */
export const whoAmI = {
  path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
  body: {},
  pick: ({ status }: { readonly status: Body }) => status,
};

/**
 * impersonated(): acting as somebody else (`kubectl --as`), which needs the verb `impersonate` on each thing that is taken
 * on. Source: apiserver `endpoints/filters/impersonation` of Kubernetes 1.36.
 */
import { type Attributes, type Authorizer, badRequest, forbidden, type User } from "../model/mod.ts";
import { serviceAccountUser } from "./_users.ts";

const extraPrefix = "impersonate-extra-";

/**
 * The user a request is to be made as; the sender where it asks for nobody else.
 *
 * @throws Refusal 403 when the sender may not, 400 when groups are named without a user
 */
export function impersonated(request: Request, sender: User, authorizer: Authorizer): User {
  if (!asksFor(request)) return sender;
  const name = request.headers.get("impersonate-user");
  const uid = request.headers.get("impersonate-uid") ?? "";
  const groups = listed(request, "impersonate-group");
  const extra = extraOf(request);
  if (name === null) {
    if (groups.length === 0 && extra.size === 0 && uid === "") return sender;
    throw badRequest(`requested ${shownUser(uid, groups, extra)} without impersonating a user name`);
  }
  const may = (about: Partial<Attributes>) => check(sender, authorizer, about);
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name);
  if (account === null) may({ resource: "users", name });
  else may({ resource: "serviceaccounts", namespace: account[1] ?? "", name: account[2] ?? "" });
  for (const group of groups) may({ resource: "groups", name: group });
  if (uid !== "") may({ group: "authentication.k8s.io", resource: "uids", name: uid });
  for (const [key, values] of extra) {
    for (const value of values) {
      may({ group: "authentication.k8s.io", resource: "userextras", subresource: key, name: value });
    }
  }
  const taken = groups.length === 0 && account !== null
    ? serviceAccountUser(account[1] ?? "", account[2] ?? "", uid).groups
    : groups;
  const isNobody = name === "system:anonymous" || taken.includes("system:unauthenticated");
  const all = isNobody || taken.includes("system:authenticated") ? taken : [...taken, "system:authenticated"];
  return { name, uid, groups: all, extra };
}

/** Nearly nobody does: one look at the names of the fields. */
function asksFor({ headers }: Request): boolean {
  for (const name of headers.keys()) if (name.startsWith("impersonate-")) return true;
  return false;
}

/** A user as Go's %#v shows one, which is how the real server names what was asked for. */
function shownUser(uid: string, groups: readonly string[], extra: ReadonlyMap<string, readonly string[]>): string {
  const list = (values: readonly string[]) => `{${values.map((value) => JSON.stringify(value)).join(", ")}}`;
  const shownGroups = groups.length === 0 ? "[]string(nil)" : `[]string${list(groups)}`;
  const entries = [...extra].toSorted(([left], [right]) => left < right ? -1 : 1)
    .map(([key, values]) => `${JSON.stringify(key)}:[]string${list(values)}`);
  const shownExtra = extra.size === 0 ? "map[string][]string(nil)" : `map[string][]string{${entries.join(", ")}}`;
  return `&user.DefaultInfo{Name:"", UID:${JSON.stringify(uid)}, Groups:${shownGroups}, Extra:${shownExtra}}`;
}

function check(sender: User, authorizer: Authorizer, about: Partial<Attributes>): void {
  const asked: Attributes = {
    user: sender,
    verb: "impersonate",
    isResourceRequest: true,
    group: "",
    version: "v1",
    resource: "",
    subresource: "",
    namespace: "",
    name: "",
    path: "",
    ...about,
  };
  const { isAllowed } = authorizer.authorize(asked);
  if (isAllowed) return;
  const { group, resource, subresource, namespace, name } = asked;
  const full = subresource === "" ? resource : `${resource}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace "${namespace}"`;
  const why = `User "${sender.name}" cannot impersonate resource "${full}" in API group "${group}" ${where}`;
  throw forbidden({ group, resource, name }, why);
}

/** Fetch joins repeated headers with a comma; names of groups have none. */
function listed(request: Request, header: string): readonly string[] {
  return (request.headers.get(header) ?? "").split(",").map((part) => part.trim()).filter((part) => part !== "");
}

function extraOf(request: Request): ReadonlyMap<string, readonly string[]> {
  const extra = new Map<string, readonly string[]>();
  for (const header of request.headers.keys()) {
    if (!header.startsWith(extraPrefix)) continue;
    extra.set(decodeURIComponent(header.slice(extraPrefix.length)), listed(request, header));
  }
  return extra;
}

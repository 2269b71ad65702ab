/**
 * RequestAuthenticator: finds the user of a request by its bearer token or by the client certificate that the listener has
 * verified, and applies impersonation (`kubectl --as`), which needs the verb `impersonate` on each part of the other user.
 * Source of the latter: apiserver `endpoints/filters/impersonation` of Kubernetes 1.36.
 *
 * Guarantees: a request with an invalid credential is not authenticated; one without any is, as `system:anonymous`, only if
 * the server allows that.
 */
import {
  type Attributes,
  type Authenticator,
  type Authorizer,
  badRequest,
  type Connection,
  forbidden,
  StatusError,
  type User,
} from "../model/mod.ts";
import { authenticated, authenticatedUser, serviceAccountUser, type TokenAuthority } from "./token_authority.ts";

/** Options of a {@link RequestAuthenticator}. */
export interface RequestAuthenticatorOptions {
  readonly tokens: TokenAuthority;
  /** Decides about impersonation. */
  readonly authorizer: Authorizer;
  /** Requests without a credential are those of `system:anonymous`. @default false: they have no user */
  readonly allowsAnonymous?: boolean;
}

export class RequestAuthenticator implements Authenticator {
  readonly #options: RequestAuthenticatorOptions;

  constructor(options: RequestAuthenticatorOptions) {
    this.#options = options;
  }

  /** @throws StatusError 401 for an invalid token, 403 for impersonation without permission */
  authenticate(request: Request, connection: Connection): User | undefined {
    const sender = this.#sender(request, connection);
    return sender === undefined ? undefined : impersonated(request, sender, this.#options.authorizer);
  }

  #sender(request: Request, { clientName, clientOrganizations }: Connection): User | undefined {
    const { tokens, allowsAnonymous = false } = this.#options;
    const token = bearerOf(request);
    if (token === undefined && clientName !== undefined) return authenticatedUser(clientName, clientOrganizations);
    if (token === undefined) return allowsAnonymous ? anonymous : undefined;
    const known = tokens.read(token);
    if (known === undefined || !known.audiences.includes(tokens.issuer)) throw unauthorized();
    return known.user;
  }
}

/** The response to a request with an invalid token. */
export function unauthorized(): StatusError {
  return new StatusError(401, "Unauthorized", "Unauthorized");
}

/** The user of requests without a credential, where they are allowed. */
const anonymous: User = { name: "system:anonymous", uid: "", groups: ["system:unauthenticated"], extra: new Map() };

/** The bearer token of a request; undefined when it has none. */
export function bearerOf(request: Request): string | undefined {
  const header = request.headers.get("authorization");
  const match = /^bearer +(\S+)$/i.exec(header ?? "");
  return match?.[1];
}

const extraPrefix = "impersonate-extra-";

/**
 * The user that a request impersonates, or its sender.
 *
 * @throws StatusError 403 when the sender has no permission, 400 when groups are given without a user or a key is malformed
 */
export function impersonated(request: Request, sender: User, authorizer: Authorizer): User {
  if (!hasImpersonation(request)) return sender;
  const name = request.headers.get("impersonate-user");
  const uid = request.headers.get("impersonate-uid") ?? "";
  const groups = listed(request, "impersonate-group");
  const extra = extraOf(request);
  if (name === null || name === "") {
    if (groups.length === 0 && extra.size === 0 && uid === "") return sender;
    throw badRequest(`requested ${goUser(uid, groups, extra)} without impersonating a user name`);
  }
  const checkAccess = (about: Partial<Attributes>) => checkImpersonation(sender, authorizer, about);
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name);
  if (account === null) checkAccess({ resource: "users", name });
  else checkAccess({ resource: "serviceaccounts", namespace: account[1] ?? "", name: account[2] ?? "" });
  for (const group of groups) checkAccess({ resource: "groups", name: group });
  if (uid !== "") checkAccess({ group: "authentication.k8s.io", resource: "uids", name: uid });
  for (const [key, values] of extra) {
    for (const value of values) {
      checkAccess({ group: "authentication.k8s.io", resource: "userextras", subresource: key, name: value });
    }
  }
  const ownGroups = groups.length === 0 && account !== null
    ? serviceAccountUser(account[1] ?? "", account[2] ?? "", uid).groups
    : groups;
  const isAnonymous = name === "system:anonymous" || ownGroups.includes("system:unauthenticated");
  const all = isAnonymous || ownGroups.includes(authenticated) ? ownGroups : [...ownGroups, authenticated];
  return { name, uid, groups: all, extra };
}

/** Rarely true, so it only looks at the names of the headers. */
function hasImpersonation({ headers }: Request): boolean {
  for (const name of headers.keys()) if (name.startsWith("impersonate-")) return true;
  return false;
}

/** A user in Go's %#v format, as the real server prints it. */
function goUser(uid: string, groups: readonly string[], extra: ReadonlyMap<string, readonly string[]>): string {
  const list = (values: readonly string[]) => `{${values.map((value) => JSON.stringify(value)).join(", ")}}`;
  const shownGroups = groups.length === 0 ? "[]string(nil)" : `[]string${list(groups)}`;
  const entries = [...extra].toSorted(([left], [right]) => left < right ? -1 : 1)
    .map(([key, values]) => `${JSON.stringify(key)}:[]string${list(values)}`);
  const shownExtra = extra.size === 0 ? "map[string][]string(nil)" : `map[string][]string{${entries.join(", ")}}`;
  return `&user.DefaultInfo{Name:"", UID:${JSON.stringify(uid)}, Groups:${shownGroups}, Extra:${shownExtra}}`;
}

function checkImpersonation(sender: User, authorizer: Authorizer, about: Partial<Attributes>): void {
  const attributes: Attributes = {
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
  const { isAllowed } = authorizer.authorize(attributes);
  if (isAllowed) return;
  const { group, resource, subresource, namespace, name } = attributes;
  const full = subresource === "" ? resource : `${resource}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace "${namespace}"`;
  const detail = `User "${sender.name}" cannot impersonate resource "${full}" in API group "${group}" ${where}`;
  throw forbidden({ group, resource, name }, detail);
}

/** Fetch joins repeated headers with a comma; names of groups contain none. */
function listed(request: Request, header: string): readonly string[] {
  return (request.headers.get(header) ?? "").split(",").map((part) => part.trim()).filter((part) => part !== "");
}

function extraOf(request: Request): ReadonlyMap<string, readonly string[]> {
  const extra = new Map<string, readonly string[]>();
  for (const header of request.headers.keys()) {
    if (!header.startsWith(extraPrefix)) continue;
    extra.set(decodedKey(header.slice(extraPrefix.length)), listed(request, header));
  }
  return extra;
}

function decodedKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    throw badRequest(`invalid escape in the header ${extraPrefix}${key}`);
  }
}

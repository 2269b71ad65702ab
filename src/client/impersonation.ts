/**
 * Impersonation: requests that the server handles as those of another user. A process can be another user for all of its
 * requests (`--as`), and a Client for some of them (`Client.as`).
 *
 * Guarantees: a request is made as one user. The user of `Client.as` replaces the one of the process with all of its parts,
 * and the last `as` counts, as in client-go.
 */
import { splitKey } from "../api/mod.ts";
import { type Impersonation, impersonationProblem } from "./kubeconfig/mod.ts";
import type { Transport } from "./transport.ts";

/**
 * The user that a client acts as, see `Client.as`: a user with groups and other parts, or a ServiceAccount as
 * `namespace/name`.
 *
 * @example
 * ```ts
 * import { ConfigMap, isForbidden } from "@pintle/controller";
 * import type { ImpersonatedUser } from "@pintle/controller/client";
 * import { World } from "@pintle/controller/testing";
 *
 * const tenant: ImpersonatedUser = { serviceAccount: "default/deployer" }; // or { user: "jane", groups: ["developers"] }
 * await using world = await World.start({ controllers: [], cluster: false });
 * const error = await world.client.as(tenant).find(ConfigMap, "default/settings").catch((error) => error);
 * console.assert(isForbidden(error)); // no Role allows it
 * ```
 */
export type ImpersonatedUser = Impersonation | { readonly serviceAccount: string };

/** Header fields, each value on its own line. */
export type HeaderLines = Readonly<Record<string, readonly string[]>>;

const headerPrefix = "impersonate-";
const userHeader = "impersonate-user";

/**
 * The user with its name, of either form.
 *
 * @throws TypeError when a part cannot be sent in a header, or a ServiceAccount is not `namespace/name`
 */
export function impersonationOf(user: ImpersonatedUser): Impersonation {
  if ("user" in user) return checkedImpersonation(user);
  const { namespace, name } = splitKey(user.serviceAccount);
  if (namespace === undefined) {
    throw new TypeError(`Cannot act as ServiceAccount "${user.serviceAccount}": it is not namespace/name`);
  }
  return checkedImpersonation({ user: `system:serviceaccount:${namespace}:${name}` });
}

/** A Request joins the values of a field with commas, so a list of groups cannot be told from a group with a comma. */
function checkedImpersonation(impersonation: Impersonation): Impersonation {
  const { user, groups = [], extra = {} } = impersonation;
  const listed = [...groups, ...Object.values(extra).flat()].find((value) => value.includes(","));
  const problem = impersonationProblem(impersonation) ??
    (listed === undefined ? undefined : `${JSON.stringify(listed)} has a comma, so it cannot be sent in a header`);
  if (problem !== undefined) throw new TypeError(`Cannot act as user ${JSON.stringify(user)}: ${problem}`);
  return impersonation;
}

/** The header fields that make the server handle a request as one of this user. */
export function impersonationHeaders(impersonation: Impersonation | undefined): HeaderLines {
  const headers: Record<string, readonly string[]> = Object.create(null);
  if (impersonation === undefined) return headers;
  const { user, uid, groups = [], extra = {} } = impersonation;
  headers[userHeader] = [user];
  if (uid !== undefined) headers["impersonate-uid"] = [uid];
  if (groups.length > 0) headers["impersonate-group"] = groups;
  for (const [key, values] of Object.entries(extra)) {
    // Keys are often URLs; characters that a header name cannot contain are percent-encoded, as the server expects.
    headers[`${headerPrefix}extra-${headerNameOf(key)}`] = values;
  }
  return headers;
}

/** `encodeURIComponent` leaves parentheses, which a header name cannot contain either, and throws for half a character. */
function headerNameOf(key: string): string {
  return encodeURIComponent(key.toLowerCase().toWellFormed()).replaceAll("(", "%28").replaceAll(")", "%29");
}

/** Sends requests as the user, unless a request has one already. */
export function impersonatingTransport(transport: Transport, impersonation: Impersonation): Transport {
  const headers = Object.entries(impersonationHeaders(impersonation));
  return (request) => {
    if (request.headers.has(userHeader)) return transport(request);
    // The request is changed, because a copy would lose its send guard.
    for (const [name, values] of headers) {
      for (const value of values) request.headers.append(name, value);
    }
    return transport(request);
  };
}

/** The user in the headers of one request, each value on its own line; undefined when it has none. */
export function impersonationIn(headers: Headers): HeaderLines | undefined {
  if (!headers.has(userHeader)) return undefined;
  const own = [...headers].filter(([name]) => name.startsWith(headerPrefix));
  return Object.fromEntries(own.map(([name, value]) => [name, isList(name) ? value.split(", ") : [value]]));
}

function isList(name: string): boolean {
  return name === "impersonate-group" || name.startsWith(`${headerPrefix}extra-`);
}

/**
 * Impersonation (`kubectl --as`): the user that a request wants to be, and whether its sender may be that user. Each part of
 * the other user needs a permission: the verb `impersonate`, or in constrained impersonation a verb for the type of user
 * together with one for the action, such as `impersonate:serviceaccount` and `impersonate-on:serviceaccount:list`. Source:
 * apiserver `endpoints/filters/impersonation` of Kubernetes 1.36.
 *
 * Guarantees: of several modes that refuse, the one that was last successful for the sender gives the error, else the first.
 */
import type { ReceivedHead } from "../../runtime/mod.ts";
import {
  type Attributes,
  type Authorizer,
  badRequest,
  deniedError,
  dnsSubdomainErrors,
  regexError,
  StatusError,
  type User,
} from "../model/mod.ts";
import { authenticated, nodeNameKey, serviceAccountUser } from "./token_authority.ts";

const extraPrefix = "impersonate-extra-";
const unauthenticated = "system:unauthenticated";
const anonymousName = "system:anonymous";
const authenticationGroup = "authentication.k8s.io";

/** The attributes of a request, if its user were this one. */
export type AttributesFor = (user: User) => Attributes;

/** The most senders whose last mode is remembered. */
const maxSenders = 10_000;

/** Finds the user of a request, after its sender is known. */
export class Impersonation {
  readonly #authorizer: Authorizer;
  /** The mode that was last successful, by the name of the sender. */
  readonly #lastModes = new Map<string, Mode>();

  constructor(authorizer: Authorizer) {
    this.#authorizer = authorizer;
  }

  /**
   * The user that a request impersonates, or its sender.
   *
   * @throws StatusError 403 when the sender has no permission, 400 when other parts are given without a name
   */
  userOf(request: ReceivedHead, sender: User, attributesFor: AttributesFor): User {
    if (!hasImpersonation(request)) return sender;
    const wanted = wantedUser(request);
    if (wanted === undefined) return sender;
    const context: Context = { wanted, sender, authorizer: this.#authorizer, attributes: attributesFor(sender) };
    const last = this.#lastModes.get(sender.name);
    let firstError: StatusError | undefined;
    for (const mode of last === undefined ? modes : [last, ...modes.filter((other) => other !== last)]) {
      try {
        const user = mode(context);
        if (user === undefined) continue;
        this.#remember(sender.name, mode);
        return user;
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        firstError ??= error;
      }
    }
    throw firstError ?? badRequest("all impersonation modes failed");
  }

  #remember(sender: string, mode: Mode): void {
    this.#lastModes.delete(sender);
    this.#lastModes.set(sender, mode);
    const [oldest] = this.#lastModes.keys();
    if (this.#lastModes.size > maxSenders && oldest !== undefined) this.#lastModes.delete(oldest);
  }
}

/** Rarely true, so it only looks at the names of the headers. */
function hasImpersonation({ headers }: ReceivedHead): boolean {
  for (const name of headers.keys()) if (name.startsWith("impersonate-")) return true;
  return false;
}

/** @throws StatusError 400 when there are other parts, but no name */
function wantedUser(request: ReceivedHead): User | undefined {
  const name = request.headers.get("impersonate-user") ?? "";
  const uid = request.headers.get("impersonate-uid") ?? "";
  const groups = listed(request, "impersonate-group");
  const extra = extraOf(request);
  if (name !== "") return { name, uid, groups, extra };
  if (groups.length === 0 && extra.size === 0 && uid === "") return undefined;
  throw badRequest(`requested ${goUser(uid, groups, extra)} without impersonating a user name`);
}

/** Fetch joins repeated headers with a comma; names of groups contain none. */
function listed(request: ReceivedHead, header: string): readonly string[] {
  return (request.headers.get(header) ?? "").split(",").map((part) => part.trim()).filter((part) => part !== "");
}

function extraOf(request: ReceivedHead): ReadonlyMap<string, readonly string[]> {
  const extra = new Map<string, readonly string[]>();
  for (const header of request.headers.keys()) {
    if (header.startsWith(extraPrefix)) {
      extra.set(decodedKey(header.slice(extraPrefix.length)), listed(request, header));
    }
  }
  return extra;
}

/** A malformed key is kept as it is. */
function decodedKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
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

/** A request with impersonation. */
interface Context {
  readonly wanted: User;
  readonly sender: User;
  readonly authorizer: Authorizer;
  /** What the request wants to do. */
  readonly attributes: Attributes;
}

/** Returns the user, or undefined when the mode is not for this type of user. Throws a StatusError (403). */
type Mode = (context: Context) => User | undefined;

const modes: readonly Mode[] = [
  constrained("associated-node", ({ wanted, sender }) => {
    if (!hasOnlyName(wanted) || accountOf(sender.name) === undefined) return false;
    const [node, ...more] = sender.extra.get(nodeNameKey) ?? [];
    return node !== undefined && more.length === 0 && nodeIn(wanted.name) === node;
  }),
  constrained("arbitrary-node", ({ wanted }) => hasOnlyName(wanted) && nodeIn(wanted.name) !== undefined),
  constrained("serviceaccount", ({ wanted }) => hasOnlyName(wanted) && accountOf(wanted.name) !== undefined),
  constrained(
    "user-info",
    ({ wanted }) => nodeIn(wanted.name) === undefined && accountOf(wanted.name) === undefined,
  ),
  (context) => permitted(context, "impersonate", false),
];

function constrained(mode: string, isForUser: (context: Context) => boolean): Mode {
  return (given) => {
    if (!isForUser(given)) return undefined;
    const context = mode === "associated-node" ? { ...given, sender: withoutExtra(given.sender) } : given;
    const { authorizer, attributes, sender } = context;
    check(authorizer, { ...attributes, user: sender, verb: `impersonate-on:${mode}:${attributes.verb}` });
    return permitted(context, `impersonate:${mode}`, true);
  };
}

/** Its extra values are those of one Pod; the permission holds for all Pods of the ServiceAccount. */
function withoutExtra(sender: User): User {
  const keys = [...sender.extra.keys()].sort();
  return { ...sender, extra: new Map([["authentication.kubernetes.io/associated-node-keys", keys]]) };
}

function hasOnlyName({ uid, groups, extra }: User): boolean {
  return uid === "" && groups.length === 0 && extra.size === 0;
}

function nodeIn(name: string): string | undefined {
  const node = /^system:node:(.+)$/.exec(name)?.[1];
  return node === undefined || dnsSubdomainErrors(node).length > 0 ? undefined : node;
}

function accountOf(name: string): { readonly namespace: string; readonly name: string } | undefined {
  const [, namespace, account] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name) ?? [];
  return namespace === undefined || account === undefined ? undefined : { namespace, name: account };
}

/** Checks each part of the wanted user. @returns the user with the groups that the server adds */
function permitted({ wanted, sender, authorizer }: Context, verb: string, isConstrained: boolean): User {
  const group = isConstrained ? authenticationGroup : "";
  const checkPart = (about: Partial<Attributes>) => check(authorizer, partAttributes(sender, verb, about));
  const account = accountOf(wanted.name);
  const node = isConstrained ? nodeIn(wanted.name) : undefined;
  if (account !== undefined) checkPart({ group, resource: "serviceaccounts", ...account });
  // The permission for the Node of a Pod holds for all Nodes.
  else if (node !== undefined) {
    checkPart({ group, resource: "nodes", name: verb === "impersonate:associated-node" ? "*" : node });
  } else checkPart({ group, resource: "users", name: wanted.name });
  if (wanted.uid !== "") checkPart({ group: authenticationGroup, resource: "uids", name: wanted.uid });
  checkGroups(wanted.groups, isConstrained, (name, why) => {
    if (why !== undefined) throw deniedError(partAttributes(sender, verb, { group, resource: "groups", name }), why);
    checkPart({ group, resource: "groups", name });
  });
  checkExtra(wanted.extra, isConstrained, (key, value, why) => {
    const about = { group: authenticationGroup, resource: "userextras", subresource: key, name: value };
    if (why !== undefined) throw deniedError(partAttributes(sender, verb, about), why);
    checkPart(about);
  });
  return { ...wanted, groups: withSystemGroups(wanted, account, node) };
}

function withSystemGroups(wanted: User, account: ReturnType<typeof accountOf>, node: string | undefined) {
  const own = wanted.groups.length === 0 && account !== undefined
    ? serviceAccountUser(account.namespace, account.name, "").groups
    : node === undefined
    ? wanted.groups
    : ["system:nodes"];
  const added = wanted.name === anonymousName ? unauthenticated : authenticated;
  return own.includes(unauthenticated) || own.includes(added) ? own : [...own, added];
}

/** From this number of groups or values on, the permission for all of them is enough. */
const manyParts = 4;

function checkGroups(
  groups: readonly string[],
  isConstrained: boolean,
  checkGroup: (name: string, why?: string) => void,
): void {
  if (isConstrained && groups.includes("system:masters")) {
    checkGroup("system:masters", "impersonating the system:masters group is not allowed");
  }
  if (isConstrained && groups.length >= manyParts && isPermitted(() => checkGroup("*"))) return;
  for (const group of groups) checkGroup(group);
}

function checkExtra(
  extra: User["extra"],
  isConstrained: boolean,
  checkValue: (key: string, value: string, why?: string) => void,
): void {
  if (isConstrained) {
    for (const [key, values] of extra) {
      const why = extraError(key, values);
      if (why !== undefined) checkValue("", "", why);
    }
    const count = Math.max(extra.size, [...extra.values()].flat().length);
    if (count >= manyParts && isPermitted(() => checkValue("*", "*"))) return;
  }
  for (const [key, values] of extra) for (const value of values) checkValue(key, value);
}

const pathPattern = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";

function extraError(key: string, values: readonly string[]): string | undefined {
  if (key === "") return "impersonating the empty string key in extra is not allowed";
  const errors = keyErrors(key).map(([value, why]) => `extra.key: Invalid value: ${JSON.stringify(value)}: ${why}`);
  if (errors.length > 0) {
    const all = errors.length === 1 ? errors[0] : `[${errors.join(", ")}]`;
    return `impersonating an invalid key in extra is not allowed: ${all}`;
  }
  if (values.length === 0) return "impersonating empty values in extra is not allowed";
  return undefined;
}

/** The errors of a key that is not `example.com/path`. */
function keyErrors(key: string): readonly (readonly [value: string, why: string])[] {
  const slash = key.indexOf("/");
  if (slash < 1 || slash === key.length - 1) {
    return [[key, 'must be a domain-prefixed path (such as "acme.io/foo")']];
  }
  const [host, path] = [key.slice(0, slash), key.slice(slash + 1)];
  const isPath = new RegExp(`^${pathPattern}$`).test(path);
  return [
    ...dnsSubdomainErrors(host).map((why) => [host, why] as const),
    ...isPath ? [] : [[path, regexError("Invalid path", pathPattern, [])] as const],
  ];
}

function isPermitted(run: () => void): boolean {
  try {
    run();
    return true;
  } catch (error) {
    if (error instanceof StatusError) return false;
    throw error;
  }
}

function partAttributes(user: User, verb: string, about: Partial<Attributes>): Attributes {
  return {
    user,
    verb,
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
}

/** @throws StatusError 403 when the sender may not do this */
function check(authorizer: Authorizer, attributes: Attributes): void {
  const { isAllowed, reason } = authorizer.authorize(attributes);
  if (!isAllowed) throw deniedError(attributes, reason);
}

/**
 * requestInfo(): what a request asks of the API server, as RBAC sees it. The path grammar is the Kubernetes API's, the
 * words are those of `k8s.io/apiserver/pkg/endpoints/request`.
 */
import type { Verb } from "../controller/mod.ts";

/** A request for a resource. */
export interface RequestInfo {
  readonly verb: Verb;
  /** "" for core. */
  readonly group: string;
  /** The plural, with the subresource where there is one: `foos/status`. */
  readonly resource: string;
  readonly namespace?: string;
  /** Absent for a collection, and for an object that is to be created by POST. */
  readonly name?: string;
}

const verbsOfOne: ReadonlyMap<string, Verb> = new Map([
  ["GET", "get"],
  ["HEAD", "get"],
  ["POST", "create"],
  ["PUT", "update"],
  ["PATCH", "patch"],
  ["DELETE", "delete"],
]);

/** What `request` asks for; undefined where it asks for no resource: `/version`, discovery. */
export function requestInfo(request: Pick<Request, "method" | "url">): RequestInfo | undefined {
  const { pathname, searchParams } = new URL(request.url);
  const [root, ...path] = pathname.split("/").filter((part) => part !== "").map(decoded);
  if (root !== "api" && root !== "apis") return undefined;
  const group = root === "apis" ? path[0] : "";
  const rest = path.slice(root === "apis" ? 2 : 1);
  // A namespace's own subresources stand where elsewhere a plural does.
  const isInside = rest[0] === "namespaces" && rest.length > 2 && rest[2] !== "status" && rest[2] !== "finalize";
  const [plural, name, subresource] = isInside ? rest.slice(2) : rest;
  const verb = verbsOfOne.get(request.method);
  if (group === undefined || plural === undefined || verb === undefined) return undefined;
  return {
    verb: name === undefined ? verbOfMany(verb, searchParams) : verb,
    group,
    resource: subresource === undefined ? plural : `${plural}/${subresource}`,
    namespace: isInside ? rest[1] : undefined,
    name,
  };
}

function verbOfMany(verb: Verb, query: URLSearchParams): Verb {
  if (verb === "delete") return "deletecollection";
  if (verb !== "get") return verb;
  return ["true", "1"].includes(query.get("watch") ?? "") ? "watch" : "list";
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

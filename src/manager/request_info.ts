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
  const { url } = request;
  const [root, ...path] = pathOf(url).split("/").filter((part) => part !== "").map(decoded);
  if (root !== "api" && root !== "apis") return undefined;
  const group = root === "apis" ? path[0] : "";
  const rest = path.slice(root === "apis" ? 2 : 1);
  // A namespace's own subresources stand where elsewhere a plural does.
  const isInside = rest[0] === "namespaces" && rest.length > 2 && rest[2] !== "status" && rest[2] !== "finalize";
  const [plural, name, subresource] = isInside ? rest.slice(2) : rest;
  const verb = verbsOfOne.get(request.method);
  if (group === undefined || plural === undefined || verb === undefined) return undefined;
  return {
    verb: name === undefined ? verbOfMany(verb, url) : verb,
    group,
    resource: subresource === undefined ? plural : `${plural}/${subresource}`,
    namespace: isInside ? rest[1] : undefined,
    name,
  };
}

/** The path of a URL that the runtime has written: to parse it again would cost more than all the rest. */
function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  const end = url.search(/[?#]/);
  return start < 0 ? "" : url.slice(start, end < 0 ? url.length : end);
}

function verbOfMany(verb: Verb, url: string): Verb {
  if (verb === "delete") return "deletecollection";
  if (verb !== "get") return verb;
  const isWatch = url.includes("watch=") && ["true", "1"].includes(new URL(url).searchParams.get("watch") ?? "");
  return isWatch ? "watch" : "list";
}

function decoded(part: string): string {
  if (!part.includes("%")) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * requestInfo(): the verb, resource and name of a request, as RBAC sees them, read from its method and URL. The grammar of
 * paths is that of the Kubernetes API, the terms are those of `k8s.io/apiserver/pkg/endpoints/request`.
 */
import type { Verb } from "../../controller/mod.ts";

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

/** What recent requests are about: several parts of a process ask for each one, and most are repeated. */
const recent = new Map<string, RequestInfo | undefined>();
const maxRecent = 512;

/** Undefined for a request that is not about a resource: `/version`, discovery. */
export function requestInfo({ method, url }: Pick<Request, "method" | "url">): RequestInfo | undefined {
  const request = `${method} ${url}`;
  const known = recent.get(request);
  if (known !== undefined) return known;
  if (recent.size >= maxRecent) recent.clear();
  const info = infoOf(method, url);
  recent.set(request, info);
  return info;
}

function infoOf(method: string, url: string): RequestInfo | undefined {
  const [root, ...path] = pathOf(url).split("/").filter((part) => part !== "").map(decoded);
  if (root !== "api" && root !== "apis") return undefined;
  const group = root === "apis" ? path[0] : "";
  const rest = path.slice(root === "apis" ? 2 : 1);
  // In `/namespaces/NAME/status`, `status` is a subresource of the namespace and not a plural.
  const isInside = rest[0] === "namespaces" && rest.length > 2 && rest[2] !== "status" && rest[2] !== "finalize";
  const [plural, name, subresource] = isInside ? rest.slice(2) : rest;
  const verb = verbsOfOne.get(method);
  if (group === undefined || plural === undefined || verb === undefined) return undefined;
  return {
    verb: name === undefined ? verbOfMany(verb, url) : verb,
    group,
    resource: subresource === undefined ? plural : `${plural}/${subresource}`,
    namespace: isInside ? rest[1] : undefined,
    name,
  };
}

/** The path of a URL that the runtime has normalized. Parsing it with `URL` would cost more than everything else here. */
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

/** What a request does, for error messages: `patch deployments.apps "default/web"`. */
export function writeAction(request: Pick<Request, "method" | "url">): string {
  const info = requestInfo(request);
  if (info === undefined) return `${verbOfPath(request.method)} "${new URL(request.url).pathname}"`;
  const { group, namespace, name } = info;
  const verb = info.verb === "deletecollection" ? "delete" : info.verb;
  const [plural = "", subresource] = info.resource.split("/");
  const resource = group === "" ? plural : `${plural}.${group}`;
  const kind = subresource === undefined ? resource : `the ${subresource} of ${resource}`;
  if (name !== undefined) return `${verb} ${kind} "${namespace === undefined ? name : `${namespace}/${name}`}"`;
  return namespace === undefined ? `${verb} ${kind}` : `${verb} ${kind} in namespace "${namespace}"`;
}

function verbOfPath(method: string): string {
  return method === "POST" ? "create" : method === "PUT" ? "update" : method.toLowerCase();
}

/**
 * RequestInfo: the verb, resource, namespace and name of a request, from its method and URL. The rules are those of apiserver
 * `endpoints/request/requestinfo.go`, because authorization depends on them.
 */
import { parseFieldSelector, SelectorError } from "../registry/mod.ts";
import { pathSegmentErrors, type RequiredField } from "../model/mod.ts";

/** What a request wants to do. */
export interface RequestInfo {
  readonly isResourceRequest: boolean;
  /** The decoded path. */
  readonly path: string;
  /** `get`, `list`, `watch`, `create`, ...; for other paths the method in lower case. */
  readonly verb: string;
  /** "" for core. */
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  /** The name in the path, or the one that a field selector requires. */
  readonly name: string;
  /** True when the path has a name. */
  readonly isNamed: boolean;
  /** `[resource, name, subresource, …]`. */
  readonly parts: readonly string[];
  /** The values that the field selector of a list, a watch or a deletion of many objects requires. */
  readonly requiredFields: readonly RequiredField[];
  /** True for `/api/v1/watch/…`, the deprecated form of a watch. */
  readonly isWatchPath: boolean;
}

const namespaceSubresources: ReadonlySet<string> = new Set(["status", "finalize"]);

const verbs: ReadonlyMap<string, string> = new Map([
  ["POST", "create"],
  ["GET", "get"],
  ["HEAD", "get"],
  ["PUT", "update"],
  ["PATCH", "patch"],
  ["DELETE", "delete"],
]);

/** Parses the method, path and query of a request. */
export function requestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const parts = splitPath(path);
  const [prefix] = parts;
  const isCore = prefix === "api";
  if ((!isCore && prefix !== "apis") || parts.length < (isCore ? 3 : 4)) return plain(method, path);
  const [group, version] = isCore ? ["", parts[1] ?? ""] : [parts[1] ?? "", parts[2] ?? ""];
  const rest = parts.slice(isCore ? 2 : 3);
  const isPathVerb = rest[0] === "watch" || rest[0] === "proxy";
  const pathVerb = isPathVerb ? rest.shift() : undefined;
  const verb = pathVerb ?? verbs.get(method) ?? "";
  const location = located(rest);
  const [resource = "", name = "", subresource = ""] = location.parts;
  const base = {
    isResourceRequest: true,
    path,
    group,
    version,
    namespace: location.namespace,
    resource,
    parts: location.parts,
    isWatchPath: pathVerb === "watch",
    // The deprecated watch and proxy paths have no subresources.
    subresource: isPathVerb ? "" : subresource,
    isNamed: name !== "",
  };
  return { ...base, ...collectionVerb(verb, name, query) };
}

function plain(method: string, path: string): RequestInfo {
  return {
    isResourceRequest: false,
    path,
    verb: method.toLowerCase(),
    group: "",
    version: "",
    namespace: "",
    resource: "",
    subresource: "",
    name: "",
    requiredFields: noFields,
    isNamed: false,
    parts: [],
    isWatchPath: false,
  };
}

/** Removes `namespaces/<name>/`, unless the request is about the Namespace itself. */
function located(parts: readonly string[]): { readonly namespace: string; readonly parts: readonly string[] } {
  const [first, namespace, third] = parts;
  if (first !== "namespaces" || namespace === undefined) return { namespace: "", parts };
  const isInside = third !== undefined && !namespaceSubresources.has(third);
  return { namespace, parts: isInside ? parts.slice(2) : parts };
}

function collectionVerb(
  verb: string,
  name: string,
  query: URLSearchParams,
): Pick<RequestInfo, "verb" | "name" | "requiredFields"> {
  if (name !== "" || (verb !== "delete" && verb !== "get")) return { verb, name, requiredFields: noFields };
  const requiredFields = selectedFields(query);
  if (verb === "delete") return { verb: "deletecollection", name, requiredFields };
  const selected = requiredFields.find(({ field }) => field === "metadata.name")?.value ?? "";
  return {
    verb: isWatch(query) ? "watch" : "list",
    name: pathSegmentErrors(selected).length === 0 ? selected : "",
    requiredFields,
  };
}

const noFields: readonly RequiredField[] = [];

/** True when `watch` is present and neither false nor 0. */
export function isWatch(query: URLSearchParams): boolean {
  const value = query.get("watch");
  return value !== null && value.toLowerCase() !== "false" && value !== "0";
}

function selectedFields(query: URLSearchParams): readonly RequiredField[] {
  const selector = query.get("fieldSelector");
  if (selector === null || selector === "") return noFields;
  try {
    return parseFieldSelector(selector).filter(({ isEqual }) => isEqual);
  } catch (error) {
    // The verb rejects the selector with a reason; here it only requires nothing.
    if (error instanceof SelectorError) return noFields;
    throw error;
  }
}

/** Splits a path as Go does: two adjacent slashes have an empty part between them. */
function splitPath(path: string): readonly string[] {
  let [start, end] = [0, path.length];
  while (start < end && path[start] === "/") start++;
  while (end > start && path[end - 1] === "/") end--;
  return start === end ? [] : path.slice(start, end).split("/");
}

/**
 * Routes: which methods and media types a path of objects has. For built-in kinds they are those of the go-restful routes of
 * kube-apiserver (`endpoints/installer.go`), for custom resources those of its handler, with different error messages.
 */
import { badRequest, type Kind, methodNotSupported, notFound, pathSegmentErrors, StatusError } from "../model/mod.ts";
import { notProduced } from "./media_types.ts";
import type { RequestInfo } from "./request_info.ts";

/** Checks that the route exists. @throws StatusError 400, 404, 405 or 406 */
export function checkRoute(kind: Kind, info: RequestInfo, request: Request): void {
  checkScope(kind, info);
  if (request.method === "HEAD" && kind.hasStrategicMerge) throw notAllowed();
  if (info.subresource === "") checkVerb(kind, info, request.method);
  else checkSubresource(kind, info);
  if (kind.hasStrategicMerge) checkAccept(info, request.headers.get("accept"));
  checkName(info);
}

function checkName({ name, isNamed }: RequestInfo): void {
  const errors = name !== "" && isNamed ? pathSegmentErrors(name) : [];
  if (errors.length === 0) return;
  throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${errors.join(";")}`);
}

const proxyMethods: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]);

/** Checks that a proxy exists at the path. @throws StatusError 400, 404 or 405 */
export function checkProxyRoute(kind: Kind, info: RequestInfo, request: Request): void {
  if (kind.scope !== "Cluster" && info.namespace === "") throw notServed();
  checkScope(kind, info);
  if (!proxyMethods.has(request.method)) throw notAllowed();
  checkName(info);
}

/** True for the path of a custom resource with the wrong scope, which kube-apiserver does not route to its handler. */
export function hasWrongScope(kind: Kind, { namespace, verb }: RequestInfo): boolean {
  if (kind.hasStrategicMerge) return false;
  if (kind.scope === "Cluster") return namespace !== "";
  return namespace === "" && verb !== "list" && verb !== "watch";
}

/** Checks that the scope of the path is the one of the kind. */
function checkScope(kind: Kind, info: RequestInfo): void {
  const { verb, namespace, isNamed } = info;
  if (kind.scope !== "Cluster") {
    if (namespace === "" && verb === "create") throw notAllowed();
    if (namespace === "" && isNamed) throw notServed();
    return;
  }
  // `/namespaces/a` is the Namespace a; `/namespaces/a/namespaces` does not exist.
  const isItself = kind.collection === "namespaces" && isNamed && info.name === namespace;
  if (namespace !== "" && !isItself) throw notServed();
}

function checkVerb(kind: Kind, info: RequestInfo, method: string): void {
  const isVerb = kind.verbs.some((known) => known === routedVerb(info)) &&
    (method === "POST") === (info.verb === "create");
  if (!isVerb || !fitsPath(kind, info)) throw verbError(kind, info.verb);
}

/** The `watch` in a query has the route of a list, whose handler may reject it. */
function routedVerb({ verb, isWatchPath }: RequestInfo): string {
  return verb === "watch" && !isWatchPath ? "list" : verb;
}

function checkSubresource(kind: Kind, info: RequestInfo): void {
  const part = kind.subresources.get(info.subresource);
  if (part === undefined) {
    const subject = { group: kind.group, resource: kind.plural, name: info.name };
    throw kind.hasStrategicMerge ? notServed() : notFound(subject);
  }
  // A proxy forwards any further path.
  if (info.parts.length > 3 && kind.hasStrategicMerge && info.subresource !== "proxy") throw notServed();
  if (!part.verbs.some((known) => known === info.verb)) throw verbError(kind, info.verb);
}

/** True when the verb fits the path: that of an object, or of a collection. */
function fitsPath(kind: Kind, info: RequestInfo): boolean {
  const { verb, isNamed } = info;
  switch (verb) {
    case "create":
      // Custom resources also accept a name, and ignore it.
      return !isNamed || !kind.hasStrategicMerge;
    case "update":
    case "patch":
    case "delete":
      return isNamed;
    case "deletecollection":
      return kind.scope === "Cluster" || info.namespace !== "";
    default:
      return true;
  }
}

/** Subresources with any media type: connections to a Pod or a Node. */
const opaque: ReadonlySet<string> = new Set(["attach", "exec", "log", "portforward", "proxy"]);

/** Routes compare only the types; a pattern like `application/*` matches none of them. */
function checkAccept(info: RequestInfo, accept: string | null): void {
  if (accept === null || accept === "" || opaque.has(info.subresource)) return;
  const error = notProduced(accept, info.verb === "list" || info.verb === "watch");
  if (error !== undefined) throw error;
}

function verbError(kind: Kind, verb: string): StatusError {
  if (kind.hasStrategicMerge) return notAllowed();
  if (verb === "update" || verb === "patch") return badRequest("name must be provided");
  return methodNotSupported({ group: kind.group, resource: kind.plural, name: "" }, verb);
}

/** 405, as the routes of go-restful respond. */
export function notAllowed(): StatusError {
  const message = "the server does not allow this method on the requested resource";
  return new StatusError(405, "MethodNotAllowed", message, {});
}

/** 404 for a path without a route. */
export function notServed(): StatusError {
  return new StatusError(404, "NotFound", "the server could not find the requested resource", {});
}

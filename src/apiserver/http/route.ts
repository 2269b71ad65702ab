/**
 * Routes: which methods and media types a path of objects has. Those of built-in kinds follow kube-apiserver's go-restful
 * routes (`endpoints/installer.go`), those of custom resources its own handler; the two refuse in different words.
 */
import { badRequest, type Kind, methodNotSupported, notFound, pathSegmentErrors, Refusal } from "../model/mod.ts";
import { notProduced } from "./media_types.ts";
import type { RequestInfo } from "./request_info.ts";

/** Is there such a route at all? @throws Refusal 400, 404, 405 or 406 */
export function checkRoute(kind: Kind, info: RequestInfo, request: Request): void {
  checkPlace(kind, info);
  if (request.method === "HEAD" && kind.hasStrategicMerge) throw notAllowed();
  if (info.subresource === "") checkVerb(kind, info, request.method);
  else checkSubresource(kind, info);
  if (kind.hasStrategicMerge) checkAccept(info, request.headers.get("accept"));
  if (info.name !== "" && info.isNamed) {
    const errors = pathSegmentErrors(info.name);
    if (errors.length === 0) return;
    throw badRequest(`Name parameter invalid: ${JSON.stringify(info.name)}: ${errors.join(";")}`);
  }
}

/** True for a path that nothing but its last words has in common with a custom resource's. */
export function isElsewhere(kind: Kind, { namespace, verb }: RequestInfo): boolean {
  if (kind.hasStrategicMerge) return false;
  if (kind.scope === "Cluster") return namespace !== "";
  return namespace === "" && verb !== "list" && verb !== "watch";
}

/** Is the kind at home where the path says: in a namespace, or in none? */
function checkPlace(kind: Kind, info: RequestInfo): void {
  const { verb, namespace, isNamed } = info;
  if (kind.scope !== "Cluster") {
    if (namespace === "" && verb === "create") throw notAllowed();
    if (namespace === "" && isNamed) throw notServed();
    return;
  }
  // `/namespaces/a` is about the Namespace a; `/namespaces/a/namespaces` is nothing.
  const isItself = kind.collection === "namespaces" && isNamed && info.name === namespace;
  if (namespace !== "" && !isItself) throw notServed();
}

function checkVerb(kind: Kind, info: RequestInfo, method: string): void {
  const isVerb = kind.verbs.some((known) => known === info.verb) && (method === "POST") === (info.verb === "create");
  if (!isVerb || !isPlaced(kind, info)) throw refusedVerb(kind, info.verb);
}

function checkSubresource(kind: Kind, info: RequestInfo): void {
  const part = kind.subresources.get(info.subresource);
  if (part === undefined) {
    const subject = { group: kind.group, resource: kind.plural, name: info.name };
    throw kind.hasStrategicMerge ? notServed() : notFound(subject);
  }
  // A proxy takes whatever stands behind it.
  if (info.parts.length > 3 && kind.hasStrategicMerge && info.subresource !== "proxy") throw notServed();
  if (!part.verbs.some((known) => known === info.verb)) throw refusedVerb(kind, info.verb);
}

/** Is the verb at home on an object, or on a collection? */
function isPlaced(kind: Kind, info: RequestInfo): boolean {
  const { verb, isNamed } = info;
  switch (verb) {
    case "create":
      // Custom resources take it on a name too, and pass over the name.
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

/** What the connections to a Pod or a Node produce, nobody knows beforehand. */
const opaque: ReadonlySet<string> = new Set(["attach", "exec", "log", "portforward", "proxy"]);

/** Routes look at the types alone; a pattern like `application/*` matches none of them. */
function checkAccept(info: RequestInfo, accept: string | null): void {
  if (accept === null || accept === "" || opaque.has(info.subresource)) return;
  const refusal = notProduced(accept, info.verb === "list" || info.verb === "watch");
  if (refusal !== undefined) throw refusal;
}

function refusedVerb(kind: Kind, verb: string): Refusal {
  if (kind.hasStrategicMerge) return notAllowed();
  if (verb === "update" || verb === "patch") return badRequest("name must be provided");
  return methodNotSupported({ group: kind.group, resource: kind.plural, name: "" }, verb);
}

/** 405, as go-restful's routes answer. */
export function notAllowed(): Refusal {
  const message = "the server does not allow this method on the requested resource";
  return new Refusal(405, "MethodNotAllowed", message, {});
}

/** 404 for a path that nobody serves. */
export function notServed(): Refusal {
  return new Refusal(404, "NotFound", "the server could not find the requested resource", {});
}

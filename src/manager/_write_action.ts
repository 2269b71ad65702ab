/**
 * What a request does, in the words of a message: `patch deployments.apps "default/web"`. The fence sees requests, not
 * calls, so it reads the URL.
 */
import { requestInfo } from "./request_info.ts";

function verbOfPath(method: string): string {
  return method === "POST" ? "create" : method === "PUT" ? "update" : method.toLowerCase();
}

/** The action of `request`, as an infinitive. */
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

/**
 * What a request does, in the words of a message: `patch deployments.apps "default/web"`. The fence sees requests, not
 * calls, so it reads the URL (the Kubernetes API's path grammar).
 */

const verbs: ReadonlyMap<string, string> = new Map([
  ["POST", "create"],
  ["PUT", "update"],
  ["PATCH", "patch"],
  ["DELETE", "delete"],
]);

/** The action of `request`, as an infinitive. */
export function writeAction(request: Pick<Request, "method" | "url">): string {
  const verb = verbs.get(request.method) ?? request.method.toLowerCase();
  const { pathname } = new URL(request.url);
  const path = pathname.split("/").filter((part) => part !== "").map(decoded);
  const group = path[0] === "apis" ? path[1] : undefined;
  const rest = path.slice(group === undefined ? 2 : 3);
  const isNamespaced = rest[0] === "namespaces" && rest.length > 2;
  const namespace = isNamespaced ? rest[1] : undefined;
  const [plural, name, subresource] = isNamespaced ? rest.slice(2) : rest;
  if (plural === undefined || (path[0] !== "api" && path[0] !== "apis")) return `${verb} "${pathname}"`;
  const resource = group === undefined ? plural : `${plural}.${group}`;
  const kind = subresource === undefined ? resource : `the ${subresource} of ${resource}`;
  if (name !== undefined) return `${verb} ${kind} "${namespace === undefined ? name : `${namespace}/${name}`}"`;
  return namespace === undefined ? `${verb} ${kind}` : `${verb} ${kind} in namespace "${namespace}"`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

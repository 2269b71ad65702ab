/**
 * The subresource `proxy` of Pods, Services and Nodes: a request is passed on to the program that stands in for a port, with the
 * path behind `proxy`. The rules are those of apimachinery `util/proxy`: redirects and fields as kube-apiserver writes them.
 *
 * Guarantees: only programs on loopback are reached (stand_ins.ts); a certificate of one is not verified, as with Pods.
 */
import type { Random } from "../../async/mod.ts";
import { type HttpClient, httpClient, type TcpAddress } from "../../runtime/mod.ts";
import { badRequest, StatusError } from "../model/mod.ts";
import type { ActionCall, ActionResponse, SubresourceHandler } from "../registry/mod.ts";
import { type Location, nodeLocation, podLocation, serviceLocation, unavailable } from "./locations.ts";
import { isUpgrade, passOn } from "./passed_request.ts";
import { dialError, joinHostPort } from "./stand_ins.ts";

/** A client for programs that stand in for Pods: their certificates are not verified, as kube-apiserver does with Pods. */
export function standInClient(): HttpClient {
  return httpClient({ insecureSkipTlsVerify: true });
}

/** The handlers of the three kinds. @param client of {@link standInClient} */
export function proxyHandlers(random: Random, client: HttpClient): readonly SubresourceHandler[] {
  const locate = {
    pods: ({ registry, namespace, name }: ActionCall) =>
      podLocation({ storage: registry.storage, random }, namespace, name),
    services: ({ registry, namespace, name }: ActionCall) =>
      serviceLocation({ storage: registry.storage, random }, namespace, name),
    nodes: ({ registry, name }: ActionCall) => nodeLocation({ storage: registry.storage, random }, name),
  } as const;
  return Object.entries(locate).map(([collection, find]) => ({
    collection,
    subresource: "proxy",
    isProxy: true,
    handle: (call) => proxied(call, find, client),
  }));
}

function proxied(call: ActionCall, find: (call: ActionCall) => Location, client: HttpClient): ActionResponse {
  if (call.query.has("dryRun")) throw badRequest("dryRun is not supported");
  const location = find(call);
  return { kind: "connection", connect: (request) => send(request, call, location, client) };
}

async function send(request: Request, call: ActionCall, location: Location, client: HttpClient): Promise<Response> {
  const { path, remoteAddress } = call.proxied ?? { path: "", remoteAddress: "" };
  const own = new URL(request.url);
  const isEmpty = path === "" && (request.method === "GET" || request.method === "HEAD");
  if (isEmpty && !isUpgrade(request)) return movedInside(own);
  const escaped = escapedPath(cleanedPath(path));
  let address: TcpAddress | undefined;
  let response: Response;
  try {
    address = location.standIn();
    response = await passOn(request, {
      client,
      url: `${location.scheme}://${joinHostPort(address.hostname, address.port)}${escaped}${own.search}`,
      host: request.headers.get("host") ?? own.host,
      remoteAddress,
      headers: { "x-forwarded-uri": [own.pathname] },
    });
  } catch (error) {
    if (request.signal.aborted || error instanceof StatusError) throw error;
    const why = dialError(error, address);
    throw isUpgrade(request)
      ? new StatusError(500, "", `error dialing backend: ${why}`)
      : unavailable(`error trying to reach service: ${why}`);
  }
  return withOwnLocation(response, { own, escaped, location });
}

/** A path without a slash behind `proxy` would make relative links lead elsewhere. */
function movedInside({ pathname, search }: URL): Response {
  return new Response(null, { status: 301, headers: { location: `${pathname}/${search}` } });
}

/** The path as `path.Join` of Go cleans it, with its last slash. */
function cleanedPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  const clean = `/${parts.join("/")}`;
  return path.endsWith("/") && clean !== "/" ? `${clean}/` : clean;
}

/** The path as `EscapedPath` of Go writes it. */
function escapedPath(path: string): string {
  const percent = (text: string) => `%${text.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURI(path).replaceAll(/[!*'()?#]/g, percent);
}

/** A redirect inside of the program leads through this server. */
function withOwnLocation(
  response: Response,
  { own, escaped, location }: { readonly own: URL; readonly escaped: string; readonly location: Location },
): Response {
  const text = response.headers.get("location");
  if (text === null || text === "") return response;
  const prefix = own.pathname.endsWith(escaped) ? own.pathname.slice(0, -escaped.length) : own.pathname;
  const match = /^(?:[a-z][a-z0-9+.-]*:)?(?:\/\/([^/?#]*))?(\/[^?#]*)?(.*)$/i.exec(text);
  const [, host = "", path = "", rest = ""] = match ?? [];
  const isOther = host !== "" && host !== location.host && host !== own.host;
  if (isOther || path === "" || path.startsWith(prefix)) return response;
  response.headers.set("location", `${prefix}${cleanedPath(path)}${rest}`);
  return response;
}

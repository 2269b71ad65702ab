/**
 * Requests and responses between the operator and the API server: what a request is about, in the form of traces and counters,
 * and the responses that a fault puts in the place of real ones.
 */
import type { RequestInfo } from "../manager/mod.ts";
import { knownTextOf, rememberText } from "../runtime/mod.ts";
import { requestAt } from "./_run_recorder.ts";

/** Writes of these collections are no points for faults: they are frequent or store nothing, and lead to no other writes. */
const uncounted: ReadonlySet<string> = new Set([
  ...["events", "events.events.k8s.io", "leases.coordination.k8s.io"],
  ...["tokenreviews.authentication.k8s.io", "selfsubjectreviews.authentication.k8s.io"],
  ...["", "self", "local"].map((who) => `${who}subjectaccessreviews.authorization.k8s.io`),
  "selfsubjectrulesreviews.authorization.k8s.io",
]);

/** True for a write that is a point for faults. */
export function isCounted(info: RequestInfo | undefined): boolean {
  return info !== undefined && !uncounted.has(collectionOf(info));
}

/** True for a write of a Lease. */
export function isRenewal(info: RequestInfo | undefined): boolean {
  return collectionOf(info) === "leases.coordination.k8s.io";
}

/** True for a request of a cache for a whole collection. A list without a resource version comes from a reconciler. */
export function isFullList({ url }: Request, info: RequestInfo | undefined): boolean {
  // A request for one object needs no more: parsing its URL would cost more than all else here.
  if (!url.includes("?")) return false;
  const { searchParams } = new URL(url);
  if (info?.verb === "list") return searchParams.has("resourceVersion") && !searchParams.has("continue");
  return searchParams.get("sendInitialEvents") === "true";
}

/** Compares sort keys. */
export function byOrder(one: { readonly order: string }, other: { readonly order: string }): number {
  return one.order === other.order ? 0 : one.order < other.order ? -1 : 1;
}

/** `deployments.apps`, without the subresource. */
export function collectionOf(info: RequestInfo | undefined): string {
  if (info === undefined) return "";
  const [plural = ""] = info.resource.split("/");
  return info.group === "" ? plural : `${plural}.${info.group}`;
}

/** `deployments.apps`, `deployments.apps/status`. */
export function resourceOf(info: RequestInfo): string {
  const [, subresource] = info.resource.split("/");
  return subresource === undefined ? collectionOf(info) : `${collectionOf(info)}/${subresource}`;
}

/** `default/web`; of a request for a collection, its namespace or "". */
export function keyOfInfo(info: RequestInfo | undefined): string {
  return [info?.namespace, info?.name].filter((part) => part !== undefined).join("/");
}

/** `PATCH deployments.apps default/web`. */
export function requestText({ request, info }: { request: Request; info: RequestInfo | undefined }): string {
  if (info === undefined) return `${request.method} ${new URL(request.url).pathname}`;
  const [key, resource] = [keyOfInfo(info), resourceOf(info)];
  const verb = request.method === "GET" ? info.verb.toUpperCase() : request.method;
  return key === "" ? `${verb} ${resource}` : `${verb} ${resource} ${key}`;
}

/** How the recording finds the entry of a request. Of a list, it names the collection only. */
export function requestName({ request: { method, url }, info }: {
  readonly request: Request;
  readonly info: RequestInfo | undefined;
}): string {
  if (info === undefined) return requestAt(method, new URL(url).pathname);
  const isList = method === "GET" && info.name === undefined;
  return requestAt(method, resourceOf(info), isList ? "" : [info.namespace, info.name].filter(Boolean).join("/"));
}

/** The path of the object that a write is about. @param body of the request */
export function targetPath({ url, method }: Request, body: string): string {
  const { pathname } = new URL(url);
  if (method !== "POST") return pathname.replace(/\/status$/, "");
  const { metadata: { name = "" } = {} }: { metadata?: { name?: string } } = JSON.parse(body);
  return `${pathname}/${name}`;
}

/** The path of the object after a write; undefined when the write failed or deleted it. */
export function writtenPath(request: Request, response: BufferedResponse): string | undefined {
  if (response.status >= 300 || request.method === "DELETE") return undefined;
  const { pathname } = new URL(request.url);
  return request.method === "POST" ? `${pathname}/${response.name}` : pathname.replace(/\/status$/, "");
}

/** A response whose body was read. */
export interface BufferedResponse {
  readonly status: number;
  /** Of the object in the body, "" for none. */
  readonly resourceVersion: string;
  readonly name: string;
  /** The response for the operator. */
  response(): Response;
}

const version = /"resourceVersion":"(\d+)"/;
const name = /"name":"([^"]*)"/;

/** Reads the body of a response. */
export async function bufferResponse(response: Response): Promise<BufferedResponse> {
  const { status, headers } = response;
  const known = knownTextOf(response);
  const text = known ?? await response.text();
  return {
    status,
    get resourceVersion() {
      return version.exec(text)?.[1] ?? "";
    },
    get name() {
      return name.exec(text)?.[1] ?? "";
    },
    response: () => known === undefined ? rememberText(new Response(text, { status, headers }), text) : response,
  };
}

const reasons: ReadonlyMap<number, string> = new Map([
  [409, "Conflict"],
  [410, "Expired"],
  [429, "TooManyRequests"],
  [500, "InternalError"],
  [503, "ServiceUnavailable"],
  [504, "Timeout"],
]);

/** The Status object of an injected error. */
export function errorStatus(code: number, retryAfterSeconds?: number): object {
  const details = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } };
  const message = `the simulation responds with ${code}`;
  return {
    ...{ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message },
    reason: reasons.get(code) ?? "Unknown",
    ...details,
    code,
  };
}

/** The response of an injected error. */
export function errorResponse(code: number, retryAfterSeconds?: number): Response {
  const headers = new Headers({ "content-type": "application/json" });
  if (retryAfterSeconds !== undefined) headers.set("retry-after", String(retryAfterSeconds));
  return new Response(JSON.stringify(errorStatus(code, retryAfterSeconds)), { status: code, headers });
}

/** The error that a transport throws when a connection breaks. */
export function connectionError(state: string): Error {
  return Object.assign(new TypeError(`fetch failed: ${state}`), { code: "ECONNRESET" });
}

/** What a request is, in the words of traces and counters. */
import type { RequestInfo } from "../manager/mod.ts";
import type { Answer } from "./_answers.ts";

/** Their writes are no points for faults: there are many of them, and none leads to another. */
const uncounted: ReadonlySet<string> = new Set(["events", "events.events.k8s.io", "leases.coordination.k8s.io"]);

/** True for a write that is a point for faults. */
export function isCounted(info: RequestInfo | undefined): boolean {
  return info !== undefined && !uncounted.has(nameOf(info));
}

/** True for a write of a Lease. */
export function isRenewal(info: RequestInfo | undefined): boolean {
  return nameOf(info) === "leases.coordination.k8s.io";
}

/** True for what a cache asks when it wants all of a collection; a list without a version is a reconciler's own. */
export function isFullState({ url }: Request, info: RequestInfo | undefined): boolean {
  const { searchParams } = new URL(url);
  if (info?.verb === "list") return searchParams.has("resourceVersion") && !searchParams.has("continue");
  return searchParams.get("sendInitialEvents") === "true";
}

/** `deployments.apps`, without the subresource. */
export function nameOf(info: RequestInfo | undefined): string {
  if (info === undefined) return "";
  const [plural = ""] = info.resource.split("/");
  return info.group === "" ? plural : `${plural}.${info.group}`;
}

/** `PATCH deployments.apps default/web`. */
export function requestText({ request, info }: { request: Request; info: RequestInfo | undefined }): string {
  if (info === undefined) return `${request.method} ${new URL(request.url).pathname}`;
  const [, subresource] = info.resource.split("/");
  const key = [info.namespace, info.name].filter((part) => part !== undefined).join("/");
  const verb = request.method === "GET" ? info.verb.toUpperCase() : request.method;
  const whole = subresource === undefined ? nameOf(info) : `${nameOf(info)}/${subresource}`;
  return key === "" ? `${verb} ${whole}` : `${verb} ${whole} ${key}`;
}

/** Where a write is going to write. @param body of the request */
export function aimedPath({ url, method }: Request, body: string): string {
  const { pathname } = new URL(url);
  if (method !== "POST") return pathname.replace(/\/status$/, "");
  const { metadata: { name = "" } = {} }: { metadata?: { name?: string } } = JSON.parse(body);
  return `${pathname}/${name}`;
}

/** Where what was written is; undefined when nothing is there now. */
export function writtenPath(request: Request, answer: Answer): string | undefined {
  if (answer.status >= 300 || request.method === "DELETE") return undefined;
  const { pathname } = new URL(request.url);
  return request.method === "POST" ? `${pathname}/${answer.name}` : pathname.replace(/\/status$/, "");
}

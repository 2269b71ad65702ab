/**
 * Transport: the one seam between this library and an API server. A real cluster, the embedded API server in memory, and
 * a wrapper that injects faults all have this type.
 *
 * A request may carry a check that runs each time before it is sent. Code above a transport that may send a request more
 * than once uses it: a retry after a delay, or a request that waited for a rate limiter, is checked when it is sent.
 */
import type { Wire } from "../runtime/mod.ts";

/**
 * Sends one request to an API server. It rejects when there is no response; a response with an error status resolves.
 * `clusterTransport()` makes one for a cluster. Only the path and the query of the URL count.
 *
 * @example
 * ```ts
 * import { Client, type Transport } from "@pintle/controller/client";
 *
 * const logged: string[] = [];
 * const fake: Transport = (request) => {
 *   logged.push(`${request.method} ${new URL(request.url).pathname}`);
 *   return Promise.resolve(new Response("ok"));
 * };
 * await new Client(fake).raw("/readyz");
 * console.assert(logged.join() === "GET /readyz");
 * ```
 */
export type Transport = (request: Request) => Promise<Response>;

const checks = new WeakMap<Request, () => void>();

/** Adds a check that runs each time before `request` is sent. If it throws, the transport rejects with that error. */
export function guardSends(request: Request, check: () => void): Request {
  checks.set(request, check);
  return request;
}

/** For transports: the check of a request; undefined if it has none. */
export function sendGuardOf(request: Request): (() => void) | undefined {
  return checks.get(request);
}

const upgrades = new WeakMap<Request, Readonly<Record<string, string>>>();
const wires = new WeakMap<Response, Wire>();

/** Makes `request` ask for another protocol, with headers that a Request cannot have. Wrappers of transports pass it on. */
export function askForUpgrade(request: Request, headers: Readonly<Record<string, string>>): Request {
  upgrades.set(request, headers);
  return request;
}

/** For transports: the headers of a request that asks for another protocol. */
export function upgradeOf(request: Request): Readonly<Record<string, string>> | undefined {
  return upgrades.get(request);
}

/** For transports: a server that switched protocols, as a response with status 200, because a Response cannot have 101. */
export function switchedResponse(headers: Headers, wire: Wire): Response {
  const response = new Response(null, { headers });
  wires.set(response, wire);
  return response;
}

/** The connection of a response whose server switched protocols. */
export function wireOf(response: Response): Wire | undefined {
  return wires.get(response);
}

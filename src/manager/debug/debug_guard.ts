/**
 * debugGuard(): who may read the debug endpoint. The files of its page are for everyone who can connect; what the page asks for
 * shows which objects exist, what the controllers do with them, and profiles of the process, so each such request needs a
 * token, also on loopback: every process of a machine can connect there.
 *
 * Guarantees (security 29): GET only; no request of another web page, and none for another host (DNS rebinding); the
 * token is compared in a time that does not depend on it; without it, no work is done.
 */
import { pageResponse } from "../../page/mod.ts";
import type { ServeHandler } from "../../runtime/mod.ts";

/** Options of {@link debugGuard}. */
export interface DebugGuardOptions {
  readonly token: string;
  /** True if the server listens on loopback: then no other host may be asked for. */
  readonly isLoopback: boolean;
}

/** The names of a server on loopback. */
const loopbackHosts: ReadonlySet<string> = new Set(["localhost", "[::1]"]);
/** Longer than a token may be in its file, and the word before it. */
const maxAuthorizationChars = 4096 + 64;

/** Puts the checks in front of `handler`. */
export function debugGuard(handler: ServeHandler, options: DebugGuardOptions): ServeHandler {
  const isToken = tokenCheck(options.token);
  return async (request, connection) => {
    if (request.method !== "GET") return refuse(405, "Only GET is served", { allow: "GET" });
    if (isOfOtherPage(request.headers)) return refuse(403, "Requests from other web pages are forbidden");
    const host = (request.headers.get("host") ?? "").replace(/:\d+$/, "").toLowerCase();
    if (options.isLoopback && !loopbackHosts.has(host) && !/^127(\.\d{1,3}){3}$/.test(host)) {
      return refuse(403, "This server serves loopback addresses only");
    }
    const page = await pageResponse(new URL(request.url).pathname);
    if (page !== undefined) return page;
    const authorization = request.headers.get("authorization") ?? "";
    const isShort = authorization.length <= maxAuthorizationChars;
    const [, given = ""] = (isShort ? /^Bearer +(\S+)$/i.exec(authorization) : undefined) ?? [];
    if (!await isToken(given)) return refuse(401, "The token is missing or wrong", { "www-authenticate": "Bearer" });
    return await handler(request, connection);
  };
}

/**
 * True for a request that another web page makes. Requests of the own page have no Origin, because they only read; a link to the
 * page may be anywhere.
 */
function isOfOtherPage(headers: Headers): boolean {
  if (headers.has("origin")) return true;
  const site = headers.get("sec-fetch-site") ?? "none";
  const isLink = headers.get("sec-fetch-mode") === "navigate" && headers.get("sec-fetch-dest") === "document";
  return site !== "none" && site !== "same-origin" && !isLink;
}

/** Compares hashes of equal length completely, so that the time says nothing about the token. */
function tokenCheck(token: string): (given: string) => Promise<boolean> {
  const expected = digest(token);
  return async (given) => {
    const [wanted, found] = await Promise.all([expected, digest(given)]);
    let difference = 0;
    for (let index = 0; index < wanted.length; index++) difference |= (wanted[index] ?? 0) ^ (found[index] ?? 0);
    return difference === 0;
  };
}

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

/** An answer that browsers do not interpret and caches do not store. */
export function jsonResponse(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  const bytes = new TextEncoder().encode(`${JSON.stringify(value)}\n`);
  return new Response(bytes, {
    status,
    headers: {
      "content-type": "application/json",
      "content-length": String(bytes.length),
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
      ...headers,
    },
  });
}

/** A refusal with a sentence. */
export function refuse(status: number, error: string, headers: Readonly<Record<string, string>> = {}): Response {
  return jsonResponse(status, { error }, headers);
}

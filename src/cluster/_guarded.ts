/**
 * guarded(): what a browser on the same machine must not reach. A page that somebody visits can send requests to loopback
 * addresses, and names can be made to point there (DNS rebinding): both are told by their headers.
 */
import type { ServeHandler } from "../runtime/mod.ts";

const hosts: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]", "kubernetes.default.svc"]);

/** Refuses what comes from a web page or was meant for another host. */
export function guarded(handler: ServeHandler): ServeHandler {
  return (request, connection) => {
    if (request.headers.has("origin")) return refusal("Requests of web pages are refused");
    const host = (request.headers.get("host") ?? "").replace(/:\d+$/, "").toLowerCase();
    if (!hosts.has(host)) return refusal("This server answers for loopback addresses only");
    return handler(request, connection);
  };
}

function refusal(message: string): Response {
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason: "Forbidden",
    code: 403,
  };
  return Response.json(status, { status: 403 });
}

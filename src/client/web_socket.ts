/**
 * The client side of a WebSocket's beginning, for the streams of Pods: the headers of the handshake, and the check of the
 * answer. The connection itself is WebSocketConnection of the runtime.
 *
 * Guarantees: only a server that proves the handshake is talked to, and only in a protocol that was asked for.
 */
import type { Clock } from "../async/mod.ts";
import { toBase64, webSocketAccept, WebSocketConnection, webSocketError, type Wire } from "../runtime/mod.ts";
import { UnreachableError } from "./unreachable_error.ts";

/** The headers of a handshake for one of `protocols`, and the answer that proves it. */
export async function handshakeFor(
  protocols: readonly string[],
): Promise<{ readonly headers: Readonly<Record<string, string>>; readonly accept: string }> {
  const key = toBase64(crypto.getRandomValues(new Uint8Array(16)));
  return {
    headers: {
      "connection": "Upgrade",
      "upgrade": "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": key,
      "sec-websocket-protocol": protocols.join(", "),
    },
    accept: await webSocketAccept(key),
  };
}

/** The protocol that the server chose. @throws Error when the answer does not prove the handshake */
export function chosenProtocol(headers: Headers, accept: string, protocols: readonly string[]): string {
  const problem = (headers.get("upgrade") ?? "").toLowerCase() !== "websocket"
    ? "it switched to another protocol"
    : headers.get("sec-websocket-accept") !== accept
    ? "its answer does not belong to this request"
    : headers.has("sec-websocket-extensions")
    ? "it uses an extension that was not asked for"
    : undefined;
  if (problem !== undefined) throw webSocketError("server", problem);
  const protocol = headers.get("sec-websocket-protocol") ?? "";
  if (!protocols.includes(protocol)) throw webSocketError("server", `it speaks none of ${protocols.join(", ")}`);
  return protocol;
}

/** The connection over a wire whose server has proven the handshake. */
export function clientWebSocket(
  wire: Wire,
  options: { readonly action: string; readonly protocol: string; readonly clock: Clock },
): WebSocketConnection {
  const { action } = options;
  return new WebSocketConnection(wire, {
    ...options,
    side: "client",
    lost: (state, cause) =>
      new UnreachableError(
        state === "reset"
          ? { action, reason: { kind: "unreachable", detail: "reset" }, cause }
          : { action, reason: { kind: "timeout", detail: "stalled" } },
      ),
  });
}

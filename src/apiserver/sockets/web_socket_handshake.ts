/**
 * The server side of a WebSocket's beginning, with the rules of golang.org/x/net/websocket, which kube-apiserver uses: method,
 * version, key, and a subprotocol that both sides know. The user is authorized before, as for any other request.
 *
 * Guarantees: a handshake that is refused opens nothing; a connection that breaks ends its work.
 */
import type { Clock } from "../../async/mod.ts";
import { switchProtocols, webSocketAccept, WebSocketConnection } from "../../runtime/mod.ts";

/** What a WebSocket of the server does. */
export interface WebSocketTask {
  readonly clock: Clock;
  /** The subprotocols that it knows; "" for a client that asks for none. */
  readonly protocols: readonly string[];
  /** True for a watch, which kube-apiserver refuses without the field `origin`. */
  readonly needsOrigin?: boolean;
  /** Infinitive for messages: `watch`. */
  readonly action: string;
  /** Speaks. The connection is closed after it. */
  run(socket: WebSocketConnection): Promise<void>;
  /** Called instead of `run` when there will be no connection. */
  cancel(): void;
}

/** True for a request that asks for a WebSocket. */
export function isWebSocketRequest({ headers }: Request): boolean {
  return headers.get("upgrade")?.toLowerCase() === "websocket" &&
    (headers.get("connection") ?? "").toLowerCase().includes("upgrade");
}

/** The subprotocols that a request asks for, in its order. */
export function requestedProtocols({ headers }: Request): readonly string[] {
  const text = headers.get("sec-websocket-protocol")?.trim() ?? "";
  return text === "" ? [] : text.split(",").map((name) => name.trim());
}

/** The 101 for a handshake, or the response that refuses it. */
export async function acceptWebSocket(request: Request, task: WebSocketTask): Promise<Response> {
  const { headers } = request;
  const key = headers.get("sec-websocket-key") ?? "";
  const protocol = chosenProtocol(requestedProtocols(request), task);
  const refusal = request.method !== "GET"
    ? plain(405, "bad method")
    : key === ""
    ? plain(400, "mismatch challenge/response")
    : headers.get("sec-websocket-version") !== "13"
    ? plain(400, "missing or bad WebSocket Version", { "sec-websocket-version": "13" })
    : task.needsOrigin === true && !URL.canParse(headers.get("origin") ?? "")
    ? plain(403, "null origin")
    : protocol === undefined
    ? plain(403, `requested protocol(s) are not supported: supports [${task.protocols.join(" ")}]`)
    : undefined;
  if (refusal !== undefined) {
    task.cancel();
    return refusal;
  }
  return await switching(key, protocol ?? "", task);
}

async function switching(key: string, protocol: string, task: WebSocketTask): Promise<Response> {
  const { clock, action } = task;
  const accept = await webSocketAccept(key);
  return switchProtocols({
    headers: {
      upgrade: "websocket",
      "sec-websocket-accept": accept,
      ...(protocol === "" ? {} : { "sec-websocket-protocol": protocol }),
    },
    async run(wire) {
      const lost = () => new DOMException("The client closed the connection", "AbortError");
      using socket = new WebSocketConnection(wire, { side: "server", action, protocol, clock, maxMessageBytes, lost });
      await task.run(socket);
    },
    cancel: () => task.cancel(),
  });
}

/** The most bytes of a message of a client: kubectl sends at most 32 KiB at once. */
const maxMessageBytes = 1024 * 1024;

/** The first one that both know; undefined if there is none. */
function chosenProtocol(requested: readonly string[], { protocols, needsOrigin }: WebSocketTask): string | undefined {
  // The handler of a watch confirms a single protocol, whatever it is.
  if (needsOrigin === true) return requested.length > 1 ? undefined : requested[0] ?? "";
  if (requested.length === 0) return protocols.includes("") ? "" : undefined;
  return requested.find((name) => name !== "" && protocols.includes(name));
}

function plain(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(text, { status, headers: { "content-type": "text/plain", ...headers } });
}

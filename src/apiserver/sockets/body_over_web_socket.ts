/**
 * A streamed response over a WebSocket: the events of a watch, one message each, and the text of a log.
 *
 * Guarantees: a client that reads slowly slows the stream; the stream ends when the client leaves, and the connection when the
 * stream ends. What the client sends is dropped.
 */
import type { Clock } from "../../async/mod.ts";
import { toBase64, type WebSocketConnection } from "../../runtime/mod.ts";
import { acceptWebSocket } from "./web_socket_handshake.ts";

/** The 101 whose connection carries the events of the response of a watch. A response that refuses stays as it is. */
export async function watchOverWebSocket(request: Request, response: Response, clock: Clock): Promise<Response> {
  const { body } = response;
  if (response.status !== 200 || body === null) return response;
  const isText = !(response.headers.get("content-type") ?? "").includes("protobuf");
  const messages = isText ? linesIn : framesIn;
  return await acceptWebSocket(request, {
    clock,
    protocols: [""],
    needsOrigin: true,
    action: "watch",
    run: (socket) =>
      sendAll(socket, body, async (part) => {
        for (const message of messages(part)) await socket.send(message, isText ? "text" : "binary");
      }),
    cancel: () => void body.cancel().catch(() => {}),
  });
}

const base64Protocol = "base64.binary.k8s.io";

/** The 101 whose connection carries the bytes of a response, such as a log, in the order of its parts. */
export async function bytesOverWebSocket(request: Request, response: Response, clock: Clock): Promise<Response> {
  const { body } = response;
  if (response.status !== 200 || body === null) return response;
  return await acceptWebSocket(request, {
    clock,
    protocols: ["", "binary.k8s.io", base64Protocol],
    action: "stream a response",
    run: async (socket) => {
      const isBase64 = socket.protocol === base64Protocol;
      const send = (part: Uint8Array) =>
        isBase64 ? socket.send(new TextEncoder().encode(toBase64(part)), "text") : socket.send(part);
      // An empty message says that the connection is open.
      await sendAll(socket, body, send, new Uint8Array(0));
    },
    cancel: () => void body.cancel().catch(() => {}),
  });
}

async function sendAll(
  socket: WebSocketConnection,
  body: ReadableStream<Uint8Array>,
  send: (part: Uint8Array) => Promise<void>,
  first?: Uint8Array,
): Promise<void> {
  const reader = body.getReader();
  // A client that leaves ends the stream, also one that has no events.
  const left = dropAll(socket).then(() => reader.cancel());
  left.catch(() => {});
  try {
    if (first !== undefined) await send(first);
    for (let part = await reader.read(); !part.done; part = await reader.read()) await send(part.value);
  } catch (error) {
    await reader.cancel().catch(() => {});
    if (!isClientGone(error)) throw error;
  }
}

/** Resolves when the client has left. */
async function dropAll(socket: WebSocketConnection): Promise<void> {
  try {
    while (await socket.receive() !== undefined);
  } catch {
    // The connection broke, or the client broke its rules: both are its end.
  }
}

/** True for the error of a connection whose client has left. */
export function isClientGone(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** The lines in a part that ends with a line. */
function linesIn(part: Uint8Array): readonly Uint8Array[] {
  const lines: Uint8Array[] = [];
  let from = 0;
  for (let at = part.indexOf(10); at >= 0; at = part.indexOf(10, from)) {
    lines.push(part.subarray(from, at + 1));
    from = at + 1;
  }
  return lines;
}

/** The protobuf messages in a part, without the lengths before them. */
function framesIn(part: Uint8Array): readonly Uint8Array[] {
  const frames: Uint8Array[] = [];
  const view = new DataView(part.buffer, part.byteOffset, part.byteLength);
  for (let at = 0; at + 4 <= part.length;) {
    const end = at + 4 + view.getUint32(at);
    frames.push(part.subarray(at + 4, end));
    at = end;
  }
  return frames;
}

/**
 * ChannelServer: what kube-apiserver and kubelet do for exec, attach and port-forward, over raw TLS sockets, so that it is
 * the same on Deno, Bun and Node and can also break every rule. Frames are written here by hand: the client's codec is
 * what is tested.
 */
import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import { createServer, type TLSSocket } from "node:tls";

/** A request to switch protocols. */
export interface SwitchRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  /** The subprotocols in the order of the client. */
  readonly protocols: readonly string[];
}

/** One connection that was switched. */
export interface ServerSession {
  /** Sends bytes as they are. */
  raw(bytes: Uint8Array): void;
  /** Sends a frame. */
  frame(opcode: number, payload: Uint8Array | string, options?: { readonly isFinal?: boolean }): void;
  /** Sends a message on a channel. */
  send(channel: number, text: Uint8Array | string): void;
  /** The next message of the client, pings and pongs left out; undefined at the end. */
  receive(): Promise<{ readonly opcode: number; readonly payload: Uint8Array } | undefined>;
  /** Ends the connection without a word. */
  destroy(): void;
}

/** Answers: a session, or a response that refuses. */
export type SwitchHandler = (request: SwitchRequest) => {
  readonly status?: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly protocol?: string;
  readonly run?: (session: ServerSession) => Promise<void> | void;
};

/** A running server. */
export interface ChannelServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: SwitchRequest[];
}

const encoder = new TextEncoder();

/** Starts a server on a free port. */
export async function startChannelServer(
  tls: { readonly certificate: string; readonly key: string; readonly clientCa?: string },
  handle: SwitchHandler,
): Promise<ChannelServer> {
  const sockets = new Set<Socket>();
  const requests: SwitchRequest[] = [];
  const { certificate: cert, key, clientCa } = tls;
  const client = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true };
  const server = createServer({ cert, key, ...client }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    serve(socket, handle, requests);
  });
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Cannot tell the port");
  return {
    url: `https://127.0.0.1:${address.port}`,
    requests,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function serve(socket: TLSSocket, handle: SwitchHandler, requests: SwitchRequest[]): void {
  let received: Uint8Array = new Uint8Array(0);
  const onHead = (chunk: Uint8Array) => {
    received = concat(received, chunk);
    const text = new TextDecoder("latin1").decode(received);
    const end = text.indexOf("\r\n\r\n");
    if (end < 0) return;
    socket.off("data", onHead);
    const [first = "", ...lines] = text.slice(0, end).split("\r\n");
    const headers = new Headers();
    for (const line of lines) {
      headers.append(line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim());
    }
    const [method = "", target = ""] = first.split(" ");
    const protocols = (headers.get("sec-websocket-protocol") ?? "").split(",").map((one) => one.trim());
    const request = { method, url: new URL(target, "https://server.invalid"), headers, protocols };
    requests.push(request);
    const answer = handle(request);
    const { status = 101, body = "", protocol = protocols[0] ?? "" } = answer;
    if (status !== 101) {
      const length = encoder.encode(body).length;
      socket.end(`HTTP/1.1 ${status} X\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`);
      return;
    }
    const accept = createHash("sha1").update(`${headers.get("sec-websocket-key")}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest("base64");
    const fields = { "sec-websocket-accept": accept, "sec-websocket-protocol": protocol, ...answer.headers };
    const head = Object.entries({ connection: "Upgrade", upgrade: "websocket", ...fields });
    socket.write(`HTTP/1.1 101 Switching\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`);
    const session = sessionOf(socket, received.subarray(end + 4));
    Promise.resolve(answer.run?.(session)).catch(() => socket.destroy());
  };
  socket.on("data", onHead);
}

function sessionOf(socket: TLSSocket, first: Uint8Array): ServerSession {
  let received = first;
  let hasEnded = false;
  let wake = () => {};
  socket.on("data", (chunk: Uint8Array) => {
    received = concat(received, chunk);
    wake();
  });
  socket.on("close", () => {
    hasEnded = true;
    wake();
  });
  const frame: ServerSession["frame"] = (opcode, payload, { isFinal = true } = {}) => {
    const bytes = typeof payload === "string" ? encoder.encode(payload) : payload;
    const { length } = bytes;
    const head = length < 126 ? [length] : length < 65_536 ? [126, length >> 8, length & 255] : [
      127,
      ...[56, 48, 40, 32].map(() => 0),
      ...[24, 16, 8, 0].map((shift) => (length >>> shift) & 255),
    ];
    socket.write(concat(new Uint8Array([(isFinal ? 0x80 : 0) | opcode, ...head]), bytes));
  };
  return {
    raw: (bytes) => void socket.write(bytes),
    frame,
    send(channel, text) {
      const bytes = typeof text === "string" ? encoder.encode(text) : text;
      frame(2, concat(new Uint8Array([channel]), bytes));
    },
    async receive() {
      while (true) {
        const parsed = clientFrame(received);
        if (parsed !== undefined) {
          received = received.subarray(parsed.end);
          if (parsed.opcode === 9 || parsed.opcode === 10) continue;
          return parsed.opcode === 8 ? undefined : parsed;
        }
        if (hasEnded) return undefined;
        await new Promise<void>((resolve) => wake = resolve);
      }
    },
    destroy: () => void socket.destroy(),
  };
}

/** The first frame; undefined when it is not complete. @throws Error for a frame that is not masked */
function clientFrame(bytes: Uint8Array): { opcode: number; payload: Uint8Array; end: number } | undefined {
  if (bytes.length < 2) return undefined;
  const [first = 0, second = 0] = bytes;
  if ((second & 0x80) === 0) throw new Error("a client must mask its frames");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const short = second & 127;
  const extended = short === 126 ? 2 : short === 127 ? 8 : 0;
  if (bytes.length < 6 + extended) return undefined;
  const length = extended === 0 ? short : extended === 2 ? view.getUint16(2) : Number(view.getBigUint64(2));
  const start = 6 + extended;
  if (bytes.length < start + length) return undefined;
  const mask = bytes.subarray(start - 4, start);
  const payload = bytes.slice(start, start + length).map((byte, index) => byte ^ (mask[index & 3] ?? 0));
  return { opcode: first & 15, payload, end: start + length };
}

function concat(left: Uint8Array, right: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(left.length + right.length);
  bytes.set(left);
  bytes.set(right, left.length);
  return bytes;
}

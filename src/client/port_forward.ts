/**
 * portForward(): a port of this machine whose connections end in a Pod. Each connection has a WebSocket of its own with the
 * protocol v4.channel.k8s.io, which every kubelet from 1.30 to 1.36 speaks; the SPDY tunnel of kubectl needs 1.31.
 *
 * Guarantees: bytes come in order, and a slow side slows the other; a connection that fails affects no other one, and
 * `onError` says why. A client that closes its half still gets the rest of the answer, but the program in the Pod does not
 * see that half close, because the protocol cannot say it.
 */
import { builtin } from "../api/mod.ts";
import { onAbort } from "../async/mod.ts";
import { listenTcp, type Wire } from "../runtime/mod.ts";
import { objectPath, objectText } from "./encoder.ts";
import { connectWebSocket, type StreamContext } from "./pod_streams.ts";

/** Options of `Client.portForward`. */
export interface PortForwardOptions {
  /** The port in the Pod. */
  readonly port: number;
  /** The port on this machine; 0 lets the system choose. @default 0 */
  readonly localPort?: number;
  /** The address on this machine. @default "127.0.0.1" */
  readonly hostname?: string;
  /** Called when one connection could not be forwarded, e.g. because nothing listens in the Pod. @default nothing */
  readonly onError?: (error: unknown) => void;
  /** Ends all connections. @default no signal */
  readonly signal?: AbortSignal;
}

/** A forwarded port. Dispose it to close it. */
export interface PortForward extends AsyncDisposable {
  /** The address on this machine. */
  readonly hostname: string;
  /** The port on this machine. */
  readonly port: number;
}

const protocols = ["v4.channel.k8s.io"] as const;
const dataChannel = 0, errorChannel = 1;
/** Both channels begin with the number of the port, in two bytes. */
const portBytes = 2;
const maxSentBytes = 32 * 1024;

/** Listens, and forwards each connection. @throws the error of the system when the local port cannot be used */
export async function forwardPort(
  context: StreamContext,
  podKey: string,
  options: PortForwardOptions,
): Promise<PortForward> {
  const { port, localPort = 0, hostname = "127.0.0.1", onError = () => {}, signal } = options;
  const action = `forward port ${port} of ${objectText(builtin.Pod, podKey)}`;
  if (!(Number.isInteger(port) && port >= 1 && port <= 65_535)) {
    throw new TypeError(`Cannot ${action}: it is not from 1 to 65535`);
  }
  const path = `${objectPath(builtin.Pod, podKey, "portforward")}?ports=${port}`;
  signal?.throwIfAborted();
  const stop = new AbortController();
  const following = signal === undefined ? undefined : onAbort(signal, () => void close());
  const running = new Set<Promise<void>>();
  const listener = await listenTcp({ hostname, port: localPort }, (local) => {
    const forwarding = forward(context, { action, path, local, signal: stop.signal }).catch((error: unknown) => {
      if (!stop.signal.aborted) onError(error);
    }).finally(() => running.delete(forwarding));
    running.add(forwarding);
  });
  async function close(): Promise<void> {
    following?.[Symbol.dispose]();
    stop.abort();
    await listener[Symbol.asyncDispose]();
    await Promise.all(running);
  }
  return { hostname, port: listener.port, [Symbol.asyncDispose]: close };
}

/** Forwards one connection until either side ends it. @throws what the server says, or the error of the connection */
async function forward(
  context: StreamContext,
  connection: { readonly action: string; readonly path: string; readonly local: Wire; readonly signal: AbortSignal },
): Promise<void> {
  const { action, path, local, signal } = connection;
  local.pause();
  let hasLocalEnded = false;
  local.onEnd = () => hasLocalEnded = true;
  try {
    using socket = await connectWebSocket(context, { action, path, protocols, signal });
    using _stopping = onAbort(signal, () => socket.close(signal.reason));
    if (hasLocalEnded) return;
    local.onEnd = () => {
      hasLocalEnded = true;
      socket.close();
    };
    let sending: Promise<void> = Promise.resolve();
    local.onBytes = (bytes) => {
      // The next bytes are read when these have left.
      local.pause();
      sending = sending.then(() => sendAll(socket, bytes)).then(() => local.resume(), () => local.end());
    };
    local.resume();
    await receiveAll(socket, local, action).catch((error: unknown) => {
      if (!hasLocalEnded) throw error;
    });
  } finally {
    local.end();
  }
}

async function sendAll(socket: { send(message: Uint8Array): Promise<void> }, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; at += maxSentBytes) {
    const part = bytes.subarray(at, at + maxSentBytes);
    const message = new Uint8Array(1 + part.length);
    message[0] = dataChannel;
    message.set(part, 1);
    await socket.send(message);
  }
}

async function receiveAll(
  socket: { receive(): Promise<Uint8Array | undefined> },
  local: Wire,
  action: string,
): Promise<void> {
  const skipped = [portBytes, portBytes];
  for (let message = await socket.receive(); message !== undefined; message = await socket.receive()) {
    const [channel = 255] = message;
    const left = skipped[channel];
    if (left === undefined) throw new Error(`Cannot ${action}: the server sent something on channel ${channel}`);
    const bytes = message.subarray(1 + left);
    skipped[channel] = Math.max(0, left - (message.length - 1));
    if (bytes.length === 0) continue;
    if (channel === errorChannel) {
      throw new Error(`Cannot ${action}: ${new TextDecoder().decode(bytes).slice(0, 1024)}`);
    }
    await local.write(bytes.slice());
  }
}

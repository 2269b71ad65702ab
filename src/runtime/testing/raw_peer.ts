/** A client that writes raw bytes, for the tests of `serve.ts`: no client library sends what an attacker sends. */
import * as net from "node:net";

/** One raw connection. */
export interface RawPeer extends Disposable {
  send(text: string): void;
  /** All bytes received so far, as Latin-1. */
  readonly received: string;
  readonly isClosed: boolean;
}

/** Connects to a server on this machine. */
export async function rawPeer(port: number): Promise<RawPeer> {
  const socket = net.connect(port, "127.0.0.1");
  let received = "";
  let isClosed = false;
  socket.on("data", (chunk: Uint8Array) => received += new TextDecoder("latin1").decode(chunk));
  socket.on("close", () => isClosed = true);
  socket.on("error", () => {});
  await new Promise((resolve) => socket.once("connect", resolve));
  return {
    send: (text) => void socket.write(text, "latin1"),
    get received() {
      return received;
    },
    get isClosed() {
      return isClosed;
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

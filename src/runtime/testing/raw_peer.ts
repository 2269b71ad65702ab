/** A client that writes raw bytes, for the tests of `serve.ts`: no client library sends what an attacker sends. */
import * as net from "node:net";
import * as tls from "node:tls";

/** One raw connection. */
export interface RawPeer extends Disposable {
  send(text: string): void;
  /** Sends, and closes its half of the connection. */
  end(text: string): void;
  /** Ends the connection with a reset. */
  reset(): void;
  /** Stops reading, or continues. */
  setReading(isReading: boolean): void;
  /** All bytes received so far, as Latin-1. */
  readonly received: string;
  readonly isClosed: boolean;
}

/** Connects to a server on this machine. With TLS it trusts every certificate. */
export async function rawPeer(port: number, { isTls = false } = {}): Promise<RawPeer> {
  const socket = isTls
    ? tls.connect({ port, host: "127.0.0.1", rejectUnauthorized: false })
    : net.connect(port, "127.0.0.1");
  let received = "";
  let isClosed = false;
  socket.on("data", (chunk: Uint8Array) => received += new TextDecoder("latin1").decode(chunk));
  socket.on("close", () => isClosed = true);
  socket.on("error", () => {});
  await new Promise((resolve) => socket.once(isTls ? "secureConnect" : "connect", resolve));
  return {
    send: (text) => void socket.write(text, "latin1"),
    end: (text) => void socket.end(text, "latin1"),
    reset: () => void socket.resetAndDestroy(),
    setReading: (isReading) => void (isReading ? socket.resume() : socket.pause()),
    get received() {
      return received;
    },
    get isClosed() {
      return isClosed;
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

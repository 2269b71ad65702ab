/**
 * connectTcp(): one TCP connection to a program, half of which each side can end: what was sent before the end of one direction
 * still gets its answer in the other.
 *
 * Guarantees: a reader that is slow pauses the socket; a read after a break throws its error; dispose ends both directions; a
 * port of this machine on which nobody listens refuses, also when the system chose that port for our end.
 */
import { connect, type Socket } from "node:net";
import { onAbort } from "../process/mod.ts";

/** Where to connect. */
export interface TcpAddress {
  /** An address, not a name. */
  readonly hostname: string;
  readonly port: number;
}

/** Connects. @throws the error of the system, with its `code`: ECONNREFUSED; the reason of the signal */
export function connectTcp(address: TcpAddress, signal: AbortSignal): Promise<TcpConnection> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = connect({ host: address.hostname, port: address.port, allowHalfOpen: true });
    const listening = onAbort(signal, () => {
      socket.destroy();
      reject(signal.reason);
    });
    const onError = (error: Error) => {
      listening[Symbol.dispose]();
      reject(error);
    };
    socket.once("error", onError);
    socket.once("connect", () => {
      listening[Symbol.dispose]();
      socket.off("error", onError);
      if (isConnectedToItself(socket)) {
        socket.destroy();
        return reject(refused(address));
      }
      socket.setNoDelay(true);
      resolve(new TcpConnection(socket));
    });
  });
}

/**
 * True if both ends are this socket: TCP lets two ends open a connection at once, so a port that is free now answers a client
 * that happens to get the same port. Who waits for a server would take this for its start, and hold its port.
 */
export function isConnectedToItself({ localAddress, localPort, remoteAddress, remotePort }: SocketEnds): boolean {
  return localPort !== undefined && localPort === remotePort && localAddress === remoteAddress;
}

type SocketEnds = Pick<Socket, "localAddress" | "localPort" | "remoteAddress" | "remotePort">;

function refused({ hostname, port }: TcpAddress): Error {
  return Object.assign(new Error(`connect ECONNREFUSED ${hostname}:${port}`), { code: "ECONNREFUSED" });
}

/** An open connection. */
export class TcpConnection implements Disposable {
  readonly #socket: Socket;
  readonly #chunks: Uint8Array[] = [];
  #hasEnded = false;
  #error: Error | undefined;
  #wake: () => void = () => {};

  /** @param socket connected, with `allowHalfOpen` */
  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Uint8Array) => {
      this.#chunks.push(new Uint8Array(chunk));
      socket.pause();
      this.#wake();
    });
    socket.on("error", (error: Error) => this.#error ??= error);
    for (const event of ["end", "close"]) {
      socket.on(event, () => {
        this.#hasEnded = true;
        this.#wake();
      });
    }
  }

  /** The next bytes; undefined when the peer sends no more. One caller at a time. @throws the error that broke the connection */
  async read(): Promise<Uint8Array | undefined> {
    while (true) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) return chunk;
      if (this.#error !== undefined) throw this.#error;
      if (this.#hasEnded) return undefined;
      this.#socket.resume();
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }

  /** Resolves when the bytes have left, or the connection has ended. */
  write(bytes: Uint8Array): Promise<void> {
    const socket = this.#socket;
    return new Promise((resolve) => {
      if (!socket.writable) return resolve();
      const settle = () => {
        socket.off("close", settle);
        resolve();
      };
      socket.once("close", settle);
      socket.write(bytes, settle);
    });
  }

  /** Says that no more is sent. */
  finish(): void {
    if (this.#socket.writable) this.#socket.end();
  }

  [Symbol.dispose](): void {
    this.#hasEnded = true;
    this.#socket.destroy();
    this.#wake();
  }
}

/**
 * An HTTP server on 127.0.0.1 for one test, with or without TLS, on a port the system chooses.
 *
 * Guarantees: disposing it ends every connection and waits until the port is free, so that leak checks stay quiet.
 */
import { createServer as createPlain, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecure } from "node:https";
import type { Socket } from "node:net";

/** Options of {@link LoopbackServer}. */
export interface LoopbackOptions {
  /** Speaks TLS with this certificate. @default plain HTTP */
  readonly tls?: { readonly certificate: string; readonly key: string };
  /** Takes only clients whose certificate this authority signed. @default any client */
  readonly clientCa?: string;
  /** Answers the requests. */
  readonly answer: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;
}

/** A running server. */
export class LoopbackServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #isSecure: boolean;
  #emptied: () => void = () => {};
  /** How many connections were ever opened. */
  connections = 0;

  private constructor(server: Server, isSecure: boolean) {
    this.#server = server;
    this.#isSecure = isSecure;
    server.on("connection", (socket: Socket) => {
      this.connections++;
      this.#sockets.add(socket);
      socket.on("close", () => {
        this.#sockets.delete(socket);
        if (this.#sockets.size === 0) this.#emptied();
      });
      socket.on("error", () => {});
    });
  }

  /** Starts one. */
  static async start(options: LoopbackOptions): Promise<LoopbackServer> {
    const { tls, clientCa, answer } = options;
    const server = tls === undefined ? createPlain(answer) : createSecure({
      cert: tls.certificate,
      key: tls.key,
      ...(clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true }),
    }, answer);
    server.on("tlsClientError", () => {});
    server.on("clientError", (_error: Error, socket: Socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    const started = new LoopbackServer(server, tls !== undefined);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return started;
  }

  /** The port it listens on. */
  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("Cannot tell the port: the server is closed");
    return address.port;
  }

  /** Its URL without a slash at the end, under `host`. */
  url(host = "127.0.0.1"): string {
    return `${this.#isSecure ? "https" : "http"}://${host}:${this.port}`;
  }

  /** Resolves when no connection is open. */
  emptied(): Promise<void> {
    return new Promise((resolve) => {
      this.#emptied = resolve;
      if (this.#sockets.size === 0) resolve();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    this.#server.closeAllConnections?.();
    await closed;
  }
}

/** Reads the body of a request. */
export async function bodyOf(request: IncomingMessage): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of request) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

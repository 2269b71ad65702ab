/**
 * Listener: accepts connections for `serve.ts`, wraps them in TLS with the certificate of the moment, and knows them all.
 *
 * TLS is put on after a plain TCP socket was accepted, by a tls.Server that never listens: another certificate is another
 * such object, so rotation closes nothing. (Bun cannot change the certificate of a server that listens.)
 */
import * as net from "node:net";
import * as tls from "node:tls";
import { type ConnectionHost, HttpConnection } from "./_http_connection.ts";
import { isKeyPair } from "./key_pair.ts";
import { PortInUseError } from "./port_in_use_error.ts";
import type { CertificatePair, ConnectionInfo, ServeHandler, ServeLimits, ServeTimer, ServeTls } from "./serve.ts";

/** Options of {@link listen}, all defaults filled in. */
export interface ListenOptions {
  readonly hostname: string;
  readonly port: number;
  readonly tls: ServeTls | undefined;
  readonly handler: ServeHandler;
  readonly limits: ServeLimits;
  readonly onError: (error: unknown) => void;
  readonly timer: ServeTimer;
}

/** Starts to accept connections. @throws PortInUseError, or what the system says */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { hostname, port } = options;
  const listener = new Listener(options);
  await new Promise<void>((resolve, reject) => {
    listener.server.once("error", (error) => {
      const isInUse = "code" in error && error.code === "EADDRINUSE";
      reject(isInUse ? new PortInUseError(hostname, port, { cause: error }) : error);
    });
    listener.server.listen({ host: hostname, port }, resolve);
  });
  return listener;
}

/** Something that can be given up: a handshake or a connection. */
interface Waiting {
  destroy(): void;
}

/** All connections of one server. */
export class Listener implements ConnectionHost {
  readonly server: net.Server;
  readonly handler: ServeHandler;
  readonly limits: ServeLimits;
  readonly timer: ServeTimer;
  readonly onError: (error: unknown) => void;
  readonly waiting = new Set<Waiting>();
  bufferedBytes = 0;
  isRetiring = false;
  readonly #options: ListenOptions;
  readonly #sockets = new Set<net.Socket>();
  readonly #connections = new Set<HttpConnection>();
  /** Handshakes under way, by the peer's address and port. */
  readonly #handshakes = new Map<string, Disposable>();
  #secure: tls.Server | undefined;
  #emptied: (() => void) | undefined;

  constructor(options: ListenOptions) {
    this.#options = options;
    this.handler = options.handler;
    this.limits = options.limits;
    this.timer = options.timer;
    this.onError = options.onError;
    if (options.tls !== undefined) this.#secure = this.#secureServer(options.tls);
    this.server = net.createServer((socket) => this.#accept(socket));
  }

  get port(): number {
    const address = this.server.address();
    return typeof address === "object" && address !== null ? address.port : this.#options.port;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  replaceCertificate(pair: CertificatePair): void {
    const { tls } = this.#options;
    if (tls === undefined) throw new TypeError("Cannot replace certificate: the server speaks plain HTTP");
    this.#secure = this.#secureServer({ ...tls, ...pair });
  }

  /** Accepts nothing new and resolves when the last request in flight is answered. */
  async finish(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const connection of this.#connections) connection.retire();
    if (this.#sockets.size > 0) await new Promise<void>((resolve) => this.#emptied = resolve);
    await closed;
  }

  /** Cuts off everything. */
  async close(): Promise<void> {
    const isEmpty = this.finish();
    for (const connection of this.#connections) connection.destroy();
    for (const socket of this.#sockets) socket.destroy();
    await isEmpty;
  }

  #accept(socket: net.Socket): void {
    if (!this.#makeRoom()) return void socket.destroy();
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => this.#forget(socket));
    socket.setNoDelay(true);
    if (this.#secure === undefined) {
      this.#converse(socket, { remoteAddress: socket.remoteAddress ?? "", isTls: false });
    } else {
      this.#startHandshake(socket);
      this.#secure.emit("connection", socket);
    }
  }

  /** At the limit, the connection that keeps us waiting longest makes room; 200 slow ones do not lock out a fast one. */
  #makeRoom(): boolean {
    if (this.#sockets.size < this.limits.connections) return true;
    const [longest] = this.waiting;
    if (longest === undefined) return false;
    this.waiting.delete(longest);
    longest.destroy();
    return true;
  }

  #forget(socket: net.Socket): void {
    this.#sockets.delete(socket);
    if (this.#sockets.size === 0) this.#emptied?.();
  }

  #startHandshake(socket: net.Socket): void {
    const key = peerOf(socket);
    const waiting = { destroy: () => void socket.destroy() };
    const timer = this.timer.timer(this.limits.headerTimeoutMs, waiting.destroy);
    const end = () => {
      timer[Symbol.dispose]();
      this.waiting.delete(waiting);
      if (this.#handshakes.get(key) === handshake) this.#handshakes.delete(key);
    };
    const handshake = { [Symbol.dispose]: end };
    this.waiting.add(waiting);
    this.#handshakes.set(key, handshake);
    socket.once("close", end);
  }

  #secureServer(options: ServeTls): tls.Server {
    const { cert, key, clientCa, requireClientCertificate = true } = options;
    // Deno's TLS library takes a key of another certificate, and would then fail each handshake.
    if (!isKeyPair(cert, key)) throw new Error("Cannot use certificate: it and the private key are not a pair");
    const asks = clientCa === undefined
      ? {}
      : { ca: clientCa, requestCert: true, rejectUnauthorized: requireClientCertificate };
    const server = tls.createServer({ cert, key, minVersion: "TLSv1.2", ALPNProtocols: ["http/1.1"], ...asks });
    server.on("secureConnection", (socket: tls.TLSSocket) => {
      this.#handshakes.get(peerOf(socket))?.[Symbol.dispose]();
      const clientName = socket.authorized ? commonNameOf(socket) : undefined;
      this.#converse(socket, { remoteAddress: socket.remoteAddress ?? "", isTls: true, clientName });
    });
    server.on("tlsClientError", (_error, socket) => socket.destroy());
    return server;
  }

  #converse(socket: net.Socket, info: ConnectionInfo): void {
    const connection = new HttpConnection(socket, info, this);
    this.#connections.add(connection);
    connection.run().catch(this.onError).finally(() => this.#connections.delete(connection));
  }
}

function peerOf(socket: net.Socket): string {
  return `${socket.remoteAddress}|${socket.remotePort}`;
}

function commonNameOf(socket: tls.TLSSocket): string | undefined {
  const name: unknown = socket.getPeerCertificate().subject?.CN;
  return typeof name === "string" ? name : undefined;
}

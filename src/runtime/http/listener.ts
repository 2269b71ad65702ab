/**
 * Listener: accepts the connections of `serve.ts`, puts TLS on them with the current certificate, and limits their
 * number.
 *
 * TLS is put on a plain TCP socket after it was accepted, by a tls.Server that never listens. A new certificate is a new
 * such object, so a rotation closes no connection. (Bun cannot change the certificate of a server that listens.) The client
 * and the server agree there on HTTP/1.1 or HTTP/2 (ALPN).
 */
import * as net from "node:net";
import * as tls from "node:tls";
import { isKeyPair } from "./certificates.ts";
import { maxConnectionsOf } from "./file_limit.ts";
import { Http2Connection } from "./http2_connection.ts";
import { certificatesIn, privateKeyIn } from "./pem.ts";
import type {
  CertificatePair,
  ConnectionInfo,
  ReadsBody,
  ServeHandler,
  ServeLimits,
  ServeTls,
} from "./serve_options.ts";
import { type ConnectionHost, type HttpConnection, ServerConnection } from "./server_connection.ts";
import { type Claim, SharedBudget } from "./shared_budget.ts";
import type { Timers } from "./timers.ts";

/** A server cannot start because another process uses the port. The command line has its own exit code for it. */
export class PortInUseError extends Error {
  override readonly name = "PortInUseError";
  readonly hostname: string;
  readonly port: number;

  constructor(hostname: string, port: number, options?: ErrorOptions) {
    super(`Cannot listen on ${hostname}:${port}: the port is in use`, options);
    this.hostname = hostname;
    this.port = port;
  }
}

/** A server cannot start: the address is not of this machine, the port is reserved, or there are too many open files. */
export class ListenError extends Error {
  override readonly name = "ListenError";

  constructor(hostname: string, port: number, cause: Error) {
    super(`Cannot listen on ${hostname}:${port}: ${cause.message}`, { cause });
  }
}

/** Options of {@link listen}, with all defaults. */
export interface ListenOptions {
  readonly hostname: string;
  readonly port: number;
  readonly tls: ServeTls | undefined;
  readonly handler: ServeHandler;
  readonly readsBody: ReadsBody | undefined;
  readonly limits: ServeLimits;
  readonly onError: (error: unknown) => void;
  readonly timers: Timers;
}

/** Starts to accept connections. @throws PortInUseError, ListenError */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { hostname, port } = options;
  const listener = new Listener(options);
  await new Promise<void>((resolve, reject) => {
    listener.server.once("error", (error) => {
      const isInUse = "code" in error && error.code === "EADDRINUSE";
      reject(isInUse ? new PortInUseError(hostname, port, { cause: error }) : new ListenError(hostname, port, error));
    });
    listener.server.listen({ host: hostname, port }, resolve);
  });
  return listener;
}

/** All connections of one server. */
export class Listener implements ConnectionHost {
  readonly server: net.Server;
  readonly handler: ServeHandler;
  readonly limits: ServeLimits;
  readonly timers: Timers;
  readonly onError: (error: unknown) => void;
  readonly readsBody: ReadsBody | undefined;
  readonly bodies: SharedBudget;
  readonly switched = new Set<object>();
  isDraining = false;
  readonly #options: ListenOptions;
  readonly #sockets = new Set<net.Socket>();
  readonly slots: SharedBudget;
  readonly #connections = new Set<HttpConnection>();
  /** TLS handshakes in progress, by the address and port of the client. */
  readonly #handshakes = new Map<string, Handshake>();
  #tlsServer: tls.Server | undefined;
  #onEmpty: (() => void) | undefined;

  constructor(options: ListenOptions) {
    this.#options = options;
    this.handler = options.handler;
    this.limits = options.limits;
    this.timers = options.timers;
    this.onError = options.onError;
    this.readsBody = options.readsBody;
    this.bodies = new SharedBudget(options.limits.maxBufferedBytes);
    this.slots = new SharedBudget(maxConnectionsOf(options.limits.maxConnections));
    if (options.tls !== undefined) this.#tlsServer = this.#createTlsServer(options.tls);
    this.server = net.createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
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
    if (tls === undefined) throw new TypeError("Cannot replace certificate: the server uses plain HTTP");
    this.#tlsServer = this.#createTlsServer({ ...tls, ...pair });
  }

  /** Accepts no new connections, and resolves when the last request in flight is answered. */
  async finish(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const connection of this.#connections) connection.retire();
    if (this.#sockets.size > 0) await new Promise<void>((resolve) => this.#onEmpty = resolve);
    await closed;
  }

  /** Cuts off all connections. */
  async close(): Promise<void> {
    const isEmpty = this.finish();
    for (const connection of this.#connections) connection.destroy();
    for (const socket of this.#sockets) socket.destroy();
    await isEmpty;
  }

  /**
   * At the limit, the connection that has waited longest for its client ends, so that many slow clients do not lock out a
   * fast one. Without such a connection the new one is refused.
   */
  #accept(socket: net.Socket): void {
    const slot = this.slots.claim(socket.remoteAddress ?? "", () => socket.destroy());
    if (!slot.take(1)) return void socket.destroy();
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => this.#remove(socket, slot));
    socket.setNoDelay(true);
    if (this.#tlsServer === undefined) {
      const info = { remoteAddress: socket.remoteAddress ?? "", isTls: false };
      this.#run(new ServerConnection(socket, { info, slot }, this));
    } else {
      this.#startHandshake(socket, slot);
      this.#tlsServer.emit("connection", socket);
    }
  }

  #remove(socket: net.Socket, slot: Claim): void {
    slot[Symbol.dispose]();
    this.#sockets.delete(socket);
    if (this.#sockets.size === 0) this.#onEmpty?.();
  }

  #startHandshake(socket: net.Socket, slot: Claim): void {
    const key = clientOf(socket);
    const timer = this.timers.timer(this.limits.headerTimeoutMs, () => socket.destroy());
    const end = () => {
      timer[Symbol.dispose]();
      slot.isWaiting = false;
      if (this.#handshakes.get(key) === handshake) this.#handshakes.delete(key);
    };
    const handshake: Handshake = { slot, [Symbol.dispose]: end };
    slot.isWaiting = true;
    this.#handshakes.set(key, handshake);
    socket.once("close", end);
  }

  #createTlsServer(options: ServeTls): tls.Server {
    const { cert, key, requireClientCertificate = true } = options;
    const clientCa = options.clientCa === undefined ? undefined : certificatesIn(options.clientCa);
    // Without an authority the TLS libraries would trust the clients of those of the system.
    if (clientCa === "") throw new Error("Cannot use client authorities: their certificates cannot be read");
    // The TLS library of Deno accepts a key of another certificate, and then each handshake fails.
    if (!isKeyPair(cert, key)) throw new Error("Cannot use certificate: it and the private key are not a pair");
    const clientOptions = clientCa === undefined
      ? {}
      : { ca: clientCa, requestCert: true, rejectUnauthorized: requireClientCertificate };
    const server = tls.createServer({
      cert: certificatesIn(cert),
      key: privateKeyIn(key),
      minVersion: "TLSv1.2",
      ALPNProtocols: options.offersHttp2 === true ? ["h2", "http/1.1"] : ["http/1.1"],
      allowHalfOpen: true,
      ...clientOptions,
    });
    server.on("secureConnection", (socket: tls.TLSSocket) => {
      const handshake = this.#handshakes.get(clientOf(socket));
      // The client was refused or timed out meanwhile.
      if (handshake === undefined) return void socket.destroy();
      handshake[Symbol.dispose]();
      const client = socket.authorized ? clientIn(socket) : {};
      const info = { remoteAddress: socket.remoteAddress ?? "", isTls: true, ...client };
      if (socket.alpnProtocol === "h2") this.#run(new Http2Connection(socket, { info, slot: handshake.slot }, this));
      else this.#run(new ServerConnection(socket, { info, slot: handshake.slot }, this));
    });
    server.on("tlsClientError", (_error, socket) => socket.destroy());
    return server;
  }

  #run(connection: HttpConnection): void {
    this.#connections.add(connection);
    connection.run().catch(this.onError).finally(() => this.#connections.delete(connection));
  }
}

/** A TLS handshake in progress. */
interface Handshake extends Disposable {
  readonly slot: Claim;
}

function clientOf(socket: net.Socket): string {
  return `${socket.remoteAddress}|${socket.remotePort}`;
}

/** The names in the certificate of the client, and its fingerprint. */
function clientIn(
  socket: tls.TLSSocket,
): Pick<ConnectionInfo, "clientName" | "clientOrganizations" | "clientFingerprint"> {
  const certificate = socket.getPeerCertificate();
  const subject: { readonly CN?: unknown; readonly O?: unknown } = certificate.subject ?? {};
  if (typeof subject.CN !== "string") return {};
  const organizations = [subject.O].flat().filter((name) => typeof name === "string");
  const fingerprint: unknown = certificate.fingerprint256;
  return {
    clientName: subject.CN,
    clientOrganizations: organizations,
    ...(typeof fingerprint === "string" ? { clientFingerprint: fingerprint.replaceAll(":", "").toLowerCase() } : {}),
  };
}

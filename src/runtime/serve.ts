/**
 * serve(): an HTTP/1.1 server, with TLS or without, that takes a fetch handler. Webhooks, metrics, health and the embedded
 * API server stand behind it.
 *
 * Guarantees: the same on both runtimes; every limit of {@link ServeLimits} holds for every byte, before a handler sees the
 * request; requests that two servers could read differently are refused (behaviours.md, security 13 and 14); a certificate
 * is replaced without closing anything: connections that exist keep theirs, new ones get the new one.
 *
 * It reads HTTP itself, on sockets of node:net and node:tls. Measured on Bun 1.4.5 and Deno 2.9.6: of 58 requests that are
 * hostile or over a limit `Bun.serve` accepts 8 and node:http there 7, `Deno.serve` 13 and node:http there 12, this none; and
 * Bun cannot change the certificate of a listener. HTTP/2 is not offered (CVE-2023-44487).
 */
import { listen, type Listener } from "./_listener.ts";
import { pause, systemTimer } from "./_serve_timer.ts";

export { PortInUseError } from "./port_in_use_error.ts";

/** A certificate chain and its private key, PEM text. */
export interface CertificatePair {
  readonly cert: string;
  readonly key: string;
}

/** How a server proves who it is, and whether its peers must. TLS 1.2 at least. */
export interface ServeTls extends CertificatePair {
  /** PEM text of the authorities whose clients are believed. @default clients are not asked for certificates */
  readonly clientCa?: string;
  /** With `clientCa`: refuses the connections of clients without a valid certificate. @default true */
  readonly requireClientCertificate?: boolean;
}

/** What peers may ask of a server. The defaults are those of behaviours.md, security 13. */
export interface ServeLimits {
  /** Bytes of a request's body; more is answered with 413. @default 7340032 (7 MiB) */
  readonly bodyBytes: number;
  /** Bytes of bodies held at the same time, over all connections; more is answered with 503. @default 67108864 (64 MiB) */
  readonly bufferedBytes: number;
  /** Bytes of a request's head. @default 16384 */
  readonly headerBytes: number;
  /** Fields of a request's head. @default 100 */
  readonly headerFields: number;
  /** Bytes of a request's path and query. @default 8192 */
  readonly urlBytes: number;
  /** Milliseconds from the first byte of a head, or the start of the TLS handshake, to its last. @default 10000 */
  readonly headerTimeoutMs: number;
  /** Milliseconds from the head to the last byte of the body. @default 10000 */
  readonly bodyTimeoutMs: number;
  /**
   * Milliseconds a connection may wait for its next request, and a write for a peer that takes nothing. An answer whose
   * handler is quiet is never cut. 0: without end. @default 90000
   */
  readonly idleTimeoutMs: number;
  /** Connections at a time. One more takes the place of the one that keeps us waiting longest. @default 100 */
  readonly connections: number;
}

/** The defaults of {@link ServeLimits}. */
export const defaultServeLimits: ServeLimits = {
  bodyBytes: 7 * 1024 * 1024,
  bufferedBytes: 64 * 1024 * 1024,
  headerBytes: 16 * 1024,
  headerFields: 100,
  urlBytes: 8 * 1024,
  headerTimeoutMs: 10_000,
  bodyTimeoutMs: 10_000,
  idleTimeoutMs: 90_000,
  connections: 100,
};

/** Who is at the other end of a connection. */
export interface ConnectionInfo {
  readonly remoteAddress: string;
  readonly isTls: boolean;
  /** The common name in the peer's certificate, if it has shown one that `clientCa` signed. */
  readonly clientName?: string;
}

/**
 * Answers one request. Its body has arrived whole; its signal aborts when the peer leaves. Set `content-length` where the
 * length is known, and a small body goes out in one piece.
 */
export type ServeHandler = (request: Request, connection: ConnectionInfo) => Response | Promise<Response>;

/** What a server needs of a clock; every Clock has it. */
export interface ServeTimer {
  timer(ms: number, fire: () => void): Disposable;
}

/** Options of {@link serve}. */
export interface ServeOptions {
  readonly handler: ServeHandler;
  /** The address to listen on. @default "127.0.0.1" */
  readonly hostname?: string;
  /** 0: any that is free. @default 0 */
  readonly port?: number;
  /** @default plain HTTP */
  readonly tls?: ServeTls;
  readonly limits?: Partial<ServeLimits>;
  /** Told of what a handler, or the stream of its answer, threw. */
  readonly onError: (error: unknown) => void;
  /** @default the machine's time */
  readonly clock?: ServeTimer;
}

/** How a server goes out of business. */
export interface DrainOptions {
  /** Milliseconds of further service in which every answer asks its peer to reconnect elsewhere. @default 0 */
  readonly delayMs?: number;
  /** Milliseconds that requests in flight then get. */
  readonly graceMs: number;
}

/** A server that listens. Leaving its `await using` block closes it. */
export interface Server extends AsyncDisposable {
  readonly hostname: string;
  readonly port: number;
  /** Connections at present. */
  readonly connections: number;
  /**
   * Shows this certificate to whoever connects from now on.
   *
   * @throws when key and certificate do not fit or are malformed; then the old pair stays. TypeError on plain HTTP.
   */
  replaceCertificate(pair: CertificatePair): void;
  /**
   * Serves on for `delayMs`, then accepts nothing new, lets requests in flight finish and closes. Ends early, cutting them
   * off, after `graceMs` or when the signal aborts. Never rejects for that.
   */
  drain(options: DrainOptions, signal: AbortSignal): Promise<void>;
  /** Cuts off everything now. Resolves when the port is free. */
  close(): Promise<void>;
}

/**
 * Starts a server.
 *
 * @throws PortInUseError, or the system's error when the address cannot be listened on, or the TLS library's when the
 *   certificate is malformed.
 *
 * @example
 * ```ts
 * import { serve } from "./mod.ts";
 *
 * await using server = await serve({ handler: () => new Response("hello"), onError: console.error });
 * const response = await fetch(`http://127.0.0.1:${server.port}/`);
 * console.assert(await response.text() === "hello");
 * ```
 */
export async function serve(options: ServeOptions): Promise<Server> {
  const { hostname = "127.0.0.1", port = 0, tls, handler, onError, clock = systemTimer } = options;
  const limits = { ...defaultServeLimits, ...options.limits };
  const listener = await listen({ hostname, port, tls, handler, onError, limits, timer: clock });
  return {
    hostname,
    port: listener.port,
    get connections() {
      return listener.connections;
    },
    replaceCertificate: (pair) => listener.replaceCertificate(pair),
    drain: (how, signal) => drain(listener, how, clock, signal),
    close: () => listener.close(),
    [Symbol.asyncDispose]: () => listener.close(),
  };
}

async function drain(listener: Listener, how: DrainOptions, clock: ServeTimer, signal: AbortSignal): Promise<void> {
  const { delayMs = 0, graceMs } = how;
  listener.isRetiring = true;
  if (delayMs > 0) {
    using delay = pause(clock, delayMs, signal);
    await delay.over;
  }
  using grace = pause(clock, graceMs, signal);
  await Promise.race([listener.finish(), grace.over]);
  await listener.close();
}

/** What serve() needs: handler, certificates and limits. */
import type { Timers } from "./timers.ts";

/** A certificate chain and its private key, PEM text. */
export interface CertificatePair {
  readonly cert: string;
  readonly key: string;
}

/** The certificate of a server, and whether its clients need one. TLS 1.2 at least. */
export interface ServeTls extends CertificatePair {
  /** PEM text of the authorities that sign client certificates. @default clients need no certificate */
  readonly clientCa?: string;
  /** With `clientCa`: refuses connections of clients without a valid certificate. @default true */
  readonly requireClientCertificate?: boolean;
  /**
   * Offers HTTP/2 to clients beside HTTP/1.1: one connection then carries many watches. Webhooks and metrics need none of
   * it. @default false
   */
  readonly offersHttp2?: boolean;
}

/** The limits of a server. The defaults are those of security 13. */
export interface ServeLimits {
  /** Bytes of the body of a request; a larger one gets status 413. @default 7340032 (7 MiB) */
  readonly maxBodyBytes: number;
  /**
   * Bytes of the bodies in memory, over all connections: of requests, and of responses whose length the handler announced. One
   * more ends the unfinished request that has waited longest for its client, with status 503, or the connection whose client
   * has not read its response for longest. @default 67108864 (64 MiB)
   */
  readonly maxBufferedBytes: number;
  /** Bytes of the head of a request. @default 16384 */
  readonly maxHeaderBytes: number;
  /** Fields of the head of a request. @default 100 */
  readonly maxHeaderFields: number;
  /** Bytes of the path and query of a request. @default 8192 */
  readonly maxUrlBytes: number;
  /** Milliseconds from the first byte of a head, or from the start of the TLS handshake, to its end. @default 10000 */
  readonly headerTimeoutMs: number;
  /** Milliseconds from the end of the head to the end of the body. @default 10000 */
  readonly bodyTimeoutMs: number;
  /**
   * Milliseconds that a connection may wait for its next request. A response whose handler is quiet is never cut. 0: no
   * limit. @default 90000
   */
  readonly idleTimeoutMs: number;
  /** Milliseconds in which a client must read 64 KiB of a response that it does not read fast enough. @default 10000 */
  readonly writeTimeoutMs: number;
  /**
   * Open connections. One more replaces the connection that has waited longest for its client. A request in flight over
   * HTTP/2 counts as a connection too. @default 100
   */
  readonly maxConnections: number;
  /** Of these, connections that have switched to another protocol. One more gets status 503. @default 50 */
  readonly maxSwitchedConnections: number;
  /** Requests in flight on one connection of HTTP/2, as in kube-apiserver. @default 100 */
  readonly maxConcurrentStreams: number;
}

/** The defaults of {@link ServeLimits}. */
export const defaultServeLimits: ServeLimits = {
  maxBodyBytes: 7 * 1024 * 1024,
  maxBufferedBytes: 64 * 1024 * 1024,
  maxHeaderBytes: 16 * 1024,
  maxHeaderFields: 100,
  maxUrlBytes: 8 * 1024,
  headerTimeoutMs: 10_000,
  bodyTimeoutMs: 10_000,
  idleTimeoutMs: 90_000,
  writeTimeoutMs: 10_000,
  maxConnections: 100,
  maxSwitchedConnections: 50,
  maxConcurrentStreams: 100,
};

/** The client of a connection. */
export interface ConnectionInfo {
  readonly remoteAddress: string;
  readonly isTls: boolean;
  /** The common name in the certificate of the client, if `clientCa` signed it. */
  readonly clientName?: string;
  /** The organizations in that certificate. */
  readonly clientOrganizations?: readonly string[];
  /** The SHA-256 of this certificate, in hexadecimal. */
  readonly clientFingerprint?: string;
}

/**
 * Answers one request. The body of the request has arrived completely; its signal aborts when the client leaves. Set
 * `content-length` if the length is known: a small body is then sent in one piece.
 */
export type ServeHandler = (request: Request, connection: ConnectionInfo) => Response | Promise<Response>;

/** What is known of a request before its body has arrived. */
export type ReceivedHead = Pick<Request, "method" | "url" | "headers">;

/** Whether the body of a request is read. */
export type ReadsBody = (head: ReceivedHead, connection: ConnectionInfo) => boolean;

/** Options of {@link serve}. */
export interface ServeOptions {
  readonly handler: ServeHandler;
  /**
   * False for the requests of clients that the handler rejects without their bodies: it gets them without one, and the
   * connection ends after the response. So unknown clients take no memory. @default every body is read
   */
  readonly readsBody?: ReadsBody;
  /** The address to listen on. @default "127.0.0.1" */
  readonly hostname?: string;
  /** 0: any free port. @default 0 */
  readonly port?: number;
  /** @default plain HTTP */
  readonly tls?: ServeTls;
  readonly limits?: Partial<ServeLimits>;
  /** Gets the errors that a handler, or the stream of its response, throws. */
  readonly onError: (error: unknown) => void;
  /** @default the timers of the system */
  readonly clock?: Timers;
}

/** The HTTP client as its users see it: options, requests, closing. */
import type { Timers } from "./timers.ts";
import type { UpgradeAnswer } from "./wire.ts";

/** Options of {@link httpClient}. Certificates and keys are PEM text. */
export interface HttpClientOptions {
  /** The only authorities whose servers are trusted. @default those of the system */
  readonly ca?: string;
  /** The certificate chain of the client. */
  readonly cert?: string;
  /** The private key of `cert`. */
  readonly key?: string;
  /** Trusts any server. @default false */
  readonly insecureSkipTlsVerify?: boolean;
  /** The name that the certificate of the server must have, and the SNI. @default the host of the URL */
  readonly serverName?: string;
  /** `http://`, `https://` or `socks5://`, with `user:password@` if the proxy requires it. @default none */
  readonly proxy?: string;
  /** Sent with every request, each value on its own line, which fetch cannot do. @default {} */
  readonly headers?: HeaderLines;
  /** The timers of the time limits for new connections. @default those of the system */
  readonly timers?: Timers;
}

/** Milliseconds for each step of a new connection: TCP, the proxy, TLS. The handshake timeout of client-go is the same. */
export const connectStepMs = 10_000;

/** The error of a step of a new connection that took too long. */
export function stepTimedOut(step: string): Error {
  return Object.assign(new Error(`${step} took longer than ${connectStepMs} ms`), { code: "ETIMEDOUT" });
}

/** Options of one request. */
export interface FetchOptions {
  /** The response may stream for minutes, as a watch does. A busy stream is then read every 10 ms. @default false */
  readonly longLived?: boolean;
  /**
   * Fields of this request, each value on its own line. They replace those of the same name, `host` included.
   * @default {}
   */
  readonly headers?: HeaderLines;
}

/** Fields of a head, each value on its own line. */
export type HeaderLines = Readonly<Record<string, readonly string[]>>;

/** Fields of a request that asks for another protocol. */
export type UpgradeHeaders = Readonly<Record<string, string | readonly string[]>>;

/** Sends requests over connections that it keeps and closes. */
export interface HttpClient {
  /**
   * Sends one request. Cancel a body that you do not read, or its connection stays open.
   *
   * @throws the error of the runtime when there is no response; the reason of the signal when it aborts.
   */
  fetch(request: Request, options?: FetchOptions): Promise<Response>;
  /**
   * Sends a request that asks the server to switch to the protocol of its `upgrade` header, on a connection of its own.
   * Values of the fields given here may be lists, with a line for each; `host` replaces that of the URL.
   *
   * @throws the error of the runtime when there is no answer; the reason of the signal when it aborts.
   */
  upgrade(request: Request, upgradeHeaders: UpgradeHeaders): Promise<UpgradeAnswer>;
  /** Closes idle connections; those with a request in flight close when it ends. */
  close(): void;
}

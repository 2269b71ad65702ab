/** The HTTP client as its users see it: options, requests, closing. */
import { isIP } from "node:net";
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
  /** The name or address that the certificate of the server must have; a name is the SNI. @default the host of the URL */
  readonly serverName?: string;
  /** `http://`, `https://` or `socks5://`, with `user:password@` if the proxy requires it. @default none */
  readonly proxy?: string;
  /** Sent with every request, each value on its own line, which fetch cannot do. @default {} */
  readonly headers?: HeaderLines;
  /** The timers of all time limits. @default those of the system */
  readonly timers?: Timers;
}

/** Milliseconds for each step of a new connection: TCP, the proxy, TLS. The handshake timeout of client-go is the same. */
export const connectStepMs = 10_000;

/** The error of a step of a new connection that took too long. */
export function stepTimedOut(step: string): Error {
  return Object.assign(new Error(`${step} took longer than ${connectStepMs} ms`), { code: "ETIMEDOUT" });
}

/**
 * The SNI for a server: as in Go, empty for an address, which RFC 6066 does not allow, and without a dot at its end, which
 * servers written in Go refuse.
 */
export function sniOf(name: string): string {
  return isIP(name.replace(/^\[|\]$/g, "")) === 0 ? name.replace(/\.+$/, "") : "";
}

/** One request. A Request has the same fields, but its body is a stream. */
export interface HttpRequest {
  readonly method: string;
  /** Absolute, in the form of `Request.url`. */
  readonly url: string;
  readonly headers: Headers;
  /** A text is sent as UTF-8. @default no body */
  readonly body?: string | Uint8Array;
  readonly signal: AbortSignal;
}

/** Options of one request. */
export interface FetchOptions {
  /** The most milliseconds until the response begins, with the time for a new connection. @default Infinity */
  readonly responseTimeoutMs?: number;
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

/** The error of a response that did not begin in time. */
export function responseTimedOut(timeoutMs: number): DOMException {
  return new DOMException(`No response within ${timeoutMs} ms`, "TimeoutError");
}

/** Sends requests over connections that it keeps and closes. */
export interface HttpSender {
  /**
   * Sends one request. Cancel a body that you do not read, or its connection stays open.
   *
   * @throws the error of the runtime when there is no response; the reason of the signal when it aborts.
   */
  send(request: HttpRequest, options?: FetchOptions): Promise<Response>;
  /**
   * Sends a request that asks the server to switch to the protocol of its `upgrade` header, on a connection of its own.
   * Values of the fields given here may be lists, with a line for each; `host` replaces that of the URL.
   *
   * @throws the error of the runtime when there is no answer; the reason of the signal when it aborts.
   */
  upgrade(request: Omit<HttpRequest, "body">, upgradeHeaders: UpgradeHeaders): Promise<UpgradeAnswer>;
  /** Closes idle connections; those with a request in flight close when it ends. */
  close(): void;
}

/** A sender that also takes a Request. */
export interface HttpClient extends HttpSender {
  /** As `send`, after the body was read. */
  fetch(request: Request, options?: FetchOptions): Promise<Response>;
}

/**
 * httpClient(): HTTP with certificates and proxies of one's own, the same on both runtimes. All requests to the API
 * server go through one of these.
 *
 * Guarantees: a given CA replaces the system's authorities, it is not added to them; redirects are never followed; a
 * proxy is used when it is named here and never because of the environment; no request is sent twice; bodies arrive as
 * the server sent them, undecoded, so nothing small can grow large. A request ends when its signal aborts, never by a
 * timeout of the runtime.
 *
 * Caveats: Deno's own fetch adds a CA to the system's and knows neither server names nor skipping; Bun's own obeys the
 * environment's proxies whatever the caller says, has room for 256 requests and spends most of its time on waking threads.
 * So neither is used: on Bun requests go over its sockets, everywhere else and through proxies over node:https.
 */
import { bunHttpClient } from "./_bun_http_client.ts";
import { runtimeName } from "./runtime_name.ts";

/** Options of {@link httpClient}. Certificates and keys are PEM text. */
export interface HttpClientOptions {
  /** The only authorities whose servers are believed. @default those of the system */
  readonly ca?: string;
  /** The client's certificate chain. */
  readonly cert?: string;
  /** The private key of `cert`. */
  readonly key?: string;
  /** Believes any server. @default false */
  readonly insecureSkipTlsVerify?: boolean;
  /** The name the server's certificate must have, and the SNI. @default the URL's host */
  readonly serverName?: string;
  /** `http://`, `https://` or `socks5://`, with `user:password@` where the proxy wants them. @default none */
  readonly proxy?: string;
  /** Sent with every request, each value on a line of its own, as fetch cannot. @default {} */
  readonly headers?: Readonly<Record<string, readonly string[]>>;
}

/** Options of one request. */
export interface FetchOptions {
  /** Says that the answer may stream for minutes, as a watch does: what a busy one brings is gathered for 10 ms. @default false */
  readonly longLived?: boolean;
}

/** Sends requests over connections that it keeps and closes. */
export interface HttpClient {
  /**
   * Sends one request. Cancel a body you do not read, or its connection stays open.
   *
   * @throws the runtime's own error when there is no answer, the signal's reason when aborted.
   */
  fetch(request: Request, options?: FetchOptions): Promise<Response>;
  /** Closes idle connections; those with a request under way close when it ends. */
  close(): void;
}

/** Makes a client for one set of certificates and one proxy. */
export function httpClient(options: HttpClientOptions = {}): HttpClient {
  return runtimeName === "bun" && options.proxy === undefined ? bunHttpClient(options) : lazyNodeHttpClient(options);
}

/** Loads node:https with the first request: a program that needs no proxy starts without it. */
function lazyNodeHttpClient(options: HttpClientOptions): HttpClient {
  let loading: Promise<HttpClient> | undefined;
  const load = async () => (await import("./_node_http_client.ts")).nodeHttpClient(options);
  return {
    fetch: async (request) => await (await (loading ??= load())).fetch(request),
    close: () => void loading?.then((client) => client.close()),
  };
}

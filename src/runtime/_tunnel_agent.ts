/**
 * Connections through a proxy: an `http(s)://` proxy is asked to CONNECT, a `socks5://` one in its own words. TLS to the
 * API server runs inside the tunnel, end to end: the proxy sees a host name and bytes.
 */
import * as http from "node:http";
import * as https from "node:https";
import type { Socket } from "node:net";
import * as tls from "node:tls";
import type { Duplex } from "node:stream";

type Connected = (error: Error | null, stream: Duplex) => void;

interface Target {
  readonly host: string;
  readonly port: number;
}

/** Milliseconds until a proxy that does not answer is given up; its socket has no other owner. */
const proxyTimeoutMs = 30_000;

/** An agent whose connections go through `proxy`. @throws TypeError when the URL is none, or of an unknown scheme. */
export function tunnelAgent(proxy: string, settings: https.AgentOptions): https.Agent {
  const url = proxyUrl(proxy);
  return new TunnelAgent(
    (target) => url.protocol.startsWith("socks") ? socks(url, target) : connect(url, target),
    settings,
  );
}

class TunnelAgent extends https.Agent {
  readonly #open: (target: Target) => Promise<Socket>;
  readonly #settings: https.AgentOptions;

  constructor(open: (target: Target) => Promise<Socket>, settings: https.AgentOptions) {
    super(settings);
    this.#open = open;
    this.#settings = settings;
  }

  // The runtimes call this for each new connection and wait for the callback when nothing is returned.
  override createConnection(options: https.RequestOptions, connected: Connected = () => {}): undefined {
    const host = String(options.host ?? options.hostname).replace(/^\[|\]$/g, "");
    this.#open({ host, port: Number(options.port ?? 443) }).then((socket) => {
      const { ca, cert, key, servername, rejectUnauthorized, minVersion } = this.#settings;
      const name = servername ?? host;
      // An address may not stand in SNI; the certificate is still checked against it, as `host`.
      const sni = servername ?? (/^[\d.]+$|:/.test(host) ? "" : host);
      const secure = tls.connect({
        socket,
        host: name,
        ca,
        cert,
        key,
        rejectUnauthorized,
        minVersion,
        servername: sni,
        checkServerIdentity: (_, certificate) => tls.checkServerIdentity(name, certificate),
      });
      secure.once("secureConnect", () => connected(null, secure));
      secure.once("error", (error) => fail(connected, error));
    }, (error) => fail(connected, error));
    return undefined;
  }
}

/** There is no stream to hand over when there is an error, whatever the type says. */
function fail(connected: Connected, error: Error): void {
  Reflect.apply(connected, undefined, [error]);
}

/** Asks an HTTP proxy for a tunnel. */
function connect(proxy: URL, target: Target): Promise<Socket> {
  const start = proxy.protocol === "https:" ? https.request : http.request;
  const authority = `${target.host.includes(":") ? `[${target.host}]` : target.host}:${target.port}`;
  const headers: Record<string, string> = { host: authority };
  if (proxy.username !== "") headers["proxy-authorization"] = `Basic ${btoa(credentialsOf(proxy).join(":"))}`;
  return new Promise((resolve, reject) => {
    const asking = start({
      host: proxy.hostname.replace(/^\[|\]$/g, ""),
      port: proxy.port === "" ? (proxy.protocol === "https:" ? 443 : 80) : Number(proxy.port),
      method: "CONNECT",
      path: authority,
      headers,
      agent: false,
      timeout: proxyTimeoutMs,
    });
    asking.once("connect", (response, socket) => {
      if (response.statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(proxyError(proxy, `it answered ${response.statusCode} to CONNECT ${authority}`));
    });
    asking.once("response", (response) => {
      response.destroy();
      reject(proxyError(proxy, `it answered ${response.statusCode} to CONNECT ${authority}`));
    });
    asking.once("timeout", () => asking.destroy(proxyError(proxy, `no answer within ${proxyTimeoutMs} ms`)));
    asking.once("error", (error) => reject(proxyError(proxy, error.message, error)));
    asking.end();
  });
}

/** Asks a SOCKS5 proxy, which resolves the host name itself. */
async function socks(proxy: URL, target: Target): Promise<Socket> {
  const { SocksClient } = await import("socks");
  const [userId, password] = credentialsOf(proxy);
  try {
    const { socket } = await SocksClient.createConnection({
      command: "connect",
      timeout: proxyTimeoutMs,
      destination: target,
      proxy: {
        host: proxy.hostname.replace(/^\[|\]$/g, ""),
        port: proxy.port === "" ? 1080 : Number(proxy.port),
        type: 5,
        ...(userId === "" ? {} : { userId, password }),
      },
    });
    return socket;
  } catch (error) {
    throw proxyError(proxy, error instanceof Error ? error.message : String(error), error);
  }
}

function proxyUrl(proxy: string): URL {
  const url = URL.parse(proxy);
  if (url === null || !["http:", "https:", "socks5:", "socks5h:"].includes(url.protocol)) {
    throw new TypeError(`Cannot use proxy: its URL is not of the form http://, https:// or socks5://host:port`);
  }
  return url;
}

function credentialsOf(proxy: URL): [user: string, password: string] {
  return [decodeURIComponent(proxy.username), decodeURIComponent(proxy.password)];
}

/** Names the proxy by host and port alone: its URL may hold a password. */
function proxyError(proxy: URL, state: string, cause?: unknown): Error {
  const error = new Error(`Cannot connect through proxy "${proxy.host}": ${state}`, { cause });
  return Object.assign(error, { code: "ERR_PROXY" });
}

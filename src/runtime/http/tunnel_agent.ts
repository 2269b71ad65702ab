/**
 * tunnelAgent(): connections through a proxy, by CONNECT for `http(s)://` and by the SOCKS5 protocol for `socks5://`. TLS
 * to the API server runs inside the tunnel, so the proxy sees only a host name and encrypted bytes.
 */
import * as http from "node:http";
import * as https from "node:https";
import type { Socket } from "node:net";
import * as tls from "node:tls";
import type { Duplex } from "node:stream";

type OnConnect = (error: Error | null, stream: Duplex) => void;

interface Target {
  readonly host: string;
  readonly port: number;
}

/** Milliseconds after which a proxy that does not respond is given up; no other code ends its socket. */
const proxyTimeoutMs = 30_000;

/** An agent whose connections go through `proxy`. @throws TypeError for a malformed URL or an unknown scheme. */
export function tunnelAgent(proxy: string, settings: https.AgentOptions): https.Agent {
  const url = proxyUrl(proxy);
  return new TunnelAgent(
    (target) => url.protocol.startsWith("socks") ? connectBySocks(url, target) : connectByHttp(url, target),
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

  // The runtimes call this for each new connection, and wait for the callback if it returns nothing.
  override createConnection(options: https.RequestOptions, onConnect: OnConnect = () => {}): undefined {
    const host = String(options.host ?? options.hostname).replace(/^\[|\]$/g, "");
    this.#open({ host, port: Number(options.port ?? 443) }).then((socket) => {
      const { ca, cert, key, servername, rejectUnauthorized, minVersion } = this.#settings;
      const name = servername ?? host;
      // SNI cannot hold an address; the certificate is still checked against it, as `host`.
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
      secure.once("secureConnect", () => onConnect(null, secure));
      secure.once("error", (error) => fail(onConnect, error));
    }, (error) => fail(onConnect, error));
    return undefined;
  }
}

/** Calls back with an error and without a stream, which the type of the callback does not allow. */
function fail(onConnect: OnConnect, error: Error): void {
  Reflect.apply(onConnect, undefined, [error]);
}

/** Requests a tunnel from an HTTP proxy. */
function connectByHttp(proxy: URL, target: Target): Promise<Socket> {
  const start = proxy.protocol === "https:" ? https.request : http.request;
  const authority = `${target.host.includes(":") ? `[${target.host}]` : target.host}:${target.port}`;
  const headers: Record<string, string> = { host: authority };
  if (proxy.username !== "") headers["proxy-authorization"] = `Basic ${btoa(credentialsOf(proxy).join(":"))}`;
  return new Promise((resolve, reject) => {
    const request = start({
      host: proxy.hostname.replace(/^\[|\]$/g, ""),
      port: proxy.port === "" ? (proxy.protocol === "https:" ? 443 : 80) : Number(proxy.port),
      method: "CONNECT",
      path: authority,
      headers,
      agent: false,
      timeout: proxyTimeoutMs,
    });
    request.once("connect", (response, socket) => {
      if (response.statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(proxyError(proxy, `it answered ${response.statusCode} to CONNECT ${authority}`));
    });
    request.once("response", (response) => {
      response.destroy();
      reject(proxyError(proxy, `it answered ${response.statusCode} to CONNECT ${authority}`));
    });
    request.once("timeout", () => request.destroy(proxyError(proxy, `no response within ${proxyTimeoutMs} ms`)));
    request.once("error", (error) => reject(proxyError(proxy, error.message, error)));
    request.end();
  });
}

/** Requests a tunnel from a SOCKS5 proxy, which resolves the host name itself. */
async function connectBySocks(proxy: URL, target: Target): Promise<Socket> {
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

/** The error names the proxy by host and port only, because its URL may contain a password. */
function proxyError(proxy: URL, state: string, cause?: unknown): Error {
  const error = new Error(`Cannot connect through proxy "${proxy.host}": ${state}`, { cause });
  return Object.assign(error, { code: "ERR_PROXY" });
}

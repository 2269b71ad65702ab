/**
 * The agents of node:https: directAgent() for connections to the server itself, tunnelAgent() for those through a proxy,
 * by CONNECT for `http(s)://` and by the SOCKS5 protocol for `socks5://`. TLS to the API server runs inside the tunnel,
 * so the proxy sees only a host name and encrypted bytes.
 *
 * Guarantees: the answer of a proxy and a TLS handshake have 10 s each, however many bytes arrive; a connection that is
 * opened for an aborted request ends at once. A peer that goes silent therefore keeps no socket for longer.
 */
import * as http from "node:http";
import * as https from "node:https";
import { connect, type Socket } from "node:net";
import * as tls from "node:tls";
import type { Duplex } from "node:stream";
import { onAbort, untilAborted } from "../process/mod.ts";
import { type ExpectedServer, refuseCertificate, refuseWithoutPath, trustsBelowRoots } from "./certificate_path.ts";
import { connectStepMs, sniOf, stepTimedOut } from "./http_client_options.ts";
import type { Timers } from "./timers.ts";

type OnConnect = (error: Error | null, stream: Duplex) => void;

/** Options of a request that the agent gets too. */
export interface OpeningOptions {
  /** Ends the connection while it is being opened. */
  readonly opening?: AbortSignal;
}

interface Target {
  readonly host: string;
  readonly port: number;
}

/** Options of an agent. The SNI is in the options of the requests. */
export interface AgentSettings extends https.AgentOptions {
  /** The name or address that the certificate of the server must have. @default the host of the request */
  readonly expectedName?: string;
}

/** An agent that connects to the server itself. */
export function directAgent(settings: AgentSettings, timers: Timers): https.Agent {
  // Its connections are judged here before a request gets them, which a class of the runtime cannot do.
  if (trustsBelowRoots(caOf(settings))) return new TunnelAgent(connectDirectly, settings, timers);
  // Not tls.checkServerIdentity as well: that of Node 22 finds no address of IPv6 in any certificate.
  const checkServerIdentity = (name: string, certificate: tls.PeerCertificate) =>
    refuseCertificate(certificate, { name: settings.expectedName ?? name, ca: caOf(settings) });
  return new DirectAgent({ ...settings, checkServerIdentity }, timers);
}

/** An agent whose connections go through `proxy`. @throws TypeError for a malformed URL or an unknown scheme. */
export function tunnelAgent(proxy: string, settings: AgentSettings, timers: Timers): https.Agent {
  const url = proxyUrl(proxy);
  const open = url.protocol.startsWith("socks") ? connectBySocks : connectByHttp;
  return new TunnelAgent((target, signal) => open(url, target, signal), settings, timers);
}

/** Opens one connection that belongs to no request. @throws the error of the connection, the reason of the signal */
export function openSecure(
  agent: https.Agent,
  url: URL,
  options: { readonly serverName: string | undefined; readonly signal: AbortSignal },
): Promise<Duplex> {
  const { serverName, signal } = options;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const servername = sniOf(serverName ?? host);
  const port = url.port === "" ? 443 : Number(url.port);
  const settings: https.RequestOptions & OpeningOptions = { ...agent.options, host, port, servername, opening: signal };
  return new Promise((resolve, reject) => {
    const onConnect: OnConnect = (error, stream) => error === null ? resolve(stream) : reject(error);
    if (agent instanceof TunnelAgent) return void agent.createConnection(settings, onConnect);
    if (!(agent instanceof DirectAgent)) return reject(new TypeError("Cannot connect: the agent is not known"));
    const socket = agent.createConnection(settings);
    socket.once("secureConnect", () => resolve(socket));
    socket.on("error", (error) => reject(signal.aborted ? signal.reason : error));
    socket.once("close", () => reject(signal.aborted ? signal.reason : connectionClosed()));
  });
}

/** Opens one connection without TLS, for an API server on this machine. */
export async function openPlain(
  url: URL,
  options: { readonly signal: AbortSignal; readonly timers: Timers },
): Promise<Duplex> {
  const port = url.port === "" ? 80 : Number(url.port);
  using step = new Step("the connection", options);
  return await connectDirectly({ host: url.hostname.replace(/^\[|\]$/g, ""), port }, step.signal);
}

/** The authorities as the client gives them. */
function caOf({ ca }: https.AgentOptions): string | undefined {
  return typeof ca === "string" ? ca : undefined;
}

class DirectAgent extends https.Agent {
  readonly #timers: Timers;

  constructor(settings: https.AgentOptions, timers: Timers) {
    super(settings);
    this.#timers = timers;
  }

  override createConnection(
    options: https.RequestOptions & OpeningOptions,
    onConnect?: OnConnect,
  ): Duplex {
    // Some versions of the types of Node say that it may return nothing; the class of Node never does.
    const socket = super.createConnection(options, onConnect) as Duplex;
    if (!(socket instanceof tls.TLSSocket)) return socket;
    // Bounded as one step, because the socket does not say when TCP is connected.
    const step = new Step("the connection", { timers: this.#timers, signal: options.opening });
    onAbort(step.signal, () => void socket.destroy(step.signal.reason));
    for (const event of ["secureConnect", "error", "close"]) socket.once(event, () => step[Symbol.dispose]());
    return socket;
  }
}

/** One step of opening a connection: its signal aborts when the request does, or after 10 s. */
class Step implements Disposable {
  readonly #controller = new AbortController();
  readonly #parts: readonly Disposable[];

  constructor(name: string, options: { readonly timers: Timers; readonly signal: AbortSignal | undefined }) {
    const { timers, signal } = options;
    const abort = (reason: unknown) => this.#controller.abort(reason);
    const timer = timers.timer(connectStepMs, () => abort(stepTimedOut(name)));
    this.#parts = signal === undefined ? [timer] : [timer, onAbort(signal, () => abort(signal.reason))];
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    for (const part of this.#parts) part[Symbol.dispose]();
  }
}

class TunnelAgent extends https.Agent {
  readonly #open: (target: Target, signal: AbortSignal) => Promise<Socket>;
  readonly #settings: AgentSettings;
  readonly #timers: Timers;

  constructor(
    open: (target: Target, signal: AbortSignal) => Promise<Socket>,
    settings: AgentSettings,
    timers: Timers,
  ) {
    super(settings);
    this.#open = open;
    this.#settings = settings;
    this.#timers = timers;
  }

  // The runtimes call this for each new connection, and wait for the callback if it returns nothing.
  override createConnection(
    options: https.RequestOptions & OpeningOptions,
    onConnect: OnConnect = () => {},
  ): Duplex {
    const host = String(options.host ?? options.hostname).replace(/^\[|\]$/g, "");
    const target = { host, port: Number(options.port ?? 443) };
    this.#connect(target, options.opening).then(
      (secure) => onConnect(null, secure),
      (error) => fail(onConnect, error instanceof Error ? error : new Error("the request was aborted")),
    );
    // Some versions of the types of Node require a stream; the runtimes accept that there is none yet.
    return undefined as unknown as Duplex;
  }

  async #connect(target: Target, signal: AbortSignal | undefined): Promise<tls.TLSSocket> {
    const socket = await this.#tunnel(target, signal);
    using step = new Step("the TLS handshake", { timers: this.#timers, signal });
    try {
      return await untilAborted(this.#secure(socket, target.host), step.signal);
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  async #tunnel(target: Target, signal: AbortSignal | undefined): Promise<Socket> {
    using step = new Step("its answer", { timers: this.#timers, signal });
    return await this.#open(target, step.signal);
  }

  #secure(socket: Socket, host: string): Promise<tls.TLSSocket> {
    const { ca, cert, key, expectedName: name = host, rejectUnauthorized = true, minVersion } = this.#settings;
    const expected = { name, ca: caOf(this.#settings) };
    // A server may be trusted without a path to a root, so the runtime only tells what it has found.
    const isJudgedHere = rejectUnauthorized && trustsBelowRoots(expected.ca);
    return new Promise((resolve, reject) => {
      const secure = tls.connect({
        socket,
        host: name,
        ca,
        cert,
        key,
        rejectUnauthorized: rejectUnauthorized && !isJudgedHere,
        minVersion,
        servername: sniOf(name),
        checkServerIdentity: (_, certificate) => refuseCertificate(certificate, expected),
      });
      secure.once("secureConnect", () => {
        const problem = isJudgedHere && !secure.authorized ? unpathed(secure, expected) : undefined;
        if (problem === undefined) resolve(secure);
        else reject(problem);
      });
      secure.on("error", reject); // Stays, so that a late error of a given up connection is no unhandled one.
      secure.once("close", () => reject(connectionClosed()));
    });
  }
}

/** What is wrong with a server for which the runtime has found no path. */
function unpathed(socket: tls.TLSSocket, expected: ExpectedServer): Error | undefined {
  const found: unknown = socket.authorizationError;
  const error = found instanceof Error ? found : Object.assign(new Error(String(found)), { code: String(found) });
  return refuseWithoutPath(error, socket.getPeerCertificate(true), expected);
}

function connectionClosed(): Error {
  return Object.assign(new Error("the connection was closed during the TLS handshake"), { code: "ECONNRESET" });
}

/** Calls back with an error and without a stream, which the type of the callback does not allow. */
function fail(onConnect: OnConnect, error: Error): void {
  Reflect.apply(onConnect, undefined, [error]);
}

/** Connects to the server itself. */
async function connectDirectly({ host, port }: Target, signal: AbortSignal): Promise<Socket> {
  const socket = connect({ host, port });
  try {
    await untilAborted(connected(socket), signal);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Requests a tunnel from an HTTP proxy. */
function connectByHttp(proxy: URL, target: Target, signal: AbortSignal): Promise<Socket> {
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
    });
    const giveUp = () => {
      request.destroy();
      reject(proxyError(proxy, stateOf(signal.reason), signal.reason));
    };
    const listening = onAbort(signal, giveUp);
    request.once("close", () => listening[Symbol.dispose]());
    request.once("connect", (response, socket) => {
      listening[Symbol.dispose]();
      if (signal.aborted) return void socket.destroy();
      if (response.statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(proxyError(proxy, `it answered ${response.statusCode} to CONNECT ${authority}`));
    });
    request.once("response", (response) => {
      response.destroy();
      reject(proxyError(proxy, `it answered ${response.statusCode} to CONNECT ${authority}`));
    });
    request.on("error", (error) => reject(proxyError(proxy, error.message, error)));
    request.end();
  });
}

/** Requests a tunnel from a SOCKS5 proxy, which resolves the host name itself. */
async function connectBySocks(proxy: URL, target: Target, signal: AbortSignal): Promise<Socket> {
  const { SocksClient } = await import("socks");
  const [userId, password] = credentialsOf(proxy);
  const host = proxy.hostname.replace(/^\[|\]$/g, "");
  const port = proxy.port === "" ? 1080 : Number(proxy.port);
  // Our own socket, because the library cannot end the one that it opens.
  const socket = connect({ host, port });
  using _listening = onAbort(signal, () => void socket.destroy());
  try {
    await untilAborted(connected(socket), signal);
    const connecting = SocksClient.createConnection({
      command: "connect",
      timeout: connectStepMs,
      destination: target,
      existing_socket: socket,
      proxy: { host, port, type: 5, ...(userId === "" ? {} : { userId, password }) },
    });
    return (await untilAborted(connecting, signal)).socket;
  } catch (error) {
    socket.destroy();
    throw proxyError(proxy, stateOf(error), error);
  }
}

function connected(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("connect", resolve);
    socket.on("error", reject);
  });
}

function stateOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
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

/**
 * clusterTransport(): the Transport to a real cluster: address, credentials, certificates, retries and time limits.
 *
 * Guarantees: credentials go only to the address of the API server, redirects are not followed; after a 401 they are
 * renewed once and the request is repeated; a write is never sent twice unless the server has not started it or has
 * rejected its credentials. Dispose the transport; requests in flight then end by their own signals.
 *
 * Certificate files are checked every 10 s. When the text of one has changed, new requests use a client with the new
 * certificates, and the old client closes its connections as their requests end (behaviour 78). A file that was replaced
 * by an equal one, as the CA beside each new token of a service account, changes nothing, and neither does a new token.
 * A pair that is half written, or not PEM, leaves the old one in use.
 */
import { type Clock, type Random, scope, systemClock, systemRandom, TokenBucket, untilAborted } from "../async/mod.ts";
import { liveSecrets, type Logger, logger as loggerOf, type MetricsRegistry, printable } from "../observe/mod.ts";
import {
  type Environment,
  fileStat,
  type HttpClient,
  httpClient,
  type HttpRequest,
  isKeyPair,
  knownBodyOf,
  processFacts,
  readText,
  requestBytes,
  toBase64,
  type UpgradeHeaders,
} from "../runtime/mod.ts";
import { type Credential, type CredentialSource, credentialSource, type ExecPolicy } from "./credentials/mod.ts";
import { type ClusterAccess, CredentialsError, type PemSource } from "./kubeconfig/mod.ts";
import { type HeaderLines, impersonationHeaders, impersonationIn } from "./impersonation.ts";
import { countRetries } from "./measured_transport.ts";
import { discard } from "./response.ts";
import { sendWithRetries } from "./retry.ts";
import { sendGuardOf, switchedResponse, type Transport, upgradeOf } from "./transport.ts";
import { unreachable } from "./unreachable_error.ts";

/** Options of {@link clusterTransport}. */
export interface ClusterTransportOptions {
  /** The name and the version of the program, e.g. `controller/1.2.3`. @default "controller" */
  readonly userAgent?: string;
  /** The environment from which exec plugins inherit some variables. @default {} */
  readonly environment?: Environment;
  /** Which exec plugins may run. @default { kind: "allowAll" } */
  readonly execPolicy?: ExecPolicy;
  /** The most milliseconds until a response begins; the limit of the server is 60 s. @default 60_000 */
  readonly responseTimeoutMs?: number;
  /** The most attempts of one request. @default 10 */
  readonly maxAttempts?: number;
  /**
   * Limits the requests per second, for an API server without priority and fairness: `qps` in the long run, `burst` after
   * a quiet time. @default none, because the server itself rejects excess requests with 429
   */
  readonly rateLimit?: { readonly qps: number; readonly burst: number };
  /** Milliseconds between two checks of the certificate files. @default 10_000 */
  readonly checkFilesEveryMs?: number;
  /** Counts repeated requests: `rest_client_request_retries_total`. @default no metrics */
  readonly metrics?: MetricsRegistry;
  /** The source of time for delays and time limits. @default systemClock */
  readonly clock?: Clock;
  /** The source of jitter. @default systemRandom */
  readonly random?: Random;
  /** Gets retries and reloaded certificates. @default logger("client") */
  readonly logger?: Logger;
}

/** A Transport with connections. Dispose it to close them. */
export type ClusterTransport = Transport & Disposable;

/**
 * Makes the transport to a cluster. It opens connections, renews credentials, reads changed certificate files, and repeats
 * requests that the server did not start.
 *
 * @param access The address and the credentials, from `loadClusterAccess()`.
 * @returns The transport. Dispose it to close its connections.
 * @throws {CredentialsError} when a header cannot contain the token
 * @throws {RangeError} when an option is out of range
 *
 * @example
 * ```ts
 * import { Client, clusterTransport, loadClusterAccess } from "@pintle/controller/client";
 *
 * const overrides = { server: "https://kube.example.dev:6443", token: "secret" };
 * const access = await loadClusterAccess({ environment: {}, overrides });
 * using transport = clusterTransport(access, { userAgent: "my-tool/1.0" });
 * const client = new Client(transport, { requestTimeoutMs: 10_000 });
 * console.assert(client instanceof Client);
 * ```
 */
export function clusterTransport(access: ClusterAccess, options: ClusterTransportOptions = {}): ClusterTransport {
  const cluster = new Cluster(access, options);
  const transport = (request: Request) => cluster.send(request);
  return Object.assign(transport, { [Symbol.dispose]: () => cluster.close() });
}

const isWatch = /[?&]watch=(true|1)(&|$)/;

/** A request that can be sent again, because its body is in memory. */
interface Replayable extends HttpRequest {
  /** Called each time before the request is sent. */
  readonly check: (() => void) | undefined;
  /** Headers that ask for another protocol. */
  readonly upgrade: Readonly<Record<string, string>> | undefined;
}

class Cluster {
  readonly #server: string;
  readonly #source: CredentialSource;
  /** The user of the requests that have none of their own. */
  readonly #impersonation: HeaderLines | undefined;
  readonly #connections: Connections;
  readonly #rateLimiter: TokenBucket | undefined;
  readonly #responseTimeoutMs: number;
  readonly #maxAttempts: number;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #logger: Logger;
  readonly #countRetry: ((verb: string, code: string) => void) | undefined;

  constructor(access: ClusterAccess, options: ClusterTransportOptions) {
    const { clock = systemClock, random = systemRandom, logger = loggerOf("client") } = options;
    const { responseTimeoutMs = 60_000, maxAttempts = 10, checkFilesEveryMs = 10_000, rateLimit } = options;
    if (!(responseTimeoutMs > 0 && maxAttempts >= 1)) {
      throw new RangeError("Cannot create transport: responseTimeoutMs or maxAttempts is not above 0");
    }
    const { environment = {}, execPolicy = { kind: "allowAll" }, userAgent = "controller" } = options;
    const { os, arch } = processFacts();
    addProxySecrets(access.proxy);
    this.#server = access.server;
    this.#source = credentialSource(access, { clock, logger, environment, execPolicy });
    this.#impersonation = access.impersonate && impersonationHeaders(access.impersonate);
    this.#connections = new Connections(access, {
      clock,
      logger,
      checkEveryMs: checkFilesEveryMs,
      // Without compression, a small response cannot grow here, and neither side spends time on it.
      headers: { "user-agent": [`${userAgent} (${os}/${arch}) pintle`], "accept-encoding": ["identity"] },
    });
    this.#rateLimiter = rateLimit === undefined ? undefined : rateLimiter(rateLimit, clock);
    this.#responseTimeoutMs = responseTimeoutMs;
    this.#maxAttempts = maxAttempts;
    this.#clock = clock;
    this.#random = random;
    this.#logger = logger;
    const { metrics } = options;
    this.#countRetry = metrics === undefined ? undefined : countRetries(metrics, new URL(access.server).host);
  }

  async send(request: Request): Promise<Response> {
    const url = this.#server + pathOf(request.url);
    const { method, headers, signal } = request;
    const body = knownBodyOf(request) ?? await untilAborted(requestBytes(request), signal);
    const upgrade = upgradeOf(request);
    const replayable: Replayable = { url, method, headers, body, signal, check: sendGuardOf(request), upgrade };
    return await sendWithRetries({
      // A GET that starts a program is not repeated when its connection breaks.
      method: upgrade === undefined ? method : "POST",
      contentType: headers.get("content-type"),
      signal,
      send: () => this.#sendAuthorized(replayable),
    }, {
      maxAttempts: this.#maxAttempts,
      clock: this.#clock,
      random: this.#random,
      logger: this.#logger,
      onRetry: (code) => this.#countRetry?.(method, code),
    });
  }

  close(): void {
    this.#connections[Symbol.dispose]();
  }

  /** Sends; after a 401 it renews the credential and sends once more, unless the credential stayed the same. */
  async #sendAuthorized(request: Replayable): Promise<Response> {
    const credential = await this.#source.current(request.signal);
    const response = await this.#sendOnce(request, credential);
    if (response.status !== 401) return response;
    this.#source.reject(credential);
    let renewed: Credential;
    try {
      renewed = await this.#source.current(request.signal);
    } catch (error) {
      if (request.signal.aborted) discard(response);
      request.signal.throwIfAborted();
      const state = printable(error instanceof Error ? error.message : String(error));
      this.#logger.warn("renewing rejected credentials failed", { error: state });
      return response;
    }
    if (renewed === credential) return response;
    discard(response);
    return await this.#sendOnce(request, renewed);
  }

  async #sendOnce(request: Replayable, credential: Credential): Promise<Response> {
    const { url, method, headers, body, signal, check, upgrade } = request;
    await this.#rateLimiter?.take(signal);
    const client = await soon(this.#connections.client(credential.certificate), signal);
    check?.();
    if (credential.authorization !== undefined) headers.set("authorization", credential.authorization.reveal());
    const user = impersonationIn(headers) ?? this.#impersonation;
    try {
      if (upgrade !== undefined) return await this.#upgrade(client, request, { ...upgrade, ...user });
      const settings = { longLived: isWatch.test(url), headers: user, responseTimeoutMs: this.#responseTimeoutMs };
      return await client.send({ method, url, headers, body, signal }, settings);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const failure = unreachable(error, `reach the API server at ${new URL(url).host}`);
      if (failure.reason.kind === "tls") this.#connections.checkSoon();
      throw failure;
    }
  }

  async #upgrade(client: HttpClient, { method, url, headers, signal }: Replayable, fields: UpgradeHeaders) {
    using limit = scope(signal, { timeoutMs: this.#responseTimeoutMs, clock: this.#clock });
    const outgoing = { method, url, headers, signal: limit.signal };
    const answer = await client.upgrade(outgoing, fields);
    return answer.kind === "refused" ? answer.response : switchedResponse(answer.headers, answer.wire);
  }
}

/** Waits for a value that is not there yet, until the abort: a file system may not answer. */
function soon<T>(value: T | Promise<T>, signal: AbortSignal): T | Promise<T> {
  return value instanceof Promise ? untilAborted(value, signal) : value;
}

/** A limit of requests: `qps` a second in the long run, `burst` after a quiet time. @throws RangeError when one is out of range */
export function rateLimiter(options: { readonly qps: number; readonly burst: number }, clock: Clock): TokenBucket {
  const { qps, burst } = options;
  if (!(qps > 0 && burst >= 1)) {
    throw new RangeError(`Cannot create transport: qps ${qps} is not above 0 or burst ${burst} is below 1`);
  }
  return new TokenBucket({ intervalMs: 1000 / qps, burst, clock });
}

/** Path and query of a URL. Its origin is replaced by that of the API server. */
function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  return start < 0 ? "/" : url.slice(start);
}

/** Options of {@link Connections}. */
interface ConnectionsOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Milliseconds between two checks of the files. */
  readonly checkEveryMs: number;
  /** Sent with every request. */
  readonly headers: HeaderLines;
}

/** The certificates in use. */
interface Certificates {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** Changes when one of the files changes. */
  readonly identity: string;
}

/** The HTTP client of one cluster, with the current certificates. */
class Connections implements Disposable {
  readonly #access: ClusterAccess;
  readonly #options: ConnectionsOptions;
  readonly #sources: readonly PemSource[];
  #certificates: Certificates | undefined;
  #client: HttpClient | undefined;
  #pluginCertificate: Credential["certificate"];
  #checkedAt = -Infinity;
  #check: Promise<void> | undefined;
  #isDisposed = false;

  constructor(access: ClusterAccess, options: ConnectionsOptions) {
    this.#access = access;
    this.#options = options;
    const { certificateAuthority, clientCertificate } = access;
    this.#sources = [certificateAuthority, clientCertificate?.certificate, clientCertificate?.key]
      .filter((source) => source !== undefined);
  }

  /** The client for the next request. @throws CredentialsError when the first read of the certificates fails. */
  client(certificate: Credential["certificate"]): HttpClient | Promise<HttpClient> {
    if (this.#certificates === undefined || this.#isDue()) return this.#checkedClient(certificate);
    return this.#current(certificate);
  }

  async #checkedClient(certificate: Credential["certificate"]): Promise<HttpClient> {
    this.#check ??= this.#checkFiles().finally(() => this.#check = undefined);
    await this.#check;
    return this.#current(certificate);
  }

  #current(certificate: Credential["certificate"]): HttpClient {
    if (this.#isDisposed) throw closedError();
    if (this.#client === undefined || !isSamePair(certificate, this.#pluginCertificate)) {
      this.#replaceClient(certificate);
    }
    if (this.#client === undefined) throw closedError();
    return this.#client;
  }

  /** Checks the files before the next request, because the verification of a certificate failed. */
  checkSoon(): void {
    this.#checkedAt = -Infinity;
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#client?.close();
    this.#client = undefined;
  }

  #isDue(): boolean {
    const hasFiles = this.#sources.some((source) => source.kind === "file");
    return hasFiles && this.#options.clock.monotonic() - this.#checkedAt >= this.#options.checkEveryMs;
  }

  async #checkFiles(): Promise<void> {
    const isFirst = this.#certificates === undefined;
    try {
      const identity = await identityOf(this.#sources);
      if (identity !== this.#certificates?.identity) {
        const before = this.#certificates;
        this.#certificates = await this.#readFiles(identity);
        if (before !== undefined && !isEqual(before, this.#certificates)) {
          this.#close();
          this.#options.logger.info("reloaded certificates");
        }
      }
    } catch (error) {
      if (isFirst) throw error;
      const state = printable(error instanceof Error ? error.message : String(error));
      this.#options.logger.warn("reloading certificates failed, using the old ones", { error: state });
    }
    this.#checkedAt = this.#options.clock.monotonic();
  }

  async #readFiles(identity: string): Promise<Certificates> {
    const { certificateAuthority, clientCertificate } = this.#access;
    const ca = await pemOf(certificateAuthority);
    const cert = await pemOf(clientCertificate?.certificate);
    const key = await pemOf(clientCertificate?.key);
    liveSecrets.add(key ?? "");
    if (cert !== undefined && key !== undefined && !isKeyPair(cert, key)) {
      throw new CredentialsError("Cannot use client certificate: it and its key are not a pair");
    }
    return { ca, cert, key, identity };
  }

  #replaceClient(certificate: Credential["certificate"]): void {
    this.#close();
    const { insecureSkipTlsVerify, serverName, proxy } = this.#access;
    this.#pluginCertificate = certificate;
    this.#client = httpClient({
      ca: this.#certificates?.ca,
      cert: certificate?.cert ?? this.#certificates?.cert,
      key: certificate?.key.reveal() ?? this.#certificates?.key,
      insecureSkipTlsVerify,
      serverName,
      proxy,
      headers: this.#options.headers,
      timers: this.#options.clock,
    });
  }

  #close(): void {
    this.#client?.close();
    this.#client = undefined;
  }
}

function closedError(): Error {
  return new Error("Cannot send request: the transport is closed");
}

function isEqual(left: Certificates, right: Certificates): boolean {
  return left.ca === right.ca && left.cert === right.cert && left.key === right.key;
}

function isSamePair(left: Credential["certificate"], right: Credential["certificate"]): boolean {
  return left?.cert === right?.cert && left?.key.reveal() === right?.key.reveal();
}

/** The password of a proxy, and what Proxy-Authorization sends of it. */
function addProxySecrets(proxy: string | undefined): void {
  const url = proxy === undefined ? null : URL.parse(proxy);
  if (url === null || url.password === "") return;
  const [username, password] = [url.username, url.password].map(unescaped);
  liveSecrets.add(url.password);
  liveSecrets.add(`${password}`);
  liveSecrets.add(toBase64(`${username}:${password}`));
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function identityOf(sources: readonly PemSource[]): Promise<string> {
  let identity = "";
  for (const source of sources) {
    if (source.kind === "file") identity += `${(await fileStat(source.path))?.identity ?? "missing"};`;
  }
  return identity;
}

async function pemOf(source: PemSource | undefined): Promise<string | undefined> {
  if (source === undefined) return undefined;
  if (source.kind === "data") return source.pem.reveal();
  let text: string;
  try {
    text = await readText(source.path, { maxBytes: 4 * 1024 * 1024, isRegular: true });
  } catch (cause) {
    throw new CredentialsError(`Cannot read "${source.path}": ${printable(String(cause))}`, { cause });
  }
  // A file that is being written may not have its end yet.
  if (hasPemBlock(text)) return text;
  throw new CredentialsError(`Cannot use "${source.path}": it has no complete PEM block`);
}

/** Takes linear time: one expression for both marks would look for the second one from each of the first ones. */
function hasPemBlock(text: string): boolean {
  const begin = text.search(/-----BEGIN [^-]+-----/);
  const end = text.lastIndexOf("-----END ");
  return begin >= 0 && end > begin && /^-----END [^-]{1,64}-----/.test(text.slice(end, end + 80));
}

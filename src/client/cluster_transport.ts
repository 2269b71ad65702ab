/**
 * clusterTransport(): the Transport to a real cluster: address, credentials, certificates, retries, time limits.
 *
 * Guarantees: credentials go to the API server's own address only, redirects are not followed; after a 401 they are
 * renewed once and the request repeated; a write is never sent twice unless the server said that it did not start, or
 * refused who sent it. Whoever made it disposes it; requests under way then end by their own signals.
 */
import { type Clock, onAbort, type Random, systemClock, systemRandom } from "../async/mod.ts";
import { type Logger, logger as loggerOf } from "../observe/mod.ts";
import { type Environment, processFacts } from "../runtime/mod.ts";
import { Connections, defaultMakeClient } from "./_connections.ts";
import { type CredentialSource, credentialSource, type Provided } from "./_credential_source.ts";
import { printable } from "./_printable.ts";
import { discard } from "./_read_body.ts";
import { sendWithRetries } from "./_retry.ts";
import { Throttle, type ThrottleOptions } from "./_throttle.ts";
import type { ClusterAccess } from "./cluster_access.ts";
import type { ExecPolicy } from "./exec_credential.ts";
import { sendGuardOf } from "./send_guard.ts";
import type { Transport } from "./transport.ts";
import { unreachable } from "./unreachable_error.ts";

/** Options of {@link clusterTransport}. */
export interface ClusterTransportOptions {
  /** Name and version of the program, `controller/1.2.3`. @default "controller" */
  readonly userAgent?: string;
  /** What exec plugins may inherit from. @default {} */
  readonly environment?: Environment;
  /** Which exec plugins may run. @default { kind: "allowAll" } */
  readonly execPolicy?: ExecPolicy;
  /** Milliseconds until an answer must have begun; 60 s is the server's own limit. @default 60_000 */
  readonly responseTimeoutMs?: number;
  /** Most tries of one request. @default 10 */
  readonly maxTries?: number;
  /** Limits how many requests are sent. @default none */
  readonly throttle?: ThrottleOptions;
  /** Milliseconds between two looks at certificate files. @default 10_000 */
  readonly checkFilesEveryMs?: number;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default systemRandom */
  readonly random?: Random;
  /** @default logger("client") */
  readonly logger?: Logger;
}

/** A Transport that holds connections. */
export type ClusterTransport = Transport & Disposable;

/**
 * Makes the transport of a cluster.
 *
 * @throws CredentialsError when a token cannot stand in a header, RangeError when an option is out of range.
 */
export function clusterTransport(access: ClusterAccess, options: ClusterTransportOptions = {}): ClusterTransport {
  const cluster = new Cluster(access, options);
  return Object.assign((request: Request) => cluster.send(request), { [Symbol.dispose]: () => cluster.close() });
}

const isWatch = /[?&]watch=(true|1)(&|$)/;

/** A request that can be sent again: its body is at hand. */
interface Replayable {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: ArrayBuffer | undefined;
  readonly signal: AbortSignal;
  /** Called before each send. */
  readonly check: (() => void) | undefined;
}

class Cluster {
  readonly #server: string;
  readonly #userAgent: string;
  readonly #source: CredentialSource;
  readonly #connections: Connections;
  readonly #throttle: Throttle | undefined;
  readonly #responseTimeoutMs: number;
  readonly #maxTries: number;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #logger: Logger;

  constructor(access: ClusterAccess, options: ClusterTransportOptions) {
    const { clock = systemClock, random = systemRandom, logger = loggerOf("client") } = options;
    const { responseTimeoutMs = 60_000, maxTries = 10, checkFilesEveryMs = 10_000, throttle } = options;
    if (!(responseTimeoutMs > 0 && maxTries >= 1)) {
      throw new RangeError("Cannot create transport: responseTimeoutMs or maxTries is not above 0");
    }
    const { environment = {}, execPolicy = { kind: "allowAll" }, userAgent = "controller" } = options;
    const { os, arch } = processFacts();
    this.#server = access.server;
    this.#userAgent = `${userAgent} (${os}/${arch}) pintle`;
    this.#source = credentialSource(access, { clock, logger, environment, execPolicy });
    this.#connections = new Connections(access, {
      clock,
      logger,
      headers: impersonationHeaders(access),
      checkEveryMs: checkFilesEveryMs,
      makeClient: defaultMakeClient,
    });
    this.#throttle = throttle === undefined ? undefined : new Throttle(throttle, clock);
    this.#responseTimeoutMs = responseTimeoutMs;
    this.#maxTries = maxTries;
    this.#clock = clock;
    this.#random = random;
    this.#logger = logger;
  }

  async send(request: Request): Promise<Response> {
    const url = this.#server + pathOf(request.url);
    const { method, headers, signal } = request;
    headers.set("user-agent", this.#userAgent);
    // Uncompressed: what is small on the wire cannot grow here, and neither side spends time on it.
    headers.set("accept-encoding", "identity");
    const body = request.body === null ? undefined : await request.arrayBuffer();
    const replayable: Replayable = { url, method, headers, body, signal, check: sendGuardOf(request) };
    return await sendWithRetries({
      method,
      contentType: headers.get("content-type"),
      signal,
      send: () => this.#sendAuthorized(replayable),
    }, { maxTries: this.#maxTries, clock: this.#clock, random: this.#random, logger: this.#logger });
  }

  close(): void {
    this.#connections[Symbol.dispose]();
  }

  /** Sends; after a 401 renews the credentials and sends once more, unless they came out the same. */
  async #sendAuthorized(request: Replayable): Promise<Response> {
    const provided = await this.#source.current(request.signal);
    const response = await this.#sendOnce(request, provided);
    if (response.status !== 401) return response;
    this.#source.refuse(provided);
    let renewed: Provided;
    try {
      renewed = await this.#source.current(request.signal);
    } catch (error) {
      if (request.signal.aborted) await discard(response);
      request.signal.throwIfAborted();
      const state = printable(error instanceof Error ? error.message : String(error));
      this.#logger.warn("credentials were refused and cannot be renewed", { error: state });
      return response;
    }
    if (renewed === provided) return response;
    await discard(response);
    return await this.#sendOnce(request, renewed);
  }

  async #sendOnce(request: Replayable, provided: Provided): Promise<Response> {
    const { url, method, headers, body, signal, check } = request;
    await this.#throttle?.take(signal);
    const client = await this.#connections.client(provided.certificate);
    check?.();
    if (provided.authorization !== undefined) headers.set("authorization", provided.authorization.reveal());
    // Follows the request's signal for as long as the body lives; both are let go together.
    const attempt = new AbortController();
    const following = onAbort(signal, () => attempt.abort(signal.reason));
    using _timer = this.#clock.timer(this.#responseTimeoutMs, () => attempt.abort(tooSlow(this.#responseTimeoutMs)));
    try {
      const longLived = isWatch.test(url);
      return await client.fetch(new Request(url, { method, headers, body, signal: attempt.signal }), { longLived });
    } catch (error) {
      following[Symbol.dispose]();
      if (signal.aborted) throw signal.reason;
      const failure = unreachable(error, `reach the API server at ${new URL(url).host}`);
      if (failure.reason.kind === "tls") this.#connections.suspect();
      throw failure;
    }
  }
}

function tooSlow(timeoutMs: number): DOMException {
  return new DOMException(`No answer within ${timeoutMs} ms`, "TimeoutError");
}

/** Path and query of a URL, whatever its origin: that one is ours to say. */
function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  return start < 0 ? "/" : url.slice(start);
}

/** @throws TypeError never for names; values are what the kubeconfig or the flags say. */
function impersonationHeaders(access: ClusterAccess): Record<string, readonly string[]> {
  const { impersonate } = access;
  const headers: Record<string, readonly string[]> = Object.create(null);
  if (impersonate === undefined) return headers;
  headers["impersonate-user"] = [impersonate.user];
  if (impersonate.uid !== undefined) headers["impersonate-uid"] = [impersonate.uid];
  if (impersonate.groups.length > 0) headers["impersonate-group"] = impersonate.groups;
  for (const [key, values] of Object.entries(impersonate.extra)) {
    // Keys are often URLs; what may not stand in a header name is percent-encoded, as the server expects.
    headers[`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`] = values;
  }
  return headers;
}

/**
 * WebhookServer: serves webhooks with TLS, from the first certificate to the last request.
 *
 * Guarantees: certificates are replaced without a failed request. On stop the server first becomes not ready, continues
 * to serve until the endpoints of its Service are updated, then finishes the open requests and closes (behaviour 73).
 * All limits of `serve()` apply.
 */
import { aborted, type Clock, scope, systemClock } from "../async/mod.ts";
import { type Logger, logger, type MetricsRegistry, type Recorder } from "../observe/mod.ts";
import { type CertificatePair, serve, type ServeLimits, type Server } from "../runtime/mod.ts";
import type { CertificateSource } from "./certificates.ts";
import { servedWebhooks, type Webhook } from "./handler.ts";

/** Options of a {@link WebhookServer}. */
export interface WebhookServerOptions {
  readonly webhooks: readonly Webhook[];
  readonly certificates: CertificateSource;
  /** The address to listen on. The API server calls from another host. @default "0.0.0.0" */
  readonly hostname?: string;
  /** 0 means any free port. @default 9443 */
  readonly port?: number;
  /** PEM text of the authorities of the API server's client certificate. @default no client certificate is requested */
  readonly clientCa?: string;
  /** With `clientCa`: the common name that the certificate must have. @default any */
  readonly clientName?: string;
  /** Milliseconds to keep serving after the stop, while the endpoints are updated. @default 5000 */
  readonly drainDelayMs?: number;
  /** Milliseconds that open requests then get. @default 10000 */
  readonly graceMs?: number;
  /** @default those of `serve()`, with 12 MiB for the bodies in memory, and 1000 connections */
  readonly limits?: Partial<ServeLimits>;
  /** @default none */
  readonly metrics?: MetricsRegistry;
  /** Records each review with its answer. @default nothing is recorded */
  readonly recorder?: Recorder;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default logger("webhook") */
  readonly log?: Logger;
}

/** Options of {@link WebhookServer.run}. */
export interface WebhookRunOptions {
  /** Closes everything at once. @default never */
  readonly kill?: AbortSignal;
}

/** A large body becomes ten times as many bytes of objects; the ones behind it wait as bytes. */
const maxBufferedBytes = 12 * 1024 * 1024;
/**
 * An API server sends up to 200 changes at the same time (`--max-mutating-requests-inflight`), each on a connection of its
 * own, and there are three or more of them. Ending a connection that seems to wait loses the call that is on its way.
 * 1000 connections take about 35 MiB.
 */
const maxConnections = 1_000;

const never = new AbortController().signal;

/** Serves webhooks until it is stopped. */
export class WebhookServer {
  readonly #options: WebhookServerOptions;
  readonly #clock: Clock;
  readonly #log: Logger;
  #server: Server | undefined;
  #isReady = false;
  #hasRun = false;

  constructor(options: WebhookServerOptions) {
    const { clock = systemClock, log = logger("webhook") } = options;
    this.#options = options;
    this.#clock = clock;
    this.#log = log;
  }

  /** True while it serves and is not stopping. The readiness probe uses it. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** The port it listens on; undefined when it does not run. */
  get port(): number | undefined {
    return this.#server?.port;
  }

  /**
   * Serves from the first certificate until `stop` aborts, and returns after the last response.
   *
   * @throws PortInUseError, the errors of the certificate source; TypeError on a second call
   */
  async run(stop: AbortSignal, options: WebhookRunOptions = {}): Promise<void> {
    const { kill = never } = options;
    const { certificates, drainDelayMs = 5_000, graceMs = 10_000 } = this.#options;
    if (this.#hasRun) throw new TypeError("Cannot run webhook server: it has run already");
    this.#hasRun = true;
    // Certificates are also replaced during the drain.
    using keeping = scope(kill, { clock: this.#clock });
    using stopping = aborted(stop);
    using killed = aborted(kill);
    const stopped = Promise.race([stopping, killed]);
    const kept = this.#keep(certificates, keeping.signal);
    try {
      await Promise.race([stopped, kept.then(() => stopped)]);
      this.#isReady = false;
      await this.#server?.drain({ delayMs: drainDelayMs, graceMs }, kill);
    } finally {
      keeping.abort();
      // The server may have started only now.
      await kept.catch(() => {});
      this.#isReady = false;
      await this.#server?.close();
      this.#server = undefined;
    }
  }

  async #keep(certificates: CertificateSource, signal: AbortSignal): Promise<void> {
    for await (const pair of certificates.pairs(signal)) {
      if (signal.aborted) return;
      if (this.#server === undefined) await this.#listen(pair);
      else {
        this.#server.replaceCertificate(pair);
        this.#log.info("replaced the webhook certificate");
      }
    }
  }

  async #listen(pair: CertificatePair): Promise<void> {
    const { webhooks, hostname = "0.0.0.0", port = 9443, limits, clientCa, clientName, metrics, recorder } =
      this.#options;
    const log = this.#log;
    const { handler, readsBody } = servedWebhooks(webhooks, { clientName, metrics, recorder, clock: this.#clock, log });
    this.#server = await serve({
      hostname,
      port,
      limits: { maxBufferedBytes, maxConnections, ...limits },
      clock: this.#clock,
      tls: { ...pair, clientCa },
      handler,
      readsBody,
      onError: (error) => log.error("webhook request failed", { error }),
    });
    this.#isReady = true;
    log.info("serving webhooks", { hostname, port: this.#server.port });
  }
}

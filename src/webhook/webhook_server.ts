/**
 * WebhookServer: webhooks behind TLS, from the first certificate to the last request.
 *
 * Guarantees: certificates are replaced while it serves, without a failed request; on stop it first says that it is not
 * ready, serves on until the endpoints of its Service have followed, then finishes what is in flight and closes
 * (behaviours.md 73). All limits are those of `serve()`.
 */
import { aborted, type Clock, scope, systemClock } from "../async/mod.ts";
import { type Logger, logger, type MetricsRegistry } from "../observe/mod.ts";
import { type CertificatePair, serve, type ServeLimits, type Server } from "../runtime/mod.ts";
import type { CertificateSource } from "./certificate_source.ts";
import { type Webhook, webhookHandler } from "./handler.ts";

/** Options of a {@link WebhookServer}. */
export interface WebhookServerOptions {
  readonly webhooks: readonly Webhook[];
  readonly certificates: CertificateSource;
  /** The address to listen on. The API server calls from elsewhere. @default "0.0.0.0" */
  readonly hostname?: string;
  /** 0: any that is free. @default 9443 */
  readonly port?: number;
  /** PEM text of the authorities that sign the API server's client certificate. @default clients are not asked */
  readonly clientCa?: string;
  /** With `clientCa`: the common name that certificate must have. @default any */
  readonly clientName?: string;
  /** Milliseconds of service after the stop, while endpoints propagate. @default 5000 */
  readonly drainDelayMs?: number;
  /** Milliseconds requests in flight then get. @default 10000 */
  readonly graceMs?: number;
  readonly limits?: Partial<ServeLimits>;
  /** @default nowhere */
  readonly metrics?: MetricsRegistry;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default logger("webhook") */
  readonly log?: Logger;
}

/** Ends a stop that takes too long. */
export interface WebhookRunOptions {
  /** Cuts off everything at once. @default never */
  readonly kill?: AbortSignal;
}

const never = new AbortController().signal;

/** Serves webhooks until told to stop. */
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

  /** It answers, and was not told to stop: what the readiness probe asks. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** The port it listens on; undefined before and after. */
  get port(): number | undefined {
    return this.#server?.port;
  }

  /**
   * Serves from the first certificate until `stop` aborts, and returns when the last request is answered.
   *
   * @throws PortInUseError, what the certificates' source throws; TypeError when called twice
   */
  async run(stop: AbortSignal, options: WebhookRunOptions = {}): Promise<void> {
    const { kill = never } = options;
    const { certificates, drainDelayMs = 5_000, graceMs = 10_000 } = this.#options;
    if (this.#hasRun) throw new TypeError("Cannot run webhook server: it has run already");
    this.#hasRun = true;
    // Certificates are kept up to date while it drains, too.
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
      // A server that was just being started is there only now.
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
        this.#log.info("The webhook certificate was replaced");
      }
    }
  }

  async #listen(pair: CertificatePair): Promise<void> {
    const { webhooks, hostname = "0.0.0.0", port = 9443, limits, clientCa, clientName, metrics } = this.#options;
    const log = this.#log;
    const handler = webhookHandler(webhooks, { clientName, metrics, clock: this.#clock, log });
    this.#server = await serve({
      hostname,
      port,
      limits,
      clock: this.#clock,
      tls: { ...pair, clientCa },
      handler,
      onError: (error) => log.error("A webhook request failed", { error }),
    });
    this.#isReady = true;
    log.info("Webhooks are served", { hostname, port: this.#server.port });
  }
}

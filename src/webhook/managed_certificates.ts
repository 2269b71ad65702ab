/**
 * managedCertificates(): webhook certificates without another component. They are made here, kept in one Secret that all
 * replicas share, published in the webhook configurations and rotated at two thirds of their life.
 *
 * Guarantees: the API server is told of a new authority, beside the old one, before any replica serves a certificate of it
 * (behaviours.md 72); replicas that start at the same time agree on one Secret; a rotation that was interrupted is continued
 * by whoever comes next; a bundle that somebody overwrote is put back at the next poll.
 *
 * Caveats: a pair that has expired is replaced at once, without the step in between, for it serves nobody.
 */
import { builtin, splitKey } from "../api/mod.ts";
import { type Clock, systemClock } from "../async/mod.ts";
import { type Client, isAlreadyExists, isConflict } from "../client/mod.ts";
import { type Gauge, type Logger, logger, MetricsRegistry } from "../observe/mod.ts";
import type { CertificatePair } from "../runtime/mod.ts";
import {
  type CertificateState,
  covers,
  freshSecret,
  promotedSecret,
  replacedSecret,
  stagedSecret,
  stateOf,
  type StoredPair,
} from "./_certificate_secret.ts";
import { issueCertificates } from "./_issue_certificates.ts";
import type { ConfigurationTarget } from "./_live_configuration.ts";
import { publishCaBundle } from "./_publish_ca_bundle.ts";
import type { CertificateSource } from "./certificate_source.ts";

/** Options of {@link managedCertificates}. */
export interface ManagedCertificatesOptions {
  readonly client: Client;
  /** `namespace/name` of the Secret. It is created when there is none. */
  readonly secret: string;
  /** DNS names and addresses under which the API server calls; see {@link serviceHosts}. */
  readonly hosts: readonly string[];
  /** The configurations that carry the bundle; see `configurationTargets`. */
  readonly targets: readonly ConfigurationTarget[];
  /** Whether this replica rotates. The first certificate, and an overdue one, is made by any. @default always */
  readonly isLeader?: () => boolean;
  /** Milliseconds a certificate is valid, a year at most. @default 365 days */
  readonly lifetimeMs?: number;
  /** Milliseconds between two looks at the Secret and the configurations. @default 60000 */
  readonly pollMs?: number;
  /** Milliseconds from publishing an authority until a certificate of it is served. @default 30000 */
  readonly settleMs?: number;
  /** Where `pintle_webhook_certificate_expiration_timestamp_seconds` is kept. @default nowhere */
  readonly metrics?: MetricsRegistry;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default logger("webhook") */
  readonly log?: Logger;
}

const yearMs = 365 * 24 * 3_600_000;
/** Milliseconds until the next try when the API server could not be reached or said no. */
const retryMs = 5_000;
/** Milliseconds until the next look after a step was made. */
const soonMs = 100;

/** The names by which an API server calls a Service. */
export function serviceHosts(service: { readonly namespace: string; readonly name: string }): readonly string[] {
  const { namespace, name } = service;
  return [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`, `${name}.${namespace}`];
}

/** Certificates that this operator makes for itself. @throws RangeError when they would live longer than a year */
export function managedCertificates(options: ManagedCertificatesOptions): CertificateSource {
  const { lifetimeMs = yearMs, hosts, secret } = options;
  if (!(lifetimeMs > 0 && lifetimeMs <= yearMs)) {
    throw new RangeError(`Cannot manage certificates in Secret "${secret}": lifetime ${lifetimeMs} ms is above a year`);
  }
  if (hosts.length === 0) throw new TypeError(`Cannot manage certificates in Secret "${secret}": there are no hosts`);
  return { pairs: (signal) => new ManagedCertificates(options, signal).pairs() };
}

class ManagedCertificates {
  readonly #options: ManagedCertificatesOptions;
  readonly #signal: AbortSignal;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #expiry: Gauge;
  /** The bundle that is known to be everywhere, and since when (monotonic). */
  #published: { readonly bundle: string; readonly at: number } | undefined;
  #served: CertificatePair | undefined;

  constructor(options: ManagedCertificatesOptions, signal: AbortSignal) {
    const { clock = systemClock, log = logger("webhook"), metrics = new MetricsRegistry() } = options;
    this.#options = options;
    this.#signal = signal;
    this.#clock = clock;
    this.#log = log;
    this.#expiry = metrics.gauge({
      name: "pintle_webhook_certificate_expiration_timestamp_seconds",
      help: "When the certificate that webhooks are served with ends to be valid, in seconds since the epoch",
    }).labels({});
  }

  async *pairs(): AsyncGenerator<CertificatePair, void, void> {
    while (!this.#signal.aborted) {
      const { current, nextLookMs } = await this.#look();
      if (this.#signal.aborted) return;
      if (current !== undefined && this.#lifeLeft(current) > 0 && current.cert !== this.#served?.cert) {
        this.#expiry.set(current.facts.notAfter / 1000);
        yield this.#served = { cert: current.cert, key: current.key };
      }
      await this.#clock.sleep(nextLookMs, this.#signal).catch(() => {});
    }
  }

  /** One look at everything, and at most one step forward. What fails does not keep a good certificate from serving. */
  async #look(): Promise<{ readonly current?: StoredPair; readonly nextLookMs: number }> {
    const { client, secret: key } = this.#options;
    let current: StoredPair | undefined;
    try {
      const secret = await client.find(builtin.Secret, key, { signal: this.#signal }) ?? await this.#create();
      if (secret === undefined) return { nextLookMs: soonMs };
      const state = await stateOf(secret);
      current = state.current;
      return { current, nextLookMs: await this.#advance(secret, state) };
    } catch (error) {
      if (!this.#signal.aborted) this.#log.error("Cannot keep the webhook certificate", { secret: key, error });
      return { current, nextLookMs: retryMs };
    }
  }

  /** @returns milliseconds until the next look */
  async #advance(secret: builtin.Secret, state: CertificateState): Promise<number> {
    const { client, secret: key, pollMs = 60_000, settleMs = 30_000 } = this.#options;
    if (await this.#prepare(secret, state)) return soonMs;
    await this.#publish(state);
    const { current, next } = state;
    if (next === undefined || !this.#mayRotate(current)) return pollMs;
    const leftMs = settleMs - (this.#clock.monotonic() - (this.#published?.at ?? 0));
    if (leftMs > 0) return Math.min(leftMs, pollMs);
    await this.#write(() => client.update(builtin.Secret, promotedSecret(secret, next), { signal: this.#signal }));
    this.#log.info("The next webhook certificate is in use", { secret: key });
    return soonMs;
  }

  /** Makes what is missing: a usable pair, or the next one when it is time. @returns whether the Secret was changed */
  async #prepare(secret: builtin.Secret, state: CertificateState): Promise<boolean> {
    const { client } = this.#options;
    const { current, next } = state;
    const signal = this.#signal;
    if (current === undefined || this.#lifeLeft(current) <= 0) {
      const issued = await this.#issue();
      await this.#write(() => client.update(builtin.Secret, replacedSecret(secret, state, issued), { signal }));
      return true;
    }
    if (!this.#isDue(current)) return false;
    if (this.#lifeLeft(current) < 1 / 6) this.#log.error("The webhook certificate is overdue", this.#expiryOf(current));
    if (!this.#mayRotate(current) || (next !== undefined && !this.#isDue(next))) return false;
    const issued = await this.#issue();
    await this.#write(() => client.update(builtin.Secret, stagedSecret(secret, state, issued), { signal }));
    this.#log.info("The next webhook certificate is made", this.#expiryOf(current));
    return true;
  }

  async #create(): Promise<builtin.Secret | undefined> {
    const { client, secret: key } = this.#options;
    const { namespace, name } = splitKey(key);
    const issued = await this.#issue();
    let created: builtin.Secret | undefined;
    await this.#write(async () => {
      created = await client.create(builtin.Secret, freshSecret({ namespace, name }, issued), { signal: this.#signal });
    });
    return created;
  }

  /** Writes, unless another replica was first: then the next look shows what it wrote. */
  async #write(write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (!isConflict(error) && !isAlreadyExists(error)) throw error;
    }
  }

  async #publish(state: CertificateState): Promise<void> {
    const { client, targets } = this.#options;
    const bundle = state.authorities.join("");
    const options = { client, targets, clock: this.#clock, signal: this.#signal };
    const changed = await publishCaBundle(bundle, options);
    if (changed > 0) this.#log.info("The webhook authorities are published", { configurations: changed });
    // Somebody had overwritten it: the time it needs to be known starts again.
    if (changed > 0 || this.#published?.bundle !== bundle) this.#published = { bundle, at: this.#clock.monotonic() };
  }

  #issue() {
    const { hosts, lifetimeMs = yearMs } = this.#options;
    return issueCertificates({ hosts, now: this.#clock.now(), lifetimeMs });
  }

  #mayRotate(current: StoredPair | undefined): boolean {
    const { isLeader = () => true } = this.#options;
    return isLeader() || current === undefined || this.#lifeLeft(current) < 1 / 6;
  }

  /** It is time for another: two thirds of its life are over, or it lacks a name. */
  #isDue(pair: StoredPair): boolean {
    return this.#lifeLeft(pair) <= 1 / 3 || !covers(pair, this.#options.hosts);
  }

  /** From 1 when new to 0 when expired. */
  #lifeLeft(pair: StoredPair): number {
    const { notBefore, notAfter } = pair.facts;
    return (notAfter - this.#clock.now()) / (notAfter - notBefore);
  }

  #expiryOf(pair: StoredPair) {
    return { secret: this.#options.secret, expiresAt: new Date(pair.facts.notAfter).toISOString() };
  }
}

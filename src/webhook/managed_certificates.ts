/**
 * managedCertificates(): webhook certificates without another component. This file issues them, stores them in one Secret
 * that all replicas share, publishes them in the webhook configurations, and rotates them at two thirds of their life.
 *
 * A rotation is three writes: store the next pair and its authority beside the current ones; publish both authorities;
 * replace the current pair by the next one. Any replica can continue an interrupted rotation, and two replicas that try
 * the same step get a conflict.
 *
 * Guarantees: a new authority is published beside the old one before any replica serves its certificate (behaviour 72).
 * Replicas that start at the same time agree on one Secret. An overwritten bundle is restored at the next poll.
 *
 * Caveats: a pair that no client accepts is replaced at once, without the publishing step: an expired one, one that is
 * not valid yet because the clock of its issuer was ahead, and one whose authority is not in the Secret.
 */
import { builtin, type ObjectMeta, splitKey } from "../api/mod.ts";
import { type Clock, systemClock } from "../async/mod.ts";
import { type Client, isAlreadyExists, isConflict } from "../client/mod.ts";
import { type Gauge, liveSecrets, type Logger, logger, MetricsRegistry } from "../observe/mod.ts";
import { type CertificatePair, fromBase64, isKeyPair, toBase64 } from "../runtime/mod.ts";
import {
  canonicalHost,
  certificateExpiry,
  type CertificateFacts,
  certificateFacts,
  type CertificateSource,
  isIssuedBy,
  issueCertificates,
  type IssuedCertificates,
} from "./certificates.ts";
import { type ConfigurationTarget, publishCaBundle } from "./live_configuration.ts";

/** Options of {@link managedCertificates}. */
export interface ManagedCertificatesOptions {
  readonly client: Client;
  /** `namespace/name` of the Secret. It is created if missing. */
  readonly secret: string;
  /** DNS names and addresses that the API server calls; see {@link serviceHosts}. */
  readonly hosts: readonly string[];
  /** The configurations that hold the bundle; see `configurationTargets`. */
  readonly targets: readonly ConfigurationTarget[];
  /** The Service that the API server calls; entries with another Service belong to another installation. @default any */
  readonly service?: { readonly namespace: string; readonly name: string };
  /** Whether this replica rotates. Any replica issues the first certificate and an overdue one. @default always */
  readonly isLeader?: () => boolean;
  /** Validity of a certificate in milliseconds, at most one year. @default 365 days */
  readonly lifetimeMs?: number;
  /** Milliseconds between two polls of the Secret and the configurations. @default 60000 */
  readonly pollMs?: number;
  /** Milliseconds between publishing an authority and serving a certificate of it. @default 30000 */
  readonly settleMs?: number;
  /** The registry for `pintle_certificate_expiration_timestamp_seconds`. @default none */
  readonly metrics?: MetricsRegistry;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default logger("webhook") */
  readonly log?: Logger;
}

const yearMs = 365 * 24 * 3_600_000;
/** Milliseconds until the next poll after a failed request. */
const retryMs = 5_000;
/** Milliseconds until the next poll after a step of a rotation. */
const soonMs = 100;

/** The host names of a Service, as an API server calls it. */
export function serviceHosts(service: { readonly namespace: string; readonly name: string }): readonly string[] {
  const { namespace, name } = service;
  return [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`, `${name}.${namespace}`];
}

/** A source of certificates that the operator issues itself. @throws RangeError when lifetimeMs is above a year */
export function managedCertificates(options: ManagedCertificatesOptions): CertificateSource {
  const { lifetimeMs = yearMs, hosts, secret } = options;
  if (!(lifetimeMs > 0 && lifetimeMs <= yearMs)) {
    throw new RangeError(`Cannot manage certificates in Secret "${secret}": lifetime ${lifetimeMs} ms is above a year`);
  }
  if (hosts.length === 0) throw new TypeError(`Cannot manage certificates in Secret "${secret}": there are no hosts`);
  return { pairs: (signal) => new ManagedCertificates(options, signal).pairs() };
}

/**
 * Publishes the authorities that a Secret of {@link managedCertificates} holds, as the controllers do when they run.
 *
 * @returns The number of changed configurations; undefined when the Secret does not exist or has no authority
 */
export async function publishStoredAuthorities(
  options: Pick<ManagedCertificatesOptions, "client" | "secret" | "targets"> & {
    readonly clock: Clock;
    readonly signal: AbortSignal;
  },
): Promise<number | undefined> {
  const { client, secret: key, targets, clock, signal } = options;
  const secret = await client.find(builtin.Secret, key, { signal });
  const { authorities } = secret === undefined ? { authorities: [] } : await stateOf(secret, clock.now());
  return authorities.length === 0
    ? undefined
    : await publishCaBundle(authorities.join(""), { client, targets, clock, signal });
}

class ManagedCertificates {
  readonly #options: ManagedCertificatesOptions;
  readonly #signal: AbortSignal;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #expiry: Gauge;
  /** The bundle that is in all configurations, and since when (monotonic time). */
  #published: { readonly bundle: string; readonly at: number } | undefined;
  #served: CertificatePair | undefined;

  constructor(options: ManagedCertificatesOptions, signal: AbortSignal) {
    const { clock = systemClock, log = logger("webhook"), metrics = new MetricsRegistry() } = options;
    this.#options = options;
    this.#signal = signal;
    this.#clock = clock;
    this.#log = log;
    this.#expiry = certificateExpiry(metrics, "webhook");
  }

  async *pairs(): AsyncGenerator<CertificatePair, void, void> {
    while (!this.#signal.aborted) {
      const { current, nextPollMs } = await this.#poll();
      if (this.#signal.aborted) return;
      if (current !== undefined && this.#lifeLeft(current) > 0 && current.cert !== this.#served?.cert) {
        this.#expiry.set(current.facts.notAfter / 1000);
        yield this.#served = { cert: current.cert, key: current.key };
      }
      await this.#clock.sleep(nextPollMs, this.#signal).catch(() => {});
    }
  }

  /** Reads the Secret and does at most one step. A failure does not stop a valid certificate from being served. */
  async #poll(): Promise<{ readonly current?: StoredPair; readonly nextPollMs: number }> {
    const { client, secret: key } = this.#options;
    let current: StoredPair | undefined;
    try {
      const secret = await client.find(builtin.Secret, key, { signal: this.#signal }) ?? await this.#create();
      if (secret === undefined) return { nextPollMs: soonMs };
      const state = await stateOf(secret, this.#clock.now());
      current = state.current;
      return { current, nextPollMs: await this.#advance(secret, state) };
    } catch (error) {
      if (!this.#signal.aborted) this.#log.error("managing the webhook certificate failed", { secret: key, error });
      return { current, nextPollMs: retryMs };
    }
  }

  /** @returns milliseconds until the next poll */
  async #advance(secret: builtin.Secret, state: CertificateState): Promise<number> {
    const { client, secret: key, pollMs = 60_000, settleMs = 30_000 } = this.#options;
    if (await this.#prepare(secret, state)) return soonMs;
    await this.#publish(state);
    const { current, next } = state;
    if (next === undefined || !this.#mayRotate(current)) return pollMs;
    const leftMs = settleMs - (this.#clock.monotonic() - (this.#published?.at ?? 0));
    if (leftMs > 0) return Math.min(leftMs, pollMs);
    await this.#write(() => client.update(builtin.Secret, promotedSecret(secret, next), { signal: this.#signal }));
    this.#log.info("using the next webhook certificate", { secret: key });
    return soonMs;
  }

  /** Issues what is missing: a usable pair, or the next one when it is due. @returns whether it wrote the Secret */
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
    if (this.#lifeLeft(current) < 1 / 6) this.#log.error("webhook certificate overdue", this.#expiryOf(current));
    if (!this.#mayRotate(current) || (next !== undefined && !this.#isDue(next))) return false;
    const issued = await this.#issue();
    await this.#write(() => client.update(builtin.Secret, stagedSecret(secret, state, issued), { signal }));
    this.#log.info("issued the next webhook certificate", this.#expiryOf(current));
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

  /** Writes, and ignores the conflict when another replica was faster: the next poll reads its result. */
  async #write(write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (!isConflict(error) && !isAlreadyExists(error)) throw error;
    }
  }

  async #publish(state: CertificateState): Promise<void> {
    const { client, targets, service } = this.#options;
    const bundle = state.authorities.join("");
    const options = { client, targets, service, clock: this.#clock, signal: this.#signal };
    const changed = await publishCaBundle(bundle, options);
    if (changed > 0) this.#log.info("published the webhook authorities", { configurations: changed });
    // After a change, which may restore an overwritten bundle, the settling time starts again.
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

  /** True when two thirds of the life are over, or a host is missing. */
  #isDue(pair: StoredPair): boolean {
    return this.#lifeLeft(pair) <= 1 / 3 || !covers(pair, this.#options.hosts);
  }

  /** 1 when new, 0 when expired. */
  #lifeLeft(pair: StoredPair): number {
    const { notBefore, notAfter } = pair.facts;
    return (notAfter - this.#clock.now()) / (notAfter - notBefore);
  }

  #expiryOf(pair: StoredPair) {
    return { secret: this.#options.secret, expiresAt: new Date(pair.facts.notAfter).toISOString() };
  }
}

/** A key pair with the facts of its certificate. */
interface StoredPair {
  readonly cert: string;
  readonly key: string;
  readonly facts: CertificateFacts;
}

/** The content of the Secret. */
interface CertificateState {
  /** The pair in use; absent when the Secret has no usable one. */
  readonly current?: StoredPair;
  /** The next pair. It is used when its authority is published everywhere. */
  readonly next?: StoredPair;
  /** The authorities, newest first. PEM. */
  readonly authorities: readonly string[];
}

/** The keys in the data of the Secret. `kubernetes.io/tls` defines the first two. */
const fields = {
  cert: "tls.crt",
  key: "tls.key",
  nextCert: "next-tls.crt",
  nextKey: "next-tls.key",
  authorities: "ca.crt",
} as const;

/** Reads the state. Invalid fields count as absent, and so do pairs that no client accepts, unless they have expired. */
async function stateOf(secret: builtin.Secret, now: number): Promise<CertificateState> {
  const data = secret.data ?? {};
  for (const field of [fields.key, fields.nextKey]) liveSecrets.add(decoded(data[field] ?? ""));
  const read = (field: string) => Object.hasOwn(data, field) ? decoded(data[field] ?? "") : "";
  const blocks = read(fields.authorities).match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g) ?? [];
  const authorities: string[] = [];
  for (const block of blocks) if (await certificateFacts(block) !== undefined) authorities.push(block);
  // If the clock of this process is behind, the server's clock proves that a pair is valid already.
  const latest = Math.max(now, writtenAt(secret));
  const usable = async (cert: string, key: string) => {
    const pair = await pairOf(cert, key);
    if (pair === undefined || pair.facts.notBefore > latest) return undefined;
    return await isIssuedBy(pair.cert, authorities) ? pair : undefined;
  };
  return {
    current: await usable(read(fields.cert), read(fields.key)),
    next: await usable(read(fields.nextCert), read(fields.nextKey)),
    authorities,
  };
}

/** When the API server stored an object the last time, by its own clock; -Infinity if it does not say. */
function writtenAt({ metadata }: builtin.Secret): number {
  const times = [metadata.creationTimestamp, ...(metadata.managedFields ?? []).map(({ time }) => time)];
  const instants = times.map((time) => Date.parse(String(time)));
  return Math.max(...instants.filter((instant) => !Number.isNaN(instant)));
}

/** A new Secret whose pair is in use at once. */
function freshSecret(
  metadata: ObjectMeta,
  issued: IssuedCertificates,
): { readonly metadata: ObjectMeta; readonly type: string; readonly data: Readonly<Record<string, string>> } {
  return {
    metadata,
    type: "kubernetes.io/tls",
    data: dataOf({ [fields.cert]: issued.cert, [fields.key]: issued.key, [fields.authorities]: issued.ca }),
  };
}

/** The Secret with `issued` in use at once, for a Secret without a usable pair. */
function replacedSecret(
  secret: builtin.Secret,
  state: CertificateState,
  issued: IssuedCertificates,
): builtin.Secret {
  const data = dataOf({
    [fields.cert]: issued.cert,
    [fields.key]: issued.key,
    [fields.authorities]: withAuthority(state, issued),
  });
  return { ...secret, data: { ...withoutNext(secret), ...data } };
}

/** The Secret with `issued` as its next pair. */
function stagedSecret(
  secret: builtin.Secret,
  state: CertificateState,
  issued: IssuedCertificates,
): builtin.Secret {
  const data = dataOf({
    [fields.nextCert]: issued.cert,
    [fields.nextKey]: issued.key,
    [fields.authorities]: withAuthority(state, issued),
  });
  return { ...secret, data: { ...secret.data, ...data } };
}

/** The Secret whose next pair has become the current one. */
function promotedSecret(secret: builtin.Secret, next: StoredPair): builtin.Secret {
  return {
    ...secret,
    data: { ...withoutNext(secret), ...dataOf({ [fields.cert]: next.cert, [fields.key]: next.key }) },
  };
}

/** True when the pair is valid for all of `hosts`. */
function covers(pair: StoredPair, hosts: readonly string[]): boolean {
  return hosts.every((host) => pair.facts.hosts.includes(canonicalHost(host)));
}

/** The bundle holds two authorities: no replica serves a certificate of an older one. */
function withAuthority(state: CertificateState, issued: IssuedCertificates): string {
  return issued.ca + (state.authorities[0] ?? "");
}

function withoutNext(secret: builtin.Secret): Readonly<Record<string, string>> {
  const present = Object.entries(secret.data ?? {});
  return Object.fromEntries(present.filter(([field]) => field !== fields.nextCert && field !== fields.nextKey));
}

async function pairOf(cert: string, key: string): Promise<StoredPair | undefined> {
  if (!isKeyPair(cert, key)) return undefined;
  const facts = await certificateFacts(cert);
  return facts === undefined ? undefined : { cert, key, facts };
}

function dataOf(texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(texts).map(([field, text]) => [field, toBase64(text)]),
  );
}

function decoded(base64: string): string {
  try {
    return new TextDecoder().decode(fromBase64(base64));
  } catch {
    return "";
  }
}

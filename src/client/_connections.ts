/**
 * Connections: the HTTP client for the certificates that are valid now. Certificates in files are looked at again every
 * 10 s; when one changed, new requests get a client with the new ones, and the old one closes its connections as their
 * requests end (behaviours.md 78).
 *
 * Guarantees: a pair that is half written, or not PEM, leaves the old one in use.
 */
import type { Clock } from "../async/mod.ts";
import type { Logger } from "../observe/mod.ts";
import { fileStat, type HttpClient, httpClient, type HttpClientOptions, isKeyPair, readText } from "../runtime/mod.ts";
import type { Provided } from "./_credential_source.ts";
import { printable } from "./_printable.ts";
import type { ClusterAccess, PemSource } from "./cluster_access.ts";
import { CredentialsError } from "./credentials_error.ts";

/** Options of {@link Connections}. */
export interface ConnectionsOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  /** Milliseconds between two looks at the files. */
  readonly checkEveryMs: number;
  /** Makes the clients; a parameter for tests. */
  readonly makeClient: (options: HttpClientOptions) => HttpClient;
}

/** The default of `makeClient`. */
export const defaultMakeClient = httpClient;

interface Material {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** Changes when one of the files does. */
  readonly identity: string;
}

/** Keeps the HTTP client of one cluster. */
export class Connections implements Disposable {
  readonly #access: ClusterAccess;
  readonly #options: ConnectionsOptions;
  readonly #sources: readonly PemSource[];
  #material: Material | undefined;
  #client: HttpClient | undefined;
  #pluginCert: string | undefined;
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

  /** The client to send with now. @throws CredentialsError when the certificates cannot be read the first time. */
  async client(certificate: Provided["certificate"]): Promise<HttpClient> {
    if (this.#isDisposed) throw new Error("Cannot send request: the transport is closed");
    if (this.#material === undefined || this.#isDue()) {
      this.#check ??= this.#look().finally(() => this.#check = undefined);
      await this.#check;
    }
    if (this.#client === undefined || certificate?.cert !== this.#pluginCert) this.#renew(certificate);
    if (this.#client === undefined) throw new Error("Cannot send request: the transport is closed");
    return this.#client;
  }

  /** Looks at the files before the next request, whenever the last look was: trust has just failed. */
  suspect(): void {
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

  async #look(): Promise<void> {
    const isFirst = this.#material === undefined;
    try {
      const identity = await identityOf(this.#sources);
      if (identity !== this.#material?.identity) {
        this.#material = await this.#read(identity);
        this.#close();
        if (!isFirst) this.#options.logger.info("certificates changed, new connections use them");
      }
    } catch (error) {
      if (isFirst) throw error;
      const state = printable(error instanceof Error ? error.message : String(error));
      this.#options.logger.warn("changed certificates cannot be used, the old ones stay in use", { error: state });
    }
    this.#checkedAt = this.#options.clock.monotonic();
  }

  async #read(identity: string): Promise<Material> {
    const { certificateAuthority, clientCertificate } = this.#access;
    const ca = await pemOf(certificateAuthority);
    const cert = await pemOf(clientCertificate?.certificate);
    const key = await pemOf(clientCertificate?.key);
    if (cert !== undefined && key !== undefined && !isKeyPair(cert, key)) {
      throw new CredentialsError("Cannot use client certificate: it and its key are not a pair");
    }
    return { ca, cert, key, identity };
  }

  #renew(certificate: Provided["certificate"]): void {
    this.#close();
    const { insecureSkipTlsVerify, serverName, proxy } = this.#access;
    this.#pluginCert = certificate?.cert;
    this.#client = this.#options.makeClient({
      ca: this.#material?.ca,
      cert: certificate?.cert ?? this.#material?.cert,
      key: certificate?.key.reveal() ?? this.#material?.key,
      insecureSkipTlsVerify,
      serverName,
      proxy,
      headers: this.#options.headers,
    });
  }

  #close(): void {
    this.#client?.close();
    this.#client = undefined;
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
    text = await readText(source.path, { maxBytes: 4 * 1024 * 1024 });
  } catch (cause) {
    throw new CredentialsError(`Cannot read "${source.path}": ${printable(String(cause))}`, { cause });
  }
  // A file that is being written ends early.
  if (/-----BEGIN [^-]+-----[^]+-----END [^-]+-----/.test(text)) return text;
  throw new CredentialsError(`Cannot use "${source.path}": it has no whole PEM block`);
}

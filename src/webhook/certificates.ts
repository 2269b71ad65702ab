/**
 * Certificates of webhook servers: where a server gets them from (CertificateSource), and how to issue one. A source is
 * a folder (`certificate_files.ts`), a Secret that the replicas share (`managed_certificates.ts`), or fixedCertificate().
 *
 * Guarantees: each certificate has its own authority, whose private key is discarded at once and cannot be stolen. The
 * X.509 library is loaded on first use, so a command without webhooks does not pay for it.
 */
import type { Gauge, MetricsRegistry } from "../observe/mod.ts";
import type { CertificatePair } from "../runtime/mod.ts";
import { toBase64, toHex } from "../runtime/mod.ts";

/** Options of {@link issueCertificates}. */
export interface IssueOptions {
  /** DNS names and IP addresses of the server. The first one becomes the common name. */
  readonly hosts: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Milliseconds from `now` to the end of validity. */
  readonly lifetimeMs: number;
  /** A client has a name, the first of `hosts`, and no hosts. @default "server" */
  readonly usage?: "server" | "client";
}

/** A serving certificate and the authority that signed it, as PEM text. */
export interface IssuedCertificates extends CertificatePair {
  readonly ca: string;
}

/** Validity and hosts of a certificate. */
export interface CertificateFacts {
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly hosts: readonly string[];
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** A certificate is valid from five minutes before its creation, because clocks differ. */
const backdatedMs = 5 * 60_000;

/** Creates an authority and a certificate of a server, or of a client, that it signs. */
export async function issueCertificates(options: IssueOptions): Promise<IssuedCertificates> {
  const x509 = await library();
  const { hosts, now, lifetimeMs, usage = "server" } = options;
  const { serverAuth, clientAuth } = x509.ExtendedKeyUsage;
  const [commonName = "webhook"] = hosts;
  const validity = { notBefore: new Date(now - backdatedMs), notAfter: new Date(now + lifetimeMs) };
  const [caKeys, keys] = await Promise.all([makeKeys(), makeKeys()]);
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity,
    // Two authorities may be in one bundle, during a rotation or for servers and clients, and some TLS libraries find an
    // authority by its name alone. So each one has a different name, also of the same millisecond.
    name: `CN=pintle webhook authority ${new Date(now).toISOString()} ${serialNumber().slice(0, 8)}`.replaceAll(
      ":",
      "-",
    ),
    serialNumber: serialNumber(),
    keys: caKeys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(caKeys.publicKey),
    ],
  });
  const leaf = await x509.X509CertificateGenerator.create({
    ...validity,
    subject: [{ CN: [commonName.slice(0, 64)] }],
    issuer: ca.subject,
    serialNumber: serialNumber(),
    publicKey: keys.publicKey,
    signingKey: caKeys.privateKey,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([usage === "server" ? serverAuth : clientAuth]),
      ...(usage === "server" ? [new x509.SubjectAlternativeNameExtension(hosts.map(alternativeName))] : []),
      await x509.AuthorityKeyIdentifierExtension.create(caKeys.publicKey),
    ],
  });
  return { ca: pemOf("CERTIFICATE", ca.rawData), cert: pemOf("CERTIFICATE", leaf.rawData), key: await keyPem(keys) };
}

/** A server of this process that has a certificate, as the label `server` of its metric names it. */
export type CertificateServer = "webhook" | "metrics" | "debug";

/** The metric of the certificate that a server uses. @returns its gauge: seconds since the epoch, 0 when there is none yet */
export function certificateExpiry(metrics: MetricsRegistry, server: CertificateServer): Gauge {
  return metrics.gauge({
    name: "pintle_certificate_expiration_timestamp_seconds",
    help: "Expiration time of the certificate of a server of this process, in seconds since the epoch",
    labelNames: ["server"],
  }).labels({ server });
}

/** Reads the first certificate of a PEM text; undefined when it has none. */
export async function certificateFacts(pem: string): Promise<CertificateFacts | undefined> {
  const x509 = await library();
  try {
    const certificate = new x509.X509Certificate(pem);
    const names = certificate.getExtension(x509.SubjectAlternativeNameExtension)?.names.items ?? [];
    return {
      notBefore: certificate.notBefore.getTime(),
      notAfter: certificate.notAfter.getTime(),
      hosts: names.map((name) => canonicalHost(name.value)),
    };
  } catch {
    return undefined;
  }
}

/** True if one of `authorities` signed the certificate in `pem`, or the last one of a chain. All are PEM texts. */
export async function isIssuedBy(pem: string, authorities: readonly string[]): Promise<boolean> {
  const x509 = await library();
  const last = pem.slice(pem.lastIndexOf("-----BEGIN CERTIFICATE-----"));
  for (const authority of authorities) {
    try {
      const { publicKey } = new x509.X509Certificate(authority);
      if (await new x509.X509Certificate(last).verify({ publicKey, signatureOnly: true })) return true;
    } catch {
      // A key of another algorithm signed it.
    }
  }
  return false;
}

function alternativeName(host: string): { type: "ip" | "dns"; value: string } {
  return { type: isAddress(host) ? "ip" : "dns", value: canonicalHost(host) };
}

/** True for an IPv4 or IPv6 address. */
export function isAddress(host: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(host) || host.includes(":");
}

/** Normalizes a host name or address, so that two of them can be compared. */
export function canonicalHost(host: string): string {
  const url = `http://${host.includes(":") ? `[${host}]` : host}`;
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, "") : host.toLowerCase();
}

async function library() {
  // The library's dependency injection needs this when it loads.
  await import("reflect-metadata");
  return await import("@peculiar/x509");
}

async function makeKeys(): Promise<CryptoKeyPair> {
  return await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
}

async function keyPem(keys: CryptoKeyPair): Promise<string> {
  return pemOf("PRIVATE KEY", await crypto.subtle.exportKey("pkcs8", keys.privateKey));
}

/** 16 random bytes as a positive number. RFC 5280 asks for at least 64 random bits and at most 20 bytes. */
function serialNumber(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[0] = (bytes[0] ?? 0) & 0x7f | 0x40;
  return toHex(bytes);
}

function pemOf(label: string, der: ArrayBuffer): string {
  const lines = toBase64(new Uint8Array(der)).match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

/** A source of certificates for a server. */
export interface CertificateSource {
  /**
   * Yields the first pair as soon as it exists, then each replacement. Ends without an error when the signal aborts.
   *
   * @throws errors that cannot be retried; other errors are logged and retried
   */
  pairs(signal: AbortSignal): AsyncIterable<CertificatePair>;
}

/** A source whose pair never changes. */
export function fixedCertificate(pair: CertificatePair): CertificateSource {
  return {
    async *pairs() {
      yield pair;
    },
  };
}

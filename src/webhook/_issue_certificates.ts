/**
 * Issuing certificates: an authority made for one serving certificate, and that certificate. The authority's key is
 * forgotten at once, so nobody can ever steal it: the next certificate comes from the next authority.
 *
 * The X.509 library is loaded when the first certificate is needed; a command that serves nothing does not pay for it.
 */
import type { CertificatePair } from "../runtime/mod.ts";

/** Options of {@link issueCertificates}. */
export interface IssueOptions {
  /** DNS names and IP addresses under which the server is reached. The first is the common name. */
  readonly hosts: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Milliseconds from `now` to the end of validity. */
  readonly lifetimeMs: number;
}

/** A serving certificate and the authority that vouches for it, PEM text. */
export interface IssuedCertificates extends CertificatePair {
  readonly ca: string;
}

/** What a certificate says of itself. */
export interface CertificateFacts {
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly hosts: readonly string[];
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** Clocks differ: a certificate is valid from five minutes before it was made. */
const backdatedMs = 5 * 60_000;

/** Makes an authority and a serving certificate. */
export async function issueCertificates(options: IssueOptions): Promise<IssuedCertificates> {
  const x509 = await library();
  const { hosts, now, lifetimeMs } = options;
  const [commonName = "webhook"] = hosts;
  const validity = { notBefore: new Date(now - backdatedMs), notAfter: new Date(now + lifetimeMs) };
  const [caKeys, keys] = await Promise.all([makeKeys(), makeKeys()]);
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity,
    // Two authorities are in one bundle during a rotation; a name of its own keeps them apart.
    name: `CN=pintle webhook authority ${new Date(now).toISOString()}`.replaceAll(":", "-"),
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
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(hosts.map(alternativeName)),
      await x509.AuthorityKeyIdentifierExtension.create(caKeys.publicKey),
    ],
  });
  return { ca: pemOf("CERTIFICATE", ca.rawData), cert: pemOf("CERTIFICATE", leaf.rawData), key: await keyPem(keys) };
}

/** Reads the first certificate of a PEM text; undefined when there is none. */
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

function alternativeName(host: string): { type: "ip" | "dns"; value: string } {
  return { type: isAddress(host) ? "ip" : "dns", value: canonicalHost(host) };
}

/** True for an IPv4 or IPv6 address. */
export function isAddress(host: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(host) || host.includes(":");
}

/** One way to write each name and address, so that two can be compared. */
export function canonicalHost(host: string): string {
  const url = `http://${host.includes(":") ? `[${host}]` : host}`;
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, "") : host.toLowerCase();
}

async function library() {
  // The library's dependency injection looks for this when it loads.
  await import("reflect-metadata");
  return await import("@peculiar/x509");
}

async function makeKeys(): Promise<CryptoKeyPair> {
  return await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
}

async function keyPem(keys: CryptoKeyPair): Promise<string> {
  return pemOf("PRIVATE KEY", await crypto.subtle.exportKey("pkcs8", keys.privateKey));
}

/** 16 random bytes, positive: RFC 5280 wants 64 bits of chance and no more than 20 bytes. */
function serialNumber(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[0] = (bytes[0] ?? 0) & 0x7f | 0x40;
  return bytes.toHex();
}

function pemOf(label: string, der: ArrayBuffer): string {
  const lines = new Uint8Array(der).toBase64().match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

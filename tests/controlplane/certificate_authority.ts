/**
 * Certificates of a test's control plane: one authority, and the certificates that it signs.
 *
 * Everything is P-256 and X.509 v3 (Deno refuses v1 client certificates). A loaded authority signs like the created one,
 * so a test process that attaches to a running control plane can issue certificates: expired ones, for other users,
 * for webhook servers.
 */
import "reflect-metadata";
import * as x509 from "@peculiar/x509";
import { randomBytes } from "node:crypto";

/** A certificate and its private key (PKCS #8), both PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** The subject of a certificate. */
export interface IssueOptions {
  /** The user name, for a client; the server's name, for a server. */
  readonly commonName: string;
  /** The groups of a client. @default [] */
  readonly organizations?: readonly string[];
  /** Its usage. @default "client" */
  readonly usage?: "client" | "server";
  /** DNS names and IP addresses of a server. @default [] */
  readonly hosts?: readonly string[];
  /** @default five minutes ago */
  readonly notBefore?: Date;
  /** @default in a year */
  readonly notAfter?: Date;
}

const dayMs = 86_400_000;
const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const usages = { client: x509.ExtendedKeyUsage.clientAuth, server: x509.ExtendedKeyUsage.serverAuth } as const;

/** A certificate authority: its certificate and its key. */
export class CertificateAuthority implements KeyPair {
  /** The authority's own certificate, PEM. */
  readonly certificate: string;
  /** The authority's private key, PEM. */
  readonly key: string;
  readonly #signingKey: CryptoKey;
  readonly #parsed: x509.X509Certificate;

  private constructor(pair: KeyPair, signingKey: CryptoKey) {
    this.certificate = pair.certificate;
    this.key = pair.key;
    this.#signingKey = signingKey;
    this.#parsed = new x509.X509Certificate(pair.certificate);
  }

  /** Creates a self-signed authority, or one that `issuer` signs. */
  static async create(commonName: string, issuer?: CertificateAuthority): Promise<CertificateAuthority> {
    const keys = await generateKeys();
    const name = [{ CN: [commonName] }];
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: serialNumber(),
      subject: name,
      issuer: issuer === undefined ? name : issuer.#parsed.subjectName,
      publicKey: keys.publicKey,
      signingKey: issuer === undefined ? keys.privateKey : issuer.#signingKey,
      // Longer than anything that it signs: kube-controller-manager signs for a year, and not beyond its authority.
      ...validity({ notAfter: new Date(Date.now() + 3_650 * dayMs) }),
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(
          x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign | x509.KeyUsageFlags.digitalSignature,
          true,
        ),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    });
    return new CertificateAuthority(
      { certificate: withNewline(certificate.toString("pem")), key: await privateKeyPem(keys.privateKey) },
      keys.privateKey,
    );
  }

  /** Loads an authority from its certificate and key. */
  static async load(pair: KeyPair): Promise<CertificateAuthority> {
    const der = x509.PemConverter.decodeFirst(pair.key);
    const signingKey = await crypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]);
    return new CertificateAuthority(pair, signingKey);
  }

  /** Signs a new key pair. */
  async issue(options: IssueOptions): Promise<KeyPair> {
    const { commonName, organizations = [], usage = "client", hosts = [] } = options;
    const keys = await generateKeys();
    const groups = organizations.map((organization) => ({ O: [organization] }));
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: serialNumber(),
      subject: [{ CN: [commonName] }, ...groups],
      issuer: this.#parsed.subjectName,
      ...validity(options),
      signingAlgorithm: algorithm,
      publicKey: keys.publicKey,
      signingKey: this.#signingKey,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([usages[usage]]),
        await x509.AuthorityKeyIdentifierExtension.create(this.#parsed.publicKey),
        ...(hosts.length > 0 ? [new x509.SubjectAlternativeNameExtension(hosts.map(alternativeName))] : []),
      ],
    });
    return { certificate: withNewline(certificate.toString("pem")), key: await privateKeyPem(keys.privateKey) };
  }
}

/** A key pair without a certificate, as service account tokens are signed with: SPKI and PKCS #8, PEM. */
export async function signingKeyPair(): Promise<{ readonly publicKey: string; readonly privateKey: string }> {
  const keys = await generateKeys();
  const spki = await crypto.subtle.exportKey("spki", keys.publicKey);
  return {
    publicKey: withNewline(x509.PemConverter.encode(spki, "PUBLIC KEY")),
    privateKey: await privateKeyPem(keys.privateKey),
  };
}

async function generateKeys(): Promise<CryptoKeyPair> {
  return await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
}

async function privateKeyPem(key: CryptoKey): Promise<string> {
  return withNewline(x509.PemConverter.encode(await crypto.subtle.exportKey("pkcs8", key), "PRIVATE KEY"));
}

/** A positive serial number, as RFC 5280 and Go require: the highest bit of the first byte is clear. */
function serialNumber(): string {
  return `01${randomBytes(15).toString("hex")}`;
}

function validity(options: Pick<IssueOptions, "notBefore" | "notAfter">): { notBefore: Date; notAfter: Date } {
  return {
    notBefore: options.notBefore ?? new Date(Date.now() - 300_000),
    notAfter: options.notAfter ?? new Date(Date.now() + 365 * dayMs),
  };
}

function alternativeName(host: string): x509.JsonGeneralName {
  return { type: /^[\d.]+$|:/.test(host) ? "ip" : "dns", value: host };
}

function withNewline(pem: string): string {
  return pem.endsWith("\n") ? pem : `${pem}\n`;
}

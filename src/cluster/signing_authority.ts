/**
 * SigningAuthority: the certificate authority of an embedded cluster, with its private key. It signs the certificates that
 * CertificateSigningRequests ask for, as `controller/certificates/authority` of kube-controller-manager 1.36. The API server
 * trusts it for clients.
 *
 * Guarantees: what it signs is not an authority, and is not valid for longer than its own certificate. The X.509 library is
 * loaded on first use.
 */
import type { X509Certificate } from "@peculiar/x509";
import { fromBase64, toBase64, toHex } from "../runtime/mod.ts";

/** An authority as PEM text. The key is a secret. */
export interface AuthorityPair {
  readonly certificate: string;
  readonly key: string;
}

/** What a certificate is for, and for how long. */
export interface SigningTerms {
  /** Usages as in a CertificateSigningRequest: `client auth`. */
  readonly usages: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly lifetimeMs: number;
}

/** What a request asks for. */
export interface RequestedCertificate {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly addresses: readonly string[];
  readonly emails: readonly string[];
  readonly uris: readonly string[];
  /** The values by the field of the subject, in the order of Go and without the fields that it drops. */
  readonly subject: readonly Readonly<Record<string, readonly string[]>>[];
  /** SubjectPublicKeyInfo in DER. */
  readonly publicKey: ArrayBuffer;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const backdatedMs = 5 * 60_000;
/** The end of certificates with a shorter life is not backdated. */
const shortMs = 8 * 3_600_000;

/** The bits of RFC 5280 by the names of usages. */
const keyUsages: Readonly<Record<string, number>> = {
  "signing": 1,
  "digital signature": 1,
  "content commitment": 2,
  "key encipherment": 4,
  "data encipherment": 8,
  "key agreement": 16,
  "cert sign": 32,
  "crl sign": 64,
  "encipher only": 128,
  "decipher only": 256,
};

/** Object identifiers by the names of extended usages, in the order in which Go writes them. */
const extendedUsages: Readonly<Record<string, string>> = {
  "any": "2.5.29.37.0",
  "server auth": "1.3.6.1.5.5.7.3.1",
  "client auth": "1.3.6.1.5.5.7.3.2",
  "code signing": "1.3.6.1.5.5.7.3.3",
  "email protection": "1.3.6.1.5.5.7.3.4",
  "s/mime": "1.3.6.1.5.5.7.3.4",
  "ipsec end system": "1.3.6.1.5.5.7.3.5",
  "ipsec tunnel": "1.3.6.1.5.5.7.3.6",
  "ipsec user": "1.3.6.1.5.5.7.3.7",
  "timestamping": "1.3.6.1.5.5.7.3.8",
  "ocsp signing": "1.3.6.1.5.5.7.3.9",
  "microsoft sgc": "1.3.6.1.4.1.311.10.3.3",
  "netscape sgc": "2.16.840.1.113730.4.1",
};

const [street, postalCode, serial] = ["2.5.4.9", "2.5.4.17", "2.5.4.5"];

/** The fields of a subject that Go keeps, in its order. */
const subjectFields = ["C", "ST", "L", street, postalCode, "O", "OU", "CN", serial];

/** A certificate authority that signs requests. */
export class SigningAuthority {
  readonly #pair: AuthorityPair;
  readonly #certificate: X509Certificate;
  readonly #key: CryptoKey;

  private constructor(pair: AuthorityPair, certificate: X509Certificate, key: CryptoKey) {
    this.#pair = pair;
    this.#certificate = certificate;
    this.#key = key;
  }

  /** Creates an authority. @param options in milliseconds since the epoch, and from then on */
  static async create(options: { readonly now: number; readonly lifetimeMs: number }): Promise<SigningAuthority> {
    const x509 = await library();
    const { now, lifetimeMs } = options;
    const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      name: "CN=pintle cluster signing authority",
      notBefore: new Date(now - backdatedMs),
      notAfter: new Date(now + lifetimeMs),
      serialNumber: serialNumber(),
      keys,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    });
    const key = pemOf("PRIVATE KEY", await crypto.subtle.exportKey("pkcs8", keys.privateKey));
    return new SigningAuthority(
      { certificate: pemOf("CERTIFICATE", certificate.rawData), key },
      certificate,
      keys.privateKey,
    );
  }

  /** Reads an authority that {@link pair} had. */
  static async load(pair: AuthorityPair): Promise<SigningAuthority> {
    const x509 = await library();
    const der = x509.PemConverter.decodeFirst(pair.key);
    const key = await crypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]);
    return new SigningAuthority(pair, new x509.X509Certificate(pair.certificate), key);
  }

  /** The authority with its secret. */
  get pair(): AuthorityPair {
    return this.#pair;
  }

  /** The certificate as PEM text. */
  get certificate(): string {
    return this.#pair.certificate;
  }

  /** Milliseconds since the epoch. */
  get notAfter(): number {
    return this.#certificate.notAfter.getTime();
  }

  /** Signs a request. @returns the certificate as PEM text */
  async sign(requested: RequestedCertificate, { usages, now, lifetimeMs }: SigningTerms): Promise<string> {
    const x509 = await library();
    const end = now + (lifetimeMs < shortMs ? lifetimeMs : lifetimeMs - backdatedMs);
    const bits = usages.reduce((sum, usage) => sum | (keyUsages[usage] ?? 0), 0);
    const purposes = Object.entries(extendedUsages).flatMap(([usage, id]) => usages.includes(usage) ? [id] : []);
    const names = alternativeNames(requested);
    const certificate = await x509.X509CertificateGenerator.create({
      subject: requested.subject.map((part) =>
        Object.fromEntries(Object.entries(part).map(([field, values]) => [field, [...values]]))
      ),
      issuer: this.#certificate.subject,
      notBefore: new Date(now - backdatedMs),
      notAfter: new Date(Math.min(end, this.notAfter)),
      serialNumber: serialNumber(),
      publicKey: new x509.PublicKey(requested.publicKey),
      signingKey: this.#key,
      signingAlgorithm: algorithm,
      extensions: [
        ...(bits === 0 ? [] : [new x509.KeyUsagesExtension(bits, true)]),
        ...(purposes.length === 0 ? [] : [new x509.ExtendedKeyUsageExtension([...new Set(purposes)])]),
        new x509.BasicConstraintsExtension(false, undefined, true),
        await x509.AuthorityKeyIdentifierExtension.create(this.#certificate.publicKey),
        ...(names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension([...names])]),
      ],
    });
    return pemOf("CERTIFICATE", certificate.rawData);
  }
}

type AlternativeName = { readonly type: "dns" | "ip" | "email" | "url"; readonly value: string };

function alternativeNames({ dnsNames, emails, addresses, uris }: RequestedCertificate): readonly AlternativeName[] {
  const named = (type: AlternativeName["type"], values: readonly string[]) => values.map((value) => ({ type, value }));
  return [...named("dns", dnsNames), ...named("email", emails), ...named("ip", addresses), ...named("url", uris)];
}

/** Reads `spec.request` of a CertificateSigningRequest. @returns undefined for a request that cannot be read, or is forged */
export async function readRequest(base64: string): Promise<RequestedCertificate | undefined> {
  const x509 = await library();
  try {
    const request = new x509.Pkcs10CertificateRequest(textOf(base64));
    if (!await request.verify()) return undefined;
    const extension = request.extensions.find((each) => each instanceof x509.SubjectAlternativeNameExtension);
    const names = extension instanceof x509.SubjectAlternativeNameExtension ? extension.names.items : [];
    const valuesOf = (type: string) => names.filter((name) => name.type === type).map(({ value }) => value);
    return {
      commonName: request.subjectName.getField("CN")[0] ?? "",
      organizations: request.subjectName.getField("O"),
      dnsNames: valuesOf("dns"),
      addresses: valuesOf("ip"),
      emails: valuesOf("email"),
      uris: valuesOf("url"),
      subject: subjectFields.flatMap((field) => {
        // A set in DER is sorted by its bytes, which begin with the length.
        const values = request.subjectName.getField(field).toSorted((left, right) =>
          left.length - right.length || (left < right ? -1 : 1)
        );
        return values.length === 0 ? [] : [{ [field]: values }];
      }),
      publicKey: request.publicKey.rawData,
    };
  } catch {
    return undefined;
  }
}

/** Milliseconds since the epoch of the end of a certificate, PEM text in base64; undefined for an unreadable one. */
export async function expiryOfCertificate(base64: string): Promise<number | undefined> {
  const x509 = await library();
  try {
    return new x509.X509Certificate(textOf(base64)).notAfter.getTime();
  } catch {
    return undefined;
  }
}

function textOf(base64: string): string {
  return new TextDecoder().decode(fromBase64(base64));
}

async function library() {
  // The library's dependency injection needs this when it loads.
  await import("reflect-metadata");
  return await import("@peculiar/x509");
}

/** 16 random bytes as a positive number. */
function serialNumber(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[0] = (bytes[0] ?? 0) & 0x7f | 0x40;
  return toHex(bytes);
}

function pemOf(label: string, der: ArrayBuffer): string {
  const lines = toBase64(new Uint8Array(der)).match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

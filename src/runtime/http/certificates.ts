/**
 * Certificates: whether a certificate and a key are a pair, what a server must not prove itself with although its chain
 * is valid, and why the certificate of a server was refused.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { connect } from "node:tls";

/** True if `key` is the private key of the first certificate in `cert`, both PEM text. False if either is malformed. */
export function isKeyPair(cert: string, key: string): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

/** The part of the certificates of `node:tls` and of Bun's sockets that this file uses. */
export interface ServerCertificate {
  /** The alternative names, in the form `DNS:a, IP Address:1.2.3.4`. */
  readonly subjectaltname?: string;
  /** The certificate in DER. */
  readonly raw: Uint8Array;
  /** The certificate of its issuer; the last one, which is trusted, is its own or has none. */
  readonly issuerCertificate?: ServerCertificate;
}

/**
 * Refuses what the runtimes accept and Go does not: a certificate without an alternative name for a host name, because the
 * common name is not checked by any rule of its issuer (RFC 6125), and one that is signed with SHA-1 or MD5, which an
 * attacker can forge. The signature of the trusted certificate itself proves nothing, so it is not checked.
 *
 * @param name The name or the address that the server must have.
 * @returns The error, or undefined if the certificate may be used.
 */
export function refuseWeakCertificate(certificate: ServerCertificate, name: string): Error | undefined {
  const names = certificate.subjectaltname?.replaceAll(/"(?:[^"\\]|\\.)*"/g, "") ?? "";
  if (isIP(name) === 0 && !/(^|, )DNS:/.test(names)) {
    return withCode("the certificate has no subject alternative name for a host name", "ERR_TLS_CERT_ALTNAME_INVALID");
  }
  let one: ServerCertificate | undefined = certificate;
  for (let depth = 0; one !== undefined && depth < maxChainLength; depth++) {
    const issuer: ServerCertificate | undefined = one.issuerCertificate;
    const isTrustedItself = issuer === undefined || issuer === one || depth > 0 && isSameBytes(issuer.raw, one.raw);
    if (depth > 0 && isTrustedItself) return undefined;
    if (!isStrongSignature(one.raw)) {
      return withCode("a certificate is signed with SHA-1 or an unknown algorithm", "CERT_WEAK_SIGNATURE");
    }
    if (isTrustedItself) return undefined;
    one = issuer;
  }
  return undefined;
}

/** No runtime accepts a longer chain. */
const maxChainLength = 100;

/** The signature algorithms of x509 of Go, as the bytes of their object identifiers. */
const strongSignatures: ReadonlySet<string> = new Set([
  "2a864886f70d01010b", // RSA with SHA-256, -384, -512
  "2a864886f70d01010c",
  "2a864886f70d01010d",
  "2a8648ce3d040302", // ECDSA with SHA-256, -384, -512
  "2a8648ce3d040303",
  "2a8648ce3d040304",
  "2b6570", // Ed25519
]);
/** RSA-PSS, whose hash is in its parameters, and SHA-256, -384 and -512 there. */
const pss = "2a864886f70d01010a";
const strongHash = /608648016503040201|608648016503040202|608648016503040203/;

/** Reads the algorithm of the signature: the second part of a certificate, after the part that is signed. */
function isStrongSignature(der: Uint8Array): boolean {
  const certificate = derContent(der, 0);
  const algorithm = derContent(der, derContent(der, certificate.start).end);
  const identifier = derContent(der, algorithm.start);
  const name = der.subarray(identifier.start, identifier.end).toHex();
  return strongSignatures.has(name) ||
    (name === pss && strongHash.test(der.subarray(identifier.end, algorithm.end).toHex()));
}

/** Where the content of the DER value at `at` starts and ends. */
function derContent(der: Uint8Array, at: number): { readonly start: number; readonly end: number } {
  const first = der[at + 1] ?? 0;
  if (first < 0x80) return { start: at + 2, end: at + 2 + first };
  const start = at + 2 + (first & 0x7f);
  const length = der.subarray(at + 2, start).reduce((value, byte) => value * 256 + byte, 0);
  return { start, end: start + length };
}

function isSameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}

/** Codes that have more than one cause. */
const ambiguousCodes: ReadonlySet<string> = new Set([
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
]);

/** Milliseconds for the second handshake. */
const timeoutMs = 2_000;

/**
 * Explains why the certificate of a server was refused. node:tls on Deno reports a certificate that has expired, or is
 * not valid yet, as one of an unknown authority, so a second handshake reads the dates of the certificate. It sends
 * nothing, and it changes only the error.
 *
 * @returns `error`, or a more exact error
 */
export async function explainRefusedCertificate(error: Error, target: URL): Promise<Error> {
  if (!("code" in error) || !ambiguousCodes.has(String(error.code))) return error;
  const dates = await certificateDates(target);
  if (dates === undefined) return error;
  const now = Date.now();
  if (now > dates.until) return withCode("certificate has expired", "CERT_HAS_EXPIRED", error);
  if (now < dates.from) return withCode("certificate is not yet valid", "CERT_NOT_YET_VALID", error);
  return error;
}

function withCode(message: string, code: string, cause?: Error): Error {
  return Object.assign(new Error(message, { cause }), { code });
}

function certificateDates(target: URL): Promise<{ readonly from: number; readonly until: number } | undefined> {
  const host = target.hostname.replace(/^\[|\]$/g, "");
  const port = target.port === "" ? 443 : Number(target.port);
  return new Promise((resolve) => {
    const socket = connect({ host, port, rejectUnauthorized: false, timeout: timeoutMs }, () => {
      const { valid_from: from, valid_to: until } = socket.getPeerCertificate();
      const dates = { from: Date.parse(from ?? ""), until: Date.parse(until ?? "") };
      resolve(Number.isNaN(dates.from) || Number.isNaN(dates.until) ? undefined : dates);
      socket.destroy();
    });
    const giveUp = () => {
      resolve(undefined);
      socket.destroy();
    };
    socket.on("timeout", giveUp);
    socket.on("error", giveUp);
  });
}

/**
 * Certificates: whether a certificate and a key are a pair, and why the certificate of a server was refused.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { connect } from "node:tls";
import { certificatesIn, privateKeyIn } from "./pem.ts";

/** True if the private key in `key` is that of the first certificate in `cert`, both PEM text. False if either is malformed. */
export function isKeyPair(cert: string, key: string): boolean {
  try {
    return new X509Certificate(certificatesIn(cert)).checkPrivateKey(createPrivateKey(privateKeyIn(key)));
  } catch {
    return false;
  }
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

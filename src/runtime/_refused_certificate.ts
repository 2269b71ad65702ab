/**
 * Why a server's certificate was refused, where the runtime does not say: node:tls on Deno reports one that has expired,
 * or is not valid yet, as one of an unknown authority.
 *
 * A second handshake looks at the certificate's dates and ends; nothing is sent over it, and it decides nothing but words.
 */
import { connect } from "node:tls";

/** Codes that stand for more than one reason. */
const unclear = new Set(["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "UNABLE_TO_GET_ISSUER_CERT_LOCALLY"]);

/** Milliseconds for the second handshake. */
const timeoutMs = 2_000;

/** `error`, or one that says more. */
export async function explainedRefusal(error: Error, target: URL): Promise<Error> {
  if (!("code" in error) || !unclear.has(String(error.code))) return error;
  const dates = await certificateDates(target);
  if (dates === undefined) return error;
  const now = Date.now();
  if (now > dates.until) return withCode("certificate has expired", "CERT_HAS_EXPIRED", error);
  if (now < dates.from) return withCode("certificate is not yet valid", "CERT_NOT_YET_VALID", error);
  return error;
}

function withCode(message: string, code: string, cause: Error): Error {
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

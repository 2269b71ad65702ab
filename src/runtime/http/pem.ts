/**
 * The parts of PEM text that crypto/tls of Go takes from it, so that all runtimes get the same: `certificatesIn()` and
 * `privateKeyIn()`.
 *
 * TLS libraries differ in what they make of the rest: of comments, of a key beside a certificate, of a damaged certificate
 * in a bundle. node:tls of Deno ends the process for the last one, by an error that no code can catch.
 */
import { X509Certificate } from "node:crypto";

/** The certificates of a text, as PEM text; those that cannot be read are left out. Empty if there is none. */
export function certificatesIn(text: string): string {
  return blocksOf(text).filter(({ type, pem }) => type === "CERTIFICATE" && isCertificate(pem)).map(({ pem }) => pem)
    .join("");
}

/** The first private key of a text, as PEM text; the text itself if there is none. */
export function privateKeyIn(text: string): string {
  return blocksOf(text).find(({ type }) => /(?:^| )PRIVATE KEY$/.test(type))?.pem ?? text;
}

interface Block {
  readonly type: string;
  readonly pem: string;
}

/** The blocks of a text without headers. Takes linear time: no part of the expression passes over a `-`. */
function blocksOf(text: string): readonly Block[] {
  return [...text.matchAll(/-----BEGIN ([A-Z0-9 ]{1,64})-----([^-:]*)-----END \1-----/g)].map(
    ([, type = "", body = ""]) => {
      const lines = body.replaceAll(/\s+/g, "").match(/.{1,64}/g) ?? [];
      return { type, pem: `-----BEGIN ${type}-----\n${lines.join("\n")}\n-----END ${type}-----\n` };
    },
  );
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

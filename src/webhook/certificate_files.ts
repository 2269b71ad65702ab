/**
 * certificateFiles(): a certificate of one's own from `tls.crt` and `tls.key` in a folder, read again when they change.
 *
 * Guarantees: a replacement is noticed within one poll, however it is made: written in place, renamed over, or by a
 * symbolic link as Secret volumes do; a pair that is half written, malformed or does not fit together is never used, the
 * last good one stays (behaviours.md 71).
 */
import { type Clock, systemClock } from "../async/mod.ts";
import { type Logger, logger } from "../observe/mod.ts";
import { type CertificatePair, fileStat, findText, isKeyPair, joinPath } from "../runtime/mod.ts";
import type { CertificateSource } from "./certificate_source.ts";

/** Options of {@link certificateFiles}. */
export interface CertificateFilesOptions {
  /** Name of the certificate chain's file. @default "tls.crt" */
  readonly certName?: string;
  /** Name of the key's file. @default "tls.key" */
  readonly keyName?: string;
  /** Milliseconds between two looks. @default 10000, as controller-runtime's certwatcher */
  readonly pollMs?: number;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default logger("webhook") */
  readonly log?: Logger;
}

/** Reads certificates from `directory`. */
export function certificateFiles(directory: string, options: CertificateFilesOptions = {}): CertificateSource {
  const { certName = "tls.crt", keyName = "tls.key", pollMs = 10_000, clock = systemClock } = options;
  const { log = logger("webhook") } = options;
  const certPath = joinPath(directory, certName), keyPath = joinPath(directory, keyName);
  return {
    async *pairs(signal) {
      let known = "", served: CertificatePair | undefined;
      while (!signal.aborted) {
        const identity = await identityOf(certPath, keyPath);
        if (identity !== known) {
          const pair = await readPair(certPath, keyPath);
          // Read while it was being written: the next look sees it whole.
          if (identity === await identityOf(certPath, keyPath) && pair !== undefined) {
            known = identity;
            if (pair.cert !== served?.cert || pair.key !== served.key) yield served = pair;
          } else {
            log.warn("Cannot use the certificate files: missing, half written, or not a pair", { certPath, keyPath });
          }
        }
        await clock.sleep(pollMs, signal).catch(() => {});
      }
    },
  };
}

async function identityOf(certPath: string, keyPath: string): Promise<string> {
  const [cert, key] = await Promise.all([fileStat(certPath), fileStat(keyPath)]);
  return `${cert?.identity} ${key?.identity}`;
}

async function readPair(certPath: string, keyPath: string): Promise<CertificatePair | undefined> {
  const [cert, key] = await Promise.all([findText(certPath), findText(keyPath)]);
  if (cert === undefined || key === undefined || !isWhole(cert) || !isKeyPair(cert, key)) return undefined;
  return { cert, key };
}

/** Every block that begins also ends; the first certificate alone does not tell whether the chain was cut. */
function isWhole(pem: string): boolean {
  return pem.split("-----BEGIN ").length === pem.split("-----END ").length;
}

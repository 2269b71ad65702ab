/**
 * certificateFiles(): reads your own certificate from `tls.crt` and `tls.key` in a folder, again after each change.
 *
 * Guarantees: a replacement is noticed within one poll, whether the files were written in place, renamed, or swapped
 * behind a symbolic link as Secret volumes do. A pair that is incomplete, malformed or does not match is never used; the
 * last valid pair stays in use (behaviour 71).
 */
import { type Clock, systemClock } from "../async/mod.ts";
import { liveSecrets, type Logger, logger, MetricsRegistry } from "../observe/mod.ts";
import { type CertificatePair, fileStat, findText, isKeyPair, joinPath } from "../runtime/mod.ts";
import { certificateExpiry, certificateFacts, type CertificateServer, type CertificateSource } from "./certificates.ts";

/** Options of {@link certificateFiles}. */
export interface CertificateFilesOptions {
  /** File name of the certificate chain. @default "tls.crt" */
  readonly certName?: string;
  /** File name of the private key. @default "tls.key" */
  readonly keyName?: string;
  /** Milliseconds between two polls. @default 10000, as controller-runtime's certwatcher */
  readonly pollMs?: number;
  /** Gets the end of the certificate's validity. @default no metrics */
  readonly metrics?: MetricsRegistry;
  /** Whose certificate it is, in the metric. @default "webhook" */
  readonly server?: CertificateServer;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default logger("webhook") */
  readonly log?: Logger;
}

/** Reads certificates from `directory`. */
export function certificateFiles(directory: string, options: CertificateFilesOptions = {}): CertificateSource {
  const { certName = "tls.crt", keyName = "tls.key", pollMs = 10_000, clock = systemClock } = options;
  const { log = logger("webhook"), metrics = new MetricsRegistry(), server = "webhook" } = options;
  const expiry = certificateExpiry(metrics, server);
  const certPath = joinPath(directory, certName), keyPath = joinPath(directory, keyName);
  return {
    async *pairs(signal) {
      let known = "", served: CertificatePair | undefined;
      while (!signal.aborted) {
        const identity = await identityOf(certPath, keyPath);
        if (identity !== known) {
          const pair = await readPair(certPath, keyPath);
          // If the files changed during the read, the next poll reads them again.
          if (identity === await identityOf(certPath, keyPath) && pair !== undefined) {
            known = identity;
            expiry.set(((await certificateFacts(pair.cert))?.notAfter ?? 0) / 1000);
            if (pair.cert !== served?.cert || pair.key !== served.key) yield served = pair;
          } else {
            log.warn("cannot use the certificate files: missing, incomplete, or not a pair", { certPath, keyPath });
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
  liveSecrets.add(key ?? "");
  if (cert === undefined || key === undefined || !isWhole(cert) || !isKeyPair(cert, key)) return undefined;
  return { cert, key };
}

/** True when every PEM block is complete. A parser that reads only the first certificate does not notice a cut chain. */
function isWhole(pem: string): boolean {
  return pem.split("-----BEGIN ").length === pem.split("-----END ").length;
}

/**
 * CertificateSource: where a server's certificate comes from, and every one after it. Files (`certificate_files.ts`), a
 * Secret that the replicas share (`managed_certificates.ts`), or one made for this process (`fixedCertificate`).
 */
import type { CertificatePair } from "../runtime/mod.ts";

/** Gives certificates. */
export interface CertificateSource {
  /**
   * The first pair as soon as there is one, then each that replaces it. Ends quietly when the signal aborts.
   *
   * @throws what makes going on pointless; what may heal is logged and tried again
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

/**
 * The certificate of a listener that other machines can reach, from the folder of `--cert-dir`: certificateOf() reads it for
 * the start, followCertificate() replaces it whenever the files change, as the webhook server does.
 *
 * Guarantees: no connection and no handshake ends because of a replacement; files that are no pair are not used.
 */
import type { Clock } from "../../async/mod.ts";
import { logger, type MetricsRegistry } from "../../observe/mod.ts";
import { joinPath, readText, type Server, type ServeTls } from "../../runtime/mod.ts";
import { certificateFiles, type CertificateServer } from "../../webhook/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";
import { UsageError } from "../flags/mod.ts";
import type { BindAddress } from "./run_flags.ts";

/** Who needs the certificate. */
export interface CertificateUse {
  /** `metrics`: what is served. */
  readonly what: string;
  readonly address: BindAddress;
  /** The advice for an address without a certificate. */
  readonly advice: string;
}

/** Reads the certificate. @throws UsageError without a folder; CommandError when its files cannot be read */
export async function certificateOf(
  folder: string | undefined,
  { what, address, advice }: CertificateUse,
): Promise<ServeTls> {
  if (folder === undefined) {
    throw new UsageError(
      `Cannot serve ${what} on ${address.hostname}:${address.port}: other machines can reach it and there is no certificate`,
      advice,
    );
  }
  const [cert, key] = await Promise.all([
    readCertificate(joinPath(folder, "tls.crt")),
    readCertificate(joinPath(folder, "tls.key")),
  ]);
  return { cert, key };
}

/** A folder that is followed. */
export interface FollowedCertificate {
  readonly folder: string;
  readonly clock: Clock;
  /** Gets the end of the certificate's validity. */
  readonly metrics: MetricsRegistry;
  /** Whose certificate it is, in the metric. */
  readonly server: CertificateServer;
}

/** Replaces the certificate of a server when its files change, until `signal` aborts. */
export async function followCertificate(
  server: Server,
  { folder, ...options }: FollowedCertificate,
  signal: AbortSignal,
): Promise<void> {
  const log = logger("endpoints");
  let isFirst = true;
  for await (const pair of certificateFiles(folder, { ...options, log }).pairs(signal)) {
    try {
      server.replaceCertificate(pair);
      if (!isFirst) log.info("replaced the certificate", { port: server.port });
    } catch (error) {
      log.error("cannot use the new certificate", { port: server.port, error });
    }
    isFirst = false;
  }
}

async function readCertificate(path: string): Promise<string> {
  try {
    return await readText(path, { isRegular: true });
  } catch (cause) {
    const state = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(`Cannot read certificate "${path}": ${state}`, {
      code: exitCode.failed,
      advice: "--cert-dir needs a folder with tls.crt and tls.key",
      cause,
    });
  }
}

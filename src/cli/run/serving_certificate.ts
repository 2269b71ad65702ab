/** certificateOf(): the certificate of a listener that other machines can reach, from the folder of `--cert-dir`. */
import { joinPath, readText, type ServeTls } from "../../runtime/mod.ts";
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

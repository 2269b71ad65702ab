/**
 * The files of a real control plane for tests: certificates, the key of service account tokens, and the user of the test. The
 * names are those that `flags.ts` passes to the servers.
 *
 * Guarantees: only the owner can read them.
 */
import { generateKeyPairSync } from "node:crypto";
import { joinPath, makeDirectory, writeFile } from "../../runtime/mod.ts";
import { authenticationConfig } from "./flags.ts";

/** What the files contain. */
export interface ControlPlaneFiles {
  /** The serving certificate and its key, PEM. */
  readonly serving: { readonly cert: string; readonly key: string };
  /** PEM of the authority whose client certificates are accepted. */
  readonly clientCa: string;
  /** The bearer token of a member of system:masters. */
  readonly token: string;
}

/** The names in the certificate of the API server: its address, and those that Pods use. */
export const apiServerHosts = ["127.0.0.1", "localhost", "kubernetes.default.svc", "kubernetes.default", "10.96.0.1"];

/** Writes the files into `dir`, which is there. */
export async function writeControlPlaneFiles(dir: string, files: ControlPlaneFiles): Promise<void> {
  const { serving, clientCa, token } = files;
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  for (const name of ["pki", "log", "run"]) await makeDirectory(joinPath(dir, name));
  const texts = {
    "pki/ca.crt": clientCa,
    "pki/apiserver.crt": serving.cert,
    "pki/apiserver.key": serving.key,
    "pki/sa.pub": publicKey.export({ type: "spki", format: "pem" }).toString(),
    "pki/sa.key": privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    "tokens.csv": `${token},pintle-test-admin,pintle-test-admin,"system:masters"\n`,
    "authentication.yaml": authenticationConfig,
  };
  for (const [name, text] of Object.entries(texts)) await writeFile(joinPath(dir, name), text, { mode: 0o600 });
}

/**
 * Fills the folder of a control plane before its servers start: certificates, token users, kubeconfigs.
 *
 *   pki/         the authority, the API server's certificate, the key that signs service account tokens
 *   kubeconfig/  `admin` in kind's format, `kube-controller-manager`, and those that tests request
 *   log/ run/    the output of the servers, and their process ids
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CertificateAuthority, signingKeyPair } from "./certificate_authority.ts";
import type { Description } from "./description.ts";
import { authenticationConfig, loopback } from "../../src/cluster/control_plane/mod.ts";
import { type Credentials, kubeconfigText } from "./kubeconfig.ts";

/** The name of the cluster, the user and the context in every kubeconfig. */
export const contextName = "kind-pintle";

const everything = "system:masters";
const apiServerHosts = [
  "localhost",
  "kubernetes",
  "kubernetes.default",
  "kubernetes.default.svc",
  "kubernetes.default.svc.cluster.local",
  loopback,
  "10.96.0.1", // the first of the service addresses: what `kubernetes.default` resolves to
] as const;

/** The path of the administrator's kubeconfig. */
export function kubeconfigPath(dir: string): string {
  return join(dir, "kubeconfig", "admin");
}

/** Writes all files that the servers read. */
export async function fillFolder(description: Description, authority: CertificateAuthority): Promise<void> {
  const { dir } = description;
  for (const name of ["pki", "kubeconfig", "log", "run"]) mkdirSync(join(dir, name));
  const apiServer = await authority.issue({ commonName: "kube-apiserver", usage: "server", hosts: apiServerHosts });
  const serviceAccounts = await signingKeyPair();
  const files = {
    "pki/ca.crt": authority.certificate,
    "pki/ca.key": authority.key,
    "pki/apiserver.crt": apiServer.certificate,
    "pki/apiserver.key": apiServer.key,
    "pki/sa.pub": serviceAccounts.publicKey,
    "pki/sa.key": serviceAccounts.privateKey,
    "tokens.csv": tokenUsers(description),
    "authentication.yaml": authenticationConfig,
    "kubeconfig/admin": await clientKubeconfig(description, authority, "kubernetes-admin"),
    "kubeconfig/kube-controller-manager": await clientKubeconfig(
      description,
      authority,
      "system:kube-controller-manager",
    ),
  };
  for (const [name, text] of Object.entries(files)) writePrivate(join(dir, name), text);
}

/** Writes a file that only its owner may read. */
export function writePrivate(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600 });
}

/** One line per user: token, name, uid, groups. */
function tokenUsers(description: Description): string {
  return `${description.token},pintle-token,pintle-token,"${everything}"\n` +
    `${description.nobodyToken},pintle-nobody,pintle-nobody\n`;
}

async function clientKubeconfig(
  { server }: Description,
  authority: CertificateAuthority,
  user: string,
): Promise<string> {
  const pair = await authority.issue({ commonName: user, organizations: [everything] });
  const credentials: Credentials = { kind: "certificate", pair };
  return kubeconfigText({ name: contextName, server, ca: authority.certificate, credentials, namespace: undefined });
}

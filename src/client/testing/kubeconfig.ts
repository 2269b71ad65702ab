/** A small kubeconfig for tests, and functions that load one or return the message of its error. */
import { assert, assertRejects } from "../../../tests/testing.ts";
import {
  type ClusterAccess,
  KubeconfigError,
  type KubeconfigOverrides,
  loadClusterAccess,
  type LoadClusterAccessOptions,
} from "../kubeconfig/mod.ts";
import { TemporaryFolder } from "./temporary_folder.ts";

/** A PEM block with `name` as its content. */
export const pem = (name: string) => `-----BEGIN CERTIFICATE-----\n${name}\n-----END CERTIFICATE-----\n`;
export const base64 = (text: string) => btoa(text);

/** A kubeconfig with two contexts, dev and prod. */
export const simple = `
apiVersion: v1
kind: Config
current-context: dev
clusters:
- name: one
  cluster: { server: "https://one.example:6443/", certificate-authority-data: ${base64(pem("CA ONE"))} }
- name: two
  cluster: { server: "https://two.example", tls-server-name: kubernetes, certificate-authority: certs/ca.pem }
users:
- name: jane
  user: { token: token-of-jane }
- name: cert
  user: { client-certificate: certs/c.pem, client-key: certs/k.pem }
contexts:
- name: dev
  context: { cluster: one, user: jane, namespace: team-a }
- name: prod
  context: { cluster: two, user: cert }
`;

/** A folder with `files` and the certificates that {@link simple} names. */
export async function folderWith(files: Record<string, string>): Promise<TemporaryFolder> {
  return await TemporaryFolder.with({
    "certs/ca.pem": pem("CA TWO"),
    "certs/c.pem": "c",
    "certs/k.pem": "k",
    ...files,
  });
}

/** Loads the access from the file `config` of the folder. */
export async function accessOf(
  folder: TemporaryFolder,
  overrides: KubeconfigOverrides = {},
  options: Partial<LoadClusterAccessOptions> = {},
): Promise<ClusterAccess> {
  return await loadClusterAccess({
    environment: { KUBECONFIG: `${folder.path}/config` },
    workingDirectory: folder.path,
    serviceAccountDirectory: `${folder.path}/serviceaccount`,
    overrides,
    ...options,
  });
}

/** The message of the error for a kubeconfig with this text. */
export async function errorMessage(text: string, overrides: KubeconfigOverrides = {}): Promise<string> {
  await using folder = await folderWith({ config: text });
  const error = await assertRejects(() => accessOf(folder, overrides));
  assert(error instanceof KubeconfigError, `${error.name}: ${error.message}`);
  return error.message.replaceAll(folder.path, "");
}

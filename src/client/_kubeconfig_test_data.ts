/** What the tests of kubeconfigs share: a small valid one, and short ways to load one or to hear why it is refused. */
import { assert, assertRejects } from "../../tests/testing.ts";
import { Folder } from "./_folder_test_data.ts";
import type { ClusterAccess } from "./cluster_access.ts";
import { KubeconfigError } from "./kubeconfig_error.ts";
import { type KubeconfigOverrides, loadClusterAccess, type LoadClusterAccessOptions } from "./load_cluster_access.ts";

export const pem = (name: string) => `-----BEGIN CERTIFICATE-----\n${name}\n-----END CERTIFICATE-----\n`;
export const base64 = (text: string) => btoa(text);

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

export async function folderWith(files: Record<string, string>): Promise<Folder> {
  return await Folder.with({ "certs/ca.pem": pem("CA TWO"), "certs/c.pem": "c", "certs/k.pem": "k", ...files });
}

export async function accessOf(
  folder: Folder,
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

export async function complaint(text: string, overrides: KubeconfigOverrides = {}): Promise<string> {
  await using folder = await folderWith({ config: text });
  const error = await assertRejects(() => accessOf(folder, overrides));
  assert(error instanceof KubeconfigError, `${error.name}: ${error.message}`);
  return error.message.replaceAll(folder.path, "");
}

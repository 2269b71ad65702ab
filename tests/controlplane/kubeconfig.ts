/**
 * The text of a kubeconfig in the shape that `kind` writes: one cluster, user and context of the same name, keys
 * sorted, certificates and keys inline. Credentials are contents of files, never paths, except for a token
 * file.
 */
import { Buffer } from "node:buffer";
import type { KeyPair } from "./certificate_authority.ts";

/** A user's credential. */
export type Credentials =
  | { readonly kind: "certificate"; readonly pair: KeyPair }
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "tokenFile"; readonly path: string };

/** The content of a kubeconfig. */
export interface KubeconfigFields {
  /** Name of the cluster, the user and the context. */
  readonly name: string;
  /** The https URL. */
  readonly server: string;
  /** PEM of the CA that signed the server's certificate. @default the system's CAs */
  readonly ca: string | undefined;
  readonly credentials: Credentials;
  /** The context's namespace. */
  readonly namespace: string | undefined;
}

/** Renders a kubeconfig. */
export function kubeconfigText(fields: KubeconfigFields): string {
  const { name, server, ca, namespace } = fields;
  return lines([
    "apiVersion: v1",
    "clusters:",
    "- cluster:",
    ca === undefined ? undefined : `    certificate-authority-data: ${base64(ca)}`,
    `    server: ${server}`,
    `  name: ${name}`,
    "contexts:",
    "- context:",
    `    cluster: ${name}`,
    namespace === undefined ? undefined : `    namespace: ${namespace}`,
    `    user: ${name}`,
    `  name: ${name}`,
    `current-context: ${name}`,
    "kind: Config",
    "preferences: {}",
    "users:",
    `- name: ${name}`,
    "  user:",
    ...credentialLines(fields.credentials),
  ]);
}

function credentialLines(credentials: Credentials): readonly string[] {
  switch (credentials.kind) {
    case "certificate":
      return [
        `    client-certificate-data: ${base64(credentials.pair.certificate)}`,
        `    client-key-data: ${base64(credentials.pair.key)}`,
      ];
    case "token":
      return [`    token: ${credentials.token}`];
    case "tokenFile":
      return [`    tokenFile: ${credentials.path}`];
    default:
      return credentials satisfies never;
  }
}

function base64(pem: string): string {
  return Buffer.from(pem).toString("base64");
}

function lines(values: readonly (string | undefined)[]): string {
  return values.filter((value) => value !== undefined).join("\n") + "\n";
}

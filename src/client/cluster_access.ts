/**
 * ClusterAccess: where an API server is and how to prove who one is, as one readonly value. What a kubeconfig, the
 * environment of a Pod and the command line's flags together come to; what a transport is made from.
 *
 * Secrets in it are Masked, so the value can be logged as it is.
 */
import type { Masked } from "./masked.ts";

/** PEM text, or the file that has it and may be replaced while we run. */
export type PemSource =
  | { readonly kind: "data"; readonly pem: Masked }
  | { readonly kind: "file"; readonly path: string };

/** A program that prints credentials (client.authentication.k8s.io). A kubeconfig that names one is code. */
export interface ExecPlugin {
  readonly apiVersion: "client.authentication.k8s.io/v1" | "client.authentication.k8s.io/v1beta1";
  /** A path, or a name to be found in $PATH. */
  readonly command: string;
  readonly args: readonly string[];
  /** Variables it gets beyond PATH, HOME and their like. */
  readonly env: readonly { readonly name: string; readonly value: Masked }[];
  /** What to tell people who do not have it. */
  readonly installHint: string | undefined;
  readonly provideClusterInfo: boolean;
  readonly interactiveMode: "Never" | "IfAvailable" | "Always";
  /** The cluster's `client.authentication.k8s.io/exec` extension, passed to the program as it is. */
  readonly clusterConfig: unknown;
  /** The folder of the kubeconfig, which a relative path is relative to. */
  readonly directory: string;
}

/** How to prove who one is, apart from a client certificate. */
export type Credentials =
  | { readonly kind: "none" }
  | { readonly kind: "token"; readonly token: Masked }
  | { readonly kind: "tokenFile"; readonly path: string }
  | { readonly kind: "basic"; readonly username: string; readonly password: Masked }
  | { readonly kind: "exec"; readonly plugin: ExecPlugin }
  | { readonly kind: "authProvider"; readonly name: string; readonly config: Masked };

/** Whom to act as. */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** Everything needed to talk to one API server as one user. */
export interface ClusterAccess {
  /** Where this comes from. */
  readonly source:
    | { readonly kind: "kubeconfig"; readonly files: readonly string[]; readonly context: string | undefined }
    | { readonly kind: "inCluster" }
    | { readonly kind: "flags" };
  /** The URL, without a slash at its end; it may have a path. */
  readonly server: string;
  /** The namespace for what is not said to be elsewhere. */
  readonly namespace: string;
  readonly certificateAuthority: PemSource | undefined;
  readonly insecureSkipTlsVerify: boolean;
  /** The name in the server's certificate, where it is not the one in the URL. */
  readonly serverName: string | undefined;
  /** The proxy to go through; undefined for none. */
  readonly proxy: string | undefined;
  readonly clientCertificate: { readonly certificate: PemSource; readonly key: PemSource } | undefined;
  readonly credentials: Credentials;
  readonly impersonate: Impersonation | undefined;
  /** The user's name in the kubeconfig, for messages. */
  readonly user: string;
  /** Milliseconds a request may take, as --request-timeout says. */
  readonly requestTimeoutMs: number | undefined;
}

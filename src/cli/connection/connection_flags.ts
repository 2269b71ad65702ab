/** The flags of every command that talks to a cluster: those of kubectl under the same names, and `--connect-timeout`. */
import { z } from "zod";
import { durationMs, flag, namespaceName, text } from "../flags/mod.ts";

const group = "Cluster (as in kubectl):";

/** Which cluster, as which user, and with which timeouts. */
export const connectionFlags = z.object({
  kubeconfig: flag(text().optional(), {
    group,
    flags: "--kubeconfig <path>",
    about: "kubeconfig file (default: the files of $KUBECONFIG, else ~/.kube/config)",
    completes: "file",
  }),
  context: flag(text().optional(), {
    group,
    flags: "--context <name>",
    about: "context of the kubeconfig (default: the current context)",
    completes: "context",
  }),
  cluster: flag(text().optional(), {
    group,
    flags: "--cluster <name>",
    about: "cluster of the kubeconfig (default: the context's)",
    completes: "cluster",
  }),
  user: flag(text().optional(), {
    group,
    flags: "--user <name>",
    about: "user of the kubeconfig (default: the context's)",
    completes: "user",
  }),
  namespace: flag(namespaceName().optional(), {
    group,
    flags: "-n, --namespace <name>",
    about: "namespace, where one is needed (default: the context's)",
    completes: "namespace",
  }),
  server: flag(text().optional(), {
    group,
    flags: "-s, --server <url>",
    about: "address of the API server",
    alias: "--master",
    example: "--server https://10.0.0.1:6443",
  }),
  token: flag(text().optional(), {
    group,
    flags: "--token <token>",
    about: "bearer token; as an environment variable it does not show in the process list",
    isSecret: true,
  }),
  as: flag(text().optional(), {
    group,
    flags: "--as <user>",
    about: "user to impersonate",
  }),
  asGroup: flag(z.array(text()).default([]), {
    group,
    flags: "--as-group <group>",
    about: "group to impersonate, with --as; can be repeated",
    arity: "list",
  }),
  certificateAuthority: flag(text().optional(), {
    group,
    flags: "--certificate-authority <path>",
    about: "file with the certificate authorities that may sign the server's certificate",
    completes: "file",
  }),
  clientCertificate: flag(text().optional(), {
    group,
    flags: "--client-certificate <path>",
    about: "file with the client's certificate",
    completes: "file",
  }),
  clientKey: flag(text().optional(), {
    group,
    flags: "--client-key <path>",
    about: "file with the key of the client's certificate",
    completes: "file",
  }),
  insecureSkipTlsVerify: flag(z.boolean().optional(), {
    group,
    flags: "--insecure-skip-tls-verify",
    about: "accept any server certificate; only for test clusters",
  }),
  tlsServerName: flag(text().optional(), {
    group,
    flags: "--tls-server-name <name>",
    about: "name that the server's certificate must have (default: the host of the address)",
  }),
  requestTimeout: flag(durationMs().prefault("0"), {
    group,
    flags: "--request-timeout <duration>",
    about: "timeout of one request, except watches; 0 means no timeout",
    example: "--request-timeout 30s",
  }),
  connectTimeout: flag(durationMs().prefault("30s"), {
    group,
    flags: "--connect-timeout <duration>",
    about: "how long to try to reach the server",
    example: "--connect-timeout 1m30s",
  }),
});

/** The values of the flags. */
export type ConnectionFlags = z.output<typeof connectionFlags>;

/**
 * The flags of every command that talks to a cluster: kubectl's, under kubectl's names, and `--connect-timeout`.
 *
 * They only say what was asked for; `connect.ts` turns them into a client.
 */
import { z } from "zod";
import { durationMs, flagSyntax, text } from "../flags/mod.ts";

const group = "Cluster (as kubectl's):";
const shared = { group, fromEnvironment: true } as const;

/** Which cluster, as whom, and how patiently. */
export const connectionFlags = z.object({
  kubeconfig: text().optional().register(flagSyntax, {
    ...shared,
    flags: "--kubeconfig <path>",
    about: "kubeconfig file, instead of those in $KUBECONFIG or ~/.kube/config",
    completes: "file",
  }),
  context: text().optional().register(flagSyntax, {
    ...shared,
    flags: "--context <name>",
    about: "context of the kubeconfig, instead of its current one",
    completes: "context",
  }),
  cluster: text().optional().register(flagSyntax, {
    ...shared,
    flags: "--cluster <name>",
    about: "cluster of the kubeconfig, instead of the context's",
    completes: "cluster",
  }),
  user: text().optional().register(flagSyntax, {
    ...shared,
    flags: "--user <name>",
    about: "user of the kubeconfig, instead of the context's",
    completes: "user",
  }),
  namespace: text().optional().register(flagSyntax, {
    ...shared,
    flags: "-n, --namespace <name>",
    about: "namespace, instead of the context's, where one is needed",
    completes: "namespace",
  }),
  server: text().optional().register(flagSyntax, {
    ...shared,
    flags: "-s, --server <url>",
    about: "address of the API server",
    alias: "--master",
    example: "--server https://10.0.0.1:6443",
  }),
  token: text().optional().register(flagSyntax, {
    ...shared,
    flags: "--token <token>",
    about: "bearer token; the environment keeps it out of the process list",
    isSecret: true,
  }),
  as: text().optional().register(flagSyntax, {
    ...shared,
    flags: "--as <user>",
    about: "user to impersonate",
  }),
  asGroup: z.array(text()).default([]).register(flagSyntax, {
    ...shared,
    flags: "--as-group <group>",
    about: "group to impersonate, with --as; may be given several times",
    arity: "list",
  }),
  certificateAuthority: text().optional().register(flagSyntax, {
    ...shared,
    flags: "--certificate-authority <path>",
    about: "file with the authorities that the server's certificate may be signed by",
    completes: "file",
  }),
  clientCertificate: text().optional().register(flagSyntax, {
    ...shared,
    flags: "--client-certificate <path>",
    about: "file with the client's certificate",
    completes: "file",
  }),
  clientKey: text().optional().register(flagSyntax, {
    ...shared,
    flags: "--client-key <path>",
    about: "file with the key of the client's certificate",
    completes: "file",
  }),
  insecureSkipTlsVerify: z.boolean().optional().register(flagSyntax, {
    ...shared,
    flags: "--insecure-skip-tls-verify",
    about: "believe any server; for a cluster that nobody depends on",
  }),
  tlsServerName: text().optional().register(flagSyntax, {
    ...shared,
    flags: "--tls-server-name <name>",
    about: "name that the server's certificate must have, instead of the address",
  }),
  requestTimeout: durationMs().prefault("0").register(flagSyntax, {
    ...shared,
    flags: "--request-timeout <duration>",
    about: "longest time for one request to the server, watches apart; 0 is no limit",
    example: "--request-timeout 30s",
  }),
  connectTimeout: durationMs().prefault("30s").register(flagSyntax, {
    ...shared,
    flags: "--connect-timeout <duration>",
    about: "how long to try to reach the server before giving up",
    example: "--connect-timeout 1m30s",
  }),
});

/** What the flags say. */
export type ConnectionFlags = z.output<typeof connectionFlags>;

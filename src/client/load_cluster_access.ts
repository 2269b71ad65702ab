/**
 * loadClusterAccess(): which API server, as whom. Flags over kubeconfig over a Pod's service account, as kubectl.
 *
 * Guarantees: nothing is read from the process itself, so what it returns depends on its options and the files alone; a
 * contradiction or a dangling reference is a KubeconfigError that says what to do next (behaviours.md 83).
 */
import type { Logger } from "../observe/mod.ts";
import { logger as loggerOf } from "../observe/mod.ts";
import type { Environment } from "../runtime/mod.ts";
import { inClusterAccess } from "./_in_cluster.ts";
import { resolveAccess } from "./_resolve_access.ts";
import type { ClusterAccess } from "./cluster_access.ts";
import { kubeconfigPaths, loadKubeconfig } from "./kubeconfig.ts";
import { KubeconfigError } from "./kubeconfig_error.ts";

/** What the command line says; each field is a flag of kubectl's of the same meaning. */
export interface KubeconfigOverrides {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly cluster?: string;
  readonly user?: string;
  readonly namespace?: string;
  readonly server?: string;
  readonly token?: string;
  readonly as?: string;
  readonly asGroups?: readonly string[];
  readonly asUid?: string;
  readonly certificateAuthority?: string;
  readonly clientCertificate?: string;
  readonly clientKey?: string;
  readonly insecureSkipTlsVerify?: boolean;
  readonly tlsServerName?: string;
  readonly requestTimeoutMs?: number;
}

/** Options of {@link loadClusterAccess}. */
export interface LoadClusterAccessOptions {
  /** @default {} */
  readonly overrides?: KubeconfigOverrides;
  readonly environment: Environment;
  /** The user's home folder. @default none */
  readonly home?: string;
  /** What relative paths of flags are relative to. @default "." */
  readonly workingDirectory?: string;
  /** Where a Pod finds its service account. @default "/var/run/secrets/kubernetes.io/serviceaccount" */
  readonly serviceAccountDirectory?: string;
  /** Gets the warnings. @default logger("client") */
  readonly logger?: Logger;
}

/**
 * Finds out how to reach the API server.
 *
 * @throws KubeconfigError when there is no way, or what is configured contradicts itself.
 */
export async function loadClusterAccess(options: LoadClusterAccessOptions): Promise<ClusterAccess> {
  const { overrides = {}, environment, home, workingDirectory = ".", logger = loggerOf("client") } = options;
  refuseUnsafeEnvironment(environment);
  const source = { path: overrides.kubeconfig, environment, home, workingDirectory };
  const kubeconfig = await loadKubeconfig(source);
  if (kubeconfig.isEmpty && overrides.kubeconfig === undefined) {
    const access = await inClusterAccess(options);
    if (access !== undefined) return access;
    if (overrides.server === undefined) throw nothingFound(kubeconfigPaths(source));
  }
  const access = await resolveAccess(kubeconfig, { overrides, environment, workingDirectory });
  if (access.insecureSkipTlsVerify) {
    logger.warn("the API server's certificate is not verified: whoever answers gets the credentials", {
      server: access.server,
    });
  }
  return access;
}

/** A switch that turns verification off for the whole process is not for a program that holds credentials. */
function refuseUnsafeEnvironment(environment: Environment): void {
  if (environment.NODE_TLS_REJECT_UNAUTHORIZED === "0") {
    throw new KubeconfigError(
      "Cannot start: NODE_TLS_REJECT_UNAUTHORIZED=0 turns certificate verification off everywhere; unset it, and use certificate-authority or insecure-skip-tls-verify in the kubeconfig",
    );
  }
}

function nothingFound(paths: readonly string[]): KubeconfigError {
  const places = paths.length === 0 ? "" : ` (looked at ${paths.map((path) => `"${path}"`).join(", ")})`;
  return new KubeconfigError(
    `Cannot find a cluster: there is no kubeconfig${places} and this is no Pod with a service account; pass --kubeconfig or --server, or set KUBECONFIG`,
  );
}

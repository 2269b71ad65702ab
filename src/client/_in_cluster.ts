/**
 * The way to the API server from inside a Pod: two variables that every Pod has, and the files of its service account.
 * The token is read anew while we run (`_credential_source.ts`), the CA too.
 */
import { directoryOf, fileStat, findText, joinPath, resolvePath } from "../runtime/mod.ts";
import type { ClusterAccess } from "./cluster_access.ts";
import type { LoadClusterAccessOptions } from "./load_cluster_access.ts";
import { Masked } from "./masked.ts";

const defaultDirectory = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The access a Pod has; undefined when this is none, or one without a service account. */
export async function inClusterAccess(options: LoadClusterAccessOptions): Promise<ClusterAccess | undefined> {
  const { environment, overrides = {}, serviceAccountDirectory = defaultDirectory, workingDirectory = "." } = options;
  const host = environment.KUBERNETES_SERVICE_HOST ?? "";
  const port = environment.KUBERNETES_SERVICE_PORT ?? "";
  const tokenPath = joinPath(serviceAccountDirectory, "token");
  if (host === "" || port === "" || (await fileStat(tokenPath))?.kind !== "file") return undefined;
  const caPath = overrides.certificateAuthority === undefined
    ? joinPath(serviceAccountDirectory, "ca.crt")
    : resolvePath(workingDirectory, overrides.certificateAuthority);
  const { token, as: user } = overrides;
  return {
    source: { kind: "inCluster" },
    server: (overrides.server ?? `https://${host.includes(":") ? `[${host}]` : host}:${port}`).replace(/\/+$/, ""),
    namespace: overrides.namespace ?? await ownNamespace(options, directoryOf(tokenPath)),
    certificateAuthority: { kind: "file", path: caPath },
    insecureSkipTlsVerify: false,
    serverName: overrides.tlsServerName,
    proxy: undefined,
    clientCertificate: undefined,
    credentials: token === undefined
      ? { kind: "tokenFile", path: tokenPath }
      : { kind: "token", token: new Masked(token) },
    impersonate: user === undefined
      ? undefined
      : { user, uid: overrides.asUid, groups: overrides.asGroups ?? [], extra: {} },
    user: "the service account",
    requestTimeoutMs: overrides.requestTimeoutMs,
  };
}

async function ownNamespace(options: LoadClusterAccessOptions, directory: string): Promise<string> {
  const fromVariable = options.environment.POD_NAMESPACE ?? "";
  if (fromVariable !== "") return fromVariable;
  return (await findText(joinPath(directory, "namespace")))?.trim() || "default";
}

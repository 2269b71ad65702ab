/**
 * loadClusterAccess(): finds the API server and the credentials. Flags override a kubeconfig; without a kubeconfig the
 * service account of a Pod is used. kubectl has the same order.
 *
 * Guarantees: it reads nothing from the process itself, so the result depends on the options and the files only; a
 * contradiction or a reference to a missing entry is a KubeconfigError that says what to do (behaviour 83).
 */
import { namespaceProblem } from "../../api/mod.ts";
import { type Logger, logger as loggerOf, printable } from "../../observe/mod.ts";
import { directoryOf, type Environment, fileStat, findText, joinPath, resolvePath } from "../../runtime/mod.ts";
import { type ClusterAccess, KubeconfigError, Masked } from "./cluster_access.ts";
import { sendableImpersonation } from "./impersonation_problem.ts";
import { kubeconfigPaths, loadKubeconfig } from "./kubeconfig.ts";
import {
  checkFiles,
  type KubeconfigOverrides,
  refuseUnsafeEnvironment,
  resolveAccess,
  serverUrl,
} from "./resolve_access.ts";

/** Options of {@link loadClusterAccess}. */
export interface LoadClusterAccessOptions {
  /** Values of flags, which override the kubeconfig. @default {} */
  readonly overrides?: KubeconfigOverrides;
  /** The environment variables: KUBECONFIG, those of a Pod, and those of proxies. `process.env` in a program. */
  readonly environment: Environment;
  /** The home folder of the user. @default none */
  readonly home?: string;
  /** The folder that relative paths of flags start from. @default "." */
  readonly workingDirectory?: string;
  /** The folder with the service account of a Pod. @default "/var/run/secrets/kubernetes.io/serviceaccount" */
  readonly serviceAccountDirectory?: string;
  /** Gets the warnings. @default logger("client") */
  readonly logger?: Logger;
}

/**
 * Finds the API server and the credentials, in the order of kubectl: flags, the kubeconfig, the service account of a Pod.
 * It sends no request.
 *
 * @param options The flags, and what it would otherwise read from the process.
 * @throws {KubeconfigError} when there is no configuration, or it contradicts itself
 *
 * @example
 * ```ts
 * import { loadClusterAccess } from "@pintle/controller/client";
 *
 * // A program passes { environment: process.env, home: homedir() } and the values of its flags.
 * const access = await loadClusterAccess({
 *   environment: {},
 *   overrides: { server: "https://kube.example.dev:6443/", token: "secret", namespace: "team-a" },
 * });
 * console.assert(access.server === "https://kube.example.dev:6443" && access.namespace === "team-a");
 * console.assert(!JSON.stringify(access).includes("secret"));
 * ```
 */
export async function loadClusterAccess(options: LoadClusterAccessOptions): Promise<ClusterAccess> {
  const { overrides = {}, environment, home, workingDirectory = ".", logger = loggerOf("client") } = options;
  refuseUnsafeEnvironment(environment);
  if (overrides.namespace !== undefined) assertNamespace(overrides.namespace, "the flags");
  const source = { path: overrides.kubeconfig, environment, home, workingDirectory };
  const kubeconfig = await loadKubeconfig(source);
  if (kubeconfig.isEmpty && overrides.kubeconfig === undefined) {
    const access = await inClusterAccess(options);
    if (access !== undefined) return access;
    if (overrides.server === undefined) throw nothingFound(kubeconfigPaths(source));
  }
  return await resolveAccess(kubeconfig, { overrides, environment, workingDirectory, logger });
}

function nothingFound(paths: readonly string[]): KubeconfigError {
  const places = paths.length === 0 ? "" : ` (searched ${paths.map((path) => `"${path}"`).join(", ")})`;
  return new KubeconfigError(
    `Cannot find a cluster: there is no kubeconfig${places} and no service account of a Pod; pass --kubeconfig or --server, or set KUBECONFIG`,
  );
}

const defaultServiceAccountDirectory = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * The access of a Pod: two variables that every Pod has, and the files of its service account. The transport reads the
 * token and the CA again when they change. Undefined if this is not a Pod, or one without a service account.
 */
async function inClusterAccess(options: LoadClusterAccessOptions): Promise<ClusterAccess | undefined> {
  const {
    environment,
    overrides = {},
    serviceAccountDirectory = defaultServiceAccountDirectory,
    workingDirectory = ".",
  } = options;
  const host = environment.KUBERNETES_SERVICE_HOST ?? "";
  const port = environment.KUBERNETES_SERVICE_PORT ?? "";
  const tokenPath = joinPath(serviceAccountDirectory, "token");
  if (host === "" || port === "" || (await fileStat(tokenPath))?.kind !== "file") return undefined;
  const caPath = overrides.certificateAuthority === undefined
    ? joinPath(serviceAccountDirectory, "ca.crt")
    : resolvePath(workingDirectory, overrides.certificateAuthority);
  refuseUnusedFlags(overrides);
  const { token, as: user } = overrides;
  const own = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const what = overrides.server === undefined ? "KUBERNETES_SERVICE_HOST and _PORT" : "--server";
  const url = serverUrl(overrides.server ?? own, what);
  const access: ClusterAccess = {
    source: { kind: "inCluster" },
    server: url.href.replace(/\/+$/, ""),
    namespace: overrides.namespace ?? await ownNamespace(options, directoryOf(tokenPath)),
    certificateAuthority: { kind: "file", path: caPath },
    insecureSkipTlsVerify: false,
    serverName: overrides.tlsServerName,
    proxy: undefined,
    clientCertificate: undefined,
    // The token is not sent over http, which is for loopback only.
    credentials: url.protocol === "http:"
      ? { kind: "none" }
      : token === undefined
      ? { kind: "tokenFile", path: tokenPath }
      : { kind: "token", token: new Masked(token) },
    impersonate: user === undefined
      ? undefined
      : sendableImpersonation({ user, uid: overrides.asUid, groups: overrides.asGroups ?? [], extra: {} }),
    user: "the service account",
    requestTimeoutMs: overrides.requestTimeoutMs,
  };
  await checkFiles(access);
  return access;
}

/** Flags that the access of a Pod has no use for. Without them the program would do something else than was asked for. */
const unusedFlags = {
  context: "--context",
  cluster: "--cluster",
  user: "--user",
  clientCertificate: "--client-certificate",
  clientKey: "--client-key",
} as const satisfies { readonly [Name in keyof KubeconfigOverrides]?: string };

function refuseUnusedFlags(overrides: KubeconfigOverrides): void {
  const inPod = (flag: string, state: string) => new KubeconfigError(`Cannot use ${flag} in a Pod: ${state}`);
  if (overrides.insecureSkipTlsVerify === true) {
    throw inPod(
      "--insecure-skip-tls-verify",
      "any server could get the token of the service account; use --certificate-authority",
    );
  }
  for (const [name, flag] of Object.entries(unusedFlags)) {
    if (Reflect.get(overrides, name) !== undefined) throw inPod(flag, "there is no kubeconfig; pass --kubeconfig");
  }
  if (overrides.as === undefined && (overrides.asUid !== undefined || (overrides.asGroups ?? []).length > 0)) {
    throw inPod("--as-group or --as-uid", "a user is missing; pass --as too");
  }
}

/** The server would answer "not found" to each request with an invalid namespace. */
function assertNamespace(namespace: string, source: string): void {
  const problem = namespaceProblem(namespace);
  if (problem === undefined) return;
  throw new KubeconfigError(`Cannot use namespace "${printable(namespace)}" of ${source}: ${problem}`);
}

async function ownNamespace(options: LoadClusterAccessOptions, directory: string): Promise<string> {
  const fromVariable = options.environment.POD_NAMESPACE ?? "";
  const namespace = fromVariable || (await findText(joinPath(directory, "namespace")))?.trim() || "default";
  assertNamespace(namespace, fromVariable === "" ? "the service account's file" : "POD_NAMESPACE");
  return namespace;
}

/**
 * From a merged kubeconfig and flags to one ClusterAccess: which context, which cluster, which user, and what each flag
 * overrides. The order of precedence is client-go's `DirectClientConfig`.
 */
import { type Environment, fileStat, resolvePath } from "../runtime/mod.ts";
import {
  type ClusterEntry,
  type ContextEntry,
  emptyCluster,
  emptyContext,
  emptyUser,
  type UserEntry,
} from "./_kubeconfig_schema.ts";
import { printable } from "./_printable.ts";
import { bareHost, isLoopback, proxyFromEnvironment } from "./_proxy.ts";
import { credentialsOf, pemSource } from "./_resolve_credentials.ts";
import type { ClusterAccess, Impersonation, PemSource } from "./cluster_access.ts";
import type { Entry, Kubeconfig } from "./kubeconfig.ts";
import { KubeconfigError } from "./kubeconfig_error.ts";
import type { KubeconfigOverrides } from "./load_cluster_access.ts";

/** What {@link resolveAccess} goes by besides the files. */
export interface ResolveOptions {
  readonly overrides: KubeconfigOverrides;
  readonly environment: Environment;
  readonly workingDirectory: string;
}

/** Decides. @throws KubeconfigError when a name leads nowhere, something is missing or contradicts itself. */
export async function resolveAccess(kubeconfig: Kubeconfig, options: ResolveOptions): Promise<ClusterAccess> {
  const { overrides, environment } = options;
  const chosen = choose(kubeconfig, overrides);
  const url = serverUrl(overrides.server ?? chosen.cluster.value.server, chosen.clusterName);
  const trust = trustOf(chosen.cluster, options);
  const isPlain = url.protocol === "http:";
  const access: ClusterAccess = {
    source: kubeconfig.isEmpty
      ? { kind: "flags" }
      : { kind: "kubeconfig", files: kubeconfig.files, context: chosen.contextName },
    server: url.href.replace(/\/+$/, ""),
    namespace: overrides.namespace ?? chosen.context.namespace ?? "default",
    ...trust,
    // Setting --server alone drops the name of another server's certificate, as in client-go.
    serverName: overrides.tlsServerName ??
      (overrides.server === undefined ? chosen.cluster.value["tls-server-name"] : undefined),
    proxy: proxyOf(chosen.cluster.value, chosen.clusterName, url, environment),
    // Over http, which is loopback only, nobody's credentials travel: client-go does the same.
    ...(isPlain ? { clientCertificate: undefined, credentials: { kind: "none" } } : credentialsOf(chosen, options)),
    impersonate: impersonationOf(chosen.user.value, overrides),
    user: chosen.userName ?? "",
    requestTimeoutMs: overrides.requestTimeoutMs,
  };
  await refuseMissingFiles(access);
  return access;
}

/** The parts of a kubeconfig that apply. */
export interface Chosen {
  readonly contextName: string | undefined;
  readonly context: ContextEntry;
  readonly clusterName: string | undefined;
  readonly cluster: Entry<ClusterEntry>;
  readonly userName: string | undefined;
  readonly user: Entry<UserEntry>;
}

function choose(kubeconfig: Kubeconfig, overrides: KubeconfigOverrides): Chosen {
  const contextName = overrides.context ?? kubeconfig.currentContext;
  const context = contextName === undefined ? undefined : kubeconfig.contexts.get(contextName)?.value;
  if (contextName !== undefined && context === undefined) {
    const flag = overrides.context === undefined ? "current-context" : "--context";
    throw new KubeconfigError(
      `Cannot use context "${printable(contextName)}" (${flag}): it does not exist; ${namesOf(kubeconfig.contexts)}`,
    );
  }
  const clusterName = overrides.cluster ?? context?.cluster;
  const userName = overrides.user ?? context?.user;
  if (clusterName === undefined && overrides.server === undefined) {
    throw new KubeconfigError(
      context === undefined
        ? `Cannot choose a cluster: no context is current; pass --context or set current-context; ${
          namesOf(kubeconfig.contexts)
        }`
        : `Cannot use context "${printable(contextName ?? "")}": it names no cluster; pass --cluster or --server`,
    );
  }
  return {
    contextName,
    context: context ?? emptyContext,
    clusterName,
    cluster: entryOf("cluster", kubeconfig.clusters, clusterName, contextName) ??
      { value: emptyCluster, directory: "." },
    userName,
    user: entryOf("user", kubeconfig.users, userName, contextName) ?? { value: emptyUser, directory: "." },
  };
}

function entryOf<T>(
  what: "cluster" | "user",
  entries: ReadonlyMap<string, Entry<T>>,
  name: string | undefined,
  contextName: string | undefined,
): Entry<T> | undefined {
  if (name === undefined) return undefined;
  const entry = entries.get(name);
  if (entry !== undefined) return entry;
  const by = contextName === undefined ? `--${what}` : `context "${printable(contextName)}"`;
  throw new KubeconfigError(
    `Cannot use ${what} "${printable(name)}" (named by ${by}): it does not exist; ${namesOf(entries)}`,
  );
}

function namesOf(entries: ReadonlyMap<string, unknown>): string {
  const names = [...entries.keys()].map((name) => `"${printable(name, 64)}"`);
  if (names.length === 0) return "there are none";
  return `there ${names.length === 1 ? "is" : "are"} ${names.slice(0, 8).join(", ")}${names.length > 8 ? ", …" : ""}`;
}

/** @throws KubeconfigError when it is no URL of an API server that may be talked to. */
function serverUrl(server: string | undefined, clusterName: string | undefined): URL {
  const what = clusterName === undefined ? "--server" : `server of cluster "${printable(clusterName)}"`;
  if (server === undefined) throw new KubeconfigError(`Cannot use ${what}: it is missing`);
  const url = URL.parse(server);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new KubeconfigError(`Cannot use ${what}: "${printable(server)}" is not a URL that starts with https://`);
  }
  if (url.protocol === "http:" && !isLoopback(bareHost(url))) {
    throw new KubeconfigError(
      `Cannot use ${what}: "${printable(server)}" is unencrypted, which is for this machine only; use https://`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new KubeconfigError(`Cannot use ${what}: credentials do not belong into the URL; use a user entry`);
  }
  url.search = "";
  url.hash = "";
  return url;
}

function trustOf(
  cluster: Entry<ClusterEntry>,
  options: ResolveOptions,
): { certificateAuthority: PemSource | undefined; insecureSkipTlsVerify: boolean } {
  const { overrides, workingDirectory } = options;
  const flag = overrides.certificateAuthority;
  const isSkipFlag = overrides.insecureSkipTlsVerify === true;
  if (isSkipFlag && flag !== undefined) {
    throw new KubeconfigError("Cannot use --insecure-skip-tls-verify: --certificate-authority contradicts it");
  }
  if (flag !== undefined) {
    const certificateAuthority: PemSource = { kind: "file", path: resolvePath(workingDirectory, flag) };
    return { certificateAuthority, insecureSkipTlsVerify: false };
  }
  // Either flag replaces what the kubeconfig says of both.
  if (isSkipFlag) return { certificateAuthority: undefined, insecureSkipTlsVerify: true };
  const certificateAuthority = pemSource(cluster, "certificate-authority");
  const insecureSkipTlsVerify = cluster.value["insecure-skip-tls-verify"] && overrides.insecureSkipTlsVerify !== false;
  if (insecureSkipTlsVerify && certificateAuthority !== undefined) {
    throw new KubeconfigError(
      "Cannot use insecure-skip-tls-verify: the cluster has a certificate authority, which contradicts it; remove one of the two",
    );
  }
  return { certificateAuthority, insecureSkipTlsVerify };
}

function proxyOf(
  cluster: ClusterEntry,
  clusterName: string | undefined,
  url: URL,
  environment: Environment,
): string | undefined {
  const proxy = cluster["proxy-url"];
  if (proxy === undefined) return proxyFromEnvironment(url, environment);
  const parsed = URL.parse(proxy);
  if (parsed === null || !["http:", "https:", "socks5:", "socks5h:"].includes(parsed.protocol)) {
    throw new KubeconfigError(
      `Cannot use proxy-url of cluster "${
        printable(clusterName ?? "")
      }": it must start with http://, https:// or socks5://`,
    );
  }
  return proxy;
}

function impersonationOf(user: UserEntry, overrides: KubeconfigOverrides): Impersonation | undefined {
  const name = overrides.as ?? user.as;
  const groups = overrides.asGroups ?? user["as-groups"];
  const uid = overrides.asUid ?? user["as-uid"];
  if (name === undefined) {
    if (groups.length > 0 || uid !== undefined) {
      throw new KubeconfigError("Cannot act as a group or UID: a user is missing; pass --as too");
    }
    return undefined;
  }
  return { user: name, uid, groups, extra: user["as-user-extra"] };
}

/** Files that are missing now would be missed later, in the middle of a request. */
async function refuseMissingFiles(access: ClusterAccess): Promise<void> {
  const { certificateAuthority, clientCertificate, credentials } = access;
  const sources: [string, PemSource | undefined][] = [
    ["certificate-authority", certificateAuthority],
    ["client-certificate", clientCertificate?.certificate],
    ["client-key", clientCertificate?.key],
    ["tokenFile", credentials.kind === "tokenFile" ? { kind: "file", path: credentials.path } : undefined],
  ];
  for (const [what, source] of sources) {
    if (source?.kind !== "file") continue;
    if ((await fileStat(source.path)) !== undefined) continue;
    throw new KubeconfigError(`Cannot read ${what} "${source.path}": there is no such file`);
  }
}

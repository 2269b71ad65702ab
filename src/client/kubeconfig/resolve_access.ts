/**
 * resolveAccess(): one ClusterAccess from a merged kubeconfig and flags. It finds the context, the cluster and the user,
 * and applies the flags. The order of precedence is that of `DirectClientConfig` in client-go.
 *
 * The order for credentials: a token of the command line, then token file, token, user name and password, exec plugin,
 * the auth provider `oidc`. A client certificate is used in place of a plugin or provider, and together with the others.
 */
import { namespaceProblem } from "../../api/mod.ts";
import { isSecretName, type Logger, printable } from "../../observe/mod.ts";
import { type Environment, fileStat, fromBase64, resolvePath } from "../../runtime/mod.ts";
import {
  type ClusterAccess,
  type Credentials,
  type ExecPlugin,
  type Impersonation,
  KubeconfigError,
  Masked,
  type OidcProvider,
  type PemSource,
} from "./cluster_access.ts";
import {
  type ClusterEntry,
  type ContextEntry,
  emptyCluster,
  emptyContext,
  emptyUser,
  type Entry,
  type ExecEntry,
  type Kubeconfig,
  type UserEntry,
} from "./kubeconfig.ts";
import { sendableImpersonation } from "./impersonation_problem.ts";
import { bareHost, isLoopback, isSafeUrl, proxyFromEnvironment } from "./proxy_rules.ts";

/** Values of flags. Each field has the name and the meaning of a flag of kubectl. */
export interface KubeconfigOverrides {
  /** The path of the kubeconfig file. @default KUBECONFIG, then ~/.kube/config */
  readonly kubeconfig?: string;
  /** The context of the kubeconfig. @default its current context */
  readonly context?: string;
  /** The cluster of the kubeconfig. @default that of the context */
  readonly cluster?: string;
  /** The user of the kubeconfig. @default that of the context */
  readonly user?: string;
  /** The default namespace. @default that of the context */
  readonly namespace?: string;
  /** The URL of the API server. @default that of the cluster */
  readonly server?: string;
  /** A bearer token. @default the credentials of the user */
  readonly token?: string;
  /** The name of the user to act as. @default that of the user in the kubeconfig, usually none */
  readonly as?: string;
  /** The groups of the user to act as. @default those of the user in the kubeconfig */
  readonly asGroups?: readonly string[];
  /** The UID of the user to act as. @default that of the user in the kubeconfig */
  readonly asUid?: string;
  /** The path of the certificates that sign the certificate of the server. @default those of the cluster */
  readonly certificateAuthority?: string;
  /** The path of the certificate of the user. @default that of the user */
  readonly clientCertificate?: string;
  /** The path of the key of `clientCertificate`. @default that of the user */
  readonly clientKey?: string;
  /** Accepts any certificate of the server. @default that of the cluster */
  readonly insecureSkipTlsVerify?: boolean;
  /** The name in the certificate of the server. @default that of the cluster, then the host of the URL */
  readonly tlsServerName?: string;
  /** The most milliseconds of a request. @default no limit */
  readonly requestTimeoutMs?: number;
}

/** Options of {@link resolveAccess}. */
export interface ResolveOptions {
  readonly overrides: KubeconfigOverrides;
  readonly environment: Environment;
  readonly workingDirectory: string;
  /** Gets the warning about a server that is not verified. */
  readonly logger: Logger;
}

/** This variable disables verification in the whole process, which a program with credentials must not allow. */
export function refuseUnsafeEnvironment(environment: Environment): void {
  if (environment.NODE_TLS_REJECT_UNAUTHORIZED === "0") {
    throw new KubeconfigError(
      "Cannot start: NODE_TLS_REJECT_UNAUTHORIZED=0 disables all certificate verification; unset it, and use certificate-authority or insecure-skip-tls-verify in the kubeconfig",
    );
  }
}

/**
 * Resolves the access.
 *
 * @throws KubeconfigError when a name or a file does not exist, a value is missing, or values contradict each other.
 */
export async function resolveAccess(kubeconfig: Kubeconfig, options: ResolveOptions): Promise<ClusterAccess> {
  const { overrides, environment, logger } = options;
  refuseUnsafeEnvironment(environment);
  const chosen = chooseEntries(kubeconfig, overrides);
  const what = chosen.clusterName === undefined ? "--server" : `server of cluster "${printable(chosen.clusterName)}"`;
  const url = serverUrl(overrides.server ?? chosen.cluster.value.server, what);
  const trust = trustOf(chosen.cluster, options);
  const isPlain = url.protocol === "http:";
  const access: ClusterAccess = {
    source: kubeconfig.isEmpty
      ? { kind: "flags" }
      : { kind: "kubeconfig", files: kubeconfig.files, context: chosen.contextName },
    server: url.href.replace(/\/+$/, ""),
    namespace: overrides.namespace ?? namespaceOf(chosen) ?? "default",
    ...trust,
    // The server name of the kubeconfig belongs to its server, so --server alone drops it, as in client-go.
    serverName: overrides.tlsServerName ??
      (overrides.server === undefined ? chosen.cluster.value["tls-server-name"] : undefined),
    proxy: proxyOf(chosen.cluster.value, chosen.clusterName, url, environment),
    // Credentials are not sent over http, which is for loopback only. client-go does the same.
    ...(isPlain ? { clientCertificate: undefined, credentials: { kind: "none" } } : credentialsOf(chosen, options)),
    impersonate: impersonationOf(chosen.user.value, overrides),
    user: chosen.userName ?? "",
    requestTimeoutMs: overrides.requestTimeoutMs,
  };
  await checkFiles(access);
  if (access.insecureSkipTlsVerify) {
    // Any server at this address can read the credentials.
    logger.warn("skipping verification of the API server certificate", { server: access.server });
  }
  return access;
}

/** The entries of a kubeconfig that are used. */
interface Chosen {
  readonly contextName: string | undefined;
  readonly context: ContextEntry;
  readonly clusterName: string | undefined;
  readonly cluster: Entry<ClusterEntry>;
  readonly userName: string | undefined;
  readonly user: Entry<UserEntry>;
}

/** The namespace of the context. The server would answer "not found" to a request with an invalid one. */
function namespaceOf({ context: { namespace }, contextName = "" }: Chosen): string | undefined {
  const problem = namespace === undefined ? undefined : namespaceProblem(namespace);
  if (namespace === undefined || problem === undefined) return namespace;
  throw new KubeconfigError(
    `Cannot use context "${printable(contextName)}": its namespace "${printable(namespace)}" cannot exist, ${problem}`,
  );
}

function chooseEntries(kubeconfig: Kubeconfig, overrides: KubeconfigOverrides): Chosen {
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
  if (names.length === 0) return "the kubeconfig has none";
  return `there ${names.length === 1 ? "is" : "are"} ${names.slice(0, 8).join(", ")}${names.length > 8 ? ", …" : ""}`;
}

/** A host, with a port or without. */
const addressPattern = /^[^\s/?#\\@]+\/?$/;

/**
 * Returns the URL of a server. An address without a scheme means http://, as for kubectl, which is for loopback only.
 *
 * @throws KubeconfigError when it is not a URL, or one that must not be used.
 */
export function serverUrl(server: string | undefined, what: string): URL {
  if (server === undefined) throw new KubeconfigError(`Cannot use ${what}: it is missing`);
  const isAddress = addressPattern.test(server) && !/^https?:/i.test(server);
  const url = URL.parse(isAddress ? `http://${server}` : server);
  const shown = printable(server.replace(/^([^/]*\/\/)?[^/?#]*@/, "$1…@"));
  const isForeign = isAddress && url !== null && !isLoopback(bareHost(url));
  if (url === null || isForeign || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new KubeconfigError(`Cannot use ${what}: "${shown}" is not a URL that starts with https://`);
  }
  if (url.protocol === "http:" && !isLoopback(bareHost(url))) {
    throw new KubeconfigError(
      `Cannot use ${what}: "${shown}" is unencrypted, which is allowed on this machine only; use https://`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new KubeconfigError(`Cannot use ${what}: a URL must not contain credentials; use a user entry`);
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
  // Either flag replaces both values of the kubeconfig.
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
  const proxy = cluster["proxy-url"] ?? proxyFromEnvironment(url, environment);
  if (proxy === undefined) return undefined;
  const parsed = URL.parse(proxy);
  if (parsed === null || !["http:", "https:", "socks5:", "socks5h:"].includes(parsed.protocol)) {
    const what = cluster["proxy-url"] === undefined
      ? `${url.protocol === "https:" ? "HTTPS" : "HTTP"}_PROXY`
      : `proxy-url of cluster "${printable(clusterName ?? "")}"`;
    throw new KubeconfigError(`Cannot use ${what}: it must start with http://, https:// or socks5://`);
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
  return sendableImpersonation({ user: name, uid, groups, extra: user["as-user-extra"] });
}

/** Reports missing files now instead of at the first request. */
export async function checkFiles(access: ClusterAccess): Promise<void> {
  const { certificateAuthority, clientCertificate, credentials } = access;
  const sources: [string, PemSource | undefined][] = [
    ["certificate-authority", certificateAuthority],
    ["client-certificate", clientCertificate?.certificate],
    ["client-key", clientCertificate?.key],
    ["tokenFile", credentials.kind === "tokenFile" ? { kind: "file", path: credentials.path } : undefined],
  ];
  for (const [what, source] of sources) {
    if (source?.kind !== "file") continue;
    const found = await fileStat(source.path).catch((cause: unknown) => {
      throw new KubeconfigError(`Cannot read ${what} "${source.path}": ${printable(String(cause))}`, { cause });
    });
    if (found?.kind === "file") continue;
    // It is read again when it changes, so a pipe cannot be used; without a writer, reading it would never end.
    const state = found === undefined ? "it does not exist" : "it is not a regular file";
    throw new KubeconfigError(`Cannot read ${what} "${source.path}": ${state}`);
  }
}

/** The name of the extension of a cluster that is passed to exec plugins. */
const execExtension = "client.authentication.k8s.io/exec";

/** @throws KubeconfigError when the entry of the user is incomplete or contradicts itself. */
function credentialsOf(
  chosen: Chosen,
  options: ResolveOptions,
): Pick<ClusterAccess, "credentials" | "clientCertificate"> {
  const { overrides } = options;
  const clientCertificate = certificateOf(chosen, options);
  if (overrides.token !== undefined) {
    return { credentials: { kind: "token", token: new Masked(overrides.token) }, clientCertificate };
  }
  const credentials = fromEntry(chosen);
  const isPlugin = credentials.kind === "exec" || credentials.kind === "oidc";
  // A plugin is not run if there is a client certificate.
  return {
    credentials: isPlugin && clientCertificate !== undefined ? { kind: "none" } : credentials,
    clientCertificate,
  };
}

function fromEntry(chosen: Chosen): Credentials {
  const { value: user, directory } = chosen.user;
  const name = printable(chosen.userName ?? "");
  if (user.token !== undefined && (user.username !== undefined || user.password !== undefined)) {
    throw new KubeconfigError(`Cannot use user "${name}": it has a token and a user name, only one is allowed`);
  }
  if (user.exec !== undefined && user["auth-provider"] !== undefined) {
    throw new KubeconfigError(
      `Cannot use user "${name}": it has an exec plugin and an auth provider, only one is allowed`,
    );
  }
  if (user.tokenFile !== undefined) return { kind: "tokenFile", path: resolvePath(directory, user.tokenFile) };
  if (user.token !== undefined) return { kind: "token", token: new Masked(user.token) };
  if (user.username !== undefined || user.password !== undefined) {
    return { kind: "basic", username: user.username ?? "", password: new Masked(user.password ?? "") };
  }
  if (user.exec !== undefined) return { kind: "exec", plugin: pluginOf(user.exec, name, chosen) };
  const provider = user["auth-provider"];
  if (provider === undefined) return { kind: "none" };
  return { kind: "oidc", provider: oidcOf(provider, name, directory) };
}

/** What to do about the auth providers that run a program of the kubeconfig; kubectl 1.26 dropped them. */
const migrations: ReadonlyMap<string, string> = new Map([
  ["gcp", "install gke-gcloud-auth-plugin, and run: gcloud container clusters get-credentials CLUSTER"],
  ["azure", "install kubelogin, and run: kubelogin convert-kubeconfig"],
]);

/** @throws KubeconfigError for any provider but `oidc`, and for values that must not be used. */
function oidcOf(entry: NonNullable<UserEntry["auth-provider"]>, userName: string, directory: string): OidcProvider {
  const providerError = (state: string) => new KubeconfigError(`Cannot use user "${userName}": ${state}`);
  if (entry.name !== "oidc") {
    const advice = migrations.get(entry.name);
    throw providerError(
      advice === undefined
        ? `its auth provider "${printable(entry.name, 64)}" is not known; use an exec plugin`
        : `its auth provider "${entry.name}" was removed from Kubernetes clients in version 1.26; ${advice}`,
    );
  }
  const config = new Map(Object.entries(entry.config));
  const textOf = (key: string) => config.get(key) || undefined;
  const maskedOf = (key: string) => textOf(key) === undefined ? undefined : new Masked(textOf(key) ?? "");
  const issuer = textOf("idp-issuer-url");
  if (issuer !== undefined && !isSafeUrl(issuer)) {
    throw providerError("the idp-issuer-url of its auth provider is not a URL that starts with https://");
  }
  const clientId = textOf("client-id") ?? "";
  if (clientId === "" && textOf("refresh-token") !== undefined) {
    throw providerError("the client-id of its auth provider is missing");
  }
  const data = textOf("idp-certificate-authority-data"), path = textOf("idp-certificate-authority");
  return {
    issuer,
    clientId,
    clientSecret: maskedOf("client-secret"),
    idToken: maskedOf("id-token"),
    refreshToken: maskedOf("refresh-token"),
    certificateAuthority: data !== undefined
      ? { kind: "data", pem: new Masked(decodePem(data, "idp-certificate-authority")) }
      : path !== undefined
      ? { kind: "file", path: resolvePath(directory, path) }
      : undefined,
  };
}

function pluginOf(exec: ExecEntry, userName: string, chosen: Chosen): ExecPlugin {
  const pluginError = (state: string) => new KubeconfigError(`Cannot use exec plugin of user "${userName}": ${state}`);
  const { command, apiVersion, interactiveMode = "IfAvailable" } = exec;
  if (command === undefined) throw pluginError("command is missing");
  if (apiVersion !== "client.authentication.k8s.io/v1" && apiVersion !== "client.authentication.k8s.io/v1beta1") {
    throw pluginError(
      apiVersion === undefined
        ? "apiVersion is missing"
        : `apiVersion "${printable(apiVersion)}" is not client.authentication.k8s.io/v1 or v1beta1; update the plugin`,
    );
  }
  // v1beta1 is older than the field, so the field is optional there.
  if (exec.interactiveMode === undefined && apiVersion.endsWith("/v1")) throw pluginError("interactiveMode is missing");
  if (interactiveMode !== "Never" && interactiveMode !== "IfAvailable" && interactiveMode !== "Always") {
    throw pluginError("interactiveMode is not Never, IfAvailable or Always");
  }
  if (exec.env.some(({ name }) => name === "" || name.includes("="))) {
    throw pluginError("env has an entry without a name");
  }
  return {
    apiVersion,
    command,
    args: exec.args,
    // A variable such as AWS_PROFILE is an ordinary word.
    env: exec.env.map(({ name, value }) => ({ name, value: new Masked(value, { isCredential: isSecretName(name) }) })),
    installHint: exec.installHint,
    provideClusterInfo: exec.provideClusterInfo,
    interactiveMode,
    clusterConfig: chosen.cluster.value.extensions.find(({ name }) => name === execExtension)?.extension,
    directory: chosen.user.directory,
  };
}

function certificateOf(chosen: Chosen, options: ResolveOptions): ClusterAccess["clientCertificate"] {
  const { overrides, workingDirectory } = options;
  const fromFlag = (path: string | undefined): PemSource | undefined =>
    path === undefined ? undefined : { kind: "file", path: resolvePath(workingDirectory, path) };
  const certificate = fromFlag(overrides.clientCertificate) ?? pemSource(chosen.user, "client-certificate");
  const key = fromFlag(overrides.clientKey) ?? pemSource(chosen.user, "client-key");
  if (certificate === undefined) return undefined;
  if (key === undefined) {
    const name = printable(chosen.userName ?? "");
    throw new KubeconfigError(
      `Cannot use client certificate of user "${name}": client-key or client-key-data is missing`,
    );
  }
  return { certificate, key };
}

/** The PEM text of the field `key`-data, else the file of `key`. @throws KubeconfigError when the data is not base64 of PEM. */
function pemSource(
  entry: Entry<ClusterEntry> | Entry<UserEntry>,
  key: "certificate-authority" | "client-certificate" | "client-key",
): PemSource | undefined {
  const fields: Readonly<Record<string, unknown>> = entry.value;
  const data = fields[`${key}-data`];
  const path = fields[key];
  if (typeof data === "string") return { kind: "data", pem: new Masked(decodePem(data, key)) };
  return typeof path === "string" ? { kind: "file", path: resolvePath(entry.directory, path) } : undefined;
}

function decodePem(data: string, key: string): string {
  try {
    const pem = new TextDecoder().decode(fromBase64(data.replace(/\s+/g, "")));
    if (pem.includes("-----BEGIN ")) return pem;
  } catch {
    // The error below does not contain the data.
  }
  throw new KubeconfigError(`Cannot use ${key}-data: it is not PEM in base64`);
}

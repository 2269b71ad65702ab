/**
 * startApiServer(): the embedded API server behind the flags of kube-apiserver. Flags that mean something here do their work;
 * the others of the original are accepted, because they change how a server runs and not what it answers.
 *
 *   flags -> users (client certificates, token file), keys, admission -> kubernetesApi() -> serve()
 *
 * Caveats: the objects are in this process and end with it.
 */
import { type FeatureGate, kubernetesApi, type KubernetesApiOptions, type User } from "../../apiserver/mod.ts";
import { type Clock, systemClock } from "../../async/mod.ts";
import { Client, type Transport } from "../../client/mod.ts";
import {
  type CertificatePair,
  findText,
  joinPath,
  makeDirectory,
  readText,
  serve,
  type ServeLimits,
  writeFile,
} from "../../runtime/mod.ts";
import { issueCertificates } from "../../webhook/mod.ts";
import { FlagWordError, type FlagWords } from "./flag_words.ts";
import { admissionPlugins, apiServerLists, featureGates } from "./generated/flags.ts";

/** What an API server needs beside its flags. */
export interface ApiServerParts {
  /** Runs the simulated control plane too: Deployments get Pods, dependents of deleted objects are collected. */
  readonly hasCluster: boolean;
  readonly onError: (error: unknown) => void;
  /** Is told what a given flag does not do here. @default nothing */
  readonly onWarning?: (text: string) => void;
  /** @default systemClock */
  readonly clock?: Clock;
}

/** A running API server. */
export interface RunningApiServer extends AsyncDisposable {
  /** `https://127.0.0.1:6443`. */
  readonly url: string;
}

/** Flags whose work this server cannot do, and that would make a test pass falsely. */
const unsupported: ReadonlyMap<string, string> = new Map([
  ["authentication-token-webhook-config-file", "it authenticates by client certificates and --token-auth-file"],
  ["authentication-config", "it authenticates by client certificates and --token-auth-file"],
  ["oidc-issuer-url", "it authenticates by client certificates and --token-auth-file"],
  ["authorization-webhook-config-file", "its authorization modes are RBAC, Node and AlwaysAllow"],
  ["authorization-config", "its authorization modes are RBAC, Node and AlwaysAllow"],
  ["encryption-provider-config", "it stores nothing on disk"],
]);
const modes: ReadonlySet<string> = new Set(["RBAC", "Node", "AlwaysAllow"]);

/**
 * Starts a server.
 *
 * @throws FlagWordError for a flag that it cannot follow; the error of the file or of the listener
 */
export async function startApiServer(flags: FlagWords, parts: ApiServerParts): Promise<RunningApiServer> {
  const { clock = systemClock, hasCluster, onError, onWarning = () => {} } = parts;
  refuseUnsupported(flags);
  for (const text of ignoredFlags(flags)) onWarning(text);
  const hostname = flags.text("bind-address") ?? "127.0.0.1";
  const port = portOf(flags);
  const clientCa = await textOf(flags, "client-ca-file");
  const administrator = newAdministrator();
  const api = kubernetesApi({
    ...await authentication(flags, administrator),
    components: hasCluster ? ["controller-manager", "scheduler"] : [],
    features: featuresOf(flags),
    clock,
    onError,
  });
  const { server } = api;
  const listener = await serve({
    hostname,
    port,
    tls: {
      ...await servingPair(flags, hostname, clock),
      clientCa,
      requireClientCertificate: false,
      offersHttp2: !flags.isSet("disable-http2-serving"),
    },
    handler: (request, connection) => server.fetch(request, connection),
    readsBody: (request, connection) => server.authenticates(request, connection),
    limits: limitsOf(flags),
    onError,
  });
  api.advertise({ address: hostname, port: listener.port });
  const stop = new AbortController();
  const cluster = hasCluster ? runCluster(server, administrator, { clock, stop: stop.signal }) : undefined;
  cluster?.catch((error: unknown) => stop.signal.aborted || onError(error));
  return {
    url: `https://${hostname}:${listener.port}`,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await cluster?.catch(() => {});
      await listener.close();
      server[Symbol.dispose]();
    },
  };
}

function portOf(flags: FlagWords): number {
  const port = Number(flags.text("secure-port") ?? "6443");
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new FlagWordError(
      `invalid argument "${flags.text("secure-port")}" for "--secure-port" flag: use a port from 1 to 65535`,
    );
  }
  return port;
}

function limitsOf(flags: FlagWords): Partial<ServeLimits> {
  const text = flags.text("http2-max-streams-per-connection") ?? "0";
  if (!/^-?\d{1,9}$/.test(text)) {
    throw new FlagWordError(
      `invalid argument "${text}" for "--http2-max-streams-per-connection" flag: use a number of streams`,
    );
  }
  const limits = { maxConnections: 5_000, idleTimeoutMs: 0, maxHeaderBytes: 64 * 1024, maxUrlBytes: 32 * 1024 };
  return Number(text) > 0 ? { ...limits, maxConcurrentStreams: Number(text) } : limits;
}

function refuseUnsupported(flags: FlagWords): void {
  for (const name of flags.names) {
    const reason = unsupported.get(name);
    if (reason !== undefined) throw new FlagWordError(`Cannot follow --${name}: ${reason}`);
  }
  for (const mode of flags.list("authorization-mode")) {
    if (!modes.has(mode)) throw new FlagWordError(`Cannot authorize by ${mode}: use ${[...modes].join(", ")}`);
  }
  refuseUnknownNames(flags);
}

/** Names of plugins and gates that kube-apiserver does not know, either. */
function refuseUnknownNames(flags: FlagWords): void {
  const plugins = new Set(admissionPlugins.split(" "));
  for (const flag of ["enable-admission-plugins", "disable-admission-plugins"]) {
    const unknown = flags.list(flag).find((name) => !plugins.has(name));
    if (unknown !== undefined) throw new FlagWordError(`${flag} plugin "${unknown}" is unknown`);
  }
  const gates = new Set(featureGates.split(" "));
  for (const word of flags.list("feature-gates")) {
    const [, name = "", value] = /^(?:[^:=]+:)?([^=]*)(?:=(.*))?$/.exec(word.trim()) ?? [];
    if (value === undefined) {
      throw new FlagWordError(`invalid argument "${word}" for "--feature-gates" flag: use NAME=true`);
    }
    if (!gates.has(name)) throw new FlagWordError(`unrecognized feature gate: ${name}`);
  }
}

/** The gates that change something here. The last value of a gate counts, as in the original. */
export function featuresOf(flags: FlagWords): readonly FeatureGate[] {
  const values = new Map(
    flags.list("feature-gates").map((word) => {
      const [name = "", value = ""] = word.trim().replace(/^[^:=]+:/, "").split("=");
      return [name, value] as const;
    }),
  );
  const isOn = values.get("ShardedListAndWatch") ?? values.get("AllAlpha") ?? "false";
  return /^(1|t|T|true|TRUE|True)$/.test(isOn) ? ["ShardedListAndWatch"] : [];
}

/** What a test might expect of given flags, and does not get. */
function ignoredFlags(flags: FlagWords): readonly string[] {
  const missing = flags.list("enable-admission-plugins").filter((name) => !enabledPlugins.has(name));
  return [
    ...missing.map((name) => `--enable-admission-plugins=${name} is ignored: this server does not have it`),
    ...flags.names.filter((name) => name.startsWith("audit-") && flags.text(name) !== undefined)
      .map((name) => `--${name} is ignored: this server writes no audit log`),
  ];
}

/** The plugins that this server has. */
const enabledPlugins: ReadonlySet<string> = new Set([
  ...[
    "DefaultIngressClass",
    "DefaultStorageClass",
    "DefaultTolerationSeconds",
    "LimitRanger",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionWebhook",
  ],
  ...["CertificateApproval", "CertificateSigning", "CertificateSubjectRestriction", "NodeRestriction"],
  ...["NamespaceLifecycle", "PodSecurity", "Priority", "ResourceQuota", "RuntimeClass", "ServiceAccount"],
  ...[
    "StorageObjectInUseProtection",
    "TaintNodesByCondition",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionWebhook",
  ],
]);

/** Who may send requests, by which credential, and who decides. */
async function authentication(flags: FlagWords, administrator: Administrator): Promise<KubernetesApiOptions> {
  const tokens = new Map(parseTokenFile(await textOf(flags, "token-auth-file") ?? ""));
  tokens.set(administrator.token, administrator.user);
  const keyFiles = flags.list("service-account-key-file");
  const authorizationModes = flags.list("authorization-mode");
  const allowsEverything = !authorizationModes.some((mode) => mode !== "AlwaysAllow");
  const restrictsNodes = flags.list("enable-admission-plugins").includes("NodeRestriction");
  return {
    tokens,
    flags: flags.printed(apiServerLists),
    allowsEverything,
    authorizesNodes: authorizationModes.includes("Node"),
    // As there: with AlwaysAllow, anybody could do everything.
    allowsAnonymous: flags.isSet("anonymous-auth", true) && !allowsEverything,
    issuers: flags.list("service-account-issuer"),
    signingKey: await textOf(flags, "service-account-signing-key-file"),
    trustedKeys: await Promise.all(keyFiles.map((path) => fileText("service-account-key-file", path))),
    keysUrl: flags.text("service-account-jwks-uri"),
    disabledPlugins: [
      ...flags.list("disable-admission-plugins"),
      // It is the only one that must be asked for.
      ...(restrictsNodes ? [] : ["NodeRestriction"]),
    ],
  };
}

/**
 * The tokens of a static token file: `token,user,uid,"group1,group2"` in each line, as CSV.
 *
 * @throws FlagWordError for a line with fewer than three columns
 */
export function parseTokenFile(text: string): readonly (readonly [token: string, user: User])[] {
  return text.split("\n").flatMap((line, index) => {
    if (line.trim() === "" || line.startsWith("#")) return [];
    const columns = [...line.trim().matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)]
      .map(([, quoted, plain = ""]) => quoted?.replaceAll('""', '"') ?? plain);
    const [token = "", name = "", uid, groups = ""] = columns;
    if (token === "" || name === "" || uid === undefined) {
      throw new FlagWordError(`Cannot read --token-auth-file: line ${index + 1} needs token,user,uid`);
    }
    const all = ["system:authenticated", ...groups.split(",").filter((group) => group !== "")];
    return [[token, { name, uid, groups: all, extra: new Map() }] as const];
  });
}

/** The certificate of the server: as the flags say, or in the folder of certificates, where a new one is kept. */
async function servingPair(flags: FlagWords, hostname: string, clock: Clock): Promise<CertificatePair> {
  const [cert, key] = [await textOf(flags, "tls-cert-file"), await textOf(flags, "tls-private-key-file")];
  if (cert !== undefined && key !== undefined) return { cert, key };
  const folder = flags.text("cert-dir");
  const [certPath, keyPath] = ["apiserver.crt", "apiserver.key"].map((name) => joinPath(folder ?? "", name));
  const kept = folder === undefined ? undefined : [await findText(certPath ?? ""), await findText(keyPath ?? "")];
  if (kept?.[0] !== undefined && kept[1] !== undefined) return { cert: kept[0], key: kept[1] };
  const hosts = [...new Set([hostname, "127.0.0.1", "localhost", "::1", "kubernetes.default.svc"])];
  const issued = await issueCertificates({ hosts, now: clock.now(), lifetimeMs: certificateMs });
  if (folder !== undefined) {
    await makeDirectory(folder);
    await writeFile(certPath ?? "", issued.cert + issued.ca);
    await writeFile(keyPath ?? "", issued.key);
  }
  return issued;
}

const certificateMs = 365 * 24 * 3_600_000;

/** @throws FlagWordError when the file of the flag cannot be read */
async function textOf(flags: FlagWords, name: string): Promise<string | undefined> {
  const path = flags.text(name);
  return path === undefined ? undefined : await fileText(name, path);
}

/** @param name of the flag that names the file @throws FlagWordError if it cannot be read */
async function fileText(name: string, path: string): Promise<string> {
  try {
    return await readText(path);
  } catch (error) {
    throw new FlagWordError(`Cannot read --${name}: ${error instanceof Error ? error.message : error}`);
  }
}

/** The user that this process is on its own server. */
interface Administrator {
  readonly token: string;
  readonly user: User;
}

function newAdministrator(): Administrator {
  const user = {
    name: "system:apiserver",
    uid: "",
    groups: ["system:masters", "system:authenticated"],
    extra: new Map(),
  };
  return { token: crypto.randomUUID() + crypto.randomUUID(), user };
}

async function runCluster(
  { fetch, storage }: ReturnType<typeof kubernetesApi>["server"],
  { token }: Administrator,
  { clock, stop }: { readonly clock: Clock; readonly stop: AbortSignal },
): Promise<void> {
  const transport: Transport = (request) => {
    const headers = new Headers(request.headers);
    headers.set("authorization", `Bearer ${token}`);
    return fetch(new Request(request, { headers }));
  };
  // Most suites run without it, and its controllers are as much code as the server.
  const { SimulatedCluster } = await import("../../cluster/mod.ts");
  const client = new Client(transport, { clock });
  await new SimulatedCluster({ client, storage, clock }).run({ stop, kill: stop });
}

/**
 * Exec plugins: programs that print credentials, by the protocols client.authentication.k8s.io/v1 and v1beta1.
 *
 * Guarantees: the program gets its arguments without a shell, a minimal environment, 30 s and 1 MiB of output; its
 * standard error is shown without control characters, its credentials are never shown. A policy can forbid plugins or
 * allow only some, because a kubeconfig that names a program runs code (behaviour 77, security 4).
 */
import { z } from "zod";
import type { Clock } from "../../async/mod.ts";
import { printable } from "../../observe/mod.ts";
import {
  type Environment,
  fileStat,
  isKeyPair,
  joinPath,
  readText,
  resolvePath,
  spawn,
  type SpawnResult,
  standardInput,
  toBase64,
} from "../../runtime/mod.ts";
import { type ClusterAccess, CredentialsError, type ExecPlugin, firstProblemOnly, Masked } from "../kubeconfig/mod.ts";
import { bearer, type ExpiringCredential } from "./credential.ts";

/** Which exec plugins may run. */
export type ExecPolicy =
  | { readonly kind: "allowAll" }
  | { readonly kind: "denyAll" }
  /** Names (`aws`) or absolute paths. A name allows the program that is found in $PATH. */
  | { readonly kind: "allowlist"; readonly commands: readonly string[] };

/** Options of {@link runExecPlugin}. */
export interface RunExecPluginOptions {
  readonly clock: Clock;
  readonly environment: Environment;
  readonly execPolicy: ExecPolicy;
  readonly signal: AbortSignal;
  /** The most milliseconds of the program. @default 30_000 */
  readonly timeoutMs?: number;
  /** True if a user can answer a question of the program. @default whether standard input is a terminal */
  readonly hasTerminal?: boolean;
}

/** The variables that a plugin inherits: locations of files and programs, network settings, cloud accounts. */
const inheritedNames =
  /^(PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TERM|LANG|LC_[A-Z]+|TZ|XDG_[A-Z_]+|SSL_CERT_(FILE|DIR)|SystemRoot|USERPROFILE|APPDATA|LOCALAPPDATA|https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY|KUBECONFIG|(AWS|AZURE|AAD|ARM|GOOGLE|CLOUDSDK|OCI|DIGITALOCEAN|TELEPORT|OIDC)_[A-Z0-9_]+)$/;

const outputSchema = z.object({
  apiVersion: z.string(),
  kind: z.literal("ExecCredential"),
  status: z.object({
    token: z.string().optional(),
    clientCertificateData: z.string().optional(),
    clientKeyData: z.string().optional(),
    expirationTimestamp: z.string().nullish(),
  }),
});

/** Runs the plugin of a user. @throws CredentialsError when the policy forbids it, it fails, or its output is malformed. */
export async function runExecPlugin(
  access: ClusterAccess,
  plugin: ExecPlugin,
  options: RunExecPluginOptions,
): Promise<ExpiringCredential> {
  const { clock, environment, signal, timeoutMs = 30_000, hasTerminal = standardInput.isTerminal } = options;
  const program = await findProgram(plugin, environment);
  checkExecPolicy(plugin.command, program, options.execPolicy);
  if (program === undefined) throw pluginError(plugin, `it is not installed${hintText(plugin)}`);
  const isInteractive = canBeInteractive(plugin, hasTerminal);
  const result = await spawn([program, ...plugin.args], {
    env: await environmentOf(access, plugin, { environment, isInteractive }),
    stdin: isInteractive ? "inherit" : "",
    timeoutMs,
    signal,
  });
  return parseCredential(outputOf(result, plugin, timeoutMs), plugin, clock);
}

/** @throws CredentialsError when the policy does not allow `command`, which was found in $PATH as `program`. */
function checkExecPolicy(command: string, program: string | undefined, policy: ExecPolicy): void {
  switch (policy.kind) {
    case "allowAll":
      return;
    case "denyAll":
      throw new CredentialsError(`Cannot run credential plugin "${printable(command)}": the policy allows none`);
    case "allowlist":
      if (policy.commands.some((allowed) => allowed === command || allowed === program)) return;
      throw new CredentialsError(`Cannot run credential plugin "${printable(command)}": the policy does not name it`);
    default:
      policy satisfies never;
  }
}

/** The file of a command: a path is relative to the kubeconfig, a name is searched in $PATH. */
async function findProgram(plugin: ExecPlugin, environment: Environment): Promise<string | undefined> {
  const { command, directory } = plugin;
  if (/[\\/]/.test(command)) return resolvePath(directory, command);
  const folders = (environment.PATH ?? "").split(":").filter((folder) => folder.startsWith("/"));
  for (const folder of folders) {
    const candidate = joinPath(folder, command);
    const found = await fileStat(candidate).catch(() => undefined);
    if (found?.kind === "file" && (found.mode & 0o111) !== 0) return candidate;
  }
  return undefined;
}

function canBeInteractive(plugin: ExecPlugin, hasTerminal: boolean): boolean {
  switch (plugin.interactiveMode) {
    case "Never":
      return false;
    case "IfAvailable":
      return hasTerminal;
    case "Always":
      if (!hasTerminal) throw pluginError(plugin, "it must ask questions, and standard input is not a terminal");
      return true;
    default:
      return plugin.interactiveMode satisfies never;
  }
}

async function environmentOf(
  access: ClusterAccess,
  plugin: ExecPlugin,
  options: { readonly environment: Environment; readonly isInteractive: boolean },
): Promise<Record<string, string>> {
  const env: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(options.environment)) {
    if (value !== undefined && inheritedNames.test(name)) env[name] = value;
  }
  for (const { name, value } of plugin.env) env[name] = value.reveal();
  const cluster = plugin.provideClusterInfo ? await clusterInfo(access, plugin) : undefined;
  const spec = { interactive: options.isInteractive, cluster };
  env.KUBERNETES_EXEC_INFO = JSON.stringify({ apiVersion: plugin.apiVersion, kind: "ExecCredential", spec });
  return env;
}

async function clusterInfo(access: ClusterAccess, plugin: ExecPlugin): Promise<unknown> {
  const { certificateAuthority, server, serverName, insecureSkipTlsVerify, proxy } = access;
  const pem = certificateAuthority === undefined
    ? undefined
    : certificateAuthority.kind === "data"
    ? certificateAuthority.pem.reveal()
    : await readText(certificateAuthority.path, { maxBytes: 1024 * 1024, isRegular: true });
  return {
    server,
    "tls-server-name": serverName,
    "insecure-skip-tls-verify": insecureSkipTlsVerify || undefined,
    "certificate-authority-data": pem === undefined ? undefined : toBase64(pem),
    "proxy-url": proxy,
    config: plugin.clusterConfig,
  };
}

/** The standard output of the program. @throws CredentialsError when the program failed. */
function outputOf(result: SpawnResult, plugin: ExecPlugin, timeoutMs: number): string {
  switch (result.kind) {
    case "ended":
      if (result.code === 0) return result.stdout;
      throw pluginError(plugin, `it ended with code ${result.code}${stderrText(result.stderr)}`);
    case "killed":
      throw pluginError(plugin, `it was ended by ${result.by}${stderrText(result.stderr)}`);
    case "timedOut":
      throw pluginError(plugin, `it did not end within ${timeoutMs} ms${stderrText(result.stderr)}`);
    case "tooMuchOutput":
      throw pluginError(plugin, "its output is larger than 1 MiB");
    case "notFound":
      throw pluginError(plugin, `it is not installed${hintText(plugin)}`);
    case "notStarted":
      throw pluginError(plugin, `it cannot be started: ${printable(result.message, 256)}`);
    default:
      return result satisfies never;
  }
}

function parseCredential(text: string, plugin: ExecPlugin, clock: Clock): ExpiringCredential {
  const parsed = outputSchema.safeParse(parsedJson(text), firstProblemOnly);
  if (!parsed.success) throw pluginError(plugin, "its output is not an ExecCredential with a status");
  const { apiVersion, status } = parsed.data;
  if (apiVersion !== plugin.apiVersion) {
    throw pluginError(
      plugin,
      `its output has version ${printable(apiVersion, 64)}, but the kubeconfig has ${plugin.apiVersion}`,
    );
  }
  const { token = "", clientCertificateData: cert = "", clientKeyData: key = "" } = status;
  if (token === "" && cert === "" && key === "") {
    throw pluginError(plugin, "its output has neither a token nor a certificate");
  }
  if ((cert === "") !== (key === "")) {
    throw pluginError(plugin, "its output has a certificate without its key, or a key without its certificate");
  }
  // The TLS connection would fail with an error that blames the server.
  if (cert !== "" && !isKeyPair(cert, key)) throw pluginError(plugin, "its certificate and its key are not a pair");
  return {
    authorization: token === "" ? undefined : bearer(token),
    certificate: cert === "" ? undefined : { cert, key: new Masked(key) },
    validUntil: validUntil(status.expirationTimestamp ?? undefined, plugin, clock),
  };
}

/** Converts the expiry from wall time to monotonic time, which an adjustment of the clock does not change. */
function validUntil(timestamp: string | undefined, plugin: ExecPlugin, clock: Clock): number | undefined {
  if (timestamp === undefined) return undefined;
  const at = Date.parse(timestamp);
  if (Number.isNaN(at)) throw pluginError(plugin, "its expirationTimestamp is not a time");
  return clock.monotonic() + Math.max(0, at - clock.now());
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function pluginError(plugin: ExecPlugin, state: string): CredentialsError {
  return new CredentialsError(`Cannot get credentials from "${printable(plugin.command, 256)}": ${state}`);
}

function stderrText(stderr: string): string {
  const text = printable(stderr, 512);
  return text === "" ? "" : `: ${text}`;
}

function hintText(plugin: ExecPlugin): string {
  const text = printable(plugin.installHint ?? "", 512);
  return text === "" ? "" : `; ${text}`;
}

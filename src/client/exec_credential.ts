/**
 * Exec plugins: programs that print credentials, protocol client.authentication.k8s.io/v1 and v1beta1.
 *
 * Guarantees: the program gets its arguments without a shell in between, a minimal environment, 30 s and 1 MiB of output;
 * what it says on standard error is shown without control characters; its credentials are never shown. A policy can
 * forbid plugins or allow only some, because a kubeconfig that names a program is code (behaviours.md 77, security 4).
 */
import type { Clock } from "../async/mod.ts";
import {
  type Environment,
  fileStat,
  hasTerminalInput,
  joinPath,
  readText,
  resolvePath,
  spawn,
  type SpawnResult,
} from "../runtime/mod.ts";
import { z } from "zod";
import { bearer, type Renewal } from "./_credential_source.ts";
import { printable } from "./_printable.ts";
import type { ClusterAccess, ExecPlugin } from "./cluster_access.ts";
import { CredentialsError } from "./credentials_error.ts";
import { Masked } from "./masked.ts";

/** Which exec plugins may run. */
export type ExecPolicy =
  | { readonly kind: "allowAll" }
  | { readonly kind: "denyAll" }
  /** Names (`aws`) or absolute paths; a name allows what $PATH leads to. */
  | { readonly kind: "allowlist"; readonly commands: readonly string[] };

/** Options of {@link runExecPlugin}. */
export interface RunExecPluginOptions {
  readonly clock: Clock;
  readonly environment: Environment;
  readonly execPolicy: ExecPolicy;
  readonly signal: AbortSignal;
  /** Milliseconds the program may take. @default 30_000 */
  readonly timeoutMs?: number;
  /** Whether somebody could answer a question of the program. @default as standard input is */
  readonly hasTerminal?: boolean;
}

/** What a plugin may need of our environment: where things are, how to reach the network, which cloud account. */
const inherited =
  /^(PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TERM|LANG|LC_[A-Z]+|TZ|XDG_[A-Z_]+|SSL_CERT_(FILE|DIR)|SystemRoot|USERPROFILE|APPDATA|LOCALAPPDATA|https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY|KUBECONFIG|(AWS|AZURE|AAD|ARM|GOOGLE|CLOUDSDK|OCI|DIGITALOCEAN|TELEPORT|OIDC)_[A-Z0-9_]+)$/;

const answer = z.object({
  apiVersion: z.string(),
  kind: z.literal("ExecCredential"),
  status: z.object({
    token: z.string().optional(),
    clientCertificateData: z.string().optional(),
    clientKeyData: z.string().optional(),
    expirationTimestamp: z.string().nullish(),
  }),
});

/** Runs the plugin of a user. @throws CredentialsError when it may not run, fails, or prints something else. */
export async function runExecPlugin(
  access: ClusterAccess,
  plugin: ExecPlugin,
  options: RunExecPluginOptions,
): Promise<Renewal> {
  const { clock, environment, signal, timeoutMs = 30_000, hasTerminal = hasTerminalInput() } = options;
  const program = await findProgram(plugin, environment);
  refuseForbidden(plugin.command, program, options.execPolicy);
  if (program === undefined) throw failed(plugin, `it is not installed${hint(plugin)}`);
  const isInteractive = interactivity(plugin, hasTerminal);
  const result = await spawn([program, ...plugin.args], {
    env: await environmentOf(access, plugin, { environment, isInteractive }),
    stdin: isInteractive ? "inherit" : "",
    timeoutMs,
    signal,
  });
  return credentialsIn(outputOf(result, plugin, timeoutMs), plugin, clock);
}

/** @throws CredentialsError when the policy does not allow `command`, which $PATH leads to `program`. */
export function refuseForbidden(command: string, program: string | undefined, policy: ExecPolicy): void {
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

/** The file a command means: a path as seen from the kubeconfig, a name as $PATH has it. */
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

function interactivity(plugin: ExecPlugin, hasTerminal: boolean): boolean {
  switch (plugin.interactiveMode) {
    case "Never":
      return false;
    case "IfAvailable":
      return hasTerminal;
    case "Always":
      if (!hasTerminal) throw failed(plugin, "it wants to ask something, and standard input is no terminal");
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
    if (value !== undefined && inherited.test(name)) env[name] = value;
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
    : await readText(certificateAuthority.path, { maxBytes: 1024 * 1024 });
  return {
    server,
    "tls-server-name": serverName,
    "insecure-skip-tls-verify": insecureSkipTlsVerify || undefined,
    "certificate-authority-data": pem === undefined ? undefined : new TextEncoder().encode(pem).toBase64(),
    "proxy-url": proxy,
    config: plugin.clusterConfig,
  };
}

/** What the program printed. @throws CredentialsError when it did not end well. */
function outputOf(result: SpawnResult, plugin: ExecPlugin, timeoutMs: number): string {
  switch (result.kind) {
    case "ended":
      if (result.code === 0) return result.stdout;
      throw failed(plugin, `it ended with code ${result.code}${said(result.stderr)}`);
    case "killed":
      throw failed(plugin, `it was ended by ${result.by}${said(result.stderr)}`);
    case "timedOut":
      throw failed(plugin, `it did not end within ${timeoutMs} ms${said(result.stderr)}`);
    case "tooMuchOutput":
      throw failed(plugin, "it printed more than 1 MiB");
    case "notFound":
      throw failed(plugin, `it is not installed${hint(plugin)}`);
    case "notStarted":
      throw failed(plugin, `it cannot be started: ${printable(result.message, 256)}`);
    default:
      return result satisfies never;
  }
}

function credentialsIn(text: string, plugin: ExecPlugin, clock: Clock): Renewal {
  const parsed = answer.safeParse(parsedJson(text));
  if (!parsed.success) throw failed(plugin, "it did not print an ExecCredential with a status");
  const { apiVersion, status } = parsed.data;
  if (apiVersion !== plugin.apiVersion) {
    throw failed(plugin, `it printed ${printable(apiVersion, 64)}, the kubeconfig says ${plugin.apiVersion}`);
  }
  const { token = "", clientCertificateData: cert = "", clientKeyData: key = "" } = status;
  if (token === "" && cert === "" && key === "") throw failed(plugin, "it printed neither a token nor a certificate");
  if ((cert === "") !== (key === "")) throw failed(plugin, "it printed a certificate without its key, or a key alone");
  return {
    authorization: token === "" ? undefined : bearer(token),
    certificate: cert === "" ? undefined : { cert, key: new Masked(key) },
    goodUntil: goodUntil(status.expirationTimestamp ?? undefined, plugin, clock),
  };
}

/** The expiry is wall time; what is left of it now is counted on the monotonic clock, which nobody sets back. */
function goodUntil(timestamp: string | undefined, plugin: ExecPlugin, clock: Clock): number | undefined {
  if (timestamp === undefined) return undefined;
  const at = Date.parse(timestamp);
  if (Number.isNaN(at)) throw failed(plugin, "its expirationTimestamp is no time");
  return clock.monotonic() + Math.max(0, at - clock.now());
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function failed(plugin: ExecPlugin, state: string): CredentialsError {
  return new CredentialsError(`Cannot get credentials from "${printable(plugin.command, 256)}": ${state}`);
}

function said(stderr: string): string {
  const text = printable(stderr, 512);
  return text === "" ? "" : `: ${text}`;
}

function hint(plugin: ExecPlugin): string {
  const text = printable(plugin.installHint ?? "", 512);
  return text === "" ? "" : `; ${text}`;
}

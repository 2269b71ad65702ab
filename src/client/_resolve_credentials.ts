/**
 * From a user entry and flags to Credentials. Precedence, as client-go has it: a token of the command line, then token
 * file, token, user name and password, exec plugin, auth provider; a client certificate stands beside any of them.
 */
import { resolvePath } from "../runtime/mod.ts";
import type { ClusterEntry, ExecEntry, UserEntry } from "./_kubeconfig_schema.ts";
import { printable } from "./_printable.ts";
import type { Chosen, ResolveOptions } from "./_resolve_access.ts";
import type { ClusterAccess, Credentials, ExecPlugin, PemSource } from "./cluster_access.ts";
import type { Entry } from "./kubeconfig.ts";
import { KubeconfigError } from "./kubeconfig_error.ts";
import { Masked } from "./masked.ts";

/** The extension of a cluster that is passed to exec plugins. */
const execExtension = "client.authentication.k8s.io/exec";

/** Who we are. @throws KubeconfigError when the entry is incomplete or says two things at once. */
export function credentialsOf(
  chosen: Chosen,
  options: ResolveOptions,
): Pick<ClusterAccess, "credentials" | "clientCertificate"> {
  const { overrides } = options;
  const clientCertificate = certificateOf(chosen, options);
  if (overrides.token !== undefined) {
    return { credentials: { kind: "token", token: new Masked(overrides.token) }, clientCertificate };
  }
  const credentials = fromEntry(chosen);
  const isPlugin = credentials.kind === "exec" || credentials.kind === "authProvider";
  // A plugin is not run when a certificate says already who we are.
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
  return { kind: "authProvider", name: provider.name, config: new Masked(JSON.stringify(provider.config)) };
}

function pluginOf(exec: ExecEntry, userName: string, chosen: Chosen): ExecPlugin {
  const complain = (state: string) => new KubeconfigError(`Cannot use exec plugin of user "${userName}": ${state}`);
  const { command, apiVersion, interactiveMode = "IfAvailable" } = exec;
  if (command === undefined) throw complain("command is missing");
  if (apiVersion !== "client.authentication.k8s.io/v1" && apiVersion !== "client.authentication.k8s.io/v1beta1") {
    throw complain(
      apiVersion === undefined
        ? "apiVersion is missing"
        : `apiVersion "${printable(apiVersion)}" is not client.authentication.k8s.io/v1 or v1beta1; update the plugin`,
    );
  }
  // v1beta1 came before the field, so there it may be absent.
  if (exec.interactiveMode === undefined && apiVersion.endsWith("/v1")) throw complain("interactiveMode is missing");
  if (interactiveMode !== "Never" && interactiveMode !== "IfAvailable" && interactiveMode !== "Always") {
    throw complain("interactiveMode is not Never, IfAvailable or Always");
  }
  if (exec.env.some(({ name }) => name === "" || name.includes("="))) throw complain("env has an entry without a name");
  return {
    apiVersion,
    command,
    args: exec.args,
    env: exec.env.map(({ name, value }) => ({ name, value: new Masked(value) })),
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

/** PEM text of `key`-data, else the file `key`. @throws KubeconfigError when the data is not base64 of PEM. */
export function pemSource(
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
    const pem = new TextDecoder().decode(Uint8Array.fromBase64(data.replace(/\s+/g, "")));
    if (pem.includes("-----BEGIN ")) return pem;
  } catch {
    // Said below, without the data.
  }
  throw new KubeconfigError(`Cannot use ${key}-data: it is not PEM in base64`);
}

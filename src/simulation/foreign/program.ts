/**
 * Program: how the program of `simulate --command` is started: its command line with placeholders, its environment, and the
 * files with which it finds the API server: a kubeconfig, certificates, and the folder of a ServiceAccount.
 *
 * Guarantees: the credentials lead to the server of the run only, and are in files that only their owner can read. The
 * program runs in a mount namespace where that is possible, so that the folder of the ServiceAccount is where programs in
 * Pods expect it, and nothing outside of the namespace changes.
 */
import { joinPath, listenTcp, makeDirectory, spawn, toBase64, writeFile } from "../../runtime/mod.ts";
import type { CertificatePair } from "../../runtime/mod.ts";
import type { ProgramIdentity } from "./program_objects.ts";
import type { ProgramWebhooks } from "./program_webhooks.ts";
import type { ServiceStubs } from "./service_stubs.ts";

/** What does not change between the runs. */
export interface ProgramOptions {
  /** For a shell; {@link placeholders} are replaced. */
  readonly command: string;
  readonly identity: ProgramIdentity;
  /** The variables of the program, besides those of {@link launchOf}. */
  readonly env: Readonly<Record<string, string>>;
  /** @default the working folder of this process */
  readonly workingDirectory?: string;
  /** PEM text of the authority of the server. */
  readonly ca: string;
  readonly client: CertificatePair;
  /** The program can have a mount namespace, see {@link canMount}. */
  readonly hasMounts: boolean;
  /** Names that lead to loopback in a mount namespace, such as those of Services. @default none */
  readonly hosts?: readonly string[];
  /** Further placeholders and their values. @default none */
  readonly values?: Readonly<Record<string, string>>;
  /** The webhooks of the program. @default it has none */
  readonly webhooks?: ProgramWebhooks;
  /** Where it serves them; it may have the placeholders of ports: `https://127.0.0.1:{port2}`. */
  readonly webhookUrl?: string;
}

/** Where the program of one run finds its server. */
export interface ProgramPlace {
  /** A folder of the run. */
  readonly folder: string;
  readonly port: number;
  /** The values of `{port}`, `{port2}` ... */
  readonly freePorts: readonly number[];
  readonly token: string;
  readonly podName: string;
  /** The applications that the program talks to. @default none */
  readonly stubs?: Pick<ServiceStubs, "environment" | "placeholders">;
}

/** What a command's text can have, with what stands for it. */
export const placeholders: Readonly<Record<string, string>> = {
  kubeconfig: "the path of a kubeconfig",
  server: "https://127.0.0.1:PORT",
  token: "a bearer token",
  ca: "the path of the certificate authority of the server",
  cert: "the path of a client certificate",
  key: "the path of its key",
  port: "a free port; {port2} to {port9} are others",
  dir: "a folder of the run, which is empty at its start",
  namespace: "the namespace of the program",
  certs: "a folder with the tls.crt and tls.key of webhooks",
  "service:NAME": "the address of a service: 127.0.0.1:PORT",
};

/** A command and its variables. */
export interface Launch {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const host = "127.0.0.1";
const accountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Writes the files of one process, and returns how to start it. */
export async function launchOf(program: ProgramOptions, place: ProgramPlace): Promise<Launch> {
  const { identity, ca, client, command, hasMounts, webhooks } = program;
  const { folder, port, token, podName, stubs } = place;
  const server = `https://${host}:${port}`;
  const account = joinPath(folder, "serviceaccount");
  await makeDirectory(account);
  const certs = joinPath(folder, "certs");
  await webhooks?.writeTo(certs);
  const files = {
    kubeconfig: joinPath(folder, "kubeconfig.yaml"),
    ca: joinPath(folder, "ca.crt"),
    cert: joinPath(folder, "client.crt"),
    key: joinPath(folder, "client.key"),
  };
  const { namespace, name } = identity;
  const hosts = ["localhost", ...program.hosts ?? []].map((one) => `${host} ${one}\n`).join("");
  await Promise.all([
    writeFile(files.kubeconfig, kubeconfigOf({ server, ca, token, namespace })),
    writeFile(files.ca, ca),
    writeFile(files.cert, client.cert),
    writeFile(files.key, client.key),
    writeFile(joinPath(account, "ca.crt"), ca),
    writeFile(joinPath(account, "token"), token),
    writeFile(joinPath(account, "namespace"), namespace),
    writeFile(joinPath(folder, "hosts"), hosts),
  ]);
  const values = {
    ...{ ...program.values, ...stubs?.placeholders, ...files, ...portValues(place), certs },
    ...{ server, token, namespace, dir: folder },
  };
  const text = replaced(command, values);
  return {
    argv: hasMounts ? mounting(text, folder, program.hosts !== undefined) : ["/bin/sh", "-c", text],
    env: {
      ...stubs?.environment,
      ...mapValues(program.env, (value) => replaced(value, values)),
      KUBECONFIG: files.kubeconfig,
      KUBERNETES_SERVICE_HOST: host,
      KUBERNETES_SERVICE_PORT: String(port),
      POD_NAME: podName,
      HOSTNAME: podName,
      POD_NAMESPACE: namespace,
      POD_IP: host,
      OPERATOR_NAME: name,
      OPERATOR_NAMESPACE: namespace,
      POD_SERVICE_ACCOUNT: name,
    },
  };
}

function portValues({ freePorts }: Pick<ProgramPlace, "freePorts">): Readonly<Record<string, number>> {
  return Object.fromEntries(freePorts.map((one, index) => [index === 0 ? "port" : `port${index + 1}`, one]));
}

/** Where the program serves its webhooks. @param freePorts see {@link ProgramPlace} */
export function webhookUrlOf({ webhookUrl = "" }: ProgramOptions, freePorts: readonly number[]): string {
  return replaced(webhookUrl, portValues({ freePorts }));
}

/** Replaces `{name}` by its value; other braces stay. */
function replaced(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replaceAll(
    /\{([a-z0-9:_-]+)\}/gi,
    (whole, name: string) => Object.hasOwn(values, name) ? String(values[name]) : whole,
  );
}

function mapValues(
  record: Readonly<Record<string, string>>,
  change: (value: string) => string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

/** How many free ports the program needs: the number of the highest placeholder. */
export function portsOf({ command, env, webhookUrl = "" }: ProgramOptions): number {
  const text = [command, webhookUrl, ...Object.values(env)].join(" ");
  const numbers = [...text.matchAll(/\{port([2-9]?)\}/g)].map(([, digit]) => digit === "" ? 1 : Number(digit));
  return Math.max(0, ...numbers);
}

/** Ports that are free now. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports: number[] = [];
  for (let index = 0; index < count; index++) {
    await using listener = await listenTcp({ hostname: "127.0.0.1", port: 0 }, (wire) => wire.end());
    ports.push(listener.port);
  }
  return ports;
}

interface KubeconfigParts {
  readonly server: string;
  readonly ca: string;
  readonly token: string;
  readonly namespace: string;
}

/** Writes a kubeconfig with another token than that of the program. @returns its path */
export async function writeKubeconfig(
  { ca, identity: { namespace } }: ProgramOptions,
  { path, token, port }: { readonly path: string; readonly token: string; readonly port: number },
): Promise<string> {
  await writeFile(path, kubeconfigOf({ server: `https://${host}:${port}`, ca, token, namespace }));
  return path;
}

/** JSON is valid YAML. */
function kubeconfigOf({ server, ca, token, namespace }: KubeconfigParts): string {
  const name = "simulation";
  return JSON.stringify({
    ...{ apiVersion: "v1", kind: "Config", "current-context": name },
    clusters: [{ name, cluster: { server, "certificate-authority-data": toBase64(ca) } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace } }],
  });
}

/**
 * Makes the folder of the ServiceAccount appear where Pods have it. `/run` becomes a new folder with the entries of the old
 * one, because the path may not exist, and must not appear outside of the namespace.
 */
const mountScript = [
  'old="$1/run"; mkdir -p "$old" && mount --rbind /run "$old" && mount -t tmpfs -o mode=755 tmpfs /run || exit 125',
  'for one in "$old"/*; do to="/run/${one##*/}"; if [ -d "$one" ]; then mkdir -p "$to"; else : > "$to"; fi',
  'mount --rbind "$one" "$to" || exit 125; done',
  'mkdir -p "$3" && mount --bind "$1/serviceaccount" "$3" || exit 125',
  'if [ "$4" = hosts ]; then mount --bind "$1/hosts" /etc/hosts || exit 125; fi',
  'exec /bin/sh -c "$2"',
].join("\n");

function mounting(command: string, folder: string, hasHosts: boolean): readonly string[] {
  const shell = ["/bin/sh", "-c", mountScript, "sh", folder, command, accountFolder, hasHosts ? "hosts" : ""];
  return ["unshare", "--mount", "--map-root-user", ...shell];
}

/** True if programs can have a mount namespace of their own. @param folder an empty folder, for a trial */
export async function canMount(folder: string, env: Readonly<Record<string, string>>): Promise<boolean> {
  await makeDirectory(joinPath(folder, "serviceaccount"));
  const result = await spawn(mounting("exit 0", folder, false), { env, timeoutMs: 5_000 });
  return result.kind === "ended" && result.code === 0;
}

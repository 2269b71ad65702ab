/**
 * Kubeconfig: one or several files, read and merged as kubectl does it.
 *
 * Guarantees: of entries with the same name, and of current-context, the first file wins; a missing file of the list is
 * skipped, but a file that was named explicitly must exist; relative paths are relative to the file that contains them.
 * A file is at most 4 MiB and 100,000 tokens; duplicate keys, duplicate names and alias bombs are refused (behaviour 83, security 17).
 * Errors name the file, the line or the path of a field, and never a value, which may be a secret.
 */
import { z } from "zod";
import { mask, printable } from "../../observe/mod.ts";
import { directoryOf, type Environment, findText, joinPath, resolvePath } from "../../runtime/mod.ts";
import { parseYaml, type YamlPosition } from "../../yaml/mod.ts";
import { KubeconfigError } from "./cluster_access.ts";
import { firstProblemOnly } from "./first_problem.ts";

/** An entry, and the folder of the file that contains it. */
export interface Entry<T> {
  readonly value: T;
  readonly directory: string;
}

/** The merged files. It contains secrets, so only its names are printed and serialized. */
export class Kubeconfig {
  readonly clusters: ReadonlyMap<string, Entry<ClusterEntry>>;
  readonly contexts: ReadonlyMap<string, Entry<ContextEntry>>;
  readonly users: ReadonlyMap<string, Entry<UserEntry>>;
  readonly currentContext: string | undefined;
  /** The files that exist, in order. */
  readonly files: readonly string[];

  constructor(fields: Pick<Kubeconfig, "clusters" | "contexts" | "users" | "currentContext" | "files">) {
    this.clusters = fields.clusters;
    this.contexts = fields.contexts;
    this.users = fields.users;
    this.currentContext = fields.currentContext;
    this.files = fields.files;
  }

  /** True if the files contain no entries. */
  get isEmpty(): boolean {
    return this.clusters.size === 0 && this.contexts.size === 0 && this.users.size === 0;
  }

  toJSON(): unknown {
    const { files, currentContext } = this;
    return { files, currentContext, contexts: [...this.contexts.keys()], clusters: mask, users: mask };
  }

  [Symbol.for("nodejs.util.inspect.custom")](): unknown {
    return this.toJSON();
  }

  [Symbol.for("Deno.customInspect")](): string {
    return JSON.stringify(this.toJSON());
  }
}

/** Options of {@link loadKubeconfig}. */
export interface LoadKubeconfigOptions {
  /** The only file to read; it must exist. */
  readonly path?: string;
  /** For KUBECONFIG and HOME. */
  readonly environment: Environment;
  /** The home folder of the user, for `.kube/config`. @default none */
  readonly home?: string;
  /** The folder that relative paths in options and variables start from. */
  readonly workingDirectory: string;
}

/** Ten times the largest kubeconfig that we know of; a parser needs several times the text. */
const maxFileBytes = 4 * 1024 * 1024;
/** A kubeconfig of 1,000 clusters has about 80,000. The work is 0.3 s. */
const maxTokens = 100_000;

/** Reads and merges the files. @throws KubeconfigError when a file cannot be used. */
export async function loadKubeconfig(options: LoadKubeconfigOptions): Promise<Kubeconfig> {
  const files: KubeconfigText[] = [];
  for (const path of kubeconfigPaths(options)) {
    const text = await read(path);
    if (text !== undefined) files.push({ path, text });
    else if (options.path !== undefined) {
      throw new KubeconfigError(`Cannot read kubeconfig "${path}": it does not exist; check --kubeconfig`);
    }
  }
  return mergeKubeconfigs(files);
}

/** The content of one kubeconfig. */
export interface KubeconfigText {
  /** The path of the file, or where else the text comes from; for messages, and for relative paths in the text. */
  readonly path: string;
  readonly text: string;
}

/** Merges kubeconfigs: of entries with the same name, the first one wins. @throws KubeconfigError when one cannot be used */
export function mergeKubeconfigs(texts: readonly KubeconfigText[]): Kubeconfig {
  const clusters = new Map<string, Entry<ClusterEntry>>();
  const contexts = new Map<string, Entry<ContextEntry>>();
  const users = new Map<string, Entry<UserEntry>>();
  const files: string[] = [];
  let currentContext: string | undefined;
  for (const { path, text } of texts) {
    const file = parseKubeconfig(text, path);
    const directory = directoryOf(path);
    files.push(path);
    currentContext ??= file["current-context"];
    const add = <T>(
      into: Map<string, Entry<T>>,
      what: string,
      entries: readonly (readonly [name: string, value: T])[],
    ) => addAll(into, entries, directory, `Cannot use kubeconfig "${path}": ${what}`);
    add(clusters, "cluster", file.clusters.map(({ name, cluster }) => [name, cluster]));
    add(contexts, "context", file.contexts.map(({ name, context }) => [name, context]));
    add(users, "user", file.users.map(({ name, user }) => [name, user]));
  }
  return new Kubeconfig({ clusters, contexts, users, currentContext, files });
}

/** The paths of the files, in order of precedence: --kubeconfig, else $KUBECONFIG, else ~/.kube/config. */
export function kubeconfigPaths(options: LoadKubeconfigOptions): readonly string[] {
  const { path, environment, home, workingDirectory } = options;
  if (path !== undefined) return [resolvePath(workingDirectory, path)];
  const list = environment.KUBECONFIG ?? "";
  if (list !== "") {
    const paths = list.split(listSeparator(list)).filter((part) => part !== "");
    return [...new Set(paths.map((part) => resolvePath(workingDirectory, part)))];
  }
  return home === undefined ? [] : [joinPath(home, ".kube", "config")];
}

/** Windows separates paths by `;`, because they contain colons. */
function listSeparator(list: string): string {
  return list.includes(";") || /^[A-Za-z]:[\\/]/.test(list) ? ";" : ":";
}

async function read(path: string): Promise<string | undefined> {
  try {
    return await findText(path, { maxBytes: maxFileBytes });
  } catch (cause) {
    const state = cause instanceof RangeError
      ? "it is larger than 4 MiB"
      : cause instanceof Error && "code" in cause && cause.code === "EINVAL"
      ? "it is a pipe or a socket, not a file"
      : printable(String(cause));
    throw new KubeconfigError(`Cannot read kubeconfig "${path}": ${state}`, { cause });
  }
}

function parseKubeconfig(text: string, path: string) {
  const parsed = kubeconfigSchema.safeParse(valueOf(text, path) ?? {}, firstProblemOnly);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  // The keys of a file are text of others.
  const at = printable(issue?.path.join(".") ?? "") || "the top";
  const state = printable(issue?.message ?? "its structure is wrong");
  // Behind `token: ` the log would mask the state as if it were the token.
  throw new KubeconfigError(`Cannot use kubeconfig "${path}": ${state} (at ${at})`);
}

/** The value of a YAML text whose keys are unique. */
function valueOf(text: string, path: string): unknown {
  const document = parseYaml(text, { maxTokens });
  // The message of the parser may quote a token.
  const [problem] = document.problems;
  if (problem !== undefined) throw invalidYaml(path, problem, `it is not valid YAML (${problem.code})`);
  const [duplicate] = document.duplicateKeys();
  if (duplicate !== undefined) throw invalidYaml(path, duplicate, "a key occurs twice");
  try {
    return document.value();
  } catch {
    throw new KubeconfigError(
      `Cannot use kubeconfig "${path}": it has too many aliases, or an alias without an anchor`,
    );
  }
}

function invalidYaml(path: string, { line }: YamlPosition, state: string): KubeconfigError {
  return new KubeconfigError(`Cannot use kubeconfig "${path}": line ${line}: ${state}`);
}

function addAll<T>(
  into: Map<string, Entry<T>>,
  entries: readonly (readonly [name: string, value: T])[],
  directory: string,
  complaint: string,
): void {
  const names = new Set<string>();
  for (const [name, value] of entries) {
    if (names.has(name)) throw new KubeconfigError(`${complaint} "${printable(name)}" occurs twice`);
    names.add(name);
    if (!into.has(name)) into.set(name, { value, directory });
  }
}

/**
 * The structure of a kubeconfig file. Source: client-go `clientcmd/api/v1` of Kubernetes 1.36.
 *
 * Unknown fields are ignored, as in kubectl. Go writes absent lists and maps as null, so null is the same as absent.
 */
const optionalText = z.string().nullish().transform((value) => value || undefined);
const optionalFlag = z.boolean().nullish().transform((value) => value ?? false);

/** A list, which Go may write as null. */
function listOf<T extends z.ZodType>(entry: T) {
  return z.array(entry).nullish().transform((value) => value ?? []);
}

/** An entry that may have no content, as `user: null`. */
function orEmpty<T extends z.ZodType>(schema: T) {
  return z.preprocess((value) => value ?? {}, schema);
}

const texts = listOf(z.string());
const extensions = listOf(z.object({ name: z.string(), extension: z.unknown() }));

const cluster = z.object({
  "server": optionalText,
  "tls-server-name": optionalText,
  "insecure-skip-tls-verify": optionalFlag,
  "certificate-authority": optionalText,
  "certificate-authority-data": optionalText,
  "proxy-url": optionalText,
  "extensions": extensions,
});

const context = z.object({ cluster: optionalText, user: optionalText, namespace: optionalText });

const exec = z.object({
  apiVersion: optionalText,
  command: optionalText,
  args: texts,
  env: listOf(z.object({ name: z.string(), value: z.string().nullish().transform((value) => value ?? "") })),
  installHint: optionalText,
  provideClusterInfo: optionalFlag,
  interactiveMode: optionalText,
});

const user = z.object({
  "client-certificate": optionalText,
  "client-certificate-data": optionalText,
  "client-key": optionalText,
  "client-key-data": optionalText,
  "token": optionalText,
  "tokenFile": optionalText,
  "as": optionalText,
  "as-uid": optionalText,
  "as-groups": texts,
  "as-user-extra": z.record(z.string(), z.array(z.string())).nullish().transform((value) => value ?? {}),
  "username": optionalText,
  "password": optionalText,
  "auth-provider": z.object({
    name: z.string(),
    config: z.record(z.string(), z.string()).nullish().transform((value) => value ?? {}),
  }).nullish().transform((value) => value ?? undefined),
  "exec": exec.nullish().transform((value) => value ?? undefined),
});

const kubeconfigSchema = z.object({
  "apiVersion": z.literal("v1").nullish(),
  "kind": z.literal("Config").nullish(),
  "clusters": listOf(z.object({ name: z.string(), cluster: orEmpty(cluster) })),
  "contexts": listOf(z.object({ name: z.string(), context: orEmpty(context) })),
  "users": listOf(z.object({ name: z.string(), user: orEmpty(user) })),
  "current-context": optionalText,
});

/** One cluster of a kubeconfig, with the keys of the file. */
export type ClusterEntry = z.output<typeof cluster>;
/** One context of a kubeconfig. */
export type ContextEntry = z.output<typeof context>;
/** One user of a kubeconfig. It contains secrets. */
export type UserEntry = z.output<typeof user>;
/** The exec plugin of a user. */
export type ExecEntry = z.output<typeof exec>;

/** The values of a cluster that does not exist. */
export const emptyCluster: ClusterEntry = cluster.parse({});
/** The values of a context that does not exist. */
export const emptyContext: ContextEntry = context.parse({});
/** The values of a user that does not exist. */
export const emptyUser: UserEntry = user.parse({});

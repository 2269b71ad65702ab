/**
 * Kubeconfig: one or several files read and merged as kubectl does it.
 *
 * Guarantees: of equal names and of current-context the first file's wins; a file of the list that is not there is
 * skipped, one that was named explicitly must be there; relative paths are relative to the file they stand in. A file is
 * at most 1 MiB; duplicate keys, duplicate names and alias bombs are refused (behaviours.md 83, security 17).
 *
 * Errors name file, line or path of what is wrong, never its value.
 */
import { parseDocument } from "yaml";
import { directoryOf, type Environment, findText, joinPath, resolvePath } from "../runtime/mod.ts";
import { type ClusterEntry, type ContextEntry, kubeconfigSchema, type UserEntry } from "./_kubeconfig_schema.ts";
import { printable } from "./_printable.ts";
import { KubeconfigError } from "./kubeconfig_error.ts";
import { mask } from "./masked.ts";

/** An entry and the folder of the file it is from. */
export interface Entry<T> {
  readonly value: T;
  readonly directory: string;
}

/** What the files say together. Holds secrets: prints and serializes as its names only. */
export class Kubeconfig {
  readonly clusters: ReadonlyMap<string, Entry<ClusterEntry>>;
  readonly contexts: ReadonlyMap<string, Entry<ContextEntry>>;
  readonly users: ReadonlyMap<string, Entry<UserEntry>>;
  readonly currentContext: string | undefined;
  /** The files that were there, in order. */
  readonly files: readonly string[];

  constructor(fields: Pick<Kubeconfig, "clusters" | "contexts" | "users" | "currentContext" | "files">) {
    this.clusters = fields.clusters;
    this.contexts = fields.contexts;
    this.users = fields.users;
    this.currentContext = fields.currentContext;
    this.files = fields.files;
  }

  /** True when no file said anything. */
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
  /** The file to use alone; it must exist. */
  readonly path?: string;
  /** For KUBECONFIG and HOME. */
  readonly environment: Environment;
  /** The user's home folder, for `.kube/config`. @default none */
  readonly home?: string;
  /** What relative paths in options and variables are relative to. */
  readonly workingDirectory: string;
}

const fileBytes = 1024 * 1024;

/** Reads the files that apply. @throws KubeconfigError when one is unusable. */
export async function loadKubeconfig(options: LoadKubeconfigOptions): Promise<Kubeconfig> {
  const clusters = new Map<string, Entry<ClusterEntry>>();
  const contexts = new Map<string, Entry<ContextEntry>>();
  const users = new Map<string, Entry<UserEntry>>();
  const files: string[] = [];
  let currentContext: string | undefined;
  for (const path of kubeconfigPaths(options)) {
    const text = await read(path);
    if (text === undefined) {
      if (options.path === undefined) continue;
      throw new KubeconfigError(`Cannot read kubeconfig "${path}": there is no such file; check --kubeconfig`);
    }
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

/** The files to look for, in order of precedence: --kubeconfig, else $KUBECONFIG, else ~/.kube/config. */
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

/** Windows separates by `;`, for its paths contain colons. */
function listSeparator(list: string): string {
  return list.includes(";") || /^[A-Za-z]:[\\/]/.test(list) ? ";" : ":";
}

async function read(path: string): Promise<string | undefined> {
  try {
    return await findText(path, { maxBytes: fileBytes });
  } catch (cause) {
    const state = cause instanceof RangeError ? "it is larger than 1 MiB" : printable(String(cause));
    throw new KubeconfigError(`Cannot read kubeconfig "${path}": ${state}`, { cause });
  }
}

function parseKubeconfig(text: string, path: string) {
  const parsed = kubeconfigSchema.safeParse(parseYaml(text, path) ?? {});
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const at = issue?.path.join(".") || "the top";
  throw new KubeconfigError(`Cannot use kubeconfig "${path}": at ${at}: ${issue?.message ?? "its shape is wrong"}`);
}

/** Safe YAML: the core schema, no merge keys, unique keys, at most 100 aliases resolved. */
function parseYaml(text: string, path: string): unknown {
  const document = parseDocument(text, { schema: "core", merge: false, uniqueKeys: true, prettyErrors: false });
  const error = document.errors[0];
  if (error !== undefined) {
    // Its message may quote the file, which may be a token.
    const line = text.slice(0, error.pos[0]).split("\n").length;
    const state = error.code === "DUPLICATE_KEY" ? "a key is there twice" : `it is not valid YAML (${error.code})`;
    throw new KubeconfigError(`Cannot use kubeconfig "${path}": line ${line}: ${state}`);
  }
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    throw new KubeconfigError(`Cannot use kubeconfig "${path}": it has too many aliases, or one to nothing`);
  }
}

function addAll<T>(
  into: Map<string, Entry<T>>,
  entries: readonly (readonly [name: string, value: T])[],
  directory: string,
  complaint: string,
): void {
  const names = new Set<string>();
  for (const [name, value] of entries) {
    if (names.has(name)) throw new KubeconfigError(`${complaint} "${printable(name)}" is there twice`);
    names.add(name);
    if (!into.has(name)) into.set(name, { value, directory });
  }
}

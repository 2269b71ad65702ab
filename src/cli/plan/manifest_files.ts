/**
 * readManifests(): the objects of `--files`: a file, the files of a folder, or standard input, as `kubectl apply -f` reads
 * them: YAML or JSON, several documents, Lists included.
 *
 * Guarantees: an error names the file and the line; no text of a file is in a message, because it may be a Secret.
 */
import { apiVersionOf, builtin, isJsonObject, type KubeObject, type Resource } from "../../api/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";
import { directoryEntries, fileStat, joinPath, type LineReader, readText } from "../../runtime/mod.ts";
import { parseYaml } from "../../yaml/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";

/** An object of a file. */
export interface ManifestObject {
  readonly object: KubeObject;
  readonly resource: Resource<KubeObject>;
  /** The file and the line, for messages. */
  readonly place: string;
}

/** Options of {@link readManifests}. */
export interface ManifestOptions {
  /** The controllers whose kinds the files can have, besides the built-in ones. */
  readonly controllers: readonly OperatorController[];
  /** The namespace of objects that name none. */
  readonly namespace: string;
  readonly stdin: LineReader;
}

/** The endings of the files of a folder, as kubectl takes them. */
const endings = /\.(ya?ml|json)$/;

/** The most bytes of standard input. */
const maxInputBytes = 64 * 1024 * 1024;

/** The most documents of all files together. */
const maxDocuments = 10_000;

/** Reads the objects. @param path `-` is standard input @throws CommandError when one cannot be read */
export async function readManifests(path: string, options: ManifestOptions): Promise<readonly ManifestObject[]> {
  const objects: ManifestObject[] = [];
  for (const { name, text } of await textsOf(path, options.stdin)) {
    for (const { value, line } of documentsOf(text, name)) {
      for (const item of itemsOf(value)) objects.push(manifestObject(item, `${name}:${line}`, options));
      if (objects.length > maxDocuments) throw cannotRead(path, `it has more than ${maxDocuments} objects`);
    }
  }
  if (objects.length === 0) throw cannotRead(path, "it has no objects");
  return objects;
}

async function textsOf(
  path: string,
  stdin: LineReader,
): Promise<readonly { readonly name: string; readonly text: string }[]> {
  if (path === "-") return [{ name: "standard input", text: await stdin.readAll?.(maxInputBytes) ?? "" }];
  const isFolder = (await fileStat(path))?.kind === "directory";
  const names = isFolder
    ? (await directoryEntries(path)).filter((name) => endings.test(name)).map((name) => joinPath(path, name))
    : [path];
  if (names.length === 0) throw cannotRead(path, "the folder has no file that ends in .yaml, .yml or .json");
  return await Promise.all(names.map(async (name) => ({
    name,
    text: await readText(name, { isRegular: true }).catch((cause: unknown) => {
      throw cannotRead(name, cause instanceof Error ? cause.message : String(cause));
    }),
  })));
}

/** Splits at lines that begin with `---`. */
function* documentsOf(
  text: string,
  name: string,
): Generator<{ readonly value: unknown; readonly line: number }> {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  const starts = [0, ...lines.flatMap((line, index) => /^---(\s|$)/.test(line) ? [index + 1] : [])];
  for (const [index, start] of starts.entries()) {
    const part = lines.slice(start, (starts[index + 1] ?? lines.length + 1) - 1).join("\n");
    if (!/^[^#\s]/m.test(part) && !/^\s+[^#\s]/m.test(part)) continue; // empty, or only comments
    const document = parseYaml(part, { dialect: "go" });
    const [problem] = document.problems;
    if (problem !== undefined) throw cannotRead(name, `line ${start + problem.line} is no YAML (${problem.code})`);
    try {
      yield { value: document.value(), line: start + 1 };
    } catch {
      throw cannotRead(name, `the document at line ${start + 1} has a value that JSON does not have`);
    }
  }
}

/** The objects of a List, or the object itself. */
function itemsOf(value: unknown): readonly unknown[] {
  if (!isJsonObject(value) || !`${value.kind}`.endsWith("List") || !Array.isArray(value.items)) return [value];
  return value.items;
}

function manifestObject(value: unknown, place: string, options: ManifestOptions): ManifestObject {
  if (!isJsonObject(value)) throw cannotRead(place, "it is no object");
  const { apiVersion, kind, metadata } = value;
  if (typeof apiVersion !== "string" || typeof kind !== "string") {
    throw cannotRead(place, "apiVersion or kind is missing");
  }
  if (!isJsonObject(metadata) || typeof metadata.name !== "string") throw cannotRead(place, "metadata.name is missing");
  const resource = resourceOf(apiVersion, kind, options);
  if (resource === undefined) {
    const known = `no controller declares ${kind} of ${apiVersion}, and it is no kind of Kubernetes`;
    throw cannotRead(place, known, "Leave it out: no controller of this plan reacts to it");
  }
  const { namespace = options.namespace } = metadata;
  const named = resource.scope === "Cluster" ? metadata : { ...metadata, namespace };
  return { object: { ...value, metadata: named } as unknown as KubeObject, resource, place };
}

function resourceOf(
  apiVersion: string,
  kind: string,
  { controllers }: ManifestOptions,
): Resource<KubeObject> | undefined {
  const declared = controllers.flatMap(({ watches, permissions }) => [...watches, ...permissions]).map((one) =>
    one.resource
  );
  const builtins = Object.values(builtin).filter((one) => typeof one === "object" && "plural" in one);
  const all: readonly Resource[] = [...declared, ...builtins];
  const found = all.find((one) => apiVersionOf(one) === apiVersion && one.kind === kind);
  // The names of the kind are enough to read and apply its objects.
  return found && nameOnly(found);
}

function nameOnly({ group, version, kind, plural, scope }: Resource): Resource<KubeObject> {
  return { group, version, kind, plural, scope };
}

function cannotRead(place: string, state: string, advice?: string): CommandError {
  return new CommandError(`Cannot read manifests from "${place}": ${state}`, { code: exitCode.failed, advice });
}

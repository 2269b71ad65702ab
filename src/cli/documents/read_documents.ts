/**
 * readDocuments(): the YAML or JSON documents of a file, of the files of a folder, or of standard input, as `kubectl apply -f`
 * reads them.
 *
 * Guarantees: an error names the file and the line; no text of a file is in a message, because it may be a Secret.
 */
import { directoryEntries, fileStat, joinPath, type LineReader, readText } from "../../runtime/mod.ts";
import { lineOf, parseYaml } from "../../yaml/mod.ts";

/** One document. */
export interface YamlFileDocument {
  readonly value: unknown;
  /** The path of the file. */
  readonly name: string;
  /** The line where it begins, from 1. */
  readonly line: number;
  /** Returns the line of a value in the file, or of the deepest part of its path that exists. */
  readonly lineOf: (path: readonly (string | number)[]) => number;
}

/** Options of {@link readDocuments}. */
export interface DocumentOptions {
  readonly stdin: LineReader;
  /** Makes the error. @param place the path of the file, or its path and a line */
  readonly cannotRead: (place: string, state: string) => Error;
}

/** The endings of the files of a folder, as kubectl takes them. */
const endings = /\.(ya?ml|json)$/;

/** The most bytes of standard input. */
const maxInputBytes = 64 * 1024 * 1024;

/** The most documents of all files together. */
const maxDocuments = 10_000;

/** Reads the documents in the order of the files. @param path `-` is standard input @throws the error of `cannotRead` */
export async function readDocuments(path: string, options: DocumentOptions): Promise<readonly YamlFileDocument[]> {
  const documents: YamlFileDocument[] = [];
  for (const { name, text } of await textsOf(path, options)) {
    for (const document of documentsOf(text, name, options)) {
      if (documents.length >= maxDocuments) {
        throw options.cannotRead(path, `it has more than ${maxDocuments} documents`);
      }
      documents.push(document);
    }
  }
  return documents;
}

async function textsOf(
  path: string,
  { stdin, cannotRead }: DocumentOptions,
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
  { cannotRead }: DocumentOptions,
): Generator<YamlFileDocument> {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  const starts = [0, ...lines.flatMap((line, index) => /^---(\s|$)/.test(line) ? [index + 1] : [])];
  for (const [index, start] of starts.entries()) {
    const part = lines.slice(start, (starts[index + 1] ?? lines.length + 1) - 1).join("\n");
    if (!/^[^#\s]/m.test(part) && !/^\s+[^#\s]/m.test(part)) continue; // empty, or only comments
    const document = parseYaml(part, { dialect: "go" });
    const [problem] = document.problems;
    if (problem !== undefined) throw cannotRead(name, `line ${start + problem.line} is no YAML (${problem.code})`);
    try {
      yield { value: document.value(), name, line: start + 1, lineOf: (path) => start + lineOf(document, path) };
    } catch {
      throw cannotRead(name, `the document at line ${start + 1} has a value that JSON does not have`);
    }
  }
}

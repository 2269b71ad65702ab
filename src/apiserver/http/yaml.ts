/**
 * YAML as Go programs read and write it. parseYaml() reads `yes` and `off` as booleans, `010` as eight and a time as text, and
 * its common errors have the messages of go-yaml. yamlText() writes sorted keys and unindented lists, quotes texts that YAML
 * 1.1 would read as another type, and folds long lines at the same places as go-yaml.
 */
import type { Tags } from "yaml";
import type { Json, JsonObject, StatusError } from "../model/mod.ts";

/** YAML as JSON, with the duplicate keys that a strict decoder reports. @param malformed creates the error */
export async function parseYaml(
  text: string,
  malformed: (why: string) => StatusError,
): Promise<{ readonly value: Json; readonly duplicates: readonly string[] }> {
  // Loaded on first use, because most servers in tests get no YAML.
  const { parseDocument } = await import("yaml");
  const document = parseDocument(text, { version: "1.1", customTags: asGoReads, uniqueKeys: false });
  const [error] = document.errors;
  if (error !== undefined) throw malformed(`yaml: ${messageOf(text, error)}`);
  const strict = parseDocument(text);
  const duplicates = strict.errors.filter(({ code }) => code === "DUPLICATE_KEY")
    .map(({ linePos, pos }) => `line ${linePos?.[0].line ?? 0}: key ${keyAt(text, pos[0])} already set in map`);
  return { value: jsonOf(document, malformed), duplicates };
}

/** Go does not have the times and the base 60 numbers of YAML 1.1. */
function asGoReads(tags: Tags): Tags {
  return tags.filter((tag) => {
    if (typeof tag === "string") return true;
    const isSexagesimal = "format" in tag && tag.format === "TIME";
    return !isSexagesimal && !tag.tag.endsWith(":timestamp");
  });
}

/** An error of the yaml package. */
interface YamlProblem {
  readonly code: string;
  readonly message: string;
  readonly pos: readonly [number, number];
  readonly linePos?: readonly [{ readonly line: number }, { readonly line: number }?];
}

function messageOf(text: string, { code, message, pos, linePos }: YamlProblem): string {
  const line = linePos?.[0].line ?? 0;
  if (code === "BLOCK_AS_IMPLICIT_KEY") {
    const colon = /:(?=\s|$)/.exec(text.slice(pos[0]));
    const lines = text.slice(0, pos[0] + (colon?.index ?? 0)).split("\n").length;
    return `line ${lines}: mapping values are not allowed in this context`;
  }
  if (/^Flow (sequence|map) in block collection/.test(message)) {
    return `line ${line}: did not find expected node content`;
  }
  return `line ${line}: ${(message.split("\n")[0] ?? "").replace(/ at line \d+, column \d+:$/, "")}`;
}

/** The key at a position, quoted. */
function keyAt(text: string, position: number): string {
  const key = /^[^:\s]+/.exec(text.slice(position, position + 300))?.[0] ?? "";
  return JSON.stringify(key.replace(/^["']|["']$/g, ""));
}

function jsonOf(
  document: { toJS(options: { maxAliasCount: number }): unknown },
  malformed: (why: string) => StatusError,
): Json {
  try {
    const text = JSON.stringify(document.toJS({ maxAliasCount: 100 })) ?? "null";
    const value: Json = JSON.parse(text);
    return value;
  } catch (error) {
    throw malformed(`error converting YAML to JSON: ${error instanceof Error ? error.message : "unreadable"}`);
  }
}

/** An object as YAML. */
export async function yamlText(object: JsonObject): Promise<string> {
  // Loaded on first use, because most servers in tests write no YAML.
  const { Document, visit } = await import("yaml");
  const document = new Document(object, { aliasDuplicateObjects: false, sortMapEntries: true, version: "1.1" });
  const patterns = document.schema.tags.flatMap((tag) => tag.default === true && "test" in tag ? tag.test ?? [] : []);
  visit(document, {
    Scalar(_, scalar) {
      const { value } = scalar;
      if (typeof value === "string" && patterns.some((pattern) => pattern.test(value))) scalar.type = "QUOTE_DOUBLE";
    },
  });
  return foldLines(document.toString({ indentSeq: false, lineWidth: 0, singleQuote: true }));
}

const maxLineWidth = 80;

/**
 * Folds long lines at the first single space after column 80, but not in keys and literal blocks. The meaning is the same; it
 * matters only to clients that compare the text.
 *
 * @param text with one line for each scalar that is not a literal block
 */
export function foldLines(text: string): string {
  const folded: string[] = [];
  // The lines of the current literal block are indented deeper than this.
  let block: number | undefined;
  for (const line of text.split("\n")) {
    if (block !== undefined && (line === "" || indentOf(line) > block)) {
      folded.push(line);
      continue;
    }
    const start = (/^ *(?:- )*/.exec(line)?.[0] ?? "").length;
    const key = keyLength(line.slice(start));
    const value = line.slice(start + key);
    block = /^[|>][-+0-9]*$/.test(value) ? start - (key === 0 ? 1 : 0) : undefined;
    // The value of a key, or of a dash, is indented by two more.
    folded.push(
      line.length <= maxLineWidth ? line : foldValue(line, start + key, " ".repeat(key === 0 ? start : start + 2)),
    );
  }
  return folded.join("\n");
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** The length of a key with its colon and space; 0 without a key. */
function keyLength(text: string): number {
  const quoted = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')/.exec(text)?.[0];
  if (quoted !== undefined) return text.startsWith(": ", quoted.length) ? quoted.length + 2 : 0;
  const colon = text.indexOf(": ");
  return colon < 0 ? 0 : colon + 2;
}

function foldValue(line: string, from: number, indent: string): string {
  const isDouble = line[from] === '"';
  let [folded, column] = [line.slice(0, from), from];
  for (let index = from; index < line.length; index++) {
    const character = line[index] ?? "";
    const isInside = index > from + 1 && index < line.length - 2;
    const isSingle = line[index - 1] !== " " && (isDouble || line[index + 1] !== " ");
    if (character === " " && column > maxLineWidth && isInside && isSingle) {
      // A backslash keeps a space at the start of the next line.
      folded += `\n${indent}${line[index + 1] === " " ? "\\" : ""}`;
      column = indent.length;
    } else {
      folded += character;
      column++;
    }
  }
  return folded;
}

/**
 * YAML as Go programs read and write it. parseYaml() reads `yes` and `off` as booleans, `010` as eight and a time as text, and
 * its common errors have the messages of go-yaml. yamlText() writes sorted keys and unindented lists, quotes texts that YAML
 * 1.1 would read as another type, and folds long lines at the same places as go-yaml.
 */
import { parseExactJson, parseFiniteJson } from "../../api/mod.ts";
import { nextTurn } from "../../runtime/mod.ts";
import type { YamlDocument } from "../../yaml/mod.ts";
import { goJson, type Json, type JsonObject, StatusError } from "../model/mod.ts";
import { type BodyText, hasSurrogateEscape, KnownBody } from "./body_text.ts";
import { firstDocument, goYamlMessage, readKnownYaml, readYaml } from "./go_yaml.ts";
import { checkCollections, maxDepth, membersOf, structureOf } from "./json_structure.ts";

/** A document. */
export interface ParsedYaml {
  readonly value: Json;
  /** The same as text with sorted keys, and with integers up to 2^64, which the value has as doubles. */
  readonly json: () => string;
  readonly duplicates: readonly string[];
}

/**
 * Numbers that YAML reads in another way than JSON: integers beyond int64, and what is outside of a float64. Digits behind
 * other characters are part of a string, such as a UID.
 */
const largeNumber = /(?:^|[\s:,[])-?(?:[\d.]*\d{19}|[\d.]+[eE]\+?\d{3})/;

/**
 * The first document of a YAML text as JSON, with the duplicate keys that a strict decoder reports.
 *
 * @param malformed creates the error
 */
export async function parseYaml(
  body: Uint8Array | BodyText,
  malformed: (why: string) => StatusError,
): Promise<ParsedYaml> {
  const read = body instanceof KnownBody
    ? readKnownYaml(body)
    : readYaml(body instanceof Uint8Array ? body : body.bytes);
  if (read.kind === "unreadable") throw malformed(`yaml: ${read.why}`);
  const json = jsonIn(read.text);
  if (json !== undefined) return { value: json, json: () => goJson(json), duplicates: [] };
  const first = firstDocument(read.text);
  if (first.kind === "malformed") throw malformed(`yaml: ${first.why}`);
  const { text } = first;
  const only = jsonIn(text);
  if (only !== undefined) return { value: only, json: () => goJson(only), duplicates: [] };
  // Loaded on first use, because most servers in tests get no YAML.
  const yaml = await import("../../yaml/mod.ts");
  const document = await yaml.parseYamlInTurns(text, { dialect: "go" }, nextTurn);
  const [problem] = document.problems;
  if (problem?.code === "TOO_LARGE") throw tooLarge(problem.message);
  if (problem?.code === "NUMBER_OUT_OF_RANGE") {
    throw malformed(`json: unsupported value: ${infinityAt(text, problem.offset)}`);
  }
  if (problem?.code === "KEY_IS_NULL") throw malformed(problem.message);
  if (problem !== undefined) throw malformed(`yaml: ${goYamlMessage(text, problem)}`);
  const duplicates = document.duplicateKeys()
    .map(({ line, offset }) => `line ${line}: key ${keyAt(text, offset)} already set in map`);
  return { ...jsonOf(document, malformed), duplicates };
}

/**
 * JSON is YAML, and much faster to parse.
 *
 * @returns undefined for other texts, for JSON with duplicate keys, and for JSON that YAML reads in another way
 */
function jsonIn(text: string): Json | undefined {
  if (!/^\s*[{[]/.test(text) || largeNumber.test(text) || hasSurrogateEscape(text)) return undefined;
  if (/[\r\n] *\t\s*$/.test(text.slice(-1_000))) return undefined;
  const { depth, members, collections } = structureOf(text);
  if (depth > maxDepth) return undefined;
  try {
    const value = parseFiniteJson(text);
    if (members !== membersOf(value)) return undefined;
    checkCollections(collections);
    return value as Json;
  } catch (error) {
    if (error instanceof StatusError) throw error;
    return undefined;
  }
}

function tooLarge(why: string): StatusError {
  return new StatusError(413, "RequestEntityTooLarge", `Request entity too large: ${why}. Send it as JSON`);
}

/** A value at a position that JSON does not have, as Go writes it. */
function infinityAt(text: string, position: number): string {
  const value = /^[-+]?\.?\w+/.exec(text.slice(position, position + 10))?.[0] ?? "";
  return /nan/i.test(value) ? "NaN" : value.startsWith("-") ? "-Inf" : "+Inf";
}

/** The key at a position, quoted. */
function keyAt(text: string, position: number): string {
  const key = /^[^:\s]+/.exec(text.slice(position, position + 300))?.[0] ?? "";
  return JSON.stringify(key.replace(/^["']|["']$/g, ""));
}

const unresolved = /^Unresolved alias \(.*\): (.*)$/;

function jsonOf(document: YamlDocument, malformed: (why: string) => StatusError): Omit<ParsedYaml, "duplicates"> {
  try {
    const json = goJson(document.value() as Json);
    return { json: () => json, value: parseExactJson(json) as Json };
  } catch (error) {
    const why = error instanceof Error ? error.message : "unreadable";
    const anchor = unresolved.exec(why)?.[1];
    if (anchor !== undefined) throw malformed(`yaml: unknown anchor '${anchor}' referenced`);
    throw malformed(`error converting YAML to JSON: ${why}`);
  }
}

/** An object as YAML. */
export async function yamlText(object: JsonObject): Promise<string> {
  // Loaded on first use, because most servers in tests write no YAML.
  const { printYaml } = await import("../../yaml/mod.ts");
  return foldLines(printYaml(object, { style: "go" }));
}

const maxLineWidth = 80;

/** The start of a literal block. */
const blockHeader = /^[|>][-+0-9]*$/;

/**
 * Folds long lines at the first single space after column 80, but not in keys, literal blocks, and pairs whose key is so
 * long that it begins with a question mark. The meaning is the same; it matters only to clients that compare the text.
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
    if (/^[?:] /.test(line.slice(start))) {
      folded.push(line);
      block = blockHeader.test(line.slice(start + 2)) ? start : undefined;
      continue;
    }
    const key = keyLength(line.slice(start));
    const value = line.slice(start + key);
    block = blockHeader.test(value) ? start - (key === 0 ? 1 : 0) : undefined;
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

/** The length of a key with its colon and space; the whole length if the value is below it, 0 without a key. */
function keyLength(text: string): number {
  const quoted = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')/.exec(text)?.[0];
  if (quoted !== undefined) return text.startsWith(":", quoted.length) ? quoted.length + 2 : 0;
  const colon = `${text} `.indexOf(": ");
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

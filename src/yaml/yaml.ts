/**
 * YAML in both directions. This is the only file that imports the YAML library (a test holds it), so another library costs a
 * change of this file alone.
 *
 * Guarantees: text that printYaml() writes has the same meaning in YAML 1.1, which kubectl and the API server read, and in
 * YAML 1.2: every text that one of them could read as another value is quoted, because in YAML 1.1 `y`, `on` and `no` are
 * booleans and an unquoted property `y` is lost. parseYaml() never throws; a document with too many aliases is refused before
 * it grows. Integers of 64 bits are exact in both directions.
 */
import { Document, isScalar, LineCounter, parseDocument, type Tags, visit } from "yaml";

/** Options of {@link printYaml}. */
export interface PrintYamlOptions {
  /** @default true */
  readonly sortKeys?: boolean;
  /** "go": unindented lists and single quotes, as go-yaml writes them. @default "plain" */
  readonly style?: "plain" | "go";
}

/** Returns a value as one YAML document, without a `---` before it and without folded lines. */
export function printYaml(value: unknown, { sortKeys = true, style = "plain" }: PrintYamlOptions = {}): string {
  const isGo = style === "go";
  const version = isGo ? "1.1" : "1.2";
  const document = new Document(value, { aliasDuplicateObjects: false, sortMapEntries: sortKeys, version });
  const needsQuotes = isGo ? readAsAnotherType(document) : isSpecialIn11;
  visit(document, {
    Scalar(_key, scalar) {
      if (typeof scalar.value === "string" && needsQuotes(scalar.value)) scalar.type = "QUOTE_DOUBLE";
    },
  });
  return document.toString(isGo ? { indentSeq: false, lineWidth: 0, singleQuote: true } : { lineWidth: 0 });
}

/** True for texts with a meaning in YAML 1.1 but not in YAML 1.2. */
function isSpecialIn11(text: string): boolean {
  return /^(y|n|yes|no|on|off|<<|=)$/i.test(text) || /^[-+]?\.?[0-9]/.test(text);
}

/** True for texts that a tag of the document's own version reads as another type. */
function readAsAnotherType({ schema }: Document): (text: string) => boolean {
  const patterns = schema.tags.flatMap((tag) => tag.default === true && "test" in tag ? tag.test ?? [] : []);
  return (text) => patterns.some((pattern) => pattern.test(text));
}

/** Options of {@link parseYaml}. */
export interface ParseYamlOptions {
  /**
   * "core": YAML 1.2 without merge keys. "go": YAML 1.1 as Go programs read it, with merge keys and octal numbers, without
   * times and numbers of base 60. @default "core"
   */
  readonly dialect?: "core" | "go";
}

/** A place in a YAML text. */
export interface YamlPosition {
  /** In characters, from 0. */
  readonly offset: number;
  /** From 1. */
  readonly line: number;
}

/** One syntax error. The message may quote the text, which may be secret. */
export interface YamlProblem extends YamlPosition {
  /** One word, such as `BAD_INDENT`. */
  readonly code: string;
  /** One line, without the position. */
  readonly message: string;
}

/** A parsed YAML text. */
export interface YamlDocument {
  /** In the order of the text; empty when it is valid. A key that occurs twice is no problem: the last value counts. */
  readonly problems: readonly YamlProblem[];
  /** Returns the places of the keys that occurred before in the same map, in the order of the text. */
  duplicateKeys(): readonly YamlPosition[];
  /** Returns the value. @throws ReferenceError when it has more than 100 resolved aliases, or an alias without an anchor */
  value(): unknown;
}

/** Limit of resolved aliases, so that a small text does not become a large value. */
const maxAliasCount = 100;

/** Parses a text with one YAML document. */
export function parseYaml(text: string, { dialect = "core" }: ParseYamlOptions = {}): YamlDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    ...(dialect === "go" ? { version: "1.1", customTags: asGoReads } : { schema: "core", merge: false }),
    // The library compares each key with all others of its map.
    uniqueKeys: false,
    prettyErrors: false,
    intAsBigInt: true,
    lineCounter: lines,
  });
  const at = (offset: number): YamlPosition => ({ offset, line: lines.linePos(offset).line });
  const problems = document.errors.map(({ code, message, pos: [offset] }) => {
    return { ...at(offset), code, message: message.split("\n")[0] ?? "" };
  });
  return {
    problems,
    duplicateKeys: () => duplicateOffsets(document).map(at),
    value: () => document.toJS({ maxAliasCount, reviver: (_key, value) => asNumber(value) }),
  };
}

/** As in JSON, an integer is a bigint only if a number cannot represent it exactly, and it fits in an int64. */
function asNumber(value: unknown): unknown {
  if (typeof value !== "bigint") return value;
  return Number.isSafeInteger(Number(value)) || BigInt.asIntN(64, value) !== value ? Number(value) : value;
}

function duplicateOffsets(document: Document.Parsed): readonly number[] {
  const offsets: number[] = [];
  visit(document, {
    Map(_key, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) offsets.push(key.range?.[0] ?? 0);
        seen.add(key.value);
      }
    },
  });
  return offsets.sort((a, b) => a - b);
}

/** Go does not have the times and the base 60 numbers of YAML 1.1. */
function asGoReads(tags: Tags): Tags {
  return tags.filter((tag) => {
    if (typeof tag === "string") return true;
    const isSexagesimal = "format" in tag && tag.format === "TIME";
    return !isSexagesimal && !tag.tag.endsWith(":timestamp");
  });
}

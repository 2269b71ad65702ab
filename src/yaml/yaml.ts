/**
 * YAML in both directions. This is the only file that imports the YAML library (a test holds it), so another library costs a
 * change of this file alone.
 *
 * Guarantees: text that printYaml() writes has the same meaning in YAML 1.1, which kubectl and the API server read, and in
 * YAML 1.2: every text that one of them could read as another value is quoted, because in YAML 1.1 `y`, `on` and `no` are
 * booleans and an unquoted property `y` is lost. parseYaml() never throws, and its work is bounded: the library needs
 * microseconds for each token, and more than linear time for deep nesting, for aliases and for long numbers, so a text with
 * more of them than the limits below is one problem instead of a document. Integers of 64 bits are exact in both directions.
 * What JSON cannot express is a problem too: a key that is a list, a map or an alias, and a number that is not finite.
 */
import {
  Composer,
  Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  Parser,
  type ScalarTag,
  type Tags,
  visit,
  YAMLParseError,
} from "yaml";

/** Options of {@link printYaml}. */
export interface PrintYamlOptions {
  /** @default true */
  readonly sortKeys?: boolean;
  /** "go": unindented lists and single quotes, as go-yaml writes them. @default "plain" */
  readonly style?: "plain" | "go";
}

/**
 * Returns a value as one YAML document, without a `---` before it and without folded lines. Half of a surrogate pair becomes
 * U+FFFD, as in UTF-8: no escape of it is valid for Go.
 */
export function printYaml(value: unknown, { sortKeys = true, style = "plain" }: PrintYamlOptions = {}): string {
  const isGo = style === "go";
  const version = isGo ? "1.1" : "1.2";
  const document = new Document(value, {
    ...{ aliasDuplicateObjects: false, sortMapEntries: sortKeys, version },
    customTags: (tags) =>
      tags.filter((tag) => tag !== "merge" && (typeof tag === "string" || !tag.tag.endsWith(":merge"))),
  });
  const needsQuotes = isGo ? readAsAnotherType(document) : isSpecialIn11;
  visit(document, {
    Scalar(_key, scalar) {
      if (typeof scalar.value !== "string") return;
      const text = scalar.value.toWellFormed();
      scalar.value = text;
      if (needsQuotes(text)) scalar.type = "QUOTE_DOUBLE";
    },
  });
  return document.toString(isGo ? { indentSeq: false, lineWidth: 0, singleQuote: true } : { lineWidth: 0 });
}

/** Readers drop it at the start of a text. */
const byteOrderMark = "\ufeff";

/** True for texts with a meaning in YAML 1.1 but not in YAML 1.2. */
function isSpecialIn11(text: string): boolean {
  return /^(y|n|yes|no|on|off|<<|=)$/i.test(text) || /^[-+]?\.?[0-9]/.test(text) || text.includes(byteOrderMark);
}

/** True for texts that a tag of the document's own version, or Go, reads as another type. */
function readAsAnotherType({ schema }: Document): (text: string) => boolean {
  const patterns = [octal, ...schema.tags].flatMap((tag) =>
    tag.default === true && "test" in tag ? tag.test ?? [] : []
  );
  // A merge has no tag here.
  return (text) => text === "<<" || text.includes(byteOrderMark) || patterns.some((pattern) => pattern.test(text));
}

/** Options of {@link parseYaml}. */
export interface ParseYamlOptions {
  /**
   * "core": YAML 1.2 without merge keys. "go": YAML 1.1 as Go programs read it, with merge keys and octal numbers, without
   * times and numbers of base 60. @default "core"
   */
  readonly dialect?: "core" | "go";
  /** The most tokens of the text. @default 250000, about 0.6 s of work; a CRD of 20,000 lines has 160,000 */
  readonly maxTokens?: number;
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
  /**
   * In the order of the text, at most 20; empty when it is valid. A key that occurs twice is no problem: the last value
   * counts. With the code `TOO_LARGE` the text is above a limit, and has no value.
   */
  readonly problems: readonly YamlProblem[];
  /** Returns the places of keys that occurred before in the same map, in the order of the text, at most 100. */
  duplicateKeys(): readonly YamlPosition[];
  /** Returns the place of a part: that of the key, or that of the item of a list. Undefined when there is no such part. */
  positionOf(path: readonly PropertyKey[]): YamlPosition | undefined;
  /**
   * Returns the value, which consists of values of JSON and bigints.
   *
   * @throws Error when it has more than 100 resolved aliases, an alias without an anchor, a wrong merge, or a tag such as
   * `!!set` whose values JSON does not have
   */
  value(): unknown;
}

/** Limit of resolved aliases, so that a small text does not become a large value. */
const maxAliasCount = 100;
/** The most aliases; the library looks for each in the whole text. */
const maxAliases = 1_000;
/** The most collections inside each other. Objects of Kubernetes have less than 50. */
const maxDepth = 200;
/** The most digits of an integer. */
const maxDigits = 400;
/** The most problems: the library finds one for nearly each token of a text that is no YAML. */
const maxProblems = 20;
const maxDuplicateKeys = 100;
/** Tokens between two pauses, about 20 ms of work. */
const tokensPerTurn = 10_000;

/** Parses a text with one YAML document. */
export function parseYaml(text: string, options: ParseYamlOptions = {}): YamlDocument {
  const parsing = parse(text, options);
  while (true) {
    const step = parsing.next();
    if (step.done === true) return step.value;
  }
}

/** As {@link parseYaml}, with a pause after each 20 ms of work. @param pause lets the event loop turn */
export async function parseYamlInTurns(
  text: string,
  options: ParseYamlOptions,
  pause: () => Promise<void>,
): Promise<YamlDocument> {
  const parsing = parse(text, options);
  while (true) {
    const step = parsing.next();
    if (step.done === true) return step.value;
    await pause();
  }
}

const integer = /^\s*[-+]?(?:0x[\da-f_]+|0[ob]?[0-7_]+|[\d_:]+)\s*$/i;

/** A carriage return alone ends a line, which the library does not know. The length stays the same. */
function withLineFeeds(text: string): string {
  return text.includes("\r") ? text.replace(/\r(?!\n)/g, "\n") : text;
}

/** Parses in steps; each `next()` is one. */
function* parse(
  text: string,
  { dialect = "core", maxTokens = 250_000 }: ParseYamlOptions,
): Generator<void, YamlDocument, void> {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  const composer = new Composer({
    ...(dialect === "go" ? { version: "1.1", customTags: asGoReads } : { schema: "core", merge: false }),
    // See partsOutsideJson(): the library needs seconds for bytes, sets and ordered maps.
    resolveKnownTags: false,
    // The library compares each key with all others of its map.
    uniqueKeys: false,
    prettyErrors: false,
    // A warning of the library goes to standard error.
    logLevel: "error",
    intAsBigInt: true,
    lineCounter: lines,
  });
  const at = (offset: number): YamlPosition => ({ offset, line: lines.linePos(offset).line });
  const documents: Document.Parsed[] = [];
  let tokens = 0, aliases = 0, failures = 0, longestNumber = 0;
  const excess = () => {
    if (tokens > maxTokens) return `more than ${maxTokens} tokens`;
    if (aliases > maxAliases) return `more than ${maxAliases} aliases`;
    if (parser.stack.length > maxDepth) return `more than ${maxDepth} collections inside each other`;
    if (longestNumber > maxDigits) return `an integer of more than ${maxDigits} digits`;
    return undefined;
  };
  for (const token of new Lexer().lex(withLineFeeds(text))) {
    tokens++;
    if (token.startsWith("*")) aliases++;
    if (token.length > maxDigits && integer.test(token)) longestNumber = token.length;
    const offset = parser.offset;
    if (token.startsWith('"') && hasManyBadEscapes(token)) {
      return refused("BAD_DQ_ESCAPE", "the text has many invalid escape sequences", at(offset));
    }
    if (dialect === "go" && token.startsWith('"')) {
      const half = surrogateEscape.exec(token)?.[1];
      if (half !== undefined) return refused("BAD_DQ_ESCAPE", `Invalid escape sequence ${half}`, at(offset));
    }
    for (const part of parser.next(token)) {
      if (part.type === "error" || part.type === "directive") failures++;
      documents.push(...composer.next(part));
    }
    const state = excess();
    if (state !== undefined) return refused("TOO_LARGE", `the text has ${state}`, at(offset));
    // The rest would be read as other errors.
    if (failures > maxProblems || documents.length > 1) break;
    if (tokens % tokensPerTurn === 0) yield;
  }
  yield;
  for (const part of parser.end()) documents.push(...composer.next(part));
  documents.push(...composer.end(true, text.length));
  const [document, second] = documents;
  if (document === undefined) throw new TypeError("Cannot parse YAML: the library returned no document");
  const several = second === undefined
    ? []
    : [new YAMLParseError([second.range[0], second.range[1]], "MULTIPLE_DOCS", "Source contains multiple documents")];
  const errors = [...document.errors, ...several].slice(0, maxProblems).map(({ code, message, pos: [offset] }) => {
    return { ...at(offset), code, message: message.split("\n")[0] ?? "" };
  });
  const problems = errors.length > 0 ? errors : partsOutsideJson(document, at, dialect);
  return {
    problems,
    duplicateKeys: () => duplicateOffsets(document).slice(0, maxDuplicateKeys).map(at),
    positionOf: (path) => {
      const offset = offsetOf(document, path);
      return offset === undefined ? undefined : at(offset);
    },
    value: () => {
      // The library has a value for texts with errors, too.
      const outside = errors.length > 0 ? undefined : problems[0];
      if (outside !== undefined) throw new RangeError(`Cannot read YAML: ${outside.message}`);
      return document.toJS({ maxAliasCount, reviver: (_key, value) => asNumber(value, dialect) });
    },
  };
}

/** A document without a value. */
function refused(code: string, message: string, position: YamlPosition): YamlDocument {
  return {
    problems: [{ ...position, code, message }],
    duplicateKeys: () => [],
    positionOf: () => undefined,
    value() {
      throw new RangeError(`Cannot read YAML: ${message}`);
    },
  };
}

const escape = /\\(?:[0abetnvfr "/\\N_LP\t\r\n]|x[\da-f]{2}|u[\da-f]{4}|U[\da-f]{8}|(.?))/gis;

/** Half of a surrogate pair: no character for Go, which knows no pairs of escapes in YAML. */
const surrogateEscape = /^(?:[^\\]|\\(?!u[dD][89a-fA-F]).)*(\\u[dD][89a-fA-F]..)/s;

/** The library creates an error for each escape sequence that it does not know. */
function hasManyBadEscapes(token: string): boolean {
  let count = 0;
  for (const [, bad] of token.matchAll(escape)) {
    if (bad !== undefined && ++count > maxProblems) return true;
  }
  return false;
}

const binaryTag = "tag:yaml.org,2002:binary";
const withoutJson = "a tag makes a value that JSON does not have";

/** True for sets, ordered maps and times, which readers would take for objects without fields. */
function hasTagWithoutJson({ tag }: { readonly tag?: string | undefined }): boolean {
  return tag !== undefined && /^tag:yaml\.org,2002:(set|omap|pairs|timestamp)$/.test(tag);
}

/** The text of bytes in base 64, as Go reads them; undefined for other bytes. */
function textOf(base64: string): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(base64.replace(/\s/g, "")), (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** What sigs.k8s.io/yaml says about a key that is null. */
function nullKeyMessage(value: unknown): string {
  const held = isScalar(value) ? value.value : value;
  const shown = typeof held === "string" ? JSON.stringify(held) : held === null ? "interface {}(nil)" : String(held);
  return `unsupported map key of type: %!s(<nil>), key: <nil>, value: ${isScalar(value) ? shown : "a collection"}`;
}

/** A value of interfaces as Go prints it in its own syntax. */
function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return "interface {}(nil)";
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  if (typeof value !== "object") return String(value);
  const members = Object.entries(value).map(([key, item]) => `${goSyntax(key)}:${goSyntax(item)}`);
  return `map[interface {}]interface {}{${members.join(", ")}}`;
}

/** What has no equivalent in JSON. Bytes become text. Go programs refuse it; JavaScript would print the key, and read Infinity. */
function partsOutsideJson(
  document: Document.Parsed,
  at: (offset: number) => YamlPosition,
  dialect: "core" | "go",
): readonly YamlProblem[] {
  const problems: YamlProblem[] = [];
  const add = (node: { readonly range?: readonly number[] | null }, code: string, message: string) => {
    problems.push({ ...at(node.range?.[0] ?? 0), code, message });
    return problems.length < maxProblems ? undefined : visit.BREAK;
  };
  visit(document, {
    Collection(_key, collection) {
      return hasTagWithoutJson(collection) ? add(collection, "TAG_WITHOUT_JSON", withoutJson) : undefined;
    },
    Pair(_key, { key, value }) {
      if (dialect === "go" && isScalar(key) && key.value === null && (key.range ?? null) !== null) {
        return add(key, "KEY_IS_NULL", nullKeyMessage(value));
      }
      if (!isCollection(key) && !isAlias(key)) return undefined;
      if (dialect === "go" && isCollection(key)) {
        return add(key, "KEY_IS_COLLECTION", `invalid map key: ${goSyntax(key.toJS(document, { maxAliasCount }))}`);
      }
      return add(key, "KEY_IS_NO_TEXT", "a key is a list, a map or an alias");
    },
    Scalar(_key, scalar) {
      const { value } = scalar;
      if (scalar.tag === binaryTag) {
        const text = textOf(String(value));
        if (text === undefined) return add(scalar, "TAG_WITHOUT_JSON", withoutJson);
        scalar.value = text;
        return undefined;
      }
      if (hasTagWithoutJson(scalar)) return add(scalar, "TAG_WITHOUT_JSON", withoutJson);
      if ((typeof value !== "number" && typeof value !== "bigint") || Number.isFinite(Number(value))) return undefined;
      // go-yaml reads a number that no float64 can hold as text.
      if (dialect === "go" && /^[-+.\deE_]+$/.test(scalar.source ?? "")) {
        scalar.value = scalar.source;
        return undefined;
      }
      return add(scalar, "NUMBER_OUT_OF_RANGE", "a number is outside of the range of a float64");
    },
  });
  return problems;
}

/**
 * As in JSON, an integer is a bigint only if a number cannot represent it exactly, and it fits in an int64; for Go, also one
 * that fits in a uint64.
 */
function asNumber(value: unknown, dialect: "core" | "go"): unknown {
  if (typeof value !== "bigint") return value;
  const fits = BigInt.asIntN(64, value) === value || (dialect === "go" && BigInt.asUintN(64, value) === value);
  return Number.isSafeInteger(Number(value)) || !fits ? Number(value) : value;
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

/** The offset of a key, or of an item of a list. */
function offsetOf(document: Document.Parsed, path: readonly PropertyKey[]): number | undefined {
  let node: unknown = document.contents;
  let offset: number | undefined;
  for (const step of path) {
    const pair = isMap(node)
      ? node.items.findLast(({ key }) => isScalar(key) && String(key.value) === step)
      : undefined;
    const item = isSeq(node) && typeof step === "number" ? node.items[step] : undefined;
    const place: unknown = pair?.key ?? item;
    if (!isNode(place)) return undefined;
    offset = place.range?.[0];
    node = pair?.value ?? item;
  }
  return offset;
}

/** Go reads octal numbers of YAML 1.2, too. */
const octal: ScalarTag = {
  identify: () => false,
  default: true,
  tag: "tag:yaml.org,2002:int",
  test: /^[-+]?0o[0-7_]+$/,
  resolve: (text) => {
    const value = BigInt(text.replace(/^[-+]/, "").replaceAll("_", ""));
    return text.startsWith("-") ? -value : value;
  },
};

/** A number with a point, and one with an exponent: each has a digit before the exponent. */
const withPoint = /^[-+]?(?:\.[0-9][0-9_]*|[0-9][0-9_]*\.[0-9_]*)$/;
const withExponent = /^[-+]?(?:\.[0-9][0-9_]*|[0-9][0-9_]*(?:\.[0-9_]*)?)[eE][-+]?[0-9]+$/;

/**
 * Go does not have the times and the base 60 numbers of YAML 1.1, and reads `.` and `e5` as text, of which the library makes
 * NaN.
 */
function asGoReads(tags: Tags): Tags {
  return [octal, ...tags].map((tag) => {
    if (typeof tag === "string" || tag.collection !== undefined || !tag.tag.endsWith(":float")) return tag;
    if (tag.format === "EXP") return { ...tag, test: withExponent };
    return tag.test?.test(".") === true ? { ...tag, test: withPoint } : tag;
  }).filter((tag) => {
    if (typeof tag === "string") return true;
    const isSexagesimal = "format" in tag && tag.format === "TIME";
    return !isSexagesimal && !/:(timestamp|binary|omap|pairs|set)$/.test(tag.tag);
  });
}

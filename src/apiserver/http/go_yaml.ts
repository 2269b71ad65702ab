/**
 * What go-yaml reads in other ways than a library for YAML 1.2: the characters of a text, where its first document ends, and the
 * messages of its errors. Decoders of Go read the first document only, whatever follows it.
 */
import { endOfString } from "../../api/mod.ts";
import type { YamlProblem } from "../../yaml/mod.ts";
import { goText, type KnownBody } from "./body_text.ts";

/** A text without its byte-order mark, or why go-yaml cannot read it. */
export type ReadYaml = { readonly kind: "text"; readonly text: string } | {
  readonly kind: "unreadable";
  readonly why: string;
};

// deno-lint-ignore no-control-regex
const control = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/;

/** The characters of a text. */
export function readYaml(bytes: Uint8Array): ReadYaml {
  const [first, second, third] = bytes;
  const isWide = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (!isWide) {
    const why = encodingProblem(bytes);
    if (why !== undefined) return { kind: "unreadable", why };
  }
  const isMarked = first === 0xef && second === 0xbb && third === 0xbf;
  const text = isWide
    ? new TextDecoder(first === 0xff ? "utf-16le" : "utf-16be").decode(bytes)
    : goText(isMarked ? bytes.subarray(3) : bytes);
  return withoutControl(text);
}

/** The characters of a body whose text is known to be Unicode. */
export function readKnownYaml(body: KnownBody): ReadYaml {
  return body.text.startsWith("\ufeff") ? readYaml(body.bytes) : withoutControl(body.text);
}

function withoutControl(text: string): ReadYaml {
  return control.test(text)
    ? { kind: "unreadable", why: "control characters are not allowed" }
    : { kind: "text", text };
}

/** Why bytes are not UTF-8, as the reader of libyaml describes it. */
function encodingProblem(bytes: Uint8Array): string | undefined {
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at] ?? 0;
    if (first < 0x80) {
      at++;
      continue;
    }
    const width = (first & 0xe0) === 0xc0 ? 2 : (first & 0xf0) === 0xe0 ? 3 : (first & 0xf8) === 0xf0 ? 4 : 0;
    if (width === 0) return "invalid leading UTF-8 octet";
    if (at + width > bytes.length) return "incomplete UTF-8 octet sequence";
    let value = first & (0xff >> (width + 1));
    for (let next = 1; next < width; next++) {
      const octet = bytes[at + next] ?? 0;
      if ((octet & 0xc0) !== 0x80) return "invalid trailing UTF-8 octet";
      value = value * 64 + (octet & 0x3f);
    }
    if (value < (width === 2 ? 0x80 : width === 3 ? 0x800 : 0x1_0000)) return "invalid length of a UTF-8 sequence";
    if ((value >= 0xd800 && value <= 0xdfff) || value > 0x10_ffff) return "invalid Unicode character";
    at += width;
  }
  return undefined;
}

/** The first document of a text, or why what follows it is an error nevertheless. */
export type FirstDocument = { readonly kind: "document"; readonly text: string } | {
  readonly kind: "malformed";
  readonly why: string;
};

/** Blank lines, comments and directives before a document, and the line that starts it. */
const prologue = /^(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n)|%[^\r\n]*(?:\r\n|\r|\n|$))*(?:---(?=[ \t\r\n]|$))?/;
const separator = /(?:^|[\r\n])(?:---|\.\.\.)(?=[ \t\r\n]|$)/g;

/** The first document of a text; what follows is cut off. */
export function firstDocument(text: string): FirstDocument {
  const start = prologue.exec(text)?.[0] ?? "";
  const version = /^%YAML\s+(\S*)/m.exec(start)?.[1];
  if (version !== undefined && version !== "1.1") return { kind: "malformed", why: "found incompatible YAML document" };
  if (/^\.\.\.(?=[ \t\r\n]|$)/.test(text.slice(start.length))) {
    return malformedAt(text, start.length, "did not find expected node content", 0);
  }
  const open = /^(?:[ \t\r\n]|#[^\r\n]*(?=[\r\n]))*[{[]/.exec(text.slice(start.length))?.[0].length;
  const end = open === undefined ? undefined : flowEnd(text, start.length + open - 1);
  if (end !== undefined) return afterFlow(text, end);
  separator.lastIndex = start.length;
  const next = separator.exec(text);
  return { kind: "document", text: next === null ? text : text.slice(0, next.index + 1).replace(/[^\r\n]$/, "") };
}

/** The position after the bracket that closes the one at `start`; undefined if there is none. */
function flowEnd(text: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === "{" || character === "[") depth++;
    else if (character === "}" || character === "]") {
      if (--depth === 0) return at + 1;
    } else if (character === '"') at = endOfString(text, at);
    else if (character === "'" && /[\s,:[{]/.test(text.charAt(at - 1))) {
      const close = text.indexOf("'", at + 1);
      if (close < 0) return undefined;
      at = close;
    } else if (character === "#" && /\s/.test(text.charAt(at - 1))) {
      at = lineEnd(text, at);
    }
  }
  return undefined;
}

function lineEnd(text: string, from: number): number {
  const rest = /[\r\n]/g;
  rest.lastIndex = from;
  return (rest.exec(text)?.index ?? text.length) - 1;
}

/** A decoder looks at one more token after the document. */
function afterFlow(text: string, end: number): FirstDocument {
  const rest = text.slice(end, end + 10_000);
  const blank = /^[ \t]*(?:#[^\r\n]*)?(?:(?:\r\n|\r|\n) *(?:#[^\r\n]*)?)*/.exec(rest)?.[0] ?? "";
  const next = rest.charAt(blank.length);
  if (next === ":") return { kind: "document", text };
  if (next === "\t" || next === "@" || next === "`" || (next === "%" && !/[\r\n]$/.test(blank))) {
    return malformedAt(text, end + blank.length, "found character that cannot start any token", 1);
  }
  return { kind: "document", text: text.slice(0, end) };
}

/** @param added to the number of complete lines before the position: the scanner counts from one, the parser from zero */
function malformedAt(text: string, at: number, message: string, added: 0 | 1): FirstDocument {
  return { kind: "malformed", why: withLine(linesBefore(text, at), added, message) };
}

function linesBefore(text: string, at: number): number {
  return text.slice(0, at).split(/\r\n|\r|\n/).length - 1;
}

/** go-yaml names no line for a problem in the first one. */
function withLine(complete: number, added: 0 | 1, message: string): string {
  return complete === 0 ? message : `line ${complete + added}: ${message}`;
}

/** The message of go-yaml for a problem that a library found, with its line. */
export function goYamlMessage(text: string, problem: YamlProblem): string {
  const { code, message, offset, line } = problem;
  const scanner = (why: string, complete = line - 1) => withLine(complete, 1, why);
  const parser = (why: string, complete = line - 1) => withLine(complete, 0, why);
  switch (code) {
    case "BLOCK_AS_IMPLICIT_KEY": {
      const colon = /:(?=\s|$)/.exec(text.slice(offset));
      return scanner("mapping values are not allowed in this context", linesBefore(text, offset + (colon?.index ?? 0)));
    }
    case "KEY_IS_COLLECTION":
      return message;
    case "TAB_AS_INDENT":
    case "BAD_SCALAR_START":
      return scanner("found character that cannot start any token");
    case "BAD_DQ_ESCAPE": {
      if (/\\u[dD][89a-fA-F]/.test(message)) return scanner("found invalid Unicode character escape code");
      const isNumber = /\\[xuU]/.test(message);
      return scanner(isNumber ? "did not find expected hexdecimal number" : "found unknown escape character");
    }
    default:
      return structureMessage(text, problem) ?? `line ${line}: ${message}`;
  }

  function structureMessage(text: string, { message, code }: YamlProblem): string | undefined {
    const end = linesBefore(text, text.length) + (/[\r\n]$/.test(text) || text === "" ? 0 : 1);
    if (/^Missing closing /.test(message)) {
      return scanner("found unexpected end of stream", linesBefore(text, text.length));
    }
    const flow = /^Flow (sequence|map)/.exec(message)?.[1];
    if (flow !== undefined) {
      const isOpen = /[[{,:]\s*$/.test(text);
      const close = flow === "map" ? "'}'" : "']'";
      return parser(isOpen ? "did not find expected node content" : `did not find expected ',' or ${close}`, end);
    }
    if (code === "BAD_INDENT" && message.startsWith("All mapping items")) return parser("did not find expected key");
    if (code === "BAD_INDENT" && message.startsWith("All sequence items")) {
      return parser("did not find expected '-' indicator");
    }
    return undefined;
  }
}

/**
 * TokenReader: the tokens of an expression (lexer), their values (literals), and what the parser does with them. Reports an
 * unexpected token with the message and the recovery of the real parser.
 */
import type { Issue } from "./issues.ts";

const literals = new Set(["true", "false", "null"]);
const keywords = new Set(["in", ...literals]);
const operators = new Set("in == != < <= > >= + - * / % && || ?".split(" "));
const closing = new Set([")", "]", "}"]);

/** The tokens that can begin an expression, in the order of the grammar; `false` marks those that can only sometimes. */
const beginnings: readonly (readonly [text: string, isAlways: boolean])[] = [
  ["'['", true],
  ["']'", false],
  ["'{'", true],
  ["'}'", false],
  ["'('", true],
  ["')'", false],
  ["'.'", true],
  ["','", false],
  ["'-'", true],
  ["'!'", true],
  ["'?'", false],
];
const constants = "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER";

/** The expected tokens where an expression begins. @param also symbols that are also allowed there */
function expectations(also: readonly string[] = []): string {
  const symbols = beginnings.filter(([text, isAlways]) => isAlways || also.includes(text)).map(([text]) => text);
  return `{${symbols.join(", ")}, ${constants}}`;
}

/** Ends parsing after a reported issue. */
export class Stop extends Error {}

/** The tokens of one source, read from left to right. */
export class TokenReader {
  readonly #tokens: readonly Token[];
  readonly #issues: Issue[];
  #at = 0;

  constructor(tokens: readonly Token[], issues: Issue[]) {
    this.#tokens = tokens;
    this.#issues = issues;
  }

  /** The next token, or a later one. */
  peek(ahead = 0): Token {
    return this.#tokens[this.#at + ahead] ?? { kind: "end", text: "<EOF>", offset: 0 };
  }

  /** Moves to the next token. */
  skip(count = 1): void {
    this.#at += count;
  }

  /** True when the next token is this symbol. */
  isSymbol(symbol: string): boolean {
    const token = this.peek();
    return token.kind === "symbol" && token.text === symbol;
  }

  /** Reads a name. @param expected what could stand here, for the message */
  name(expected = "IDENTIFIER"): Token {
    const token = this.peek();
    if (token.kind === "escaped") this.fail(token.offset, "unsupported syntax: '`'");
    if (token.kind !== "ident" || keywords.has(token.text)) {
      const head = token.kind === "ident" ? "no viable alternative at" : "mismatched";
      this.fail(
        token.offset,
        `Syntax error: ${head} input '${token.text}'${token.kind === "ident" ? "" : ` expecting ${expected}`}`,
      );
    }
    this.#at++;
    return token;
  }

  /** Reads the name after a dot. Skips a missing name when an operator follows. */
  field(isOptional: boolean): Token | undefined {
    const token = this.peek();
    if (token.kind === "escaped" || (token.kind === "ident" && !keywords.has(token.text))) return this.name();
    if (isOptional) {
      const message = `Syntax error: mismatched input '${token.text}' expecting {IDENTIFIER, ESC_IDENTIFIER}`;
      this.report({ offset: token.offset, message });
      this.fail(token.offset, "unsupported ident kind");
    }
    if (literals.has(token.text)) {
      this.fail(token.offset, `Syntax error: mismatched input '${token.text}' expecting IDENTIFIER`);
    }
    const text = token.kind === "end" ? "" : token.text;
    const issue = { offset: token.offset, message: `Syntax error: no viable alternative at input '.${text}'` };
    this.report(issue);
    if (!operators.has(token.text)) throw new Stop();
    return undefined;
  }

  /** Reads the bracket after the last item of a list or map, where a comma is also allowed. */
  takeAfterItems(bracket: string): void {
    const { text, offset } = this.peek();
    if (this.accept(bracket)) return;
    this.fail(offset, `Syntax error: mismatched input '${text}' expecting {'${bracket}', ','}`);
  }

  /** Reads a symbol if it is next. */
  accept(symbol: string): boolean {
    if (!this.isSymbol(symbol)) return false;
    this.#at++;
    return true;
  }

  /** Reads a required symbol. A missing bracket is reported and assumed to be there. */
  take(symbol: string): Token {
    const token = this.peek();
    if (this.accept(symbol)) return token;
    if (closing.has(symbol) && (token.kind === "end" || token.kind === "symbol")) {
      this.#issues.push({ offset: token.offset, message: `Syntax error: missing '${symbol}' at '${token.text}'` });
      return token;
    }
    return this.fail(token.offset, `Syntax error: mismatched input '${token.text}' expecting '${symbol}'`);
  }

  /** Skips one token if the token after it is allowed, as the real parser does; otherwise fails. */
  skipUnexpected(also: readonly string[] = []): void {
    const token = this.peek();
    const next = this.peek(1);
    if (next.kind === "end" || !isBeginning(next)) {
      this.fail(token.offset, `Syntax error: mismatched input '${token.text}' expecting ${expectations(also)}`);
    }
    const message = `Syntax error: extraneous input '${token.text}' expecting ${expectations(also)}`;
    this.report({ offset: token.offset, message });
    this.#at++;
  }

  /** Fails unless an expression or one of the symbols begins here. */
  expectBeginning(also: readonly string[]): void {
    const token = this.peek();
    if (!isBeginning(token) && !also.includes(`'${token.text}'`)) this.skipUnexpected(also);
  }

  /** Reports an issue. */
  report(issue: Issue): void {
    this.#issues.push(issue);
  }

  /** Reports an issue and ends parsing. */
  fail(offset: number, message: string): never {
    this.#issues.push({ offset, message });
    throw new Stop();
  }
}

/** True for tokens that can begin an expression. */
function isBeginning(token: Token): boolean {
  if (token.kind === "symbol") return ["[", "{", "(", ".", "-", "!"].includes(token.text);
  return token.kind !== "end" && token.kind !== "escaped" && token.text !== "in";
}

/** The kind of a token. Each punctuation mark and operator is its own kind. */
type TokenKind = "int" | "uint" | "double" | "string" | "bytes" | "ident" | "escaped" | "end" | "symbol";

/** One token. */
export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  /** UTF-16 index in the source. */
  readonly offset: number;
}

const space = /[\t\n\r\f ]+|\/\/[^\n]*/y;
const numbers: readonly (readonly [TokenKind, RegExp])[] = [
  ["double", /[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?/y],
  ["uint", /(?:0x[0-9a-fA-F]+|[0-9]+)[uU]/y],
  ["int", /0x[0-9a-fA-F]+|[0-9]+/y],
];
const escape = "\\\\(?:[abfnrtv\"'\\\\?`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})";
const textPattern = [
  `[rR]"""[^]*?"""`,
  `[rR]'''[^]*?'''`,
  `[rR]"[^"\\n\\r]*"`,
  `[rR]'[^'\\n\\r]*'`,
  `"""(?:${escape}|[^\\\\])*?"""`,
  `'''(?:${escape}|[^\\\\])*?'''`,
  `"(?:${escape}|[^\\\\"\\n\\r])*"`,
  `'(?:${escape}|[^\\\\'\\n\\r])*'`,
].join("|");
const bytes = new RegExp(`[bB](?:${textPattern})`, "y");
const text = new RegExp(textPattern, "y");
const ident = /[A-Za-z_][A-Za-z0-9_]*/y;
const escaped = /`[A-Za-z0-9_.\-/ ]+`/y;
const symbol = /==|!=|<=|>=|&&|\|\||[<>[\]{}().,\-!?:+*/%]/y;

const others: readonly (readonly [TokenKind, RegExp])[] = [
  ["bytes", bytes],
  ["string", text],
  ["ident", ident],
  ["escaped", escaped],
  ["symbol", symbol],
];

/** The tokens of a source. Invalid characters are reported and skipped. The last token is `end`. */
export function tokensOf(source: string, issues: Issue[]): readonly Token[] {
  const tokens: Token[] = [];
  let offset = 0;
  while (offset < source.length) {
    const blank = matched(space, source, offset);
    if (blank !== undefined) {
      offset += blank.length;
      continue;
    }
    const token = tokenAt(source, offset);
    if (token === undefined) {
      const character = wrongPart(source, offset);
      issues.push({ offset, message: `Syntax error: token recognition error at: '${character}'` });
      offset += character.length;
      continue;
    }
    tokens.push(token);
    offset += token.text.length;
  }
  tokens.push({ kind: "end", text: "<EOF>", offset: source.length });
  return tokens;
}

function tokenAt(source: string, offset: number): Token | undefined {
  const first = source.charCodeAt(offset);
  const isNumber = first >= 0x30 && first <= 0x39 || first === 0x2e && /[0-9]/.test(source[offset + 1] ?? "");
  for (const [kind, pattern] of isNumber ? numbers : others) {
    const found = matched(pattern, source, offset);
    if (found !== undefined) return { kind, text: found, offset };
  }
  return undefined;
}

const openText = new RegExp(`"(?:${escape}|[^\\\\"\\n\\r])*|'(?:${escape}|[^\\\\'\\n\\r])*`, "y");
const openEscape = /\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?/y;

/** The part of an invalid token that a message shows: an unfinished string, and the character that ends it. */
function wrongPart(source: string, offset: number): string {
  const begun = matched(openText, source, offset) ?? "";
  const escaping = begun === "" ? "" : matched(openEscape, source, offset + begun.length) ?? "";
  const end = offset + begun.length + escaping.length;
  return source.slice(offset, end) + String.fromCodePoint(...[source.codePointAt(end) ?? []].flat());
}

function matched(pattern: RegExp, source: string, offset: number): string | undefined {
  pattern.lastIndex = offset;
  return pattern.exec(source)?.[0];
}

/** An int; undefined when it does not fit into 64 bits. */
export function parseInt64(text: string): bigint | undefined {
  const isNegative = text.startsWith("-");
  const value = isNegative ? -BigInt(text.slice(1)) : BigInt(text);
  return value >= -(2n ** 63n) && value < 2n ** 63n ? value : undefined;
}

/** A uint without its `u`; undefined when it does not fit into 64 bits. */
export function parseUint64(text: string): bigint | undefined {
  const value = BigInt(text);
  return value < 2n ** 64n ? value : undefined;
}

const simpleEscapes: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** The inside of a quoted token, and whether it is raw. */
function bodyOf(token: string): { body: string; isRaw: boolean } {
  const isRaw = /^[rR]/.test(token);
  const quoted = (isRaw ? token.slice(1) : token).replace(/\r\n?/g, "\n");
  const width = quoted.startsWith('"""') || quoted.startsWith("'''") ? 3 : 1;
  return { body: quoted.slice(width, quoted.length - width), isRaw };
}

const escapePattern = /\\(?:([xX])([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|([^]))/g;

/** The value of a string token; undefined when an escape is not a code point. */
export function parseText(token: string): string | undefined {
  const { body, isRaw } = bodyOf(token);
  if (isRaw || !body.includes("\\")) return body;
  let isWrong = false;
  const value = body.replace(escapePattern, (_all, _x, hex, short, long, octal, letter) => {
    if (letter !== undefined) return simpleEscapes[letter] ?? letter;
    const point = octal !== undefined ? parseInt(octal, 8) : parseInt(hex ?? short ?? long, 16);
    if (point > 0x10ffff || point >= 0xd800 && point < 0xe000) isWrong = true;
    return isWrong ? "" : String.fromCodePoint(point);
  });
  return isWrong ? undefined : value;
}

/** The value of a bytes token; undefined when it has an escape that bytes do not allow. */
export function parseBytes(token: string): Uint8Array | undefined {
  const { body, isRaw } = bodyOf(token.slice(1));
  const encoder = new TextEncoder();
  if (isRaw || !body.includes("\\")) return encoder.encode(body);
  const parts: number[] = [];
  let at = 0;
  for (const found of body.matchAll(escapePattern)) {
    parts.push(...encoder.encode(body.slice(at, found.index)));
    const [, , hex, short, long, octal, letter] = found;
    if (short !== undefined || long !== undefined) return undefined;
    if (letter !== undefined) parts.push(...encoder.encode(simpleEscapes[letter] ?? letter));
    else parts.push(octal !== undefined ? parseInt(octal, 8) : parseInt(hex ?? "", 16));
    at = found.index + found[0].length;
  }
  parts.push(...encoder.encode(body.slice(at)));
  return new Uint8Array(parts);
}

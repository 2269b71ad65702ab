/** Cuts the text of an expression into tokens. */
import type { Issue } from "./issues.ts";

/** What a token is. Punctuation and operators are their own kind. */
export type TokenKind = "int" | "uint" | "double" | "string" | "bytes" | "ident" | "escaped" | "end" | "symbol";

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

/** The tokens of a source; characters that begin none are reported and left out. The last token is `end`. */
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

/** The part that a message shows of what is no token: a text as far as it could be one, and the character that could not. */
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

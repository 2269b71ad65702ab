/**
 * TokenReader: what a parser does with tokens. It looks at the next one, takes those it wants, and reports what stands where
 * something else should, in the words and with the recovery of the real parser.
 */
import type { Issue } from "./issues.ts";
import type { Token } from "./_lexer.ts";

const keywords = new Set(["in", "true", "false", "null"]);
const operators = new Set("in == != < <= > >= + - * / % && || ?".split(" "));
const closing = new Set([")", "]", "}"]);

/** What may begin an expression, in the order of the grammar's tokens; `false` marks what may only sometimes. */
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

/** What is expected where an expression begins. @param also symbols that may stand there instead */
function expectations(also: readonly string[] = []): string {
  const symbols = beginnings.filter(([text, isAlways]) => isAlways || also.includes(text)).map(([text]) => text);
  return `{${symbols.join(", ")}, ${constants}}`;
}

/** Ends parsing after an issue was reported. */
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

  /** The next token, or one behind it. */
  peek(ahead = 0): Token {
    return this.#tokens[this.#at + ahead] ?? { kind: "end", text: "<EOF>", offset: 0 };
  }

  /** Goes on. */
  skip(count = 1): void {
    this.#at += count;
  }

  /** True when the next token is this symbol. */
  isSymbol(symbol: string): boolean {
    const token = this.peek();
    return token.kind === "symbol" && token.text === symbol;
  }

  /** Takes a name. */
  name(): Token {
    const token = this.peek();
    if (token.kind === "escaped") this.fail(token.offset, "unsupported syntax: '`'");
    if (token.kind !== "ident" || keywords.has(token.text)) {
      const head = token.kind === "ident" ? "no viable alternative at" : "mismatched";
      this.fail(
        token.offset,
        `Syntax error: ${head} input '${token.text}'${token.kind === "ident" ? "" : " expecting IDENTIFIER"}`,
      );
    }
    this.#at++;
    return token;
  }

  /** Takes the name behind a dot. Where there is none, but an operator that may go on from the operand, it is left out. */
  field(isOptional: boolean): Token | undefined {
    const token = this.peek();
    if (token.kind === "escaped" || (token.kind === "ident" && !keywords.has(token.text))) return this.name();
    if (isOptional) {
      const message = `Syntax error: mismatched input '${token.text}' expecting {IDENTIFIER, ESC_IDENTIFIER}`;
      this.report({ offset: token.offset, message });
      this.fail(token.offset, "unsupported ident kind");
    }
    const text = token.kind === "end" ? "" : token.text;
    const issue = { offset: token.offset, message: `Syntax error: no viable alternative at input '.${text}'` };
    this.report(issue);
    if (!operators.has(token.text)) throw new Stop();
    return undefined;
  }

  /** Takes the bracket behind the last item of a list or a map, where a comma might stand too. */
  takeAfterItems(bracket: string): void {
    const { text, offset } = this.peek();
    if (this.accept(bracket)) return;
    this.fail(offset, `Syntax error: mismatched input '${text}' expecting {'${bracket}', ','}`);
  }

  /** Takes a symbol if it is next. */
  accept(symbol: string): boolean {
    if (!this.isSymbol(symbol)) return false;
    this.#at++;
    return true;
  }

  /** Takes a symbol that has to be next. A missing bracket is reported and taken as if it were there. */
  take(symbol: string): Token {
    const token = this.peek();
    if (this.accept(symbol)) return token;
    if (closing.has(symbol) && (token.kind === "end" || token.kind === "symbol")) {
      this.#issues.push({ offset: token.offset, message: `Syntax error: missing '${symbol}' at '${token.text}'` });
      return token;
    }
    return this.fail(token.offset, `Syntax error: mismatched input '${token.text}' expecting '${symbol}'`);
  }

  /** Passes over one token where what follows it would be right, as the real parser does; else fails. */
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

  /** Fails where neither an expression nor one of the symbols begins. */
  expectBeginning(also: readonly string[]): void {
    const token = this.peek();
    if (!isBeginning(token) && !also.includes(`'${token.text}'`)) this.skipUnexpected(also);
  }

  /** Notes an issue. */
  report(issue: Issue): void {
    this.#issues.push(issue);
  }

  /** Notes an issue and ends parsing. */
  fail(offset: number, message: string): never {
    this.#issues.push({ offset, message });
    throw new Stop();
  }
}

/** True for what may begin an expression. */
function isBeginning(token: Token): boolean {
  if (token.kind === "symbol") return ["[", "{", "(", ".", "-", "!"].includes(token.text);
  return token.kind !== "end" && token.kind !== "escaped" && token.text !== "in";
}

/**
 * parseCel: from the text of an expression to its tree. The grammar is that of cel-go with optional syntax (`a.?b`,
 * `a[?b]`, `[?a]`, `{?k: v}`). Messages are those of cel-go; after a syntax error it goes on only where one token is too many or a bracket is missing.
 */
import type { Expr, Literal } from "./ast.ts";
import type { Issue } from "./issues.ts";
import { type Token, tokensOf } from "./_lexer.ts";
import { parseBytes, parseInt64, parseText, parseUint64 } from "./_literals.ts";
import { expand } from "./_macros.ts";

/** A tree, or why there is none. */
export type Parsed =
  | { readonly kind: "parsed"; readonly expr: Expr }
  | { readonly kind: "failed"; readonly issues: readonly Issue[] };

/** Code points; the real server refuses more. */
const maxLength = 100_000;
/** Expressions inside each other. */
const maxDepth = 250;
/** Operators of one kind in a row: each is one level of the tree. */
const maxChain = 2_000;

const reserved = new Set(
  "as break const continue else for function if import let loop package namespace return var void while".split(" "),
);
const keywords = new Set(["in", "true", "false", "null"]);
const closing = new Set([")", "]", "}"]);
const relations = new Set(["==", "!=", "<", "<=", ">", ">=", "in"]);

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

/** Parses an expression. */
export function parseCel(source: string): Parsed {
  const length = [...source].length;
  if (length > maxLength) {
    const message = `expression code point size exceeds limit: size: ${length}, limit ${maxLength}`;
    return { kind: "failed", issues: [{ offset: -1, message }] };
  }
  const issues: Issue[] = [];
  const parser = new Parser(tokensOf(source, issues), issues);
  try {
    const expr = parser.parse();
    return issues.length === 0 ? { kind: "parsed", expr } : { kind: "failed", issues };
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    return { kind: "failed", issues };
  }
}

/** Ends parsing after an issue was reported. */
class Stop extends Error {}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #issues: Issue[];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly Token[], issues: Issue[]) {
    this.#tokens = tokens;
    this.#issues = issues;
  }

  parse(): Expr {
    const expr = this.#expr();
    const next = this.#peek();
    if (next.kind !== "end") {
      const isLast = this.#tokens[this.#at + 1]?.kind === "end";
      this.#fail(
        next.offset,
        `Syntax error: ${isLast ? "extraneous" : "mismatched"} input '${next.text}' expecting <EOF>`,
      );
    }
    return expr;
  }

  #expr(): Expr {
    if (++this.#depth > maxDepth) this.#fail(-1, `expression recursion limit exceeded: ${maxDepth}`);
    let expr = this.#junction("||", "_||_", () => this.#junction("&&", "_&&_", () => this.#relation()));
    const question = this.#peek();
    if (question.text === "?" && question.kind === "symbol") {
      this.#at++;
      const yes = this.#junction("||", "_||_", () => this.#junction("&&", "_&&_", () => this.#relation()));
      this.#take(":");
      expr = call(question.offset, "_?_:_", expr, yes, this.#expr());
    }
    this.#depth--;
    return expr;
  }

  /** A row of `&&` or `||`, as one call. */
  #junction(symbol: string, name: string, operand: () => Expr): Expr {
    const first = operand();
    if (this.#peek().text !== symbol) return first;
    const { offset } = this.#peek();
    const args = [first];
    while (this.#peek().text === symbol && this.#peek().kind === "symbol") {
      this.#at++;
      args.push(operand());
    }
    return { kind: "call", offset, name, args };
  }

  #relation(): Expr {
    return this.#chain((token) => relations.has(token.text) ? relationName(token.text) : undefined, () => this.#sum());
  }

  #sum(): Expr {
    return this.#chain(
      (token) => token.text === "+" ? "_+_" : token.text === "-" ? "_-_" : undefined,
      () => this.#product(),
    );
  }

  #product(): Expr {
    return this.#chain((token) => /^[*/%]$/.test(token.text) ? `_${token.text}_` : undefined, () => this.#unary());
  }

  #chain(nameOf: (token: Token) => string | undefined, operand: () => Expr): Expr {
    let left = operand();
    for (let count = 0;; count++) {
      const token = this.#peek();
      const name = token.kind === "symbol" || token.text === "in" ? nameOf(token) : undefined;
      if (name === undefined) return left;
      if (count > maxChain) this.#fail(-1, `expression recursion limit exceeded: ${maxChain}`);
      this.#at++;
      left = call(token.offset, name, left, operand());
    }
  }

  #unary(): Expr {
    const first = this.#peek();
    if (first.kind !== "symbol" || (first.text !== "!" && first.text !== "-")) return this.#member();
    const next = this.#tokens[this.#at + 1];
    if (first.text === "-" && (next?.kind === "int" || next?.kind === "double")) return this.#member();
    let count = 0;
    for (; this.#peek().text === first.text && this.#peek().kind === "symbol"; count++) this.#at++;
    const operand = this.#member();
    return count % 2 === 0 ? operand : call(first.offset, first.text === "!" ? "!_" : "-_", operand);
  }

  #member(): Expr {
    let expr = this.#primary();
    for (let count = 0;; count++) {
      const token = this.#peek();
      if (token.kind !== "symbol" || (token.text !== "." && token.text !== "[")) return expr;
      if (count > maxChain) this.#fail(-1, `expression recursion limit exceeded: ${maxChain}`);
      this.#at++;
      expr = token.text === "." ? this.#selected(expr, token) : this.#indexed(expr, token);
    }
  }

  #selected(operand: Expr, dot: Token): Expr {
    const isOptional = this.#accept("?");
    const name = this.#name();
    if (isOptional) {
      const field: Expr = { kind: "literal", offset: name.offset, value: name.text };
      return call(dot.offset, "_?._", operand, field);
    }
    const paren = this.#peek();
    if (paren.text !== "(" || paren.kind !== "symbol") {
      return { kind: "select", offset: dot.offset, operand, field: name.text, isTest: false };
    }
    this.#at++;
    return this.#expanded(paren.offset, name.text, operand, this.#args());
  }

  #indexed(operand: Expr, bracket: Token): Expr {
    const name = this.#accept("?") ? "_[?_]" : "_[_]";
    const index = this.#expr();
    this.#take("]");
    return call(bracket.offset, name, operand, index);
  }

  #primary(): Expr {
    const token = this.#peek();
    switch (token.kind) {
      case "int":
      case "uint":
      case "double":
      case "string":
      case "bytes":
        this.#at++;
        return this.#literal(token, "");
      case "ident":
        return this.#named(token, "");
      case "symbol":
        return this.#enclosed(token);
      default:
        return this.#unexpected(token);
    }
  }

  #enclosed(token: Token): Expr {
    switch (token.text) {
      case "(": {
        this.#at++;
        const inside = this.#expr();
        this.#take(")");
        return inside;
      }
      case "[":
        this.#at++;
        return this.#list(token.offset);
      case "{":
        this.#at++;
        return this.#map(token.offset);
      case ".": {
        this.#at++;
        const name = this.#peek();
        if (name.kind !== "ident") return this.#unexpected(name);
        return this.#named(name, ".");
      }
      case "-": {
        const number = this.#tokens[this.#at + 1];
        if (number === undefined || (number.kind !== "int" && number.kind !== "double")) return this.#unexpected(token);
        this.#at += 2;
        return this.#literal({ ...number, offset: token.offset }, "-");
      }
      default:
        return this.#unexpected(token);
    }
  }

  #named(token: Token, dot: string): Expr {
    if (token.text === "true" || token.text === "false" || token.text === "null") {
      this.#at++;
      const value = token.text === "null" ? null : token.text === "true";
      return { kind: "literal", offset: token.offset, value };
    }
    if (token.text === "in") return this.#unexpected(token);
    this.#at++;
    if (this.#beginsStruct()) return this.#struct(dot + token.text);
    if (reserved.has(token.text)) this.#fail(token.offset, `reserved identifier: ${token.text}`);
    const paren = this.#peek();
    if (paren.text !== "(" || paren.kind !== "symbol") {
      return { kind: "ident", offset: token.offset, name: dot + token.text };
    }
    this.#at++;
    return this.#expanded(paren.offset, dot + token.text, undefined, this.#args());
  }

  /** True at `{`, or at `.b.c {`. */
  #beginsStruct(): boolean {
    let at = this.#at;
    while (this.#tokens[at]?.text === "." && this.#tokens[at + 1]?.kind === "ident") at += 2;
    const token = this.#tokens[at];
    return token?.kind === "symbol" && token.text === "{";
  }

  #struct(first: string): Expr {
    let typeName = first;
    while (this.#accept(".")) typeName += `.${this.#name().text}`;
    const { offset } = this.#take("{");
    const fields: { name: string; value: Expr; isOptional: boolean }[] = [];
    while (this.#peek().text !== "}") {
      const isOptional = this.#accept("?");
      const name = this.#name().text;
      this.#take(":");
      fields.push({ name, value: this.#expr(), isOptional });
      if (!this.#accept(",")) break;
    }
    this.#take("}");
    return { kind: "struct", offset, typeName, fields };
  }

  #list(offset: number): Expr {
    const items: { value: Expr; isOptional: boolean }[] = [];
    this.#expectBeginning(["']'", "','", "'?'"]);
    while (this.#peek().text !== "]") {
      const isOptional = this.#accept("?");
      items.push({ value: this.#expr(), isOptional });
      if (!this.#accept(",")) break;
    }
    this.#take("]");
    return { kind: "list", offset, items };
  }

  #map(offset: number): Expr {
    const entries: { key: Expr; value: Expr; isOptional: boolean }[] = [];
    this.#expectBeginning(["'}'", "','", "'?'"]);
    while (this.#peek().text !== "}") {
      const isOptional = this.#accept("?");
      const key = this.#expr();
      this.#take(":");
      entries.push({ key, value: this.#expr(), isOptional });
      if (!this.#accept(",")) break;
    }
    this.#take("}");
    return { kind: "map", offset, entries };
  }

  #args(): Expr[] {
    const args: Expr[] = [];
    this.#expectBeginning(["')'"]);
    if (this.#accept(")")) return args;
    do args.push(this.#expr()); while (this.#accept(","));
    this.#take(")");
    return args;
  }

  #expanded(offset: number, name: string, target: Expr | undefined, args: readonly Expr[]): Expr {
    const plain = { kind: "call" as const, offset, name, args, ...(target === undefined ? {} : { target }) };
    const expansion = expand(plain);
    if (expansion === undefined) return plain;
    if (expansion.kind !== "issue") return expansion;
    this.#issues.push(expansion.issue);
    return plain;
  }

  #literal(token: Token, sign: string): Expr {
    const value = this.#value(token, sign);
    return { kind: "literal", offset: token.offset, value };
  }

  #value(token: Token, sign: string): Literal {
    const { text, offset } = token;
    switch (token.kind) {
      case "int":
        return parseInt64(sign + text) ?? this.#fail(offset, "invalid int literal");
      case "uint":
        return { uint: parseUint64(text.slice(0, -1)) ?? this.#fail(offset, "invalid uint literal") };
      case "double": {
        const value = Number(sign + text);
        return Number.isFinite(value) ? value : this.#fail(offset, "invalid double literal");
      }
      case "bytes":
        return parseBytes(text) ?? this.#fail(offset, "unable to unescape string");
      default:
        return parseText(text) ?? this.#fail(offset, "invalid unicode code point");
    }
  }

  #name(): Token {
    const token = this.#peek();
    if (token.kind === "escaped") this.#fail(token.offset, "unsupported syntax: '`'");
    if (token.kind !== "ident" || keywords.has(token.text)) {
      const head = token.kind === "ident" ? "no viable alternative at" : "mismatched";
      this.#fail(
        token.offset,
        `Syntax error: ${head} input '${token.text}'${token.kind === "ident" ? "" : " expecting IDENTIFIER"}`,
      );
    }
    this.#at++;
    return token;
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? { kind: "end", text: "<EOF>", offset: 0 };
  }

  #accept(symbol: string): boolean {
    const token = this.#peek();
    if (token.text !== symbol || token.kind !== "symbol") return false;
    this.#at++;
    return true;
  }

  #take(symbol: string): Token {
    const token = this.#peek();
    if (this.#accept(symbol)) return token;
    if (closing.has(symbol) && (token.kind === "end" || token.kind === "symbol")) {
      this.#issues.push({ offset: token.offset, message: `Syntax error: missing '${symbol}' at '${token.text}'` });
      return token;
    }
    return this.#fail(token.offset, `Syntax error: mismatched input '${token.text}' expecting '${symbol}'`);
  }

  /** Passes over one token where what follows it would be right, as the real parser does. */
  #unexpected(token: Token, also: readonly string[] = []): Expr {
    const next = this.#tokens[this.#at + 1];
    if (next === undefined || !isBeginning(next)) {
      return this.#fail(token.offset, `Syntax error: mismatched input '${token.text}' expecting ${expectations(also)}`);
    }
    const message = `Syntax error: extraneous input '${token.text}' expecting ${expectations(also)}`;
    this.#issues.push({ offset: token.offset, message });
    this.#at++;
    return this.#primary();
  }

  /** Fails where neither an expression nor one of the symbols begins. */
  #expectBeginning(also: readonly string[]): void {
    const token = this.#peek();
    if (isBeginning(token) || also.includes(`'${token.text}'`)) return;
    this.#unexpected(token, also);
  }

  #fail(offset: number, message: string): never {
    this.#issues.push({ offset, message });
    throw new Stop();
  }
}

/** True for what may begin an expression. */
function isBeginning(token: Token): boolean {
  if (token.kind === "symbol") return ["[", "{", "(", ".", "-", "!"].includes(token.text);
  return token.kind !== "end" && token.kind !== "escaped" && token.text !== "in";
}

function relationName(text: string): string {
  return text === "in" ? "@in" : `_${text}_`;
}

function call(offset: number, name: string, ...args: readonly Expr[]): Expr {
  return { kind: "call", offset, name, args };
}

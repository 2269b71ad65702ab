/**
 * parseCel(): parses an expression to its syntax tree. The grammar is that of cel-go with optional syntax (`a.?b`, `a[?b]`,
 * `[?a]`, `{?k: v}`). The messages are those of cel-go; after a syntax error it continues only when there is one token too
 * many or a bracket is missing.
 */
import type { Expr, Literal, StructField } from "./ast.ts";
import type { Issue } from "./issues.ts";
import { parseBytes, parseInt64, parseText, parseUint64, Stop, type Token, TokenReader, tokensOf } from "./_tokens.ts";
import { expand } from "./_macros.ts";

/** A syntax tree, or the issues of the source. */
export type Parsed =
  | { readonly kind: "parsed"; readonly expr: Expr }
  | { readonly kind: "failed"; readonly issues: readonly Issue[] };

/** Largest length in code points, as on the real server. */
const maxLength = 100_000;
/** Deepest nesting of expressions. */
const maxDepth = 250;
/** Largest number of equal operators in a chain: each one is a level of the tree. */
const maxChain = 2_000;

const reserved = new Set(
  "as break const continue else for function if import let loop package namespace return var void while".split(" "),
);
const relations = new Set(["==", "!=", "<", "<=", ">", ">=", "in"]);

/** Parses an expression. */
export function parseCel(source: string, hasBindings = false): Parsed {
  const length = [...source].length;
  if (length > maxLength) {
    const message = `expression code point size exceeds limit: size: ${length}, limit ${maxLength}`;
    return { kind: "failed", issues: [{ offset: -1, message }] };
  }
  const issues: Issue[] = [];
  const parser = new Parser(new TokenReader(tokensOf(source, issues), issues), hasBindings);
  try {
    const expr = parser.parse();
    return issues.length === 0 ? { kind: "parsed", expr } : { kind: "failed", issues };
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    return { kind: "failed", issues };
  }
}

/** What may stand where the first field of a message begins. */
const firstField = "{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}";

class Parser {
  readonly #tokens: TokenReader;
  readonly #hasBindings: boolean;
  #depth = 0;

  constructor(tokens: TokenReader, hasBindings: boolean) {
    this.#tokens = tokens;
    this.#hasBindings = hasBindings;
  }

  parse(): Expr {
    const expr = this.#expr();
    const next = this.#tokens.peek();
    if (next.kind !== "end") {
      const isLast = this.#tokens.peek(1).kind === "end";
      this.#tokens.fail(
        next.offset,
        `Syntax error: ${isLast ? "extraneous" : "mismatched"} input '${next.text}' expecting <EOF>`,
      );
    }
    return expr;
  }

  #expr(): Expr {
    if (++this.#depth > maxDepth) this.#tokens.fail(-1, `expression recursion limit exceeded: ${maxDepth}`);
    let expr = this.#junction("||", "_||_", () => this.#junction("&&", "_&&_", () => this.#relation()));
    const question = this.#tokens.peek();
    if (question.text === "?" && question.kind === "symbol") {
      this.#tokens.skip();
      const yes = this.#junction("||", "_||_", () => this.#junction("&&", "_&&_", () => this.#relation()));
      this.#tokens.take(":");
      expr = call(question.offset, "_?_:_", expr, yes, this.#expr());
    }
    this.#depth--;
    return expr;
  }

  /** A chain of `&&` or `||`, as one call. */
  #junction(symbol: string, name: string, operand: () => Expr): Expr {
    const first = operand();
    if (this.#tokens.peek().text !== symbol) return first;
    const { offset } = this.#tokens.peek();
    const args = [first];
    while (this.#tokens.peek().text === symbol && this.#tokens.peek().kind === "symbol") {
      this.#tokens.skip();
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
      const token = this.#tokens.peek();
      const name = token.kind === "symbol" || token.text === "in" ? nameOf(token) : undefined;
      if (name === undefined) return left;
      if (count > maxChain) this.#tokens.fail(-1, `expression recursion limit exceeded: ${maxChain}`);
      this.#tokens.skip();
      left = call(token.offset, name, left, operand());
    }
  }

  #unary(): Expr {
    const first = this.#tokens.peek();
    if (first.kind !== "symbol" || (first.text !== "!" && first.text !== "-")) return this.#member();
    const next = this.#tokens.peek(1);
    if (first.text === "-" && (next.kind === "int" || next.kind === "double")) return this.#member();
    let count = 0;
    for (; this.#tokens.peek().text === first.text && this.#tokens.peek().kind === "symbol"; count++) {
      this.#tokens.skip();
    }
    const operand = this.#member();
    return count % 2 === 0 ? operand : call(first.offset, first.text === "!" ? "!_" : "-_", operand);
  }

  #member(): Expr {
    let expr = this.#primary();
    for (let count = 0;; count++) {
      const token = this.#tokens.peek();
      if (token.kind !== "symbol" || (token.text !== "." && token.text !== "[")) return expr;
      if (count > maxChain) this.#tokens.fail(-1, `expression recursion limit exceeded: ${maxChain}`);
      this.#tokens.skip();
      expr = token.text === "." ? this.#selected(expr, token) : this.#indexed(expr, token);
    }
  }

  #selected(operand: Expr, dot: Token): Expr {
    const isOptional = this.#tokens.accept("?");
    const name = this.#tokens.field(isOptional);
    if (name === undefined) return operand;
    if (isOptional) {
      const field: Expr = { kind: "literal", offset: name.offset, value: name.text };
      return call(dot.offset, "_?._", operand, field);
    }
    const paren = this.#tokens.peek();
    if (paren.text !== "(" || paren.kind !== "symbol") {
      return { kind: "select", offset: dot.offset, operand, field: name.text, isTest: false };
    }
    this.#tokens.skip();
    return this.#expanded(paren.offset, name.text, operand, this.#args());
  }

  #indexed(operand: Expr, bracket: Token): Expr {
    this.#tokens.expectBeginning(["'?'"]);
    const name = this.#tokens.accept("?") ? "_[?_]" : "_[_]";
    const index = this.#expr();
    this.#tokens.take("]");
    return call(bracket.offset, name, operand, index);
  }

  #primary(): Expr {
    const token = this.#tokens.peek();
    switch (token.kind) {
      case "int":
      case "uint":
      case "double":
      case "string":
      case "bytes":
        this.#tokens.skip();
        return this.#literal(token, "");
      case "ident":
        return this.#named(token, "");
      case "symbol":
        return this.#enclosed(token);
      default:
        return this.#unexpected();
    }
  }

  #enclosed(token: Token): Expr {
    switch (token.text) {
      case "(": {
        this.#tokens.skip();
        const inside = this.#expr();
        this.#tokens.take(")");
        return inside;
      }
      case "[":
        this.#tokens.skip();
        return this.#list(token.offset);
      case "{":
        this.#tokens.skip();
        return this.#map(token.offset);
      case ".": {
        this.#tokens.skip();
        const name = this.#tokens.peek();
        if (name.kind !== "ident") return this.#unexpected();
        return this.#named(name, ".");
      }
      case "-": {
        const number = this.#tokens.peek(1);
        if (number.kind !== "int" && number.kind !== "double") return this.#unexpected();
        this.#tokens.skip(2);
        return this.#literal({ ...number, offset: token.offset }, "-");
      }
      default:
        return this.#unexpected();
    }
  }

  #named(token: Token, dot: string): Expr {
    if (token.text === "true" || token.text === "false" || token.text === "null") {
      this.#tokens.skip();
      const value = token.text === "null" ? null : token.text === "true";
      return { kind: "literal", offset: token.offset, value };
    }
    if (token.text === "in") return this.#unexpected();
    this.#tokens.skip();
    if (this.#beginsStruct()) return this.#struct(dot + token.text);
    if (reserved.has(token.text)) this.#tokens.fail(token.offset, `reserved identifier: ${token.text}`);
    const paren = this.#tokens.peek();
    if (paren.text !== "(" || paren.kind !== "symbol") {
      return { kind: "ident", offset: token.offset, name: dot + token.text };
    }
    this.#tokens.skip();
    return this.#expanded(paren.offset, dot + token.text, undefined, this.#args());
  }

  /** True at `{`, or at `.b.c {`. */
  #beginsStruct(): boolean {
    let ahead = 0;
    while (this.#tokens.peek(ahead).text === "." && this.#tokens.peek(ahead + 1).kind === "ident") ahead += 2;
    const token = this.#tokens.peek(ahead);
    return token.kind === "symbol" && token.text === "{";
  }

  #struct(first: string): Expr {
    let typeName = first;
    while (this.#tokens.accept(".")) typeName += `.${this.#tokens.name().text}`;
    const { offset } = this.#tokens.take("{");
    const fields: StructField[] = [];
    while (this.#tokens.peek().text !== "}") {
      const isOptional = this.#tokens.accept("?");
      const name = this.#tokens.name(isOptional ? "{IDENTIFIER, ESC_IDENTIFIER}" : firstField).text;
      const { offset } = this.#tokens.take(":");
      fields.push({ name, offset, value: this.#expr(), isOptional });
      if (!this.#tokens.accept(",") || !this.#startsField()) break;
    }
    this.#tokens.take("}");
    return { kind: "struct", offset, typeName, fields };
  }

  #startsField(): boolean {
    const { kind, text } = this.#tokens.peek();
    return kind === "ident" || kind === "escaped" || text === "?";
  }

  #list(offset: number): Expr {
    const items: { value: Expr; isOptional: boolean }[] = [];
    this.#tokens.expectBeginning(["']'", "','", "'?'"]);
    while (this.#tokens.peek().text !== "]") {
      const isOptional = this.#tokens.accept("?");
      items.push({ value: this.#expr(), isOptional });
      if (!this.#tokens.accept(",")) break;
    }
    this.#tokens.takeAfterItems("]");
    return { kind: "list", offset, items };
  }

  #map(offset: number): Expr {
    const entries: { key: Expr; value: Expr; isOptional: boolean }[] = [];
    this.#tokens.expectBeginning(["'}'", "','", "'?'"]);
    while (this.#tokens.peek().text !== "}") {
      const isOptional = this.#tokens.accept("?");
      const key = this.#expr();
      this.#tokens.take(":");
      entries.push({ key, value: this.#expr(), isOptional });
      if (!this.#tokens.accept(",")) break;
    }
    this.#tokens.takeAfterItems("}");
    return { kind: "map", offset, entries };
  }

  #args(): Expr[] {
    const args: Expr[] = [];
    this.#tokens.expectBeginning(["')'"]);
    if (this.#tokens.accept(")")) return args;
    do args.push(this.#expr()); while (this.#tokens.accept(","));
    this.#tokens.take(")");
    return args;
  }

  #expanded(offset: number, name: string, target: Expr | undefined, args: readonly Expr[]): Expr {
    const plain = { kind: "call" as const, offset, name, args, ...(target === undefined ? {} : { target }) };
    const expansion = expand(plain, this.#hasBindings);
    if (expansion === undefined) return plain;
    if (expansion.kind !== "issue") return expansion;
    this.#tokens.report(expansion.issue);
    return plain;
  }

  #unexpected(): Expr {
    this.#tokens.skipUnexpected();
    return this.#primary();
  }

  #literal(token: Token, sign: string): Expr {
    const value = this.#value(token, sign);
    return { kind: "literal", offset: token.offset, value };
  }

  #value(token: Token, sign: string): Literal {
    const { text, offset } = token;
    switch (token.kind) {
      case "int":
        return parseInt64(sign + text) ?? this.#tokens.fail(offset, "invalid int literal");
      case "uint":
        return { uint: parseUint64(text.slice(0, -1)) ?? this.#tokens.fail(offset, "invalid uint literal") };
      case "double": {
        const value = Number(sign + text);
        return Number.isFinite(value) ? value : this.#tokens.fail(offset, "invalid double literal");
      }
      case "bytes":
        return parseBytes(text) ?? this.#tokens.fail(offset, "unable to unescape string");
      default:
        return parseText(text) ?? this.#tokens.fail(offset, "invalid unicode code point");
    }
  }
}

function relationName(text: string): string {
  return text === "in" ? "@in" : `_${text}_`;
}

function call(offset: number, name: string, ...args: readonly Expr[]): Expr {
  return { kind: "call", offset, name, args };
}

/**
 * Parses the labelSelector parameter into a Matcher, with the grammar and the errors of apimachinery `labels.Parse`. (src/api
 * parses what a LabelSelector can express, with errors for users.)
 */
import { type JsonObject, labelKeyErrors, labelValueErrors, read } from "../model/mod.ts";

/** Decides whether an object is selected. */
export type Matcher = (state: Selectable) => boolean;

/** What selectors look at: a stored object, which need not be parsed for its labels. */
export interface Selectable {
  readonly object: JsonObject;
  /** `metadata.labels`; empty if there are none. */
  readonly labels: JsonObject;
}

type Operator = "in" | "notin" | "=" | "==" | "!=" | "exists" | "!" | ">" | "<";

interface Requirement {
  readonly key: string;
  readonly operator: Operator;
  readonly values: readonly string[];
}

interface Token {
  readonly kind:
    | "("
    | ")"
    | ","
    | "!"
    | "="
    | "=="
    | "!="
    | ">"
    | "<"
    | "in"
    | "notin"
    | "identifier"
    | "end"
    | "error";
  readonly text: string;
}

/** A malformed selector; its message is the one for the client. */
export class SelectorError extends Error {
  override readonly name = "SelectorError";
}

/**
 * Parses a label selector.
 *
 * @returns undefined when it selects all objects
 * @throws SelectorError
 */
export function parseLabelSelector(text: string): Matcher | undefined {
  const requirements = new Parser(scan(text)).requirements();
  if (requirements.length === 0) return undefined;
  return ({ labels }) => {
    for (const requirement of requirements) if (!satisfies(requirement, labels)) return false;
    return true;
  };
}

function satisfies(requirement: Requirement, labels: JsonObject): boolean {
  const { key, operator, values } = requirement;
  const found = read(labels, key);
  const value = typeof found === "string" ? found : undefined;
  switch (operator) {
    case "in":
    case "=":
    case "==":
      return value !== undefined && values.includes(value);
    case "notin":
    case "!=":
      return value === undefined || !values.includes(value);
    case "exists":
      return value !== undefined;
    case "!":
      return value === undefined;
    case ">":
    case "<":
      return isBeyond(operator, value, values[0] ?? "");
    default:
      return operator satisfies never;
  }
}

function isBeyond(operator: ">" | "<", value: string | undefined, bound: string): boolean {
  if (value === undefined || !isInteger(value)) return false;
  return operator === ">" ? BigInt(value) > BigInt(bound) : BigInt(value) < BigInt(bound);
}

/** An integer for strconv.ParseInt. */
function isInteger(text: string): boolean {
  if (!/^[+-]?[0-9]{1,30}$/.test(text)) return false;
  const number = BigInt(text.startsWith("+") ? text.slice(1) : text);
  return number >= -(2n ** 63n) && number < 2n ** 63n;
}

const symbols = /^(==|!=|=|!|\(|\)|,|>|<)/;

function scan(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let rest = text;
  while (true) {
    rest = rest.replace(/^[ \t\r\n]+/, "");
    if (rest === "" || rest.startsWith("\0")) break;
    const symbol = symbols.exec(rest)?.[0];
    const literal = symbol ?? /^[^=!(),<> \t\r\n\0]+/.exec(rest)?.[0] ?? "";
    tokens.push({ kind: kindOf(symbol ?? literal), text: literal });
    rest = rest.slice(literal.length);
  }
  tokens.push({ kind: "end", text: "" });
  return tokens;
}

function kindOf(literal: string): Token["kind"] {
  switch (literal) {
    case "(":
    case ")":
    case ",":
    case "!":
    case "=":
    case "==":
    case "!=":
    case ">":
    case "<":
    case "in":
    case "notin":
      return literal;
    default:
      return "identifier";
  }
}

class Parser {
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  requirements(): readonly Requirement[] {
    const found: Requirement[] = [];
    while (true) {
      const token = this.#peek();
      if (token.kind === "end") return found;
      if (!isName(token) && token.kind !== "!") {
        throw new SelectorError(`found '${token.text}', expected: !, identifier, or 'end of string'`);
      }
      found.push(this.#requirement());
      const after = this.#take();
      if (after.kind === "end") return found;
      if (after.kind !== ",") {
        throw new SelectorError(`found '${after.text}', expected: ',' or 'end of string'`);
      }
      const next = this.#peek();
      if (!isName(next) && next.kind !== "!") {
        throw new SelectorError(`found '${next.text}', expected: identifier after ','`);
      }
    }
  }

  #peek(): Token {
    return this.#tokens[this.#position] ?? { kind: "end", text: "" };
  }

  #take(): Token {
    const token = this.#peek();
    this.#position++;
    return token;
  }

  #requirement(): Requirement {
    const isNegated = this.#peek().kind === "!";
    if (isNegated) this.#take();
    const name = this.#take();
    if (!isName(name)) throw unreadable(`found '${name.text}', expected: identifier`);
    const key = name.text;
    const errors = labelKeyErrors(key);
    if (errors.length > 0) {
      throw unreadable(`<nil>: Invalid value: ${JSON.stringify(key)}: ${errors.join("; ")}`);
    }
    const next = this.#peek().kind;
    // After "!key" the parser of Go reads an operator only to report an error.
    if (next === "end" || next === ",") return { key, operator: isNegated ? "!" : "exists", values: [] };
    if (isNegated) return { key, operator: "!", values: [] };
    const operator = this.#operator();
    const values = operator === "in" || operator === "notin" ? this.#values() : [this.#value()];
    return checked({ key, operator, values });
  }

  #operator(): Operator {
    const token = this.#take();
    switch (token.kind) {
      case "in":
      case "notin":
      case "=":
      case "==":
      case "!=":
      case ">":
      case "<":
        return token.kind;
      default:
        throw unreadable(`found '${token.text}', expected: in, notin, =, ==, !=, gt, lt`);
    }
  }

  #value(): string {
    const next = this.#peek();
    if (next.kind === "end" || next.kind === ",") return "";
    const token = this.#take();
    if (isName(token)) return token.text;
    throw unreadable(`found '${token.text}', expected: identifier`);
  }

  #values(): readonly string[] {
    const open = this.#take();
    if (open.kind !== "(") throw unreadable(`found '${open.text}' expected: '('`);
    const values = new Set<string>();
    let isAfterComma = true;
    const first = this.#peek();
    if (!isName(first) && first.kind !== "," && first.kind !== ")") {
      throw unreadable(`found '${first.text}', expected: ',', ')' or identifier`);
    }
    while (true) {
      const token = this.#take();
      if (token.kind === ")") {
        if (isAfterComma) values.add("");
        return [...values].sort();
      }
      if (isName(token)) {
        if (!isAfterComma) throw unreadable(`found '${token.text}', expected: ',' or ')'`);
        values.add(token.text);
        isAfterComma = false;
      } else if (token.kind === ",") {
        if (isAfterComma) values.add("");
        isAfterComma = true;
      } else {
        throw unreadable(
          isAfterComma
            ? `found '${token.text}', expected: ',', or identifier`
            : `found '${token.text}', expected: ',' or ')'`,
        );
      }
    }
  }
}

/** `in` and `notin` are names, except in the position of an operator. */
function isName(token: Token): boolean {
  return token.kind === "identifier" || token.kind === "in" || token.kind === "notin";
}

function checked(requirement: Requirement): Requirement {
  const { key, operator, values } = requirement;
  if ((operator === ">" || operator === "<") && !isInteger(values[0] ?? "")) {
    const value = JSON.stringify(values[0] ?? "");
    throw unreadable(`values[0]: Invalid value: ${value}: for 'Gt', 'Lt' operators, the value must be an integer`);
  }
  for (const [index, value] of values.entries()) {
    const errors = labelValueErrors(value);
    if (errors.length === 0) continue;
    throw unreadable(`values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${errors.join("; ")}`);
  }
  return requirement;
}

function unreadable(why: string): SelectorError {
  return new SelectorError(`unable to parse requirement: ${why}`);
}

/**
 * JsonPath: the dialect of client-go's `util/jsonpath`, in which printer columns are written: fields, `['a']`, `[0]`, `[-1]`,
 * `[0:2]`, `[*]`, `[a,b]`, `..name` and filters like `[?(@.type=="Ready")]`. Columns do not need `range` and `end`.
 */
import { isJsonArray, isJsonObject, type Json, type JsonObject, read } from "../../cel/mod.ts";

type Step =
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "wildcard" }
  | { readonly kind: "recursive" }
  | {
    readonly kind: "slice";
    readonly start: number | undefined;
    readonly end: number | undefined;
    readonly step: number | undefined;
    readonly isOne: boolean;
  }
  | { readonly kind: "union"; readonly paths: readonly (readonly Step[])[] }
  | {
    readonly kind: "filter";
    readonly left: readonly Step[];
    readonly operator: string;
    readonly right: readonly Step[];
  }
  | { readonly kind: "literal"; readonly value: Json };

/**
 * A compiled path.
 *
 * @example
 * ```ts
 * import { JsonPath } from "./json_path.ts";
 *
 * const path = new JsonPath('.status.conditions[?(@.type=="Ready")].status');
 * const pod = { status: { conditions: [{ type: "Ready", status: "True" }] } };
 * console.assert(path.find(pod)?.[0] === "True");
 * ```
 */
export class JsonPath {
  readonly #steps: readonly Step[];

  /** @throws {JsonPathError} for an invalid path */
  constructor(source: string) {
    this.#steps = new Parser(source).parse();
  }

  /** The values at the path; undefined when the path does not match the shape of the object. */
  find(object: JsonObject): readonly Json[] | undefined {
    try {
      return walk([object], this.#steps);
    } catch (error) {
      if (error instanceof ShapeMismatch) return undefined;
      throw error;
    }
  }
}

/** An invalid path. */
export class JsonPathError extends SyntaxError {
  override readonly name = "JsonPathError";
  /** What is wrong, in the words of the real server. */
  readonly detail: string;

  constructor(source: string, detail: string) {
    super(`Cannot read the JSON path ${source}: ${detail}`);
    this.detail = detail;
  }
}

/** What is wrong with a path. @returns undefined for a valid one */
export function jsonPathError(source: string): string | undefined {
  try {
    new JsonPath(source);
    return undefined;
  } catch (error) {
    if (error instanceof JsonPathError) return error.detail;
    throw error;
  }
}

/** The object does not have the shape that the path expects. */
class ShapeMismatch extends Error {}

class Parser {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  parse(): readonly Step[] {
    const steps: Step[] = [];
    while (this.#at < this.#source.length) this.#step(steps);
    return steps;
  }

  #step(steps: Step[]): void {
    const rest = this.#source.slice(this.#at);
    const first = rest[0] ?? "";
    if (rest.startsWith("[?(")) return void steps.push(this.#filter());
    if (rest.startsWith("..")) {
      this.#at += 2;
      steps.push({ kind: "recursive" });
      if (/^[\p{L}\p{Nd}_]/u.test(this.#source.slice(this.#at))) steps.push(this.#field());
      return;
    }
    if (first === " " || first === "@" || first === "$") {
      this.#at++;
      return;
    }
    if (first === "[") return this.#bracket(steps);
    if (first === '"' || first === "'") return void steps.push(this.#quoted(first));
    if (first === ".") {
      this.#at++;
      steps.push(this.#field());
      return;
    }
    const number = /^[+-]?\d[\d.]*/.exec(rest);
    if (number !== null) {
      this.#at += number[0].length;
      steps.push({ kind: "literal", value: Number(number[0]) });
      return;
    }
    const word = /^(true|false)(?=[\s.,[\]$@{}]|$)/.exec(rest);
    if (word === null) throw new JsonPathError(this.#source, `unrecognized ${first}`);
    this.#at += word[0].length;
    steps.push({ kind: "literal", value: word[0] === "true" });
  }

  /** A field name; `\.` is a dot inside of it. */
  #field(): Step {
    let name = "";
    while (this.#at < this.#source.length) {
      const character = this.#source[this.#at] ?? "";
      if (/[\s.,[\]$@{}]/.test(character)) break;
      if (character === "\\") this.#at++;
      name += this.#source[this.#at] ?? "";
      this.#at++;
    }
    return name === "*" ? { kind: "wildcard" } : { kind: "field", name };
  }

  #quoted(quote: string): Step {
    const found = quote === '"' ? /^"((?:[^"\\]|\\.)*)"/ : /^'((?:[^'\\]|\\.)*)'/;
    const match = found.exec(this.#source.slice(this.#at));
    if (match === null) throw new JsonPathError(this.#source, `unterminated quoted string`);
    this.#at += match[0].length;
    return { kind: "literal", value: (match[1] ?? "").replace(/\\(.)/g, "$1") };
  }

  #bracket(steps: Step[]): void {
    const end = this.#source.indexOf("]", this.#at);
    if (end < 0) throw new JsonPathError(this.#source, `unterminated array`);
    const text = this.#source.slice(this.#at + 1, end);
    this.#at = end + 1;
    const parts = text.split(",");
    if (parts.length === 1) return void steps.push(...this.#inBrackets(text));
    steps.push({ kind: "union", paths: parts.map((part) => this.#inBrackets(part.trim())) });
  }

  #inBrackets(text: string): readonly Step[] {
    const key = /^'([^']*)'$/.exec(text);
    if (key !== null) return new Parser(`.${key[1]}`).parse();
    const slice = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(text === "*" ? ":" : text);
    if (slice === null) throw new JsonPathError(this.#source, `invalid array index ${text}`);
    const [start, end, step] = [slice[1], slice[2]?.slice(1), slice[3]?.slice(1)].map((part) =>
      part === undefined || part === "" ? undefined : Number(part)
    );
    return [{ kind: "slice", start, end, step, isOne: slice[2] === undefined }];
  }

  #filter(): Step {
    const begin = this.#at + 3;
    const end = this.#filterEnd(begin);
    const text = this.#source.slice(begin, end);
    this.#at = end + 2;
    const compared = /^([^!<>=]+)([!<>=]+)(.+?)$/.exec(text);
    if (compared === null) return { kind: "filter", left: new Parser(text).parse(), operator: "exists", right: [] };
    const [, left = "", operator = "", right = ""] = compared;
    return { kind: "filter", left: new Parser(left).parse(), operator, right: new Parser(right).parse() };
  }

  /** The index of the parenthesis that closes a filter. Parentheses in quotes do not count. */
  #filterEnd(begin: number): number {
    let quote = "";
    for (let at = begin; at < this.#source.length; at++) {
      const character = this.#source[at] ?? "";
      if (quote !== "") {
        if (character === quote && this.#source[at - 1] !== "\\") quote = "";
      } else if (character === '"' || character === "'") quote = character;
      else if (character === ")") {
        if (this.#source[at + 1] === "]") return at;
        throw new JsonPathError(this.#source, `unclosed array expect ]`);
      }
    }
    throw new JsonPathError(this.#source, `unterminated filter`);
  }
}

function walk(values: readonly Json[], steps: readonly Step[]): readonly Json[] {
  let current = values;
  for (const step of steps) current = applyStep(current, step);
  return current;
}

function applyStep(values: readonly Json[], step: Step): readonly Json[] {
  switch (step.kind) {
    case "field":
      return values.flatMap((value) => {
        const found = isJsonObject(value) ? read(value, step.name) : undefined;
        return found === undefined ? [] : [found];
      });
    case "wildcard":
      return values.flatMap(contentsOf);
    case "recursive":
      return values.flatMap(descendantsOf);
    case "slice":
      return values.flatMap((value) => value === null ? [] : sliced(value, step));
    case "union":
      return step.paths.flatMap((path) => walk(values, path));
    case "filter":
      return values.flatMap((value) => filtered(value, step));
    case "literal":
      return values.map(() => step.value);
    default:
      return step satisfies never;
  }
}

function contentsOf(value: Json): readonly Json[] {
  if (isJsonArray(value)) return value;
  return isJsonObject(value) ? Object.values(value) : [];
}

function descendantsOf(value: Json): readonly Json[] {
  const contents = contentsOf(value);
  return contents.length === 0 ? [] : [value, ...contents.flatMap(descendantsOf)];
}

function sliced(
  value: Json,
  { start: from, end: to, step, isOne }: Step & { readonly kind: "slice" },
): readonly Json[] {
  if (!isJsonArray(value)) throw new ShapeMismatch();
  const size = value.length;
  const start = from === undefined ? 0 : from < 0 ? from + size : from;
  const given = isOne ? (from ?? 0) + 1 : to ?? size;
  const end = given < 0 || (given === 0 && isOne) ? given + size : given;
  if (start === end) return [];
  if (start >= size || start < 0 || end > size || end < 0 || start > end) throw new ShapeMismatch();
  if (step !== undefined && step <= 0) throw new ShapeMismatch();
  return value.slice(start, end).filter((_item, index) => index % (step ?? 1) === 0);
}

function filtered(value: Json, step: Step & { readonly kind: "filter" }): readonly Json[] {
  if (!isJsonArray(value)) throw new ShapeMismatch();
  return value.filter((item) => {
    const left = walk([item], step.left);
    if (step.operator === "exists") return left.length > 0;
    const right = walk([item], step.right);
    if (left.length > 1 || right.length > 1) throw new ShapeMismatch();
    return left.length === 1 && right.length === 1 && holds(left[0] ?? null, step.operator, right[0] ?? null);
  });
}

function holds(left: Json, operator: string, right: Json): boolean {
  if (typeof left !== typeof right || typeof left === "object") throw new ShapeMismatch();
  const order = left === right ? 0 : (left ?? 0) < (right ?? 0) ? -1 : 1;
  switch (operator) {
    case "==":
      return order === 0;
    case "!=":
      return order !== 0;
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
    default:
      throw new ShapeMismatch();
  }
}

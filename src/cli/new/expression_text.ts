/**
 * The text of expressions, as `deno fmt` writes it. What is long and appears more than once becomes a constant before the
 * expression, named after the field where it appears first.
 *
 * Guarantees: a field with any name is written so that it is a field, `__proto__` included.
 */
import { printExactJson } from "../../api/mod.ts";
import type { Json } from "../../schema/mod.ts";
import type { Chain, Expression, FunctionCall } from "./expression.ts";

/** The text of a module's expression. */
export interface ExpressionText {
  /** Lines of the constants that it uses. */
  readonly constants: readonly string[];
  /** Lines of the expression. */
  readonly lines: readonly string[];
}

const maxWidth = 120;
/** Shorter parts are written again and again. */
const minSharedLength = 160;
/** Longer names of fields are cut for the names of constants. */
const maxNameLength = 32;

/** Calls at the end of a chain that differ from field to field. */
const ownCalls: ReadonlySet<string> = new Set(["optional", "default", "prefault", "describe"]);

/**
 * Prints an expression.
 *
 * @param names Names that constants must not have
 * @param prefixLength Characters before the expression in its line
 */
export function printExpression(
  expression: Expression,
  { names, prefixLength }: { readonly names: Iterable<string>; readonly prefixLength: number },
): ExpressionText {
  const printer = new Printer(expression, names);
  const lines = printer.print(expression, { indent: 0, before: prefixLength, after: 1 });
  return { constants: printer.constants, lines };
}

/** The room for an expression: its indentation in steps, and the characters around it in its first and last line. */
interface Room {
  readonly indent: number;
  readonly before: number;
  readonly after: number;
}

/** A chain that appears more than once. */
interface Shared {
  readonly name: string;
  readonly chain: Chain;
}

class Printer {
  readonly constants: string[] = [];
  readonly #ids = new Map<string, number>();
  readonly #idOf = new WeakMap<Expression, number>();
  readonly #counts = new Map<number, { count: number; readonly field: string; readonly chain: Chain }>();
  readonly #shared = new Map<number, Shared>();
  readonly #written = new Set<number>();
  readonly #names: Set<string>;

  constructor(root: Expression, names: Iterable<string>) {
    this.#names = new Set(names);
    this.#count(root, "schema");
    for (const [id, { count, field, chain }] of this.#counts) {
      if (count < 2 || lengthOf(chain) < minSharedLength) continue;
      this.#shared.set(id, { name: this.#newName(field), chain });
    }
  }

  /** Counts the parts; those of a part that appears again are not counted again. */
  #count(expression: Expression, field: string): void {
    if (expression.kind === "fields") { for (const [name, value] of expression.fields) this.#count(value, name); }
    if (expression.kind === "list") { for (const item of expression.items) this.#count(item, field); }
    if (expression.kind !== "chain") return;
    const core = coreOf(expression);
    const id = this.#id(core);
    const known = this.#counts.get(id);
    if (known !== undefined) {
      known.count++;
      return;
    }
    this.#counts.set(id, { count: 1, field, chain: core });
    for (const { args } of expression.calls) for (const arg of args) this.#count(arg, field);
  }

  /** Equal expressions have equal numbers. */
  #id(expression: Expression): number {
    const known = this.#idOf.get(expression);
    if (known !== undefined) return known;
    const key = this.#keyOf(expression);
    const id = this.#ids.get(key) ?? this.#ids.size;
    this.#ids.set(key, id);
    this.#idOf.set(expression, id);
    return id;
  }

  #keyOf(expression: Expression): string {
    switch (expression.kind) {
      case "json":
        return `json ${printExactJson(expression.value)}`;
      case "pattern":
        return `pattern ${expression.regexp.source}`;
      case "fields":
        return `fields ${JSON.stringify(expression.fields.map(([name, value]) => [name, this.#id(value)]))}`;
      case "list":
        return `list ${expression.items.map((item) => this.#id(item))}`;
      case "chain":
        return `chain ${expression.calls.map(({ name, args }) => `${name}(${args.map((arg) => this.#id(arg))})`)}`;
      default:
        return expression satisfies never;
    }
  }

  #newName(field: string): string {
    const words = field.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
    const [first = "", ...more] = words;
    const camel = first.slice(0, 1).toLowerCase() + first.slice(1) +
      more.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join("");
    // The word keeps clear of the keywords of TypeScript and of global names.
    const base = `${(/^[a-z]/.test(camel) ? camel : `field${camel}`).slice(0, maxNameLength)}Schema`;
    let name = base;
    for (let count = 2; this.#names.has(name); count++) name = `${base}${count}`;
    this.#names.add(name);
    return name;
  }

  /** The name of the constant for a chain, which is written before it is used. */
  readonly #nameOf = (chain: Chain): string | undefined => {
    const id = this.#id(chain);
    const shared = this.#shared.get(id);
    if (shared === undefined) return undefined;
    if (!this.#written.has(id)) {
      this.#written.add(id);
      const prefix = `const ${shared.name} = `;
      const [first = "", ...more] = this.#calls(shared.chain.calls, { indent: 0, before: prefix.length, after: 1 });
      this.constants.push("", `${prefix}${first}`, ...more);
      this.constants.push(`${this.constants.pop()};`);
    }
    return shared.name;
  };

  /** The lines of an expression; the first without indentation. */
  print(expression: Expression, room: Room): readonly string[] {
    const line = flat(expression, this.#nameOf);
    if (line !== undefined && fits(line, room)) return [line];
    switch (expression.kind) {
      case "json":
        return this.#json(expression.value, room);
      case "pattern":
        return [line ?? ""];
      case "fields":
        return this.#block("{", expression.fields.map(([name, value]) => [keyText(name), value] as const), "}", room);
      case "list":
        return this.#block("[", expression.items.map((item) => ["", item] as const), "]", room);
      case "chain":
        return this.#chain(expression, room);
      default:
        return expression satisfies never;
    }
  }

  #json(value: Json, room: Room): readonly string[] {
    if (Array.isArray(value)) {
      return this.#block("[", value.map((item) => ["", { kind: "json", value: item }] as const), "]", room);
    }
    if (typeof value !== "object" || value === null) return [jsonText(value)];
    const entries = Object.entries(value).map(([name, item]) =>
      [keyText(name), { kind: "json", value: item }] as const
    );
    return this.#block("{", entries, "}", room);
  }

  #block(open: string, entries: readonly (readonly [key: string, value: Expression])[], close: string, room: Room) {
    const lines = entries.flatMap(([key, value]) => this.#entry(key, value, room.indent + 1));
    return [open, ...lines, `${pad(room.indent)}${close}`];
  }

  #entry(key: string, value: Expression, indent: number): readonly string[] {
    const before = key === "" ? 0 : key.length + 2;
    const [first = "", ...more] = this.print(value, { indent, before, after: 1 });
    const head = `${pad(indent)}${key === "" ? "" : `${key}: `}`;
    if (key !== "" && !fits(first, { indent, before, after: more.length === 0 ? 1 : 0 })) {
      const below = this.print(value, { indent: indent + 1, before: 0, after: 1 });
      return withComma([`${pad(indent)}${key}:`, `${pad(indent + 1)}${below[0]}`, ...below.slice(1)]);
    }
    return withComma([`${head}${first}`, ...more]);
  }

  #chain(chain: Chain, room: Room): readonly string[] {
    const core = coreOf(chain);
    const name = this.#nameOf(core);
    const calls = name === undefined ? chain.calls : chain.calls.slice(core.calls.length);
    return name === undefined ? this.#calls(calls, room) : this.#calls(calls, room, name);
  }

  /** Calls in one line as far as they fit; else each in a line of its own. */
  #calls(calls: readonly FunctionCall[], room: Room, name?: string): readonly string[] {
    const lines: string[] = [name ?? ""];
    let isTooWide = false;
    for (const [index, call] of calls.entries()) {
      const last = lines.pop() ?? "";
      const isFirst = lines.length === 0;
      const before = isFirst ? room.before + last.length : last.length - pad(room.indent).length;
      const after = index === calls.length - 1 ? room.after : 0;
      const isMethod = index > 0 || name !== undefined;
      const [first = "", ...more] = this.#call(call, isMethod, { indent: room.indent, before, after });
      lines.push(`${last}${first}`, ...more);
      isTooWide ||= !fits(first, { indent: room.indent, before, after: 0 });
    }
    return isTooWide && calls.length > 1 ? this.#broken(calls, room, name) : lines;
  }

  #broken(calls: readonly FunctionCall[], room: Room, name?: string): readonly string[] {
    const [first, ...rest] = calls;
    const head = name === undefined && first !== undefined ? this.#call(first, false, room) : [name ?? ""];
    const indent = room.indent + 1;
    return [
      ...head,
      ...(name === undefined ? rest : calls).flatMap((call) => {
        const [line = "", ...more] = this.#call(call, true, { indent, before: 0, after: 1 });
        return [`${pad(indent)}${line}`, ...more];
      }),
    ];
  }

  #call({ name, args }: FunctionCall, isMethod: boolean, room: Room): readonly string[] {
    const open = `${isMethod ? "." : ""}${name}(`;
    const texts = args.map((arg) => flat(arg, this.#nameOf));
    const line = `${open}${texts.join(", ")})`;
    if (args.length === 0 || (!texts.includes(undefined) && fits(line, room))) return [line];
    const [only] = args;
    if (only !== undefined && args.length === 1 && isHugged(only)) {
      const inner = { indent: room.indent, before: room.before + open.length, after: 1 + room.after };
      const [first = "", ...more] = this.print(only, inner);
      const lines = [`${open}${first}`, ...more];
      return [...lines.slice(0, -1), `${lines.at(-1)})`];
    }
    const indent = room.indent + 1;
    return [open, ...args.flatMap((arg) => this.#entry("", arg, indent)), `${pad(room.indent)})`];
  }
}

/** The chain without the calls that differ from field to field. */
function coreOf(chain: Chain): Chain {
  const end = chain.calls.findLastIndex(({ name }) => !ownCalls.has(name));
  if (end === chain.calls.length - 1) return chain;
  const calls = chain.calls.slice(0, end + 1);
  const known = cores.get(chain) ?? { kind: "chain", calls };
  cores.set(chain, known);
  return known;
}

const cores = new WeakMap<Chain, Chain>();

/** Objects and lists begin in the line of the parenthesis. */
function isHugged(expression: Expression): boolean {
  if (expression.kind === "json") return typeof expression.value === "object" && expression.value !== null;
  return expression.kind === "fields" || expression.kind === "list";
}

const lengths = new WeakMap<Expression, number>();

/** About the characters of an expression. */
function lengthOf(expression: Expression): number {
  const known = lengths.get(expression);
  if (known !== undefined) return known;
  const length = partsOf(expression).reduce((sum, part) => sum + lengthOf(part) + 2, ownLength(expression));
  lengths.set(expression, length);
  return length;
}

function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case "fields":
      return expression.fields.map(([, value]) => value);
    case "list":
      return expression.items;
    case "chain":
      return expression.calls.flatMap(({ args }) => args);
    default:
      return [];
  }
}

function ownLength(expression: Expression): number {
  switch (expression.kind) {
    case "json":
      return jsonText(expression.value).length;
    case "pattern":
      return expression.regexp.source.length;
    case "fields":
      return expression.fields.reduce((sum, [name]) => sum + name.length, 0);
    case "list":
      return 0;
    case "chain":
      return expression.calls.reduce((sum, { name }) => sum + name.length + 2, 0);
    default:
      return expression satisfies never;
  }
}

/** An expression in one line; undefined when it has fields, which have a line each. */
function flat(expression: Expression, nameOf: (chain: Chain) => string | undefined): string | undefined {
  switch (expression.kind) {
    case "json":
      return jsonText(expression.value);
    case "pattern":
      return `/${expression.regexp.source}/`;
    case "fields": {
      const hasChains = expression.fields.some(([, { kind }]) => kind !== "json");
      if (hasChains) return undefined;
      return objectText(expression.fields.map(([name, value]) => `${keyText(name)}: ${flat(value, nameOf)}`));
    }
    case "list": {
      const items = expression.items.map((item) => flat(item, nameOf));
      return items.includes(undefined) ? undefined : `[${items.join(", ")}]`;
    }
    case "chain": {
      const core = coreOf(expression);
      const name = nameOf(core);
      const calls = name === undefined ? expression.calls : expression.calls.slice(core.calls.length);
      const texts = calls.map((call) => {
        const args = call.args.map((arg) => flat(arg, nameOf));
        return args.includes(undefined) ? undefined : `${call.name}(${args.join(", ")})`;
      });
      if (texts.includes(undefined)) return undefined;
      return [...(name === undefined ? [] : [name]), ...texts].join(".");
    }
    default:
      return expression satisfies never;
  }
}

function jsonText(value: Json): string {
  if (typeof value === "bigint") return `${value}n`;
  if (Array.isArray(value)) return `[${value.map(jsonText).join(", ")}]`;
  if (typeof value !== "object" || value === null) return textOf(value);
  return objectText(Object.entries(value).map(([name, item]) => `${keyText(name)}: ${jsonText(item)}`));
}

function objectText(entries: readonly string[]): string {
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}

/** JSON, with the line separators escaped that end a line of a source file. */
function textOf(value: string | number | boolean | null): string {
  const text = JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
  if (typeof value !== "string" || count(value, '"') <= count(value, "'")) return text;
  // The quotes that need fewer escapes.
  return `'${text.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

/** The name of a field in an object. */
function keyText(name: string): string {
  if (name === "__proto__") return '["__proto__"]';
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : textOf(name);
}

function fits(line: string, { indent, before, after }: Room): boolean {
  return pad(indent).length + before + line.length + after <= maxWidth;
}

function pad(indent: number): string {
  return "  ".repeat(indent);
}

function withComma(lines: readonly string[]): readonly string[] {
  return [...lines.slice(0, -1), `${lines.at(-1)},`];
}

/**
 * Reads a regular expression in the syntax of Go's `regexp` (RE2): what Kubernetes accepts as `pattern` and in CEL. There
 * are no back references and nothing that looks around, so matching is linear in the text. Errors have Go's texts.
 */
import { classOf, namedClassOf, unicodeTest } from "./_classes.ts";
import { type CharacterSet, isIn, type RegexNode } from "./_node.ts";
import { repeatsOf, sizeOf } from "./_size.ts";

/** Why an expression cannot be compiled: `error parsing regexp: missing closing ): ` and the part it is about. */
export class RegexSyntaxError extends SyntaxError {
  override readonly name = "RegexSyntaxError";
}

interface Flags {
  readonly foldsCase: boolean;
  readonly isMultiLine: boolean;
  readonly dotTakesNewline: boolean;
  readonly isUngreedy: boolean;
}

const empty: RegexNode = { kind: "empty" };
const maxRepeat = 1000;
const maxDepth = 1000;
/** Places of a program that one expression may have: Go's limit is about the same memory. */
const maxSize = 100_000;

/** @throws RegexSyntaxError */
export function parseRegex(source: string): RegexNode {
  const parser = new Parser(source);
  const tree = parser.parse();
  if (sizeOf(tree) > maxSize) throw failure("expression too large", source);
  return tree;
}

class Parser {
  readonly #source: string;
  readonly #points: readonly string[];
  #at = 0;
  #depth = 0;
  #flags: Flags = { foldsCase: false, isMultiLine: false, dotTakesNewline: false, isUngreedy: false };

  constructor(source: string) {
    this.#source = source;
    this.#points = [...source];
  }

  parse(): RegexNode {
    const tree = this.#choice();
    if (this.#at < this.#points.length) throw failure("unexpected )", this.#source);
    return tree;
  }

  #choice(): RegexNode {
    const items = [this.#sequence()];
    while (this.#peek() === "|") {
      this.#at++;
      items.push(this.#sequence());
    }
    return items.length === 1 ? items[0] ?? empty : { kind: "choice", items };
  }

  #sequence(): RegexNode {
    const items: RegexNode[] = [];
    while (this.#at < this.#points.length) {
      const character = this.#peek();
      if (character === "|" || character === ")") break;
      if (this.#startsWith("\\Q")) {
        items.push(...this.#quoted());
        continue;
      }
      const start = this.#at;
      const item = this.#atom();
      if (item === undefined) continue;
      items.push(this.#repeated(item, start));
    }
    return items.length === 1 ? items[0] ?? empty : { kind: "sequence", items };
  }

  /** One thing that may be repeated; nothing for a group that only sets flags. */
  #atom(): RegexNode | undefined {
    const character = this.#points[this.#at] ?? "";
    switch (character) {
      case "(":
        return this.#group();
      case "[":
        return this.#class();
      case ".":
        this.#at++;
        return set(this.#flags.dotTakesNewline ? [0, 0x10ffff] : [0, 9, 11, 0x10ffff]);
      case "^":
        this.#at++;
        return { kind: "place", place: this.#flags.isMultiLine ? "beginLine" : "beginText" };
      case "$":
        this.#at++;
        return { kind: "place", place: this.#flags.isMultiLine ? "endLine" : "endText" };
      case "*":
      case "+":
      case "?":
        throw failure("missing argument to repetition operator", character);
      case "{": {
        const count = this.#count();
        if (count !== undefined) throw failure("missing argument to repetition operator", count.text);
        this.#at++;
        return this.#literal("{");
      }
      case "\\":
        return this.#escape();
      default:
        this.#at++;
        return this.#literal(character);
    }
  }

  #literal(character: string): RegexNode {
    const point = character.codePointAt(0) ?? 0;
    return set([point, point], [], false, this.#flags.foldsCase);
  }

  #repeated(item: RegexNode, start: number): RegexNode {
    let node = item;
    let isFirst = true;
    while (this.#at < this.#points.length) {
      const before = this.#at;
      const bounds = this.#quantifier();
      if (bounds === undefined) break;
      if (!isFirst) throw failure("invalid nested repetition operator", this.#text(start));
      if (bounds.max !== Infinity && bounds.max > maxRepeat || bounds.min > maxRepeat) {
        throw failure("invalid repeat count", this.#text(before));
      }
      const isLazy = this.#peek() === "?";
      if (isLazy) this.#at++;
      node = { kind: "repeat", item: node, ...bounds, isGreedy: isLazy === this.#flags.isUngreedy };
      if (repeatsOf(node) > maxRepeat) throw failure("invalid repeat count", this.#text(before));
      isFirst = false;
      start = before;
    }
    return node;
  }

  #quantifier(): { min: number; max: number } | undefined {
    switch (this.#peek()) {
      case "*":
        this.#at++;
        return { min: 0, max: Infinity };
      case "+":
        this.#at++;
        return { min: 1, max: Infinity };
      case "?":
        this.#at++;
        return { min: 0, max: 1 };
      case "{": {
        const count = this.#count();
        if (count === undefined) return undefined;
        this.#at += count.text.length;
        if (count.max < count.min) throw failure("invalid repeat count", count.text);
        return { min: count.min, max: count.max };
      }
      default:
        return undefined;
    }
  }

  /** `{2}`, `{2,}` or `{2,5}` at this place; a brace that begins none of them is a plain character. */
  #count(): { text: string; min: number; max: number } | undefined {
    const found = /^\{(0|[1-9][0-9]*)(,(0|[1-9][0-9]*)?)?\}/.exec(this.#points.slice(this.#at, this.#at + 24).join(""));
    if (found === null) return undefined;
    const min = Number(found[1]);
    const max = found[2] === undefined ? min : found[3] === undefined ? Infinity : Number(found[3]);
    return { text: found[0], min, max };
  }

  #group(): RegexNode | undefined {
    const start = this.#at;
    const outer = this.#flags;
    this.#at++;
    if (this.#peek() === "?") {
      const opened = this.#groupFlags(start);
      if (!opened) return undefined;
    }
    if (++this.#depth > maxDepth) throw failure("expression nests too deeply", this.#source);
    const inside = this.#choice();
    this.#depth--;
    if (this.#peek() !== ")") throw failure("missing closing )", this.#source);
    this.#at++;
    this.#flags = outer;
    return inside;
  }

  /** Reads what stands between `(?` and the group's inside. @returns false for `(?i)`, which has no inside */
  #groupFlags(start: number): boolean {
    const rest = this.#points.slice(start).join("");
    if (rest.startsWith("(?P<") || rest.startsWith("(?<")) {
      const name = /^\(\?P?<([^>]*)>/.exec(rest);
      if (name === null) throw failure("invalid named capture", rest);
      if (!/^\w+$/.test(name[1] ?? "")) throw failure("invalid named capture", name[0]);
      this.#at += [...name[0]].length - 1;
      return true;
    }
    const flags = /^\(\?([imsU]*)(-[imsU]+)?([:)])/.exec(rest);
    if (flags === null || flags[1] === "" && flags[2] === undefined && flags[3] === ")") {
      throw failure(
        rest.includes(")") || /^\(\?[^imsU:-]/.test(rest) ? "invalid or unsupported Perl syntax" : "missing closing )",
        /^\(\?[imsU-]*[^imsU-]?/.exec(rest)?.[0] ?? rest,
      );
    }
    this.#set(flags[1] ?? "", true);
    this.#set(flags[2] ?? "", false);
    this.#at += flags[0].length - 1;
    return flags[3] === ":";
  }

  #set(letters: string, isOn: boolean): void {
    const flags = this.#flags;
    this.#flags = {
      foldsCase: letters.includes("i") ? isOn : flags.foldsCase,
      isMultiLine: letters.includes("m") ? isOn : flags.isMultiLine,
      dotTakesNewline: letters.includes("s") ? isOn : flags.dotTakesNewline,
      isUngreedy: letters.includes("U") ? isOn : flags.isUngreedy,
    };
  }

  #quoted(): RegexNode[] {
    this.#at += 2;
    const items: RegexNode[] = [];
    while (this.#at < this.#points.length && !this.#startsWith("\\E")) {
      items.push(this.#literal(this.#points[this.#at++] ?? ""));
    }
    const start = this.#at;
    this.#at = Math.min(this.#at + 2, this.#points.length);
    const last = items.pop();
    if (last !== undefined) items.push(this.#repeated(last, start));
    return items;
  }

  #escape(): RegexNode {
    const letter = this.#points[this.#at + 1];
    switch (letter) {
      case "A":
        this.#at += 2;
        return { kind: "place", place: "beginText" };
      case "z":
        this.#at += 2;
        return { kind: "place", place: "endText" };
      case "b":
      case "B":
        this.#at += 2;
        return { kind: "place", place: letter === "b" ? "wordBoundary" : "noWordBoundary" };
      default: {
        const many = this.#classEscape();
        if (many !== undefined) return { kind: "set", set: many };
        const point = this.#characterEscape();
        return set([point, point], [], false, this.#flags.foldsCase);
      }
    }
  }

  /** `\d`, `\pL` and the like. */
  #classEscape(): CharacterSet | undefined {
    const letter = this.#points[this.#at + 1] ?? "";
    if (letter !== "p" && letter !== "P") {
      const known = classOf(letter);
      if (known !== undefined) this.#at += 2;
      return known;
    }
    const found = /^\\[pP](\{\^?[^}]*\}|[^{])/u.exec(this.#points.slice(this.#at).join(""));
    if (found === null) throw failure("invalid character class range", this.#points.slice(this.#at).join(""));
    const isBraced = found[1]?.startsWith("{") === true;
    const inside = isBraced ? found[1]?.slice(1, -1) ?? "" : found[1] ?? "";
    const isNegated = inside.startsWith("^") !== (letter === "P");
    const test = unicodeTest(inside.replace(/^\^/, ""));
    if (test === undefined) throw failure("invalid character class range", found[0]);
    this.#at += [...found[0]].length;
    return { ranges: [], tests: [test], isNegated, foldsCase: this.#flags.foldsCase };
  }

  #characterEscape(): number {
    const rest = this.#points.slice(this.#at, this.#at + 16).join("");
    if (rest === "\\") throw failure("trailing backslash at end of expression", "");
    const hex = /^\\x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]+)\})/.exec(rest);
    const octal = /^\\(?:0[0-7]{0,2}|[1-7][0-7]{1,2})/.exec(rest);
    const simple = "afnrtv".indexOf(rest[1] ?? "");
    const found = hex?.[0] ?? octal?.[0] ?? (simple >= 0 || /^\\[!-/:-@[-`{-~]/.test(rest) ? rest.slice(0, 2) : "");
    if (found === "") throw failure("invalid escape sequence", [...rest].slice(0, 2).join(""));
    this.#at += found.length;
    if (hex !== null) return this.#point(parseInt(hex[1] ?? hex[2] ?? "", 16), found);
    if (octal !== null) return parseInt(found.slice(1), 8);
    return simple >= 0 ? [7, 12, 10, 13, 9, 11][simple] ?? 0 : found.charCodeAt(1);
  }

  #point(value: number, text: string): number {
    if (value > 0x10ffff) throw failure("invalid escape sequence", text);
    return value;
  }

  #class(): RegexNode {
    const start = this.#at++;
    const isNegated = this.#peek() === "^";
    if (isNegated) this.#at++;
    const ranges: number[] = [];
    const tests: ((character: number) => boolean)[] = [];
    let isFirst = true;
    while (this.#peek() !== "]" || isFirst) {
      if (this.#at >= this.#points.length) throw failure("missing closing ]", this.#text(start));
      isFirst = false;
      const many = this.#namedClass() ?? (this.#peek() === "\\" ? this.#classEscape() : undefined);
      if (many === undefined) this.#range(ranges, start);
      else if (many.isNegated || many.tests.length > 0) {
        tests.push((character) => isIn(many, character) !== many.isNegated);
      } else ranges.push(...many.ranges);
    }
    this.#at++;
    return set(ranges, tests, isNegated, this.#flags.foldsCase);
  }

  #namedClass(): CharacterSet | undefined {
    const found = /^\[:\^?[^:\]]*:\]/.exec(this.#points.slice(this.#at, this.#at + 16).join(""));
    if (found === null) return undefined;
    const known = namedClassOf(found[0]);
    if (known === undefined) throw failure("invalid character class range", found[0]);
    this.#at += found[0].length;
    return known;
  }

  #range(ranges: number[], start: number): void {
    const from = this.#at;
    const first = this.#classCharacter(start);
    let last = first;
    if (this.#peek() === "-" && this.#points[this.#at + 1] !== "]" && this.#at + 1 < this.#points.length) {
      this.#at++;
      last = this.#classCharacter(start);
      if (last < first) throw failure("invalid character class range", this.#text(from));
    }
    ranges.push(first, last);
  }

  #classCharacter(start: number): number {
    if (this.#at >= this.#points.length) throw failure("missing closing ]", this.#text(start));
    if (this.#peek() === "\\") return this.#characterEscape();
    return this.#points[this.#at++]?.codePointAt(0) ?? 0;
  }

  #peek(): string | undefined {
    return this.#points[this.#at];
  }

  #startsWith(text: string): boolean {
    return this.#points[this.#at] === text[0] && this.#points[this.#at + 1] === text[1];
  }

  /** What was read since `start`; to the end where nothing was. */
  #text(start: number): string {
    return this.#points.slice(start, this.#at >= this.#points.length ? undefined : this.#at).join("");
  }
}

function set(
  ranges: readonly number[],
  tests: CharacterSet["tests"] = [],
  isNegated = false,
  foldsCase = false,
): RegexNode {
  return { kind: "set", set: { ranges, tests, isNegated, foldsCase } };
}

function failure(what: string, about: string): RegexSyntaxError {
  const tail = what.startsWith("trailing") ? ": ``" : `: \`${about}\``;
  return new RegexSyntaxError(`error parsing regexp: ${what}${tail}`);
}

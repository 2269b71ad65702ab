/**
 * Regular expressions in the syntax of Go's `regexp` package: `pattern` of a CRD schema and the `matches`, `find` and
 * `findAll` functions of CEL. Every user who may write a CRD or a policy chooses them, so they are untrusted input.
 *
 * Guarantees: the time of a match is linear in the length of the text, the size of a program is bounded, and error texts
 * are those of Go. This is the only file that knows the library re2js (ADR 0010).
 */
import { RE2JS, RE2JSSyntaxException, RE2Set } from "re2js";

/**
 * Instructions that one compiled pattern may have. Go's limit is 128 MiB, which re2js needs a second to compile; a match
 * costs up to one step per instruction and character, so the limit also bounds the time of a match.
 */
const maxProgramSize = 40_000;

/** Where a match stands: indices of UTF-16 code units, the end exclusive. */
export interface PatternMatch {
  readonly start: number;
  readonly end: number;
}

/**
 * A compiled regular expression.
 *
 * @example
 * ```ts
 * import { Pattern } from "./mod.ts";
 *
 * const name = new Pattern("^[a-z]([-a-z0-9]*[a-z0-9])?$");
 * console.assert(name.test("web-1") && !name.test("-web"));
 * ```
 */
export class Pattern {
  readonly source: string;
  /** The number of instructions, estimated. */
  readonly size: number;
  readonly #compiled: RE2JS;

  /** @throws {SyntaxError} with the text of Go's `regexp.Compile` */
  constructor(source: string) {
    this.source = source;
    this.size = patternSize(source);
    this.#compiled = compile(source);
  }

  /** The most steps of a match with a text: one for each instruction and character. */
  workOn(text: string): number {
    return this.size * text.length;
  }

  /** True when the pattern matches somewhere in the text. */
  test(text: string): boolean {
    return this.#compiled.test(text);
  }

  /** The first match. Where several begin at the same index, the one that a backtracking engine would find. */
  find(text: string): PatternMatch | undefined {
    const matcher = this.#compiled.matcher(text);
    return matcher.find() ? { start: matcher.start(), end: matcher.end() } : undefined;
  }

  /** All matches that do not overlap, up to a limit. As in Go, an empty match right after another match does not count. */
  *findAll(text: string, limit = Infinity): IterableIterator<PatternMatch> {
    const matcher = this.#compiled.matcher(text);
    let lastEnd = -1;
    for (let count = 0; count < limit && matcher.find();) {
      const match = { start: matcher.start(), end: matcher.end() };
      if (match.start !== match.end || match.start !== lastEnd) {
        yield match;
        count++;
      }
      lastEnd = match.end;
    }
  }
}

const maxCached = 500;
const cache = new Map<string, Pattern>();

/** A compiled pattern. The last ones are cached: schemas repeat a few patterns many times. @throws {SyntaxError} */
export function patternOf(source: string): Pattern {
  let found = cache.get(source);
  if (found === undefined) {
    found = new Pattern(source);
    if (cache.size >= maxCached) cache.clear();
    cache.set(source, found);
  }
  return found;
}

/** @param original What error texts quote where the whole pattern is wrong. */
function compile(source: string, original = source): RE2JS {
  try {
    if (patternSize(source) <= maxProgramSize) return RE2JS.compile(source);
    // Only parses: as in Go, a syntax error takes precedence.
    new RE2Set().add(source);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    const reason = error.getDescription();
    // Go permits two groups of one name. Nothing here reads groups, so the names can go.
    const nameless = reason === "duplicate capture group name" ? withoutGroupNames(source) : source;
    if (nameless !== source) return compile(nameless, source);
    const part = error.getPattern() ?? (reason.startsWith("trailing backslash") ? "" : source);
    throw syntaxError(reason, part === source ? original : part);
  }
  throw syntaxError("expression too large", original);
}

function syntaxError(reason: string, part: string): SyntaxError {
  return new SyntaxError(`error parsing regexp: ${reason}: \`${part}\``);
}

/**
 * One step through the source of a pattern: quoted text, an escape, the start of a group, a counted repetition, or one
 * character. Each alternative looks ahead at most a bounded number of characters in vain, so that reading stays linear.
 */
const tokens = /\\Q(?:[^\\]|\\(?!E))*(?:\\E)?|\\[pPx]\{[^}]{0,64}\}|\\[^]|\(\?P?<\w+>|\{\d{1,4}(?:,\d{0,4})?\}|[^]/gu;

/** One step through a character class, after its `[`. */
const classTokens = /\[:\^?[a-z]{1,10}:\]|\\[pPx]\{[^}]{0,64}\}|\\[^]|[^]/gu;

/** The tokens of a pattern. A character class is one token, up to the end of the source where it is not closed. */
function* tokensOf(source: string): IterableIterator<string> {
  for (let at = 0; at < source.length;) {
    let end = at;
    if (source[at] === "[") end = endOfClass(source, at);
    else {
      tokens.lastIndex = at;
      end += tokens.exec(source)?.[0].length ?? 1;
    }
    yield source.slice(at, end);
    at = end;
  }
}

function endOfClass(source: string, start: number): number {
  let at = start + (source[start + 1] === "^" ? 2 : 1);
  // A bracket that comes first is a character of the class.
  if (source[at] === "]") at++;
  while (at < source.length) {
    classTokens.lastIndex = at;
    const token = classTokens.exec(source)?.[0] ?? "";
    at += Math.max(token.length, 1);
    if (token === "]") return at;
  }
  return source.length;
}

function withoutGroupNames(source: string): string {
  return Array.from(tokensOf(source), (token) => token.startsWith("(?") ? "(" : token).join("");
}

/**
 * How many instructions a pattern compiles to, as far as its source shows it: `(a{100}){10}` are a thousand times `a`.
 * Broken patterns have some size too; the compiler rejects them afterwards.
 */
export function patternSize(source: string): number {
  const outer: number[] = [];
  let size = 0;
  /** The part of `size` that a repetition repeats. */
  let item = 0;
  for (const token of tokensOf(source)) {
    const counts = /^\{(\d+)(,(\d*))?\}$/.exec(token);
    if (token.startsWith("(")) {
      outer.push(size);
      size = item = 0;
    } else if (token === ")") {
      item = size + 2;
      size = item + (outer.pop() ?? 0);
    } else if (counts !== null) {
      const [, min = "", comma, max = min] = counts;
      const isEndless = comma !== undefined && max === "";
      const times = Math.max(1, Number(isEndless ? min : max));
      size += item * (times - 1) + (isEndless ? 1 : times - Number(min));
      item *= times;
    } else {
      item = token.startsWith("\\Q") ? token.length : 1;
      size += item;
    }
  }
  return size + outer.reduce((sum, each) => sum + each, 0);
}

/**
 * Regex: a regular expression as Go's `regexp` understands it, matched in time linear in the text. JavaScript's own
 * engine backtracks, so the `pattern` of a CustomResourceDefinition could stop the server with one object.
 *
 * `test` runs a deterministic automaton that is built as texts are seen, about ten nanoseconds a character; what it
 * remembers is bounded. `find` follows all alternatives at once and is slower.
 */
import { Automaton } from "./_automaton.ts";
import { findIn } from "./_find.ts";
import { parseRegex } from "./_parser.ts";
import { type Instruction, programOf } from "./_program.ts";

/** Where a match stands: indices of UTF-16, the end exclusive. */
export interface RegexMatch {
  readonly start: number;
  readonly end: number;
}

/**
 * A compiled expression.
 *
 * @example
 * ```ts
 * import { Regex } from "./mod.ts";
 *
 * const name = new Regex("^[a-z]([-a-z0-9]*[a-z0-9])?$");
 * console.assert(name.test("web-1") && !name.test("-web"));
 * ```
 */
export class Regex {
  readonly source: string;
  readonly #program: readonly Instruction[];
  readonly #automaton: Automaton | undefined;

  /** @throws {SyntaxError} with the text of Go's `regexp.Compile` */
  constructor(source: string) {
    this.source = source;
    this.#program = programOf(parseRegex(source));
    this.#automaton = Automaton.for(this.#program);
  }

  /** True when the expression matches somewhere in the text. */
  test(text: string): boolean {
    return this.#automaton === undefined ? this.find(text) !== undefined : this.#automaton.test(text);
  }

  /** The first match from an index on, the one that the expression likes best where several begin there. */
  find(text: string, from = 0): RegexMatch | undefined {
    return findIn(this.#program, text, from);
  }

  /** All matches that do not overlap, up to a limit. An empty match right after another match does not count. */
  *findAll(text: string, limit = Infinity): IterableIterator<RegexMatch> {
    let from = 0;
    let lastEnd = -1;
    for (let count = 0; count < limit && from <= text.length;) {
      const match = this.find(text, from);
      if (match === undefined) return;
      const isEmpty = match.end === match.start;
      if (!isEmpty || match.start !== lastEnd) {
        yield match;
        count++;
      }
      lastEnd = match.end;
      from = isEmpty ? match.end + ((text.codePointAt(match.end) ?? 0) > 0xffff ? 2 : 1) : match.end;
    }
  }
}

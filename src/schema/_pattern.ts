/**
 * patternOf(): translates a JavaScript regular expression for the API server, which compiles patterns with RE2. RE2 runs
 * in linear time and therefore has no lookaround and no backreferences.
 *
 * Guarantees: the result means the same in RE2 (Go `regexp`), or a TypeError says why it cannot.
 * Caveats: in RE2 `.` also matches a carriage return, U+2028 and U+2029, and `\s` matches ASCII white space only, without the
 * vertical tab. Without the flag u, JavaScript reads a character above U+FFFF as two.
 */
import { cannotDefine, type Place } from "./_place.ts";

/** Letters that mean the same after a backslash in both dialects. */
const sharedEscapes = "dDwWsSbBtnvfr";

/** Go's regexp/syntax rejects repetition counts above this. */
const maxRepetition = 1000;

const repetition = /\{(\d+)(,(\d*))?\}/y;

/** The source of `regexp` for RE2. @throws TypeError when RE2 cannot express it. */
export function patternOf(regexp: RegExp, place: Place): string {
  const source = regexp.source;
  let text = "";
  const repetitions = new Repetitions();
  for (let index = 0; index < source.length;) {
    const token = source[index] === "[" ? classAt(regexp, index, place) : tokenAt(regexp, index, place);
    const [read, written] = token;
    if (repetitions.add(token) > maxRepetition) {
      throw refused(source, `repetitions inside each other above ${maxRepetition}`, place);
    }
    text += written;
    index += read;
  }
  return flagsOf(regexp, place) + text;
}

/** Counts how often the parts of a pattern are repeated, as Go does: `(a{100}){11}` repeats `a` 1,100 times. */
class Repetitions {
  readonly #outer: number[] = [];
  /** The most repetitions in the current group. */
  #most = 1;
  /** Those of the item before the next token. */
  #item = 1;

  /** @returns the repetitions of the item that ends with the token */
  add([, written, times]: Token): number {
    if (written === "(" || written === "(?P<") {
      this.#outer.push(this.#most);
      this.#most = this.#item = 1;
    } else if (written === ")") this.#item = this.#most;
    else if (times !== undefined) this.#item *= Math.max(1, times);
    else if (!/^[*+?]$/.test(written)) this.#item = 1;
    this.#most = Math.max(this.#item, written === ")" ? this.#outer.pop() ?? 1 : this.#most);
    return this.#item;
  }
}

/** The number of characters read, their translation, and how often they repeat the item before them. */
type Token = readonly [read: number, written: string, times?: number];

function flagsOf(regexp: RegExp, place: Place): string {
  if (regexp.sticky) throw refused(regexp.source, "the flag y", place);
  if (regexp.unicodeSets) throw refused(regexp.source, "the flag v", place);
  const flags = (regexp.ignoreCase ? "i" : "") + (regexp.multiline ? "m" : "") + (regexp.dotAll ? "s" : "");
  return flags === "" ? "" : `(?${flags})`;
}

function tokenAt(regexp: RegExp, index: number, place: Place): Token {
  const { source } = regexp;
  const rest = source.slice(index, index + 12);
  if (rest[0] === "\\") return escapeAt(regexp, index, place);
  if (/^\(\?<?[=!]/.test(rest)) throw refused(source, "lookaround", place);
  if (rest.startsWith("(?<")) {
    if (!/^\(\?<\w+>/.test(source.slice(index))) throw refused(source, "a group name that is not ASCII", place);
    return [3, "(?P<"];
  }
  return repetitionAt(source, index, place) ?? [1, rest[0] ?? ""];
}

/** Leading zeros go: with them, RE2 takes the repetition for text. */
function repetitionAt(source: string, index: number, place: Place): Token | undefined {
  repetition.lastIndex = index;
  const [whole, min, comma, max] = repetition.exec(source) ?? [];
  if (whole === undefined) return undefined;
  const [least, most] = [Number(min), Number(max ?? 0)];
  if (Math.max(least, most) > maxRepetition) throw refused(source, `a repetition above ${maxRepetition}`, place);
  const range = comma === undefined ? "" : `,${max === "" ? "" : most}`;
  return [whole.length, `{${least}${range}}`, Math.max(least, most)];
}

function escapeAt(regexp: RegExp, index: number, place: Place, { isInClass = false } = {}): Token {
  const { source } = regexp;
  const rest = source.slice(index, index + 40);
  const letter = rest[1] ?? "";
  if (/[1-9k]/.test(letter)) throw refused(source, "a backreference", place);
  if (/^\\0\d/.test(rest)) throw refused(source, "an octal escape", place);
  if (letter === "0") return [2, "\\x00"];
  // `source` escapes it for literals; Go writes it plainly.
  if (letter === "/") return [2, "/"];
  if (/^\\(?:[pP]|u\{)/.test(rest) && !regexp.unicode) throw refused(source, `\\${letter} without the flag u`, place);
  const hex = /^\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))/.exec(rest);
  if (hex !== null) return [hex[0].length, `\\x{${hex[1] ?? hex[2] ?? hex[3]}}`];
  const property = /^\\([pP])\{(?:gc=|General_Category=)?([A-Z][a-z]?)\}/.exec(rest);
  // Older versions of Go know no unassigned characters.
  if (property !== null && property[2] !== "Cn") return [property[0].length, `\\${property[1]}{${property[2]}}`];
  if (letter === "c" || letter === "p" || letter === "P") {
    throw refused(source, rest.slice(0, rest.indexOf("}") + 1) || `\\${letter}`, place);
  }
  const isShared = sharedEscapes.includes(letter) && !(isInClass && letter === "B");
  // RE2 escapes ASCII punctuation only; other characters stand for themselves.
  return [2, isShared || /[!-/:-@[-`{-~]/.test(letter) ? `\\${letter}` : letter];
}

/** A class such as `\d`, which cannot be the end of a range. */
const namedClass = /^\\[dDwWsSpP]/;

/**
 * Translates a character class. In JavaScript a minus between two atoms makes a range of them, or stands for itself when one
 * of them is a named class; either way it belongs to both. RE2 knows only ranges, so a minus that stands for itself is escaped.
 */
function classAt(regexp: RegExp, start: number, place: Place): Token {
  const { source } = regexp;
  const opening = source.startsWith("[^", start) ? "[^" : "[";
  let text = opening;
  let index = start + opening.length;
  let isAfterPair = false;
  if (source[index] === "]") throw refused(source, "an empty character class", place);
  while (index < source.length && source[index] !== "]") {
    const [firstLength, first] = classAtomAt(regexp, index, place);
    // Otherwise RE2 would make a range of the end of the pair and what follows.
    text += first === "-" && isAfterPair ? "\\-" : first;
    const minus = index + firstLength;
    isAfterPair = false;
    index = minus;
    if (source[minus] !== "-" || source[minus + 1] === "]") continue;
    const [lastLength, last] = classAtomAt(regexp, minus + 1, place);
    isAfterPair = namedClass.test(first) || namedClass.test(last);
    text += isAfterPair ? `\\-${last === "-" ? "\\-" : last}` : `-${last}`;
    index = minus + 1 + lastLength;
  }
  return [index + 1 - start, `${text}]`];
}

/** One character or named class. Inside of a class, `[` is a plain character in JavaScript but opens a named class in RE2. */
function classAtomAt(regexp: RegExp, index: number, place: Place): Token {
  const { source } = regexp;
  if (source[index] === "[") return [1, "\\["];
  if (source[index] !== "\\") return [1, source[index] ?? ""];
  return source[index + 1] === "b" ? [2, "\\x08"] : escapeAt(regexp, index, place, { isInClass: true });
}

function refused(source: string, what: string, place: Place): TypeError {
  return cannotDefine(place, `has the pattern /${source}/ with ${what}, which the API server's linear-time RE2 lacks`);
}

/**
 * patternOf(): translates a JavaScript regular expression for the API server, which compiles patterns with RE2. RE2 runs
 * in linear time and therefore has no lookaround and no backreferences.
 *
 * Guarantees: the result means the same in RE2 (Go `regexp`), or a TypeError says why it cannot.
 * Caveats: in RE2 `.` also matches U+2028 and U+2029, and `\s` matches ASCII white space only.
 */
import { cannotDefine, type Place } from "./_place.ts";

/** Letters that mean the same after a backslash in both dialects. */
const sharedEscapes = "dDwWsSbBtnvfr";

/** Go's regexp/syntax rejects repetition counts above this. */
const maxRepetition = 1000;

/** The source of `regexp` for RE2. @throws TypeError when RE2 cannot express it. */
export function patternOf(regexp: RegExp, place: Place): string {
  const source = regexp.source;
  let text = "";
  for (let index = 0; index < source.length;) {
    const [read, written] = source[index] === "[" ? classAt(source, index, place) : tokenAt(source, index, place);
    text += written;
    index += read;
  }
  return flagsOf(regexp, place) + text;
}

/** The number of characters read, and their translation. */
type Token = readonly [read: number, written: string];

function flagsOf(regexp: RegExp, place: Place): string {
  if (regexp.sticky) throw refused(regexp.source, "the flag y", place);
  if (regexp.unicodeSets) throw refused(regexp.source, "the flag v", place);
  const flags = (regexp.ignoreCase ? "i" : "") + (regexp.multiline ? "m" : "") + (regexp.dotAll ? "s" : "");
  return flags === "" ? "" : `(?${flags})`;
}

function tokenAt(source: string, index: number, place: Place): Token {
  const rest = source.slice(index, index + 12);
  if (rest[0] === "\\") return escapeAt(source, index, place);
  if (/^\(\?<?[=!]/.test(rest)) throw refused(source, "lookaround", place);
  if (rest.startsWith("(?<")) return [3, "(?P<"];
  const repetition = /^\{(\d+)(?:,(\d*))?\}/.exec(rest);
  if (repetition !== null && Math.max(Number(repetition[1]), Number(repetition[2] ?? 0)) > maxRepetition) {
    throw refused(source, `a repetition above ${maxRepetition}`, place);
  }
  return [1, rest[0] ?? ""];
}

function escapeAt(source: string, index: number, place: Place): Token {
  const rest = source.slice(index, index + 40);
  const letter = rest[1] ?? "";
  if (/[1-9k]/.test(letter)) throw refused(source, "a backreference", place);
  if (letter === "0") return [2, "\\x00"];
  const hex = /^\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))/.exec(rest);
  if (hex !== null) return [hex[0].length, `\\x{${hex[1] ?? hex[2] ?? hex[3]}}`];
  const property = /^\\([pP])\{(?:gc=|General_Category=)?([A-Z][a-z]?)\}/.exec(rest);
  if (property !== null) return [property[0].length, `\\${property[1]}{${property[2]}}`];
  if (letter === "c" || letter === "p" || letter === "P") {
    throw refused(source, rest.slice(0, rest.indexOf("}") + 1) || `\\${letter}`, place);
  }
  if (!/[A-Za-z]/.test(letter) || sharedEscapes.includes(letter)) return [2, `\\${letter}`];
  return [2, letter];
}

/** Translates a character class. Inside of one, `[` is a plain character in JavaScript but opens a named class in RE2. */
function classAt(source: string, start: number, place: Place): Token {
  const opening = source.startsWith("[^", start) ? "[^" : "[";
  let text = opening;
  let index = start + opening.length;
  if (source[index] === "]") throw refused(source, "an empty character class", place);
  while (index < source.length && source[index] !== "]") {
    if (source[index] === "\\") {
      const [read, written] = source[index + 1] === "b" ? [2, "\\x08"] : escapeAt(source, index, place);
      text += written;
      index += read;
      continue;
    }
    text += source[index] === "[" ? "\\[" : source[index];
    index++;
  }
  return [index + 1 - start, `${text}]`];
}

function refused(source: string, what: string, place: Place): TypeError {
  return cannotDefine(place, `has the pattern /${source}/ with ${what}, which the API server's linear-time RE2 lacks`);
}

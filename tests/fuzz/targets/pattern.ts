/**
 * Regular expressions of users: Pattern, which is RE2, and patternOf(), which translates those of JavaScript. An input has a
 * pattern and a text.
 *
 * Promises: a pattern compiles or is a SyntaxError; matches are within the text and in order; a translated pattern matches the
 * same short texts of printable ASCII as the original.
 */
import fc from "fast-check";
import { Pattern } from "../../../src/apiserver/model/mod.ts";
import { patternOf } from "../../../src/schema/_pattern.ts";
import { rootPlace } from "../../../src/schema/_place.ts";
import { Finding, type FuzzTarget, joinParts, orRefused, partsOf, promise } from "../target.ts";

/** A backtracking engine needs time that is exponential in this. */
const maxComparedText = 10;
const maxComparedSource = 60;

const atom = fc.constantFrom(
  ...[
    "a",
    "b",
    ".",
    "\\d",
    "\\w",
    "[a-c]",
    "[^b]",
    "(a|b)",
    "(?:ab)",
    "^",
    "$",
    "\\b",
    "\\.",
    "[[:alpha:]]",
    "\\x41",
    "\\u0041",
    "\\pL",
    "(?i)",
    "[\\d-]",
    "[]a]",
    "(?<n>a)",
    "(?=a)",
    "\\1",
    "{",
    "}",
    "[\\b]",
    "\\/",
    "\\-",
  ],
);
const repetition = fc.constantFrom("", "", "", "*", "+", "?", "*?", "{2}", "{1,3}", "{0,}", "{1001}", "{,2}", "**");

function translated(source: string): { readonly regexp: RegExp; readonly pattern: string } | undefined {
  return orRefused(
    () => {
      const regexp = new RegExp(source, "s");
      return { regexp, pattern: patternOf(regexp, rootPlace("Foo")) };
    },
    SyntaxError,
    TypeError,
  );
}

/** The target. */
export const target: FuzzTarget = {
  seeds: [
    joinParts("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "web-1"),
    joinParts("(a{1,100}){1,100}", "aaaa"),
    joinParts("(?<x>a)(?P<x>b)\\Qa.b\\E", "aba.b"),
    joinParts("\\p{Greek}|\\pN+[[:^space:]]", "α1"),
  ],
  arbitrary: fc.tuple(
    fc.array(fc.tuple(atom, repetition).map((parts) => parts.join("")), { maxLength: 6 }),
    fc.stringMatching(/^[ab1._-]{0,8}$/),
  )
    .map(([parts, text]) => joinParts(parts.join(""), text)),
  words: [
    "{1000}",
    "(?i)",
    "(?P<n>",
    "\\Q",
    "\\E",
    "\\p{L}",
    "[[:word:]]",
    "(?s:",
    "\\C",
    "\\z",
    "*?",
    "|",
    "(",
    ")",
    "[^",
    "\\x{10FFFF}",
    "\\8",
  ],
  check(input) {
    const [source = "", text = ""] = partsOf(input, 2);
    const pattern = orRefused(() => new Pattern(source), SyntaxError);
    if (pattern !== undefined) {
      let last = 0;
      for (const { start, end } of pattern.findAll(text, 100)) {
        promise(last <= start && start <= end && end <= text.length, "A match is outside of its text");
        last = end;
      }
      promise(pattern.test(text) === (pattern.find(text) !== undefined), "test() and find() disagree");
    }
    if (source.length > maxComparedSource || text.length > maxComparedText || !/^[ -~]*$/.test(source + text)) return;
    const both = translated(source);
    if (both === undefined) return;
    const ours = orRefused(() => new Pattern(both.pattern), SyntaxError);
    if (ours === undefined) throw new Finding(`A translated pattern does not compile: ${JSON.stringify(both.pattern)}`);
    promise(ours.test(text) === both.regexp.test(text), "A translated pattern matches other texts");
  },
};

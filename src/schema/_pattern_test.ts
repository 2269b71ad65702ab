import { assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { patternOf } from "./_pattern.ts";
import { rootPlace } from "./_place.ts";

const place = rootPlace("Foo");

const table: readonly (readonly [regexp: RegExp, expected: string])[] = [
  [/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"],
  [/a\/b\.c/, "a/b\\.c"],
  [/a/i, "(?i)a"],
  [/a.b$/ms, "(?ms)a.b$"],
  [/a/g, "a"],
  [/(?<year>\d{4})/, "(?P<year>\\d{4})"],
  [/(?:a|b){2,1000}/, "(?:a|b){2,1000}"],
  [/\u00e9\x41\u{1F600}/u, "\\x{00e9}\\x{41}\\x{1F600}"],
  [/\p{L}\P{Lu}\p{gc=Nd}/u, "\\p{L}\\P{Lu}\\p{Nd}"],
  [/[[:alpha:]]/, "[\\[:alpha:]]"],
  [/[\b\]]/, "[\\x08\\]]"],
  [/\0/, "\\x00"],
  // Not as a literal, in which Bun makes an escaped backslash of the escape of é.
  [new RegExp("[a-\\d\\B]\\é"), "[a\\-\\dB]é"],
  [/a{00}b{02,010}c{03,}/, "a{0}b{2,10}c{3,}"],
  [/(?:a{10}|b){100}(?:c{2}){3}/, "(?:a{10}|b){100}(?:c{2}){3}"],
];

for (const [regexp, expected] of table) {
  test(`${String(regexp)} becomes ${expected}`, () => assertEquals(patternOf(regexp, place), expected));
}

const refused: readonly (readonly [regexp: RegExp, what: RegExp])[] = [
  [/(?=a)/, /lookaround/],
  [/(?!a)/, /lookaround/],
  [/(?<=a)b/, /lookaround/],
  [/(?<!a)b/, /lookaround/],
  [/(a)\1/, /a backreference/],
  [/(?<a>b)\k<a>/, /a backreference/],
  [/a{1001}/, /a repetition above 1000/],
  [/a{2,1001}/, /a repetition above 1000/],
  [/(?:a{1,100}b*){11}/, /repetitions inside each other above 1000/],
  [/((a{10}){10}b){11}/, /repetitions inside each other above 1000/],
  [/[^]a]/, /an empty character class/],
  [/\cA/, /\\c/],
  [new RegExp("\\p{L}"), /\\p without the flag u/],
  [new RegExp("\\u{1F600}"), /\\u without the flag u/],
  [new RegExp("\\01"), /an octal escape/],
  [/\p{Cn}/u, /\\p\{Cn\}/],
  [/(?<$a>b)/, /a group name/],
  [/\p{Script=Greek}/u, /\\p\{Script=Greek\}/],
  [/[a-b]/v, /the flag v/],
  [/a/y, /the flag y/],
];

for (const [regexp, what] of refused) {
  test(`${String(regexp)} is refused`, () => {
    const error = assertThrows(() => patternOf(regexp, place), what);
    assertEquals(error.message.startsWith("Cannot define Foo: it has the pattern /"), true);
  });
}

import { assert, assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { Pattern } from "./pattern.ts";

const cases: readonly (readonly [pattern: string, yes: readonly string[], no: readonly string[]])[] = [
  ["^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", ["a", "a.b", "web-1.x"], [
    "",
    "-a",
    "a..b",
    "A",
  ]],
  ["a|bc", ["xa", "bc"], ["b", "c"]],
  ["^(a|b)*$", ["", "abba"], ["abc"]],
  ["^a{2,3}$", ["aa", "aaa"], ["a", "aaaa"]],
  ["^a{2}$", ["aa"], ["a"]],
  ["^a{,3}$", ["a{,3}"], ["aa"]],
  ["(?i)^hello$", ["HeLLo"], ["hell"]],
  ["(?i:^[a-c])x$", ["Ax"], ["AX", "dx"]],
  ["^\\d+\\s\\w+$", ["12 ab"], ["x y"]],
  ["^[^\\d]$", ["a", "é"], ["1"]],
  ["^[[:alpha:]_]+$", ["aB_"], ["1"]],
  ["^\\p{L}+$", ["héß漢"], ["1"]],
  ["^\\p{Greek}$", ["λ"], ["l"]],
  ["^\\pN$", ["5"], ["a"]],
  ["^.$", ["😀", "a"], ["\n", "ab"]],
  ["(?s)^.$", ["\n"], []],
  ["(?m)^b$", ["a\nb\nc"], ["ab"]],
  ["\\bfoo\\b", ["a foo b"], ["afoo"]],
  ["^\\Qa.b\\E+$", ["a.b", "a.bbb"], ["axb"]],
  ["^\\x41\\x{42}\\103$", ["ABC"], ["abc"]],
  ["^[a-z-_.]+$", ["a-_."], ["A"]],
  ["^[]a]+$", ["]a"], ["b"]],
  ["^(?P<name>a)$", ["a"], ["b"]],
  ["$^", [""], ["a"]],
  ["^(?:)$", [""], ["a"]],
  ["^(a*)*$", ["", "aaa"], ["b"]],
  ["^(?:|a)+$", ["", "aaa"], ["b"]],
  ["(?i)^[k]s$", ["ks", "KS", "\u212as", "k\u017f"], ["k"]],
  ["(?i)^\u212a[\u017f]$", ["ks", "KS"], ["k"]],
  ["^a(?i)*$", ["", "aa"], ["b"]],
  ["^(?P<n>a)[(?P<n>](?P<n>b)$", ["a(b", "a?b"], ["ab"]],
  ["", ["", "x"], []],
];

for (const [pattern, yes, no] of cases) {
  test(`the pattern ${pattern} matches as in Go`, () => {
    const compiled = new Pattern(pattern);
    for (const text of yes) assert(compiled.test(text), `${pattern} should match ${JSON.stringify(text)}`);
    for (const text of no) assert(!compiled.test(text), `${pattern} should not match ${JSON.stringify(text)}`);
    for (const text of [...yes, ...no]) assertEquals(compiled.find(text) !== undefined, compiled.test(text));
  });
}

const broken: readonly (readonly [pattern: string, message: string])[] = [
  ["(", "missing closing ): `(`"],
  ["[a", "missing closing ]: `[a`"],
  ["a)", "unexpected ): `a)`"],
  ["*a", "missing argument to repetition operator: `*`"],
  ["a**", "invalid nested repetition operator: `**`"],
  ["a{1001}", "invalid repeat count: `{1001}`"],
  ["\\", "trailing backslash at end of expression: ``"],
  ["\\y", "invalid escape sequence: `\\y`"],
  ["(?=a)", "invalid or unsupported Perl syntax: `(?=`"],
  ["[b-a]", "invalid character class range: `b-a`"],
  ["(?P<a-b>x)", "invalid named capture: `(?P<a-b>`"],
  ["(?P<n>a)(?P<n>b))", "unexpected ): `(?P<n>a)(?P<n>b))`"],
  ["(a{100}){100}", "invalid repeat count: `{100}`"],
  [`${"(".repeat(600)}a${")*".repeat(600)}`, `expression nests too deeply: \`${"(".repeat(600)}a${")*".repeat(600)}\``],
  ["\\p{Nope}", "invalid character class range: `\\p{Nope}`"],
];

for (const [pattern, message] of broken) {
  test(`the pattern ${pattern} is rejected with the message of Go`, () => {
    const error = assertThrows(() => new Pattern(pattern));
    assertEquals(error.message, `error parsing regexp: ${message}`);
  });
}

test("find() returns the match that a backtracking engine would find", () => {
  assertEquals(new Pattern("a|ab").find("xab"), { start: 1, end: 2 });
  assertEquals(new Pattern("a+?").find("aaa"), { start: 0, end: 1 });
  assertEquals(new Pattern("a+").find("baaa"), { start: 1, end: 4 });
  assertEquals(new Pattern("x").find("aaa"), undefined);
  assertEquals(new Pattern("(|a)+").find("aaa"), { start: 0, end: 0 });
});

test("findAll() continues after a match and does not count an empty match right after another", () => {
  const spans = (pattern: string, text: string) =>
    [...new Pattern(pattern).findAll(text)].map((m) => text.slice(m.start, m.end));
  assertEquals(spans("[0-9]+", "a12b345c6"), ["12", "345", "6"]);
  assertEquals(spans("a*", "baac"), ["", "aa", ""]);
  assertEquals([...new Pattern("a").findAll("aaa", 2)].length, 2);
});

test("a pattern that takes a backtracking engine exponential time takes linear time", () => {
  const text = "a".repeat(50_000);
  assert(!new Pattern("^(a+)+$").test(`${text}!`));
  assert(!new Pattern("^(a|aa)*b$").test(text));
});

test("a pattern with more than 40,000 instructions is rejected before it is compiled", () => {
  for (const source of ["x{1000}".repeat(41), "(?:[]a]|\\pL){500}".repeat(80), "x".repeat(40_001)]) {
    const error = assertThrows(() => new Pattern(source));
    assertEquals(error.message, `error parsing regexp: expression too large: \`${source}\``);
  }
  for (const source of ["x{1000}".repeat(39), "[x{1000}]{900}", "\\Qx{1000}\\E{900}", "x{1000}".repeat(2)]) {
    new Pattern(source);
  }
});

test("the size of a pattern is estimated in linear time, whatever stays open in it", () => {
  const times = 20_000;
  for (const part of ["[", "\\p{", "(?P<", "(?P<a", "{1,", "[[:", "[[:alpha:]", "[\\"]) {
    const source = part.repeat(times);
    try {
      new Pattern(source);
    } catch (error) {
      assert(error instanceof SyntaxError);
    }
  }
});

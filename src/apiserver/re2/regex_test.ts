import { assert, assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { Regex } from "./regex.ts";

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
  ["", ["", "x"], []],
];

for (const [pattern, yes, no] of cases) {
  test(`the expression ${pattern} matches as in Go`, () => {
    const regex = new Regex(pattern);
    for (const text of yes) assert(regex.test(text), `${pattern} should match ${JSON.stringify(text)}`);
    for (const text of no) assert(!regex.test(text), `${pattern} should not match ${JSON.stringify(text)}`);
    for (const text of [...yes, ...no]) assertEquals(regex.find(text) !== undefined, regex.test(text));
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
  ["\\p{Nope}", "invalid character class range: `\\p{Nope}`"],
];

for (const [pattern, message] of broken) {
  test(`the expression ${pattern} is refused with Go's words`, () => {
    const error = assertThrows(() => new Regex(pattern));
    assertEquals(error.message, `error parsing regexp: ${message}`);
  });
}

test("find() takes the match a backtracking engine would", () => {
  assertEquals(new Regex("a|ab").find("xab"), { start: 1, end: 2 });
  assertEquals(new Regex("a+?").find("aaa"), { start: 0, end: 1 });
  assertEquals(new Regex("a+").find("baaa"), { start: 1, end: 4 });
  assertEquals(new Regex("x").find("aaa"), undefined);
});

test("findAll() goes on behind a match and counts no empty match right after one", () => {
  const spans = (pattern: string, text: string) =>
    [...new Regex(pattern).findAll(text)].map((m) => text.slice(m.start, m.end));
  assertEquals(spans("[0-9]+", "a12b345c6"), ["12", "345", "6"]);
  assertEquals(spans("a*", "baac"), ["", "aa", ""]);
  assertEquals([...new Regex("a").findAll("aaa", 2)].length, 2);
});

test("an expression that makes backtracking engines hang answers at once", () => {
  const text = "a".repeat(50_000);
  assert(!new Regex("^(a+)+$").test(`${text}!`));
  assert(!new Regex("^(a|aa)*b$").test(text));
});

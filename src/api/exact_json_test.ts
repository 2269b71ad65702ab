import { assert, assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { isSameScalar, parseExactJson, parseFiniteJson, printExactJson } from "./exact_json.ts";

test("[82] integers of 64 bits are read and written exactly, and all other numbers as before", () => {
  const cases: readonly (readonly [string, unknown])[] = [
    ["9007199254740993", 9007199254740993n],
    ["-9007199254740993", -9007199254740993n],
    ["9223372036854775807", 9223372036854775807n],
    ["-9223372036854775808", -9223372036854775808n],
    ["9007199254740991", 9007199254740991],
    ["9007199254740992", 9007199254740992n],
    ["0.1234567890123456", 0.1234567890123456],
    ["7", 7],
  ];
  for (const [text, value] of cases) {
    assertEquals(parseExactJson(text), value);
    for (const whole of [text, `[${text}]`, `{"a":${text}}`, `{"a":[1,${text}]}`]) {
      assertEquals(printExactJson(parseExactJson(whole)), whole);
    }
    assertEquals(parseExactJson(`{"a" : ${text}}`), { a: value });
  }
  assertEquals(parseExactJson("9223372036854775808"), 2 ** 63, "Go reads an integer beyond int64 as a double, too");
  assertEquals(parseExactJson("1.0000000000000000e30"), 1e30);
});

test("[82] digits within strings and keys stay text", () => {
  const text = '{"a:9007199254740993":"id: 9007199254740993, [9007199254740993"}';
  assertEquals(printExactJson(parseExactJson(text)), text);
  assertEquals(printExactJson({ a: [1n, { b: "x" }] }, 1), '{\n "a": [\n  1,\n  {\n   "b": "x"\n  }\n ]\n}');
});

test("[82] text that is not JSON does not become JSON because of its integers", () => {
  const long = "9007199254740993";
  const texts = [
    ...[`{${long}:1}`, `{${long} :1}`, `0${long}`, `-0${long}`, `+${long}`, `${long}x`, `[${long}`],
    ...[`"${long}`, `${long}"a"`, `[1 ${long}]`, `${long} ${long}`, `.${long}`, `- ${long}`],
  ];
  for (const text of texts) assertThrows(() => parseExactJson(text));
  for (const text of [`1.5e+${long}`, `1e-${long}`, `-1.${long}`, `[1e${long}]`]) {
    assertEquals(parseExactJson(text), JSON.parse(text));
  }
  const odd = `{"__proto__":${long},"\\\\":${long},"\\"${long}":"\\\\","b":${long}}`;
  assertEquals(printExactJson(parseExactJson(odd)), odd);
});

test("[95] a text of digits, and long integers in it, are parsed in linear time", () => {
  let looks = 0;
  const charCodeAt = String.prototype.charCodeAt;
  String.prototype.charCodeAt = function (this: string, at: number) {
    looks++;
    return charCodeAt.call(this, at);
  };
  try {
    const length = 100_000;
    for (const part of ["9", "1234567890123456 ", "99999999999999999999", "-9007199254740993 "]) {
      const text = JSON.stringify(part.repeat(Math.floor(length / part.length)));
      looks = 0;
      assertEquals(parseExactJson(`[${text},9007199254740993]`), [JSON.parse(text), 9007199254740993n]);
      assert(looks < 3 * length, `${looks} characters of ${part}`);
    }
  } finally {
    String.prototype.charCodeAt = charCodeAt;
  }
});

test("a cycle is still an error", () => {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  assertThrows(() => printExactJson(cycle));
});

test("[82] a bigint equals the number with the same value, and no rounded one", () => {
  assertEquals([isSameScalar(5n, 5), isSameScalar(5, 5n), isSameScalar(5n, "5"), isSameScalar(1.5, 1n)], [
    true,
    true,
    false,
    false,
  ]);
  assertEquals([isSameScalar(0, -0), isSameScalar(-0, 0n), isSameScalar(0, null)], [true, true, false]);
  assertEquals([isSameScalar(9007199254740993n, 9007199254740992), isSameScalar(2n ** 53n, 2 ** 53)], [false, true]);
});

test("parseFiniteJson() refuses numbers that would become Infinity, however deep, and no others", () => {
  const deep = `${"[".repeat(9_000)}1e999${"]".repeat(9_000)}`;
  for (const text of ["1e309", "-1E+400", '{"a":[1e999]}', "9".repeat(400), deep]) {
    assertThrows(() => parseFiniteJson(text), /outside of the range of a float64$/);
  }
  assertEquals(parseFiniteJson('{"a":1e308,"b":"1e999","c":1e-999,"d":9007199254740993}'), {
    ...{ a: 1e308, b: "1e999", c: 0, d: 9007199254740993n },
  });
});

import { assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { isSameScalar, parseExactJson, printExactJson } from "./exact_json.ts";

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
  assertEquals([isSameScalar(9007199254740993n, 9007199254740992), isSameScalar(2n ** 53n, 2 ** 53)], [false, true]);
});

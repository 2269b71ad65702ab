import { assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { numberLiteral, parseLiteralJson, withLiterals, withPlainNumbers } from "./number_literal.ts";

const literals: readonly string[] = ["1.0", "1e0", "20E-1", "-0.0", "1.5", "9223372036854775808", "1e400", "1e-7"];
const plain: readonly string[] = ["1", "-1", "0", "2147483648", '"1.0"', '"a 1.5 \\" 2.5"', "true", "null"];

test("parseLiteralJson() keeps what a client wrote of a number that is no int64 in digits", () => {
  for (const text of literals) {
    const value = Object(parseLiteralJson(`{"a" : [ ${text} , 3 ] }`)).a;
    assertEquals(numberLiteral(value[0]), text);
    assertEquals(value[1], 3);
  }
  for (const text of plain) assertEquals(parseLiteralJson(`[${text},"1.5"]`), JSON.parse(`[${text},"1.5"]`));
  assertEquals(parseLiteralJson('{"a":9223372036854775807,"b":"1.0"}'), { a: 9223372036854775807n, b: "1.0" });
});

test("parseLiteralJson() refuses what JSON.parse refuses", () => {
  for (const text of ["1.", ".5", "1.5.5", "01.5", "{1.5:2}", "[1.5 2]", "[1.5", '{"a":1.5"b":2}', "1.5x", "+1.5"]) {
    assertThrows(() => JSON.parse(text));
    assertThrows(() => parseLiteralJson(text));
  }
});

test("withLiterals() and withPlainNumbers() put the numbers back", () => {
  const text = '{"a":1.0,"b":[{"c":1e3}],"d":"1.0"}';
  const value = parseLiteralJson(text);
  assertEquals(withLiterals(JSON.stringify(value)), text);
  assertEquals(withPlainNumbers(Object(value)), { a: 1, b: [{ c: 1000 }], d: "1.0" });
});

import { assertEquals, test } from "../../../tests/testing.ts";
import { jsonError } from "./json_error.ts";

/** The right side is what Go 1.26's encoding/json says. */
const texts: readonly (readonly [string, string])[] = [
  ["", "unexpected end of JSON input"],
  ["{", "unexpected end of JSON input"],
  ['{"a"', "unexpected end of JSON input"],
  ['{"a', "unexpected end of JSON input"],
  ["{]", "invalid character ']' looking for beginning of object key string"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b":2}', "invalid character '\"' after object key:value pair"],
  ["[1 2]", "invalid character '2' after array element"],
  ["[1,]", "invalid character ']' looking for beginning of value"],
  ['{"a":tru}', "invalid character '}' in literal true (expecting 'e')"],
  ['{"a":1}x', "invalid character 'x' after top-level value"],
  ["{'a':1}", "invalid character '\\'' looking for beginning of object key string"],
  ['{"a":"\n"}', "invalid character '\\n' in string literal"],
  ['{"a":"\\x"}', "invalid character 'x' in string escape code"],
  ['{"a":"\\u12g4"}', "invalid character 'g' in \\u hexadecimal character escape"],
  ['{"a":01}', "invalid character '1' after object key:value pair"],
  ["-", "unexpected end of JSON input"],
  ["-x", "invalid character 'x' in numeric literal"],
  ["1.x", "invalid character 'x' after decimal point in numeric literal"],
  ["1ex", "invalid character 'x' in exponent of numeric literal"],
  ["nonsense", "invalid character 'o' in literal null (expecting 'u')"],
  ["\u0001", "invalid character '\\x01' looking for beginning of value"],
];

for (const [text, message] of texts) {
  test(`${JSON.stringify(text)} is not JSON: ${message}`, () => assertEquals(jsonError(text), message));
}

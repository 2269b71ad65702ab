import { assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { parseFieldSelector, requiredValue } from "./selection.ts";

test("parseFieldSelector() returns the terms, with their escapes resolved", () => {
  assertEquals(parseFieldSelector("a=1,b!=2,c==3,,d=x\\,y\\=z\\\\"), [
    { field: "a", isEqual: true, value: "1" },
    { field: "b", isEqual: false, value: "2" },
    { field: "c", isEqual: true, value: "3" },
    { field: "d", isEqual: true, value: "x,y=z\\" },
  ]);
  assertEquals(requiredValue(parseFieldSelector("a!=1,a=2"), "a"), "2");
  assertEquals(requiredValue(parseFieldSelector("a!=1"), "a"), undefined);
});

const badFields: readonly (readonly [string, string])[] = [
  ["x", "invalid selector: 'x'; can't understand 'x'"],
  ["a=b=c", "invalid field selector: unescaped character in value: 61"],
  ["a=b\\x", "invalid field selector: invalid escape sequence: \\x"],
  ["a=b\\", "invalid field selector: invalid escape sequence: \\"],
];

for (const [selector, message] of badFields) {
  test(`the field selector "${selector}" is rejected with the message of kube-apiserver`, () => {
    assertEquals(assertThrows(() => parseFieldSelector(selector)).message, message);
  });
}
